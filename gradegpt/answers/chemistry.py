"""Chemical formulas, ions and equations: which atoms, which charge, which side of the arrow."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_ELEMENTS: Final = (
    "H|He|Li|Be|B|C|N|O|F|Ne|Na|Mg|Al|Si|P|S|Cl|Ar|K|Ca|Sc|Ti|V|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se"
    "|Br|Kr|Rb|Sr|Y|Zr|Nb|Mo|Ag|Cd|In|Sn|Sb|Te|I|Xe|Cs|Ba|La|Ce|Pt|W|Au|Hg|Tl|Pb|Bi|Po|Rn|Ra|U"
)
_PART: Final = re.compile(
    rf"(?:(?P<atom>{'|'.join(sorted(_ELEMENTS.split('|'), key=len, reverse=True))})"
    r"|\((?P<inner>(?:[^()]|\([^()]*\))+)\))(?P<n>\d*)"
)
_WATER: Final = re.compile(r"[·.•*](\d*)")
_CHARGE: Final = re.compile(r"\^?\(?(?:(\d*)([+-])|([+-])(\d+))\)?\Z")
_STATE: Final = re.compile(r"\((?:s|l|g|aq)\)|[↑↓]")
_ARROW: Final = re.compile(
    r"\\(?:xrightarrow|xlongequal|overset|stackrel)\s*(?:\[[^\]]*\])?"
    r"(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}){1,2}|=+(?:[\u3400-\u9fff△,、]+=+)?|-+>|[→⇌]"
)
_TERM: Final = re.compile(r"(\d*)([A-Z(e].*)")
_MARKS: Final = str.maketrans("", "", " \t\n_{}$*")
_MOST: Final = 200
_A_WORD: Final = re.compile("[a-z]{3}")


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
        reduced = []
        for sides in (self, other):
            size = math.gcd(*(n for side in sides for _, n in side))
            reduced.append({frozenset((one, n // size) for one, n in side) for side in sides})
        return reduced[0] == reduced[1]


def bare(text: str) -> str:
    r"""A formula without marks of LaTeX: CaCO3 for ``\text{CaCO}_3``."""
    return fold(text).translate(_MARKS).strip(".,;:")


def species(text: str) -> Species | None:
    r"""What a formula such as H2SO4, Al^{3+} or CuSO4·5H2O is made of; None for any other text.

    >>> species("Ca(OH)2") == species("$\\text{Ca(OH)}_2$")
    True
    """
    if len(text) > _MOST or ("\\" not in text and _A_WORD.search(text)):
        return None
    found = _species(_STATE.sub("", bare(text)))
    alone = found is not None and not found.charge and [n for _, n in found.atoms] == [1]
    return None if alone else found  # C is a letter, too


def _species(text: str) -> Species | None:
    """As ``species``; also a single atom, or an electron, as in an equation."""
    if text in ("e-", "e^-"):
        return Species(frozenset(), -1)
    charge, sign = 0, _CHARGE.search(text)
    if sign is not None and sign.start():
        size = sign[1] or sign[4] or "1"
        text = text[: sign.start()]
        if sign[1] and "^" not in sign[0] and _PART.fullmatch(text) is None:
            text, size = text + (size[:-1] or size), size[1:] or "1"  # SO42- and NH4+
        charge = int(size) * (-1 if "-" in sign[0] else 1)
    atoms = _atoms(text)
    return Species(frozenset(atoms.items()), charge) if atoms else None


def _atoms(text: str) -> Counter[str]:
    """How many of each atom a formula has; none if it is no formula."""
    made, at, scale = Counter[str](), 0, 1
    while at < len(text):
        if water := _WATER.match(text, at):
            at, scale = water.end(), int(water[1] or 1)
        part = _PART.match(text, at)
        inner = part and (Counter([part["atom"]]) if part["atom"] else _atoms(part["inner"]))
        if not part or not inner:
            return Counter()
        at = part.end()
        made.update({atom: scale * n * int(part["n"] or 1) for atom, n in inner.items()})
    return made


def reaction(text: str) -> Reaction | None:
    """The two sides of a chemical equation; None for any other text.

    >>> reaction("CH4 + 2O2 → CO2 + 2H2O") == reaction("2O₂+CH₄=点燃=2H₂O+CO₂")
    True
    """
    sides = _ARROW.split(fold(text)) if len(text) <= _MOST else []
    if len(sides) != 2:
        return None
    left, right = map(_side, sides)
    return Reaction(left, right) if left and right else None


def _side(text: str) -> frozenset[tuple[Species, int]]:
    """The species of a side; none if one of its terms cannot be read."""
    made = Counter[Species]()
    for piece in re.split(r"\+(?=[\dA-Z(e])", _STATE.sub("", bare(text))):
        term = _TERM.fullmatch(piece)
        one = term and _species(term[2])
        if not term or not one:
            return frozenset()
        made[one] += int(term[1] or 1)
    return frozenset(made.items())
