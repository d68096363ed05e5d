"""Rearrangements that keep the value: elements, terms and factors in another order."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from gradegpt.answers import Answer
from gradegpt.answers.formula import Node
from gradegpt.answers.types import Group, Leaf, Options, Relation, Value

from ..forms.render import factors_of, terms_of


def rearranged(rng: random.Random, answer: Answer) -> list[Answer]:
    """The answer with elements, options, terms or factors in a random order; also 2√3 as √12."""
    value = answer.value
    if isinstance(value, Options):
        drawn = tuple(rng.sample(value.letters, len(value.letters)))
        several = len(drawn) > 1 and not value.ordered
        return [Answer(answer.kind, Options(drawn))] if several else []
    if not isinstance(value, Value):
        return []
    made = [_reordered(rng, value)]
    if isinstance(value, Leaf) and value.formula and (below := _below_the_root(value.formula)):
        made.append(value._replace(formula=below))
    return [Answer(answer.kind, other, answer.text) for other in made if other is not value]


def _reordered(rng: random.Random, value: Value) -> Value:
    match value:
        case Group(ordered=False) if not any(_is_indexed(item) for item in value.items):
            return value._replace(items=tuple(rng.sample(value.items, len(value.items))))
        case Leaf(formula=Node() as tree):
            return value._replace(formula=_tree(rng, tree))
        case Relation():
            left, right = (_tree(rng, side) for side in (value.left, value.right))
            return value._replace(left=left, right=right)
        case _:
            return value


def _is_indexed(item: Value) -> bool:
    """Whether the name has an index, as x_1: its position then matters."""
    return isinstance(item, Leaf) and item.name.rstrip("}")[-1:].isdigit()


def _tree(rng: random.Random, node: Node) -> Node:
    """The tree with terms and factors in a random order, and no minus sign first if possible."""
    if node.op in ("+", "neg"):
        terms = terms_of(node)
        drawn = rng.sample(terms, len(terms))
        first = next((n for n, (sign, _) in enumerate(drawn) if sign > 0), 0)
        drawn = [drawn[first], *drawn[:first], *drawn[first + 1 :]]
        nodes = [_tree(rng, t) if sign > 0 else Node("neg", (_tree(rng, t),)) for sign, t in drawn]
        return folded("+", nodes)
    if node.op == "*":
        factors = factors_of(node)
        numbers = [f for f in factors if f.op == "num"]
        others = [f for f in factors if f.op != "num"]
        return folded("*", [*numbers, *rng.sample(others, len(others))])
    return node._replace(args=tuple(_tree(rng, arg) for arg in node.args))


def folded(op: str, nodes: Iterable[Node]) -> Node:
    """The nodes joined by ``op``, from the left."""
    return reduce(lambda left, right: Node(op, (left, right)), nodes)


def _below_the_root(node: Node) -> Node | None:
    if node.op != "*":
        return None
    a, b = node.args
    if a.value is None or b.op != "root" or b.args[0].value is None or b.args[1].value != 2:
        return None
    return Node("root", (Node("num", value=Fraction(a.value**2 * b.args[0].value)), b.args[1]))
