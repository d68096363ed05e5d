"""Short formulas, LaTeX or plain, as trees of known operations.

Text is never evaluated, and length and depth are bounded; a formula with two readings is not read.
"""

from __future__ import annotations

import cmath
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

MAX_LENGTH: Final = 400
MAX_DEPTH: Final = 40
CONSTANTS: Final[dict[str, complex]] = {
    "π": cmath.pi, "e": cmath.e, "i": 1j, "°": cmath.pi / 180
}  # fmt: skip
FUNCTIONS: Final[dict[str, Callable[[complex], complex]]] = {
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan,
    "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
    "cot": lambda z: 1 / cmath.tan(z), "sec": lambda z: 1 / cmath.cos(z),
    "csc": lambda z: 1 / cmath.sin(z),
    "ln": cmath.log, "lg": cmath.log10, "exp": cmath.exp,
}  # fmt: skip


class Node(NamedTuple):
    """An operation and its operands; a leaf has none and carries ``name`` or ``value``."""

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction | None = None
    name: str = ""


def number(value: int | str) -> Node:
    """A number as a formula."""
    return Node("num", value=Fraction(value))


def minus(left: Node, right: Node) -> Node:
    """The difference of two formulas."""
    return Node("+", (left, Node("neg", (right,))))


_WORD: Final = rf"(?:(?:{'|'.join(FUNCTIONS)}|log|pi)(?![a-z])|(?:sqrt|abs)(?=\s*[(\[{{]))"
_PROSE: Final = re.compile(
    r"(?<![A-Za-z\\])(?:[A-Za-z]{2,}\s+[A-Za-z]{2,}(?![A-Za-z])|[A-Z]{3,}|(?!abc(?![a-z]))"
    rf"(?!{_WORD})(?:[A-Za-z]{{4,}}|(?:is|so|or)(?=\s)|(?=[a-z]*[aeiou])[A-Za-z][a-z]{{2}})(?![A-Za-z]))"
)
"""Words; read letter by letter, a word would be a product."""
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:[ ]\d{3})+(?![\d.])|\d+(?:\.\d+)?|\.\d+)"
    rf"|\\(?P<part>frac)(?=\s*\{{\s*[\d.]+\s*\}}\s*\{{\s*[\d.]+\s*\}})"  # 1\frac{{1}}{{2}} is mixed
    rf"|\\(?P<command>[A-Za-z]+)|(?P<word>{_WORD})"
    # With its index and primes; f(0) has two readings: a product and a value of f.
    r"|(?P<letter>[A-Za-zα-ωΑ-Ωħ∞](?:\s*_\s*(?:\{[^{}]*\}|\d+|[A-Za-z]))?(?:\s*')*)(?!\(\s*[\d.]+\s*\))"
    r"|(?P<sign>\*\*|[-+*/^_(){}\[\]|!°%×·÷√])|(?P<end>\Z))"
)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "|": "|"}
_BRACES: Final = str.maketrans("", "", "{}\\ \n")
_DEGREE: Final = Node("const", name="°")
_TWO: Final = number(2)
_AFTER: Final[dict[str, Callable[[Node], Node]]] = {
    "!": lambda n: Node("!", (n,)),
    "°": lambda n: Node("*", (n, _DEGREE)),
    "%": lambda n: Node("/", (n, number(100))),
}


class _Token(NamedTuple):
    kind: str
    text: str
    spaced: bool


@lru_cache(maxsize=4096)
def read_formula(text: str) -> Node | None:
    """The tree of a folded formula (see ``answers.text.fold``).

    None for a text that is no formula, has two readings, or is too long or too deep.
    """
    if len(text) > MAX_LENGTH or _PROSE.search(text):
        return None
    try:
        parser = _Parser(text)
        node = parser.sum()
    except (_UnreadableError, RecursionError):
        return None
    return node if parser.token.kind == "end" else None


def nodes(node: Node) -> Iterator[Node]:
    """A formula and all of its parts."""
    yield node
    for arg in node.args:
        yield from nodes(arg)


def variables(node: Node) -> frozenset[str]:
    """The names of the unknowns."""
    return frozenset(part.name for part in nodes(node) if part.op == "var")


class _UnreadableError(Exception):
    """The text is no formula that this module reads, or one with two readings."""


class _Parser:
    """Recursive descent. Juxtaposition multiplies; ``1/2x`` has two readings and is refused."""

    def __init__(self, text: str) -> None:
        self.tokens: list[_Token] = []
        self.at = self.depth = end = 0
        while not self.tokens or self.tokens[-1].kind != "end":
            match = _TOKEN.match(text, end)
            if match is None or match.lastgroup is None:
                raise _UnreadableError(f"{text[end : end + 8]!r} is not read here")
            found, end = match[match.lastgroup], match.end()
            kind = "word" if match.lastgroup == "command" else match.lastgroup
            if found == "pi":
                kind, found = "letter", "π"
            self.tokens.append(_Token(kind, found.replace(" ", ""), match[0][:1].isspace()))

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self, *signs: str) -> str:
        """The next token, if it is one of the signs; ``""`` otherwise."""
        kind, text, _ = self.token
        if kind != "sign" or text not in signs:
            return ""
        self.at += 1
        return text

    def sum(self, opening: str = "") -> Node:
        """A sum; after an opening bracket, up to the closing one."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
        node = self.product()
        while sign := self.take("+", "-"):
            right = self.product()
            node = minus(node, right) if sign == "-" else Node("+", (node, right))
        self.depth -= 1
        if opening and not self.take(_CLOSING[opening]):
            raise _UnreadableError(f"{self.token.text!r} where {opening} is still open")
        return node

    def product(self) -> Node:
        if sign := self.take("+", "-"):
            node = self.product()
            return node if sign == "+" else Node("neg", (node,))
        node, sign = self.power(), ""
        while True:
            kind, text, spaced = self.token
            if last := self.take("*", "×", "·", "/", "÷"):
                sign = last
                node = Node("/" if sign in "/÷" else "*", (node, self.signed(self.power)))
            # x2 is x₂ or x²; a number is a factor only after a brace and a space: 2^{12} 13^2
            elif (kind == "number" and spaced and self.tokens[self.at - 1].text == "}") or (
                kind in ("letter", "word", "part") or (kind == "sign" and text in "({√[")
            ):
                if sign in ("/", "÷"):
                    raise _UnreadableError("a/b c has two readings: (a/b)c and a/(bc)")
                mixed = kind == "part" and node.value is not None and node.value.denominator == 1
                node = Node("+" if mixed else "*", (node, right := self.power()))
                if right.value == 0:
                    raise _UnreadableError("x 0 is no product: two answers, or a value at 0")
            else:
                return node

    def signed(self, of: Callable[[], Node]) -> Node:
        return Node("neg", (self.signed(of),)) if self.take("-") else of()

    def power(self) -> Node:
        node = self.postfix(self.atom())
        if not self.take("^", "**"):
            return node
        return self.postfix(Node("^", (node, self.signed(self.argument))))

    def postfix(self, node: Node) -> Node:
        while sign := self.take(*_AFTER):
            node = _AFTER[sign](node)
        return node

    def argument(self) -> Node:
        """A group, or a single digit or letter: ``x^23`` is x^(23), and x²·3 in LaTeX."""
        if self.token.kind == "number" and len(self.token.text) > 1:
            raise _UnreadableError("an exponent of several digits without braces")
        return self.atom()

    def atom(self) -> Node:
        kind, text, _ = self.token
        self.at += kind != "end"
        if kind == "number":
            return number(text)
        if kind == "letter":
            name = text.translate(_BRACES).replace("_o", "_0").replace("_O", "_0")  # ε_o for ε_0
            return Node("const" if name in CONSTANTS else "var", name=name)
        if kind in ("word", "part"):
            return self.function(text)
        if kind == "sign" and text in _CLOSING:
            node = self.sum(text)
            return Node("abs", (node,)) if text == "|" else node
        if kind == "sign" and text == "√":
            return Node("root", (self.atom(), _TWO))
        raise _UnreadableError(f"{text!r} where a value is expected")

    def function(self, name: str) -> Node:
        if name == "abs":
            return Node("abs", (self.argument(),))
        if name == "frac":
            return Node("/", (self.argument(), self.argument()))
        if name == "sqrt":
            degree = self.sum("[") if self.take("[") else _TWO
            return Node("root", (self.argument(), degree))
        if name not in FUNCTIONS and name != "log":
            raise _UnreadableError(f"\\{name} is not read here")
        base = self.argument() if name == "log" and self.take("_") else None
        exponent = self.signed(self.argument) if self.take("^") else None
        if exponent and exponent.op == "neg":
            raise _UnreadableError("sin^{-1} has two readings: arcsin and 1/sin")
        if self.token.text in ("(", "{", "["):
            inner = self.postfix(self.atom())
            if self.token.text in ("^", "**"):
                raise _UnreadableError("ln(x)^2 has two readings: (ln x)² and ln x²")
        else:
            inner = self.signed(self.power)
            while self.token.kind == "letter":  # the 2x of \sin 2x + 1
                inner = Node("*", (inner, self.power()))
        node = Node("call", (inner,), name=name)
        if name == "log":
            node = Node("log", (inner, base) if base else (inner,))
        return Node("^", (node, exponent)) if exponent else node
