"""Write the tree of a formula in one of several notations."""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from functools import reduce

from gradegpt.answers.formula import Node

from .numbers import decimal

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Notation(Enum):
    """LaTeX; plain, with ``^`` and no sign for products; with ``²``; with ``*`` as in code."""

    LATEX = "latex"
    PLAIN = "plain"
    RAISED = "raised"
    CODE = "code"


class UnwritableError(Exception):
    """The notation cannot write the value."""


def render(node: Node, notation: Notation) -> str:
    """The formula in that notation.

    Raises:
        UnwritableError: The notation has no sign for one of the operations.

    """
    return _Writer(notation).sum(node)


class _Writer:
    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.latex = notation is Notation.LATEX

    def sum(self, node: Node) -> str:
        blank = " " if self.notation is Notation.CODE else ""
        terms = [(sign, self.product(term)) for sign, term in terms_of(node)]
        rest = "".join(f"{blank}{'+' if sign > 0 else '-'}{blank}{x}" for sign, x in terms[1:])
        return ("-" if terms[0][0] < 0 else "") + terms[0][1] + rest

    def product(self, node: Node) -> str:
        if node.op == "/":
            return self.quotient(*node.args)
        factors = factors_of(node)
        write = self.factor if factors[1:] else self.power
        return reduce(self.times, map(write, factors))

    def factor(self, node: Node) -> str:
        if node.op == "/" and self.latex:
            return self.quotient(*node.args)
        return self.power(node)

    def times(self, left: str, right: str) -> str:
        if self.notation is Notation.CODE:
            return f"{left}*{right}"
        digits = right[0].isdigit() or (left[-1].isdigit() and right.startswith("\\frac"))
        if digits or left[-1] == "|" or right.startswith(("|", "-", "i")):
            return f"{left}\\cdot {right}" if self.latex else f"{left}·{right}"
        blank = re.search(r"(?:\\[A-Za-z]+|[a-z]{2})$", left) or re.match(r"[a-z]{2}", right)
        return f"{left} {right}" if blank else left + right

    def quotient(self, top: Node, bottom: Node) -> str:
        if self.latex:
            return f"\\frac{{{self.sum(top)}}}{{{self.sum(bottom)}}}"
        above = self.bracketed(top) if top.op in ("+", "/") else self.product(top)
        single = bottom.op in ("num", "var", "const", "^", "call", "root")
        return f"{above}/{self.power(bottom) if single else self.bracketed(bottom)}"

    def bracketed(self, node: Node) -> str:
        return f"({self.sum(node)})"

    def power(self, node: Node) -> str:
        if node.op != "^":
            return self.atom(node)
        base, exponent = node.args
        if base.op == "call":
            return self.call(base, self.raised(exponent))
        return f"{self.atom(base)}{self.raised(exponent)}"

    def raised(self, exponent: Node) -> str:
        text = self.sum(exponent)
        if self.notation is not Notation.RAISED:
            long = f"^{{{text}}}" if self.latex else f"^({text})"
            return f"^{text}" if len(text) == 1 else long
        if not re.fullmatch(r"-?\d+", text):
            raise UnwritableError(f"exponent {text}: only whole numbers can be raised")
        return text.translate(_SUPERSCRIPTS)

    def atom(self, node: Node) -> str:
        match node.op:
            case "num" if node.value is not None:
                return self.number(node.value)
            case "var" | "const":
                return self.name(node.name)
            case "root":
                return self.root(*node.args)
            case "log":
                return self.log(*node.args)
            case "!":
                return f"{self.atom(node.args[0])}!"
            case "abs":
                return f"|{self.sum(node.args[0])}|"
            case "call":
                return self.call(node, "")
            case "+" | "neg" | "*" | "/" | "^":
                return self.bracketed(node)
            case _:
                raise UnwritableError(f"operation {node.op}: no notation has it")

    def number(self, value: Fraction) -> str:
        if (shown := decimal(value)) is not None:
            return shown
        ends = (Node("num", value=Fraction(n)) for n in (value.numerator, value.denominator))
        return f"({self.quotient(*ends)})"

    def name(self, name: str) -> str:
        if name == "π" and self.notation in (Notation.LATEX, Notation.CODE):
            return "\\pi" if self.latex else "pi"
        if "\\" in name and not self.latex:
            raise UnwritableError(f"{name}: only LaTeX has this letter")
        letter, _, index = name.partition("_")
        return f"{letter}_{{{index}}}" if len(index) > 1 else name

    def root(self, inside: Node, degree: Node) -> str:
        text, square = self.sum(inside), degree.value == 2
        if self.latex:
            return f"\\sqrt{'' if square else f'[{self.sum(degree)}]'}{{{text}}}"
        if not square:
            raise UnwritableError("a root of higher degree: only LaTeX has a sign for it")
        if self.notation is Notation.CODE:
            return f"sqrt({text})"
        return f"√{text}" if inside.op == "num" else f"√({text})"

    def log(self, inside: Node, base: Node | None = None) -> str:
        name = "\\log" if self.latex else "log"
        index = "" if base is None else f"_{{{self.sum(base)}}}"
        return f"{name}{index}({self.sum(inside)})"

    def call(self, node: Node, exponent: str) -> str:
        name = f"\\{node.name}" if self.latex else node.name
        return f"{name}{exponent}({self.sum(node.args[0])})"


def terms_of(node: Node, sign: int = 1) -> list[tuple[int, Node]]:
    """The terms of a sum, each with its sign."""
    if node.op == "+":
        return [term for arg in node.args for term in terms_of(arg, sign)]
    if node.op == "neg":
        return terms_of(node.args[0], -sign)
    return [(sign, node)]


def factors_of(node: Node) -> list[Node]:
    """The factors of a product."""
    return [f for arg in node.args for f in factors_of(arg)] if node.op == "*" else [node]
