r"""Read short formulas, LaTeX or plain, and test two of them for equality at drawn points.

A formula that evaluates differently at one point where both sides are defined is shown to be
different; one that agrees at eight random points, to twelve digits, is the same but for a chance
that nobody will live to see (Schwartz 1980). This costs microseconds where a computer algebra
system takes milliseconds; what cannot be read here goes to that system in a worker.

Nothing here evaluates text: a formula becomes a tree of known operations, under bounds on its
length, its depth and the size of every power.
"""

from __future__ import annotations

import cmath
import math
import random
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

MAX_LENGTH: Final = 400
MAX_DEPTH: Final = 40
_MAX_EXPONENT: Final = 4_000
_MAX_FACTORIAL: Final = 60
_POINTS: Final = 8
_EQUAL: Final = 1e-10
"""Relative difference below which two evaluations count as equal."""

Number = Fraction | float | complex


class Unreadable(Exception):
    """The text is not a formula that this module reads, or one that could be read in two ways."""


class Node(NamedTuple):
    """An operation and its operands; a leaf has none and carries ``name`` or ``value``."""

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction | None = None
    name: str = ""


_FUNCTIONS: Final[dict[str, Callable[[complex], complex]]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
    "cot": lambda z: 1 / cmath.tan(z), "sec": lambda z: 1 / cmath.cos(z), "csc": lambda z: 1 / cmath.sin(z),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan,
    "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "ln": cmath.log, "lg": cmath.log10, "exp": cmath.exp,
}  # fmt: skip
_CONSTANTS: Final = {"π": math.pi, "e": math.e, "i": 1j}
_GREEK: Final = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau "
    "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega hbar ell"
).split()
_PROSE = re.compile(
    r"[\u3400-\u9fff]|(?<![A-Za-z\\])(?:[A-Za-z]{2,}\s+[A-Za-z]{2,}(?![A-Za-z])|(?:not|for|but|all)(?![A-Za-z])"
    r"|(?!(?:arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|exp|log|sqrt|abs|abc)(?![a-z]))"
    r"(?:[A-Za-z]{4,}|(?=[a-z]*[aeiou])[A-Za-z][a-z]{2})(?![A-Za-z]))"
)
"""Words: read letter by letter they would make a product."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?|\.\d+)"
    r"|\\(?P<command>[A-Za-z]+)"
    r"|(?P<word>arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|lg|log|exp|sqrt|abs|pi)(?![a-z])"
    r"|(?P<letter>[A-Za-zα-ωΑ-Ωπℓħ∞])"
    r"|(?P<sign>\*\*|[-+*/^_(){}\[\]|!°%×·÷√']))"
)


def parse(text: str) -> Node:
    """The tree of a folded formula (see ``normalise.fold``).

    Raises:
        Unreadable: not a formula, too long or too deep, or one with two readings.

    """
    if len(text) > MAX_LENGTH:
        raise Unreadable("too long")
    if _PROSE.search(text):
        raise Unreadable("words")
    return _Parser(_tokens(text)).whole()


class _Token(NamedTuple):
    kind: str
    text: str
    spaced: bool


def _tokens(text: str) -> list[_Token]:
    made, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unreadable(f"{text[at : at + 8]!r}")
        kind = match.lastgroup or ""
        made.append(_Token(kind, match[kind], match[0][:1].isspace()))
        at = match.end()
    return made


class _Parser:
    """Recursive descent. Juxtaposition multiplies; ``1/2x`` has two readings and is refused."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.sum()
        if self.at != len(self.tokens):
            raise Unreadable(f"{self.tokens[self.at].text!r} is left over")
        return node

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self, *texts: str) -> bool:
        if self.at < len(self.tokens) and self.peek() in texts and self._is_sign():
            self.at += 1
            return True
        return False

    def _is_sign(self) -> bool:
        return self.tokens[self.at].kind == "sign"

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise Unreadable(f"{text!r} expected, {self.peek()!r} found")

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("too deep")
        node = self.product()
        while (sign := self.peek()) in ("+", "-") and self._is_sign():
            self.at += 1
            right = self.product()
            node = Node("+", (node, right if sign == "+" else Node("neg", (right,))))
        self.depth -= 1
        return node

    def product(self) -> Node:
        if self.take("-"):
            return Node("neg", (self.product(),))
        if self.take("+"):
            return self.product()
        node, slash = self.power(), False
        while self.at < len(self.tokens):
            command = self._command()
            if self.take("*", "×", "·") or command in ("times", "cdot"):
                self.at += command in ("times", "cdot")
                node, slash = Node("*", (node, self.signed())), False
            elif self.take("/", "÷") or command == "div":
                self.at += command == "div"
                node, slash = Node("/", (node, self.signed())), True
            elif self._starts_operand():
                if slash:
                    raise Unreadable("a/b c could be (a/b)c or a/(bc)")
                # A numeral and a fraction side by side are a mixed number: 1\frac{1}{2}.
                mixed = self._mixed(node)
                factor = self.power()
                node = Node("+" if mixed else "*", (node, factor))
            else:
                break
        return node

    def signed(self) -> Node:
        return Node("neg", (self.signed(),)) if self.take("-") else self.power()

    def _mixed(self, node: Node) -> bool:
        if node.value is None or node.value.denominator != 1 or self._command() != "frac":
            return False
        inside = [t for t in self.tokens[self.at + 1 : self.at + 7] if t.kind != "sign"]
        return len(inside) >= 2 and all(t.kind == "number" for t in inside[:2])

    def _command(self) -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token.text if token is not None and token.kind == "command" else ""

    def _starts_operand(self) -> bool:
        token = self.tokens[self.at]
        if token.kind == "number":
            previous = self.tokens[self.at - 1]
            return previous.kind != "number" and previous.text not in ("}", "^")
        return token.kind != "sign" or token.text in ("(", "{", "√", "[")

    def power(self) -> Node:
        node = self.postfix(self.atom())
        if self.take("^", "**"):
            node = self.postfix(Node("^", (node, self.exponent())))
        return node

    def exponent(self) -> Node:
        if self.take("-"):
            return Node("neg", (self.exponent(),))
        return self.argument()

    def postfix(self, node: Node) -> Node:
        while True:
            if self.take("!"):
                node = Node("!", (node,))
            elif self.take("°"):
                node = Node("*", (node, Node("const", value=None, name="°")))
            elif self.take("%") or (self._command() == "%"):
                node = Node("/", (node, Node("num", value=Fraction(100))))
            else:
                return node

    def argument(self) -> Node:
        r"""A braced group, or a single digit or letter: ``x^23`` is x² times 3 in LaTeX."""
        if self.take("{"):
            node = self.sum()
            self.expect("}")
            return node
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is not None and token.kind == "number" and len(token.text) > 1:
            # Plain text means x^(23), LaTeX means x^2·3.
            raise Unreadable("an exponent of several digits without braces")
        return self.atom()

    def digit_or_argument(self) -> Node:
        r"""As ``argument``, but ``\frac12`` is one half: there LaTeX takes a digit at a time."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is not None and token.kind == "number" and token.text.isdigit():
            rest = token._replace(text=token.text[1:])
            self.tokens[self.at : self.at + 1] = [rest] if rest.text else []
            return Node("num", value=Fraction(token.text[0]))
        return self.argument()

    def atom(self) -> Node:
        if self.at >= len(self.tokens):
            raise Unreadable("it ends too early")
        token = self.tokens[self.at]
        self.at += 1
        match token.kind:
            case "number":
                return Node("num", value=Fraction(token.text))
            case "letter":
                return self.named(token.text)
            case "word":
                return self.function(token.text)
            case "command":
                return self.command(token.text)
        if token.text in ("(", "[", "{"):
            node = self.sum()
            self.expect({"(": ")", "[": "]", "{": "}"}[token.text])
            return node
        if token.text == "|":
            node = self.sum()
            self.expect("|")
            return Node("abs", (node,))
        if token.text == "√":
            degree = Node("num", value=Fraction(2))
            whole = self.at < len(self.tokens) and self.tokens[self.at].kind == "number"
            return Node("root", (self.atom() if whole else self.argument(), degree))
        raise Unreadable(f"{token.text!r} where a value should stand")

    def named(self, letter: str) -> Node:
        name = letter
        if self.take("_"):
            braced = self.take("{")
            start = self.at
            self.at += 1
            while braced and self.at < len(self.tokens) and not self.take("}"):
                self.at += 1
            name += "_" + "".join(t.text for t in self.tokens[start : self.at] if t.text != "}")
        while self.take("'"):
            name += "'"
        return Node("const" if name in _CONSTANTS else "var", name=name)

    def command(self, name: str) -> Node:
        if name == "frac":
            top = self.digit_or_argument()
            return Node("/", (top, self.digit_or_argument()))
        if name == "sqrt":
            return self.root()
        if name == "pi":
            return Node("const", name="π")
        if name in _GREEK:
            return self.named(f"\\{name}")
        if name in ("lvert", "left", "right", "rvert"):
            raise Unreadable(name)
        return self.function(name)

    def root(self) -> Node:
        degree = Node("num", value=Fraction(2))
        if self.take("["):
            degree = self.sum()
            self.expect("]")
        return Node("root", (self.argument(), degree))

    def function(self, name: str) -> Node:
        if name == "sqrt":
            return self.root() if self.peek() in ("{", "[") else Node(
                "root", (self.bracketed(), Node("num", value=Fraction(2)))
            )
        if name == "abs":
            return Node("abs", (self.bracketed(),))
        if name == "pi":
            return Node("const", name="π")
        base = None
        if name == "log" and self.take("_"):
            base = self.argument()
        elif name not in _FUNCTIONS and name != "log":
            raise Unreadable(f"\\{name}")
        exponent = self.exponent() if self.take("^") else None
        inner = self.power() if self.peek() in ("(", "{", "[") else self.operand()
        if name == "log":
            node = Node("log", (inner, base) if base else (inner,))
        elif exponent is not None and exponent.op == "neg":
            raise Unreadable("sin^{-1} could be arcsin or 1/sin")
        else:
            node = Node("call", (inner,), name=name)
        return Node("^", (node, exponent)) if exponent is not None else node

    def operand(self) -> Node:
        r"""What an unbracketed function applies to: ``\sin 2x`` is sin(2x), ``\sin x + 1`` is not."""
        node = self.signed()
        while (
            self.at < len(self.tokens)
            and self.tokens[self.at].kind in ("number", "letter")
            and self._starts_operand()
        ):
            node = Node("*", (node, self.power()))
        return node

    def bracketed(self) -> Node:
        self.expect("(")
        node = self.sum()
        self.expect(")")
        return node


def variables(node: Node) -> frozenset[str]:
    """The names that stand for unknowns."""
    own = frozenset([node.name]) if node.op == "var" else frozenset()
    return own.union(*(variables(arg) for arg in node.args))


def evaluate(node: Node, at: dict[str, float]) -> Number:
    """The value at a point, exact where only rational numbers meet.

    Raises:
        ArithmeticError, ValueError: not defined there, or too large.

    """
    match node.op:
        case "num":
            return node.value if node.value is not None else Fraction(0)
        case "var":
            return at[node.name]
        case "const":
            return math.pi / 180 if node.name == "°" else _CONSTANTS[node.name]
    args = [evaluate(arg, at) for arg in node.args]
    match node.op, args:
        case "+", [a, b]:
            return a + b
        case "neg", [a]:
            return -a
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "^", [a, b]:
            return _power(a, b)
        case "root", [a, b]:
            return _root(a, b)
        case "abs", [a]:
            return abs(a)
        case "!", [a]:
            if not isinstance(a, Fraction) or a.denominator != 1 or not 0 <= a <= _MAX_FACTORIAL:
                raise ValueError("factorial of what is not a small whole number")
            return Fraction(math.factorial(int(a)))
        case "log", [a]:
            return cmath.log(complex(a)) / math.log(at["log base"])
        case "log", [a, b]:
            return cmath.log(complex(a)) / cmath.log(complex(b))
        case "call", [a]:
            return _FUNCTIONS[node.name](complex(a))
    raise ValueError(node.op)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(exponent, Fraction) and abs(exponent) > _MAX_EXPONENT:
        raise OverflowError("exponent")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if size * abs(exponent) <= _MAX_EXPONENT:
            return base ** int(exponent)
    if isinstance(exponent, Fraction) and exponent.denominator % 2 and exponent.denominator > 1:
        return _power(_root(base, Fraction(exponent.denominator)), Fraction(exponent.numerator))
    return complex(base) ** complex(exponent)


def _root(value: Number, degree: Number) -> Number:
    if not isinstance(degree, Fraction) or degree.denominator != 1 or not 2 <= degree <= 100:
        raise ValueError("degree of a root")
    n = int(degree)
    number = complex(value)
    if n % 2 and abs(number.imag) < _EQUAL * abs(number) and number.real < 0:
        return -((-number.real) ** (1 / n))
    return number ** (1 / n)


def close(a: Number, b: Number) -> bool:
    """Equal, exactly where both are exact and to ten digits otherwise; infinities are themselves."""
    if a == b or (isinstance(a, Fraction) and isinstance(b, Fraction)):
        return a == b
    x, y = complex(a), complex(b)
    if not (cmath.isfinite(x) and cmath.isfinite(y)):
        return False
    return abs(x - y) <= _EQUAL * max(abs(x), abs(y), 1e-12)


def constant(node: Node) -> Number | None:
    """The value of a formula without unknowns, else none."""
    if variables(node) or _bare_logs(node):
        return None
    try:
        value = evaluate(node, {})
    except (ArithmeticError, ValueError):
        return None
    return _real(value)


def _real(value: Number) -> Number | None:
    if isinstance(value, complex):
        if not cmath.isfinite(value):
            return None
        if abs(value.imag) <= _EQUAL * max(abs(value), 1e-12):
            return value.real
    return value


def _bare_logs(node: Node) -> bool:
    return (node.op == "log" and len(node.args) == 1) or any(map(_bare_logs, node.args))


def equal(left: Node, right: Node, *, scaled: bool = False) -> bool | None:
    """Whether two formulas are the same function, or none where that cannot be shown.

    Equal at positive points but not at negative ones is none: √(x²) and x differ unless x ≥ 0 is
    known. With ``scaled``, the same up to a non-zero constant factor.
    """
    names = sorted(variables(left) | variables(right))
    logs = _bare_logs(left), _bare_logs(right)
    rng = random.Random("points")
    verdicts = []
    for sign in (1, -1) if names else (1,):
        outcomes = []
        factor: complex | None = None
        for _ in range(_POINTS if names or any(logs) else 1):
            at = {name: sign * rng.uniform(0.3, 2.2) for name in names}
            at["log base"] = rng.uniform(2, 12)
            try:
                a, b = evaluate(left, at), evaluate(right, at)
                if scaled:
                    ratio = complex(a) / complex(b)
                    factor = ratio if factor is None else factor
                    outcomes.append(close(ratio, factor) and abs(factor) > _EQUAL)
                else:
                    outcomes.append(close(a, b))
            except (ArithmeticError, ValueError):
                continue
        if len(outcomes) < (_POINTS // 2 if names or any(logs) else 1):
            if sign > 0:
                return None
            continue
        if any(outcomes) and not all(outcomes):
            return None  # equal here and there: √((x-1)²) and x-1
        verdicts.append(all(outcomes))
        if not all(outcomes):
            break
    if all(verdicts):
        return True
    if len(verdicts) == 2 or logs[0] != logs[1]:
        return None
    return False


@lru_cache(maxsize=4096)
def read(text: str) -> Node | None:
    """``parse``, or none for what it does not read."""
    try:
        return parse(text)
    except (Unreadable, RecursionError):
        return None
