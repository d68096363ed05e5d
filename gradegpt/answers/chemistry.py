"""Chemical formulas, ions and equations: which atoms, which charge, which side of the arrow."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_ELEMENTS: Final = (
    "H|He|Li|Be|B|C|N|O|F|Ne|Na|Mg|Al|Si|P|S|Cl|Ar|K|Ca|Sc|Ti|V|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se"
    "|Br|Kr|Rb|Sr|Y|Zr|Nb|Mo|Ag|Cd|In|Sn|Sb|Te|I|Xe|Cs|Ba|La|Ce|Pt|W|Au|Hg|Tl|Pb|Bi|Po|Rn|Ra|U"
)
_PART: Final = re.compile(
    rf"(?P<atom>{'|'.join(sorted(_ELEMENTS.split('|'), key=len, reverse=True))})(?P<n>\d*)"
    r"|(?P<open>\()|\)(?P<times>\d*)|(?P<water>[·.•*])(?P<waters>\d*)"
)
_MARKS: Final = re.compile(r"\\(?:mathrm|mathbf|text|rm|ce)\b|\\[,;!]|[\s_{}$*]")
_CHARGE: Final = re.compile(
    r"\^?\(?(?:(?P<size>\d*)(?P<sign>[+-])|(?P<first>[+-])(?P<after>\d+))\)?\Z"
)
_STATE: Final = re.compile(r"\((?:s|l|g|aq)\)|[↑↓]|\\(?:up|down)arrow")
_ARROW: Final = re.compile(
    r"\\(?:xrightarrow|xlongequal|overset|stackrel)\s*(?:\[[^\]]*\])?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
    r"(?:\{[^{}]*\})?|\\(?:long)?rightarrow|\\to\b|\\rightleftharpoons"
    r"|=+(?:[\u3400-\u9fff△,、]+=+)?|(?:-+>|→|⟶|⇌|⇄)"
)
_TERM: Final = re.compile(r"(?P<n>\d*)(?P<formula>[A-Z(e].*)")
_MOST: Final = 200


class Species(NamedTuple):
    """The atoms and the charge of a formula."""

    atoms: frozenset[tuple[str, int]]
    charge: int


class Reaction(NamedTuple):
    """The species on both sides, with their coefficients."""

    left: frozenset[tuple[Species, int]]
    right: frozenset[tuple[Species, int]]

    def is_multiple(self, other: Reaction) -> bool:
        """Whether the other has the same coefficients times a number, or the sides turned."""
        mine, theirs = (
            {(s, side): n for side, terms in enumerate(r) for s, n in terms} for r in (self, other)
        )
        ratios = {Fraction(n, theirs.get(key, 0) or 1) for key, n in mine.items()}
        return (self.right, self.left) == other or (
            mine.keys() == theirs.keys() and len(ratios) == 1
        )


def bare(text: str) -> str:
    r"""A formula without marks of LaTeX: CaCO3 for ``\text{CaCO}_3``."""
    return _MARKS.sub("", fold(text)).replace("−", "-").strip(".,;:")


def species(text: str) -> Species | None:
    r"""What a formula such as H2SO4, Al^{3+} or CuSO4·5H2O is made of; None for any other text.

    >>> species("Ca(OH)2") == species("$\\text{Ca(OH)}_2$")
    True
    """
    return _species(_STATE.sub("", bare(text))) if len(text) <= _MOST else None


def _species(text: str) -> Species | None:
    charge, sign = 0, _CHARGE.search(text)
    if sign is not None and sign.start():
        size = sign["size"] or sign["after"] or "1"
        text, digits = text[: sign.start()], sign["size"] or ""
        if digits and "^" not in sign[0] and _PART.fullmatch(text) is None:
            text, size = text + (digits[:-1] or digits), digits[1:] or "1"  # SO42- and NH4+
        charge = int(size) * (-1 if "-" in sign[0] else 1)
    atoms = _atoms(text)
    alone = sum(n for _, n in atoms) == 1 and not charge
    return None if not atoms or alone else Species(frozenset(atoms), charge)


def _atoms(text: str) -> list[tuple[str, int]]:
    levels, scale, at = [Counter[str]()], 1, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or len(text) > _MOST:
            return []
        at = part.end()
        if part["atom"]:
            levels[-1][part["atom"]] += scale * int(part["n"] or 1)
        elif part["open"]:
            levels.append(Counter())
        elif part["water"]:
            scale = int(part["waters"] or 1)
        elif len(levels) > 1:
            inner = levels.pop()
            for atom, n in inner.items():
                levels[-1][atom] += n * int(part["times"] or 1)
        else:
            return []
    return sorted(levels[0].items()) if len(levels) == 1 else []


def reaction(text: str) -> Reaction | None:
    """The two sides of a chemical equation; None for any other text.

    >>> reaction("CH4 + 2O2 → CO2 + 2H2O") == reaction("2O₂+CH₄=点燃=2H₂O+CO₂")
    True
    """
    if len(text) > _MOST or _ARROW.search(text) is None:
        return None
    sides = _ARROW.split(fold(text))
    if len(sides) != 2:
        return None
    left, right = (_side(bare(side)) for side in sides)
    return Reaction(left, right) if left and right else None


def _side(text: str) -> frozenset[tuple[Species, int]]:
    """The species of a side; none if one of its terms cannot be read."""
    made = Counter[Species]()
    for piece in re.split(r"\+(?=[\dA-Z(e])", _STATE.sub("", text)):
        term = _TERM.fullmatch(piece)
        one = term and (_species(term["formula"]) or _element(term["formula"]))
        if not term or not one:
            return frozenset()
        made[one] += int(term["n"] or 1)
    return frozenset(made.items())


def _element(text: str) -> Species | None:
    """One atom, as in an equation, or an electron."""
    if text in ("e-", "e^-"):
        return Species(frozenset(), -1)
    atoms = _atoms(text)
    return Species(frozenset(atoms), 0) if atoms else None
