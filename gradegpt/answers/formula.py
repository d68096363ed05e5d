"""Short formulas, LaTeX or plain, as trees of known operations.

Text is never evaluated, and length and depth are bounded; a formula with two readings is not read.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

MAX_LENGTH: Final = 400
MAX_DEPTH: Final = 40
CONSTANTS: Final = ("π", "e", "i", "°")
FUNCTIONS: Final = (
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "ln", "lg", "exp",
)  # fmt: skip


class UnreadableError(Exception):
    """The text is no formula that this module reads, or one with two readings."""


class Node(NamedTuple):
    """An operation and its operands; a leaf has none and carries ``name`` or ``value``."""

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction | None = None
    name: str = ""


_GREEK: Final = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta",
    "iota", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi",
    "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Phi", "Psi",
    "Omega", "hbar", "ell",
))  # fmt: skip
_PROSE = re.compile(
    r"[\u3400-\u9fff]|(?<![A-Za-z\\])(?:[A-Za-z]{2,}\s+[A-Za-z]{2,}(?![A-Za-z])|(?:not|for|but|all)(?![A-Za-z])"
    r"|[A-Z]{3,}|(?!(?:arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|exp|log|sqrt|abs|abc)(?![a-z]))"
    r"(?:[A-Za-z]{4,}|(?=[a-z]*[aeiou])[A-Za-z][a-z]{2})(?![A-Za-z]))"
)
"""Words; read letter by letter, a word would be a product."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:[ ]\d{3})+(?![\d.])|\d+(?:\.\d+)?|\.\d+)"
    r"|\\(?P<command>[A-Za-z]+)"
    r"|(?P<word>arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|lg|log|exp|sqrt|abs|pi)(?![a-z])"
    r"|(?P<letter>[A-Za-zα-ωΑ-Ωπℓħ∞])"
    r"|(?P<sign>\*\*|[-+*/^_(){}\[\]|!°%×·÷√']))"
)


def parse(text: str) -> Node:
    """The tree of a folded formula (see ``answers.text.fold``).

    Raises:
        UnreadableError: The text is no formula, is too long or too deep, or has two readings.

    """
    if len(text) > MAX_LENGTH:
        raise UnreadableError(f"longer than {MAX_LENGTH} characters")
    if _PROSE.search(text):
        raise UnreadableError("it has words")
    return _Parser(_tokens(text)).whole()


class _Token(NamedTuple):
    kind: str
    text: str
    spaced: bool = False


_END: Final = _Token("end", "")
_SIGNS: Final = {"times": "*", "cdot": "*", "div": "/"}
_TWO: Final = Node("num", value=Fraction(2))


def _tokens(text: str) -> list[_Token]:
    made, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise UnreadableError(f"{text[at : at + 8]!r} is not read here")
        kind = match.lastgroup or ""
        sign = _SIGNS.get(match[kind]) if kind == "command" else None
        spaced = match[0][:1].isspace()
        made.append(
            _Token("sign", sign, spaced)
            if sign
            else _Token(kind, match[kind].replace(" ", ""), spaced)
        )
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
            raise UnreadableError(f"{self.tokens[self.at].text!r} is left over")
        return node

    @property
    def token(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def take(self, *texts: str) -> bool:
        kind, text, _ = self.token
        taken = kind == "sign" and text in texts
        self.at += taken
        return taken

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise UnreadableError(f"{text!r} expected, {self.token.text!r} found")

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
        node = self.product()
        while self.token.kind == "sign" and self.token.text in "+-":
            minus = not self.take("+") and self.take("-")
            right = self.product()
            node = Node("+", (node, Node("neg", (right,)) if minus else right))
        self.depth -= 1
        return node

    def product(self) -> Node:
        if self.take("-"):
            return Node("neg", (self.product(),))
        if self.take("+"):
            return self.product()
        node, slash = self.power(), False
        while True:
            if self.take("*", "×", "·"):
                node, slash = Node("*", (node, self.signed())), False
            elif self.take("/", "÷"):
                node, slash = Node("/", (node, self.signed())), True
            elif self._starts_operand():
                if slash:
                    raise UnreadableError("a/b c has two readings: (a/b)c and a/(bc)")
                # A numeral and a fraction side by side are a mixed number: 1\frac{1}{2}.
                operation = "+" if self._mixed(node) else "*"
                node = Node(operation, (node, right := self.power()))
                if right.value == 0:
                    raise UnreadableError("x 0 is no product: two answers, or a value at 0")
            else:
                return node

    def signed(self) -> Node:
        return Node("neg", (self.signed(),)) if self.take("-") else self.power()

    def _mixed(self, node: Node) -> bool:
        whole = node.value is not None and node.value.denominator == 1
        if not whole or self.token[:2] != ("command", "frac"):
            return False
        inside = [t for t in self.tokens[self.at + 1 : self.at + 7] if t.kind != "sign"]
        return len(inside) >= 2 and all(t.kind == "number" for t in inside[:2])

    def _starts_operand(self) -> bool:
        """Whether the next token begins a factor.

        A number does so only after a closing brace and a space, 2^{12} 13^2: elsewhere x2 is x₂ or
        x², and H2O is no product.
        """
        kind, text, spaced = self.token
        if kind == "number":
            return spaced and self.tokens[self.at - 1].text == "}"
        return kind != "end" and (kind != "sign" or text in "({√[")

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
            elif self.take("%"):
                node = Node("/", (node, Node("num", value=Fraction(100))))
            else:
                return node

    def argument(self) -> Node:
        r"""A braced group, or a single digit or letter: ``x^23`` is x² times 3 in LaTeX."""
        if self.take("{"):
            node = self.sum()
            self.expect("}")
            return node
        if self.token.kind == "number" and len(self.token.text) > 1:
            # Plain text means x^(23), LaTeX means x^2·3.
            raise UnreadableError("an exponent of several digits without braces")
        return self.atom()

    def digit_or_argument(self) -> Node:
        r"""As ``argument``, but one digit at a time, as LaTeX has it: ``\frac12`` is one half."""
        token = self.token
        if token.kind == "number" and token.text.isdigit():
            rest = token._replace(text=token.text[1:])
            self.tokens[self.at : self.at + 1] = [rest] if rest.text else []
            return Node("num", value=Fraction(token.text[0]))
        return self.argument()

    def atom(self) -> Node:
        kind, text, _ = self.token
        self.at += 1
        match kind:
            case "end":
                raise UnreadableError("it ends where a value is expected")
            case "number":
                return Node("num", value=Fraction(text))
            case "letter":
                return self.named(text)
            case "word":
                return self.function(text)
            case "command":
                return self.command(text)
            case _:
                return self.bracket(text)

    def bracket(self, text: str) -> Node:
        if text in ("(", "[", "{"):
            node = self.sum()
            self.expect({"(": ")", "[": "]", "{": "}"}[text])
            return node
        if text == "|":
            node = self.sum()
            self.expect("|")
            return Node("abs", (node,))
        if text == "√":
            inside = self.atom() if self.token.kind == "number" else self.argument()
            return Node("root", (inside, _TWO))
        raise UnreadableError(f"{text!r} where a value is expected")

    def named(self, letter: str) -> Node:
        name = letter
        if [t.text for t in self.tokens[self.at : self.at + 3]][::2] == ["(", ")"]:
            inside = self.tokens[self.at + 1]
            if inside.kind == "number" and not self.tokens[self.at].spaced:
                raise UnreadableError("f(0) has two readings: a product and a value of f")
        if self.take("_"):
            name += f"_{self.subscript()}"
        while self.take("'"):
            name += "'"
        return Node("const" if name in CONSTANTS else "var", name=name)

    def subscript(self) -> str:
        start = self.at
        end = start + 1
        if self.take("{"):
            texts = [t.text for t in self.tokens]
            end = texts.index("}", start) + 1 if "}" in texts[start:] else len(texts) + 1
        if end > len(self.tokens):
            raise UnreadableError("it ends where a value is expected")
        self.at = end
        index = "".join(t.text for t in self.tokens[start:end]).strip("{}")
        return "0" if index in ("o", "O") else index  # ε_o for ε_0

    def command(self, name: str) -> Node:
        if name == "frac":
            top = self.digit_or_argument()
            return Node("/", (top, self.digit_or_argument()))
        if name == "sqrt":
            return self.root()
        if name in _GREEK:
            return self.named(f"\\{name}")
        return self.function(name)

    def root(self) -> Node:
        degree = _TWO
        if self.take("["):
            degree = self.sum()
            self.expect("]")
        return Node("root", (self.argument(), degree))

    def function(self, name: str) -> Node:
        if name == "sqrt":
            braced = self.token.text in ("{", "[")
            return self.root() if braced else Node("root", (self.bracketed(), _TWO))
        if name == "abs":
            return Node("abs", (self.bracketed(),))
        if name == "pi":
            return self.named("π")
        base = None
        if name == "log" and self.take("_"):
            base = self.argument()
        elif name not in FUNCTIONS and name != "log":
            raise UnreadableError(f"\\{name} is not read here")
        exponent = self.exponent() if self.take("^") else None
        inner = self.power() if self.token.text in ("(", "{", "[") else self.operand()
        if name == "log":
            node = Node("log", (inner, base) if base else (inner,))
        elif exponent is not None and exponent.op == "neg":
            raise UnreadableError("sin^{-1} has two readings: arcsin and 1/sin")
        else:
            node = Node("call", (inner,), name=name)
        return Node("^", (node, exponent)) if exponent is not None else node

    def operand(self) -> Node:
        r"""The argument of a function without brackets: the 2x of ``\sin 2x + 1``."""
        node = self.signed()
        while self.token.kind == "letter":
            node = Node("*", (node, self.power()))
        return node

    def bracketed(self) -> Node:
        self.expect("(")
        node = self.sum()
        self.expect(")")
        return node


def variables(node: Node) -> frozenset[str]:
    """The names of the unknowns."""
    own = frozenset([node.name]) if node.op == "var" else frozenset()
    return own.union(*(variables(arg) for arg in node.args))


@lru_cache(maxsize=4096)
def read_formula(text: str) -> Node | None:
    """As ``parse``, but None for a text that it does not read."""
    try:
        return parse(text)
    except (UnreadableError, RecursionError):
        return None
