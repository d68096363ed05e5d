"""Several answers in any order: roots, points, names."""

from __future__ import annotations

import random
import re
from typing import Final, NamedTuple

from data_gen.forms import atoms, collections, intervals, words
from data_gen.forms.base import HAN, Answer, distinct, in_math, undress
from gradegpt.answers.text import fold
from gradegpt.answers.truth import truth
from gradegpt.answers.values import both_signs
from gradegpt.schema import AnswerType

_JOINT: Final = re.compile(
    r"\s*(?:(?:,(?!\d{3}(?!\d))|[，、;；])\s*(?:and|or|和|或)?|或者?|和|与|\\text\{\s*(?:or|and|或)\s*\}|,?\s+(?:or|and)\s+)\s*"
)
_NAME: Final = re.compile(r"(?P<name>[a-zA-Zα-ω])(?:_\{?\d\}?|[₁-₉])?\s*=\s*(?P<value>.+)")


_INDEXED: Final = re.compile(r"[_₁-₉]")


class Answers(NamedTuple):
    """Several answers, the joints between them, and the name that each may carry."""

    items: list[str]
    joints: list[str]

    def rebuilt(self, items: list[str]) -> str:
        """The same joints around other answers; fewer take the last joint."""
        joints = self.joints[len(self.joints) - len(items) + 1 :] if len(items) > 1 else []
        joints = joints or self.joints[:1] * (len(items) - 1)
        while len(joints) < len(items) - 1:
            joints = [joints[0], *joints]
        return items[0] + "".join(j + i for j, i in zip(joints, items[1:], strict=True))


def split_answers(text: str) -> Answers | None:
    """The answers and what joins them; nothing inside brackets is a joint."""
    spans, depth, at = [], 0, 0
    while at < len(text):
        depth += (text[at] in "([{（") - (text[at] in ")]}）")
        match = _JOINT.match(text, at) if depth == 0 else None
        if match is not None and match.end() > at:
            spans.append(match.span())
            at = match.end()
        else:
            at += 1
    starts, ends = [0, *(b for _, b in spans)], [*(a for a, _ in spans), len(text)]
    items = [text[a:b].strip() for a, b in zip(starts, ends, strict=True)]
    return Answers(items, [text[a:b] for a, b in spans]) if spans and all(items) else None


def _values(items: list[str]) -> tuple[str, list[str]]:
    """The unknown's name that all carry, and the bare values, with ± as two."""
    named = [_NAME.fullmatch(item) for item in items]
    names = {m["name"] for m in named if m is not None}
    if len(names) > 1 or (_INDEXED.search(" ".join(items)) and not names <= {"x", "λ"}):
        return "", distinct(items)  # a_2 and a_3 are no two values of one unknown
    bare = [m["value"].strip() if m else item for m, item in zip(named, items, strict=True)]
    bare = [v[1:] if v[:1] == "+" else v for b in bare for v in both_signs(undress(b)[1])]
    return (names.pop() if len(names) == 1 else ""), distinct(bare)


def same_answers(rng: random.Random, answer: Answer) -> list[str]:
    """The answers in other orders, joined otherwise, named or bare, or under one sign."""
    found = split_answers(answer.text)
    items = found.items if found else [answer.text]
    name, values = _values(items)
    if len(values) < 2:
        return same_part(rng, answer.part(answer.text))
    formal = _is_formal(values)
    if found is not None and (len(values) < len(items) or _is_phrase(items, formal=formal)):
        dated = not any(truth(item) is not None for item in items)
        dressed = words.same(rng, answer.part(answer.text)) if dated else [f"{answer.text}."]
        return [*dressed, *(joint.join(items) for joint in ("; ", ", ", "、", "；") if not dated)]
    made = [] if found is None else [found.rebuilt(items[::-1]), found.rebuilt(_drawn(rng, items))]
    orders = [values, values[::-1], _drawn(rng, values)]
    for order in orders:
        made += _joined(order, formal=formal, tuples="," in "".join(values))
    if name and formal:
        made += _with_name(name, values, answer)
    if formal:
        made += _one_sign(name, values)
        for n, value in enumerate(values):
            forms = atoms.formal(rng, answer.part(value))[:2]
            made += [", ".join([*values[:n], form, *values[n + 1 :]]) for form in forms]
    return made


def _is_formal(items: list[str]) -> bool:
    """Whether all are values or tuples of values, which need no words between."""
    return all(atoms.is_value(i) or collections.components(i) is not None for i in items)


def _is_phrase(items: list[str], *, formal: bool) -> bool:
    """Whether the order tells: "yes, no", or a date such as "May 4, 1919"."""
    told = any(truth(item) is not None for item in items)
    return told or (not formal and any(c.isdigit() for c in "".join(items)))


def _drawn(rng: random.Random, items: list[str]) -> list[str]:
    return rng.sample(items, len(items))


def _joined(items: list[str], *, formal: bool, tuples: bool) -> list[str]:
    """Words for people's language: 和 between Chinese words, ``and`` between others."""
    made = [", ".join(items)]
    if formal or HAN.search(items[0]):
        made += ["、".join(items), f"{'、'.join(items[:-1])}和{items[-1]}"]
    if formal or not HAN.search(items[0]):
        made.append(f"{', '.join(items[:-1])} and {items[-1]}")
    if formal:
        made += ["或".join(items), " or ".join(items), in_math(", ".join(items))]
        made.append(in_math(" \\text{ or } ".join(items)))
        made += [] if tuples else [f"{{{', '.join(items)}}}"]
    return made


def _with_name(name: str, values: list[str], answer: Answer) -> list[str]:
    each = [f"{name}={v}" for v in values]
    indexed = [f"{name}_{n}={v}" for n, v in enumerate(values, start=1)]
    small = [f"{name}{'₁₂₃₄₅₆₇₈₉'[n]}={v}" for n, v in enumerate(values[:9])]
    either = "或" if answer.chinese else " or "
    made = [either.join(each), ", ".join(each), either.join(each[::-1]), ", ".join(indexed)]
    made += ["，".join(small), in_math(",\\ ".join(indexed)), f"{name}={either.join(values)}"]
    return [
        *made,
        in_math(" \\text{ or } ".join(each)),
        " or ".join(e.replace("=", " = ") for e in each),
    ]


def _one_sign(name: str, values: list[str]) -> list[str]:
    if len(values) != 2 or values[0].lstrip("-") != values[1].lstrip("-"):
        return []
    size = values[0].lstrip("-")
    lead = f"{name}=" if name else ""
    return [f"{lead}±{size}", f"${lead}\\pm {size}$", f"{lead}-{size}, {lead}{size}"]


def _changed_inside(rng: random.Random, answer: Answer, found: Answers) -> list[str]:
    """The items changed in their places, where none may go or be exchanged."""
    made: list[str] = []
    for n, item in enumerate(found.items):
        others = words.near(rng, answer.part(item))[: 1 if truth(item) is not None else 3]
        made += [found.rebuilt([*found.items[:n], o, *found.items[n + 1 :]]) for o in others]
    return made


def near_answers(rng: random.Random, answer: Answer) -> list[str]:
    """One of the answers missing, another, or with the other sign."""
    found = split_answers(answer.text)
    if found is None:
        return atoms.near(rng, answer._replace(kind=AnswerType.EXPRESSION))
    items = found.items
    if _is_phrase(items, formal=_is_formal(items)):
        return _changed_inside(rng, answer, found)
    made: list[str] = []
    for n, item in enumerate(items):
        rest = [*items[:n], *items[n + 1 :]]
        made.append(found.rebuilt(rest))
        tuples = collections.components(item) is not None
        near = collections.near_tuple if tuples else atoms.near
        own = {fold(i) for i in items}
        others = [o for o in near(rng, answer.part(item)) if fold(o) not in own][:4]
        made += [found.rebuilt([*items[:n], other, *items[n + 1 :]]) for other in others]
    return made


# --- what a part may be ---------------------------------------------------------------------------


def same_part(rng: random.Random, part: Answer) -> list[str]:
    """Other forms of what may be a value, tuple, set, interval, or several answers."""
    if collections.components(part.text) is not None:
        return collections.same_tuple(rng, part)
    if collections.elements(part.text) is not None:
        return collections.same_set(rng, part)
    if intervals.pieces(part.text) is not None:
        return intervals.same(rng, part)
    several = split_answers(part.text)
    if several is not None and _is_formal(several.items) and len(_values(several.items)[1]) > 1:
        return same_answers(rng, part)
    return atoms.inside(rng, part)


def near_part(rng: random.Random, part: Answer) -> list[str]:
    """Other answers like one of these."""
    if collections.components(part.text) is not None:
        return collections.near_tuple(rng, part)
    if collections.elements(part.text) is not None:
        return collections.near_set(rng, part)
    if intervals.pieces(part.text) is not None:
        return intervals.near(rng, part)
    several = split_answers(part.text)
    if several is not None and _is_formal(several.items):
        return near_answers(rng, part)
    return atoms.near(rng, part)
