"""Sets and tuples: other orders, brackets and notations."""

from __future__ import annotations

import random
import re
from typing import Final, NamedTuple

from data_gen.forms import atoms
from data_gen.forms.base import HAN, Answer, in_math
from data_gen.forms.edits import numeral_edits
from gradegpt.answers.values import split_top

# --- sets -----------------------------------------------------------------------------------------

_BRACES: Final = re.compile(
    r"(?P<lead>(?:[A-Za-z∩∪\\ ]{1,12}\s*=\s*|[A-Za-z]\s*(?:∈|\\in)\s*)?)"
    r"(?P<open>\\left\\\{|\\\{|\{)\s*(?P<body>.*?)\s*(?P<close>\\right\\\}|\\\}|\})",
    re.DOTALL,
)
_AND: Final = re.compile(r"\s*(?:[,，、;；和]|,?\s+and\s+)\s*")
_BUILDER: Final = re.compile(r"\||\\mid|∣|:")


class Elements(NamedTuple):
    """The elements of a set with the text around and between them."""

    before: str
    items: list[str]
    joint: str
    after: str

    def rebuilt(self, items: list[str]) -> str:
        """The same notation with other elements."""
        return f"{self.before}{self.joint.join(items)}{self.after}"


def elements(text: str) -> Elements | None:
    """A set given by its elements; none for one given by a property."""
    found = _BRACES.fullmatch(text)
    if (
        found is None
        or not _balanced(found["body"])
        or _BUILDER.search(found["body"])
        or not found["body"]
    ):
        return None
    items = [item.strip() for item in split_top(found["body"], ",，、;")]
    joint = re.search(r"[,，、;]\s*", found["body"])
    before, after = text[: found.start("body")], text[found.end("body") :]
    return Elements(before, items, joint[0] if joint else ", ", after) if all(items) else None


def _balanced(body: str) -> bool:
    """Whether what stands between two brackets belongs together: (1) and (2) has none around."""
    depth = 0
    for char in body:
        depth += (char in "([{（") - (char in ")]}）")
        if depth < 0:
            return False
    return depth == 0


def same_set(rng: random.Random, answer: Answer) -> list[str]:
    """The elements in other orders, braces and forms, and in words."""
    found = elements(answer.text)
    if found is None:
        return [in_math(answer.text)] if "\\" in answer.text else []
    items = found.items
    orders = [items, items[::-1], rng.sample(items, len(items)), rng.sample(items, len(items))]
    made = []
    for order in orders:
        tight, spaced = ",".join(order), ", ".join(order)
        made += [f"{{{tight}}}", f"{{{spaced}}}", f"\\{{{tight}\\}}", f"$\\{{{spaced}\\}}$"]
    for item in items[:2]:
        other = atoms.formal(rng, answer.part(item))[:3]
        made += [f"{{{', '.join(f if i == item else i for i in items)}}}" for f in other]
    if len(items) > 1:
        made += _told(items, orders[2], answer)
    if "\\left" not in answer.text:
        made.append(f"$\\left\\{{{', '.join(items)}\\right\\}}$")
    return [m for m in made if not (HAN.search(m) and "$" in m)]


def _told(items: list[str], drawn: list[str], answer: Answer) -> list[str]:
    made = ["、".join(items), ", ".join(drawn), f"{', '.join(items[:-1])} and {items[-1]}"]
    if answer.chinese:
        made.append(f"由{'、'.join(items[:-1])}和{items[-1]}组成的集合")
    else:
        made.append(f"the set of {', '.join(drawn[:-1])} and {drawn[-1]}")
    if all(atoms.is_value(item) and "," not in item for item in items) and len(items) < 4:
        made.append(f"x ∈ {{{', '.join(drawn)}}}")
        made.append(("或" if answer.chinese else " or ").join(f"x={item}" for item in items))
    return made


def near_set(rng: random.Random, answer: Answer) -> list[str]:
    """One element missing, more, or another."""
    found = elements(answer.text)
    if found is None:
        return []
    items = found.items
    missing = [[i for i in items if i is not gone] for gone in items] if len(items) > 2 else []
    another: list[list[str]] = []
    more: list[list[str]] = []
    for item in items:
        for other in _others(rng, answer, item, items)[:4]:
            another.append([other if i is item else i for i in items])
            more += [[*items, other]] if len(items) > 1 else []
    alike = (rng.sample(made, min(len(made), 4)) for made in (missing, another, more))
    return [found.rebuilt(new) for made in alike for new in made]


def _others(rng: random.Random, answer: Answer, item: str, items: list[str]) -> list[str]:
    """Values like ``item`` that are no element; another letter for a letter."""
    if re.fullmatch(r"[A-Za-z]", item):
        alphabet = "ABCDEFGH" if item.isupper() else "abcdefgh"
        return [c for c in alphabet if c not in items]
    return [n for n in atoms.near(rng, answer.part(item)) if n not in items]


# --- tuples ---------------------------------------------------------------------------------------

_TUPLE: Final = re.compile(
    r"(?P<lead>(?:[A-Za-z]+|点[A-Z]?|\([a-z, ]+\)\s*=|[A-Za-z]\s*=)?\s*)"
    r"(?P<open>\\left\(|[(（⟨<]|\\langle)\s*(?P<body>.+?)\s*(?P<close>\\right\)|[)）⟩>]|\\rangle)",
    re.DOTALL,
)
_NAMED: Final = re.compile(r"[xyzabmn]\s*=\s*[^=,，;；]+")
_NAMES: Final = "xyz"


def components(text: str) -> Elements | None:
    """The components of a tuple in brackets."""
    found = _TUPLE.fullmatch(text)
    if found is None or not _balanced(found["body"]) or re.search(r"∞|\\infty", text):
        return None
    items = [item.strip() for item in split_top(found["body"], ",，")]
    before, after = text[: found.start("body")], text[found.end("body") :]
    joint = re.search(r"[,，]\s*", found["body"])
    return Elements(before, items, joint[0] if joint else ", ", after) if len(items) > 1 else None


def same_tuple(rng: random.Random, answer: Answer) -> list[str]:
    """With other brackets, components in other forms, and as x = …, y = …."""
    text = answer.text
    items = _assigned(text)
    if not items:
        found = components(text)
        if found is None:
            return []
        items = found.items
    tight, spaced = ",".join(items), ", ".join(items)
    made = [f"({tight})", f"({spaced})", f"$({spaced})$", f"$\\left({tight}\\right)$"]
    made += [f"（{'，'.join(items)}）", f"( {' , '.join(items)} )"]
    for n, item in enumerate(items):
        other = atoms.formal(rng, answer.part(item))[:3]
        made += [f"({', '.join([*items[:n], f, *items[n + 1 :]])})" for f in other]
    if len(items) in (2, 3) and all(map(atoms.is_value, items)):
        named = [f"{name}={item}" for name, item in zip(_NAMES, items, strict=False)]
        apart = [n.replace("=", " = ") for n in named]
        made += [", ".join(named), "，".join(named), ", ".join(apart), " and ".join(apart)]
        made += ["$" + ",\\ ".join(named) + "$", ", ".join(reversed(apart))]
        made.append(f"({', '.join(_NAMES[: len(items)])}) = ({spaced})")
    return made


def _assigned(text: str) -> list[str]:
    """The components of x = 1, y = 2, in the order of the names."""
    parts = re.split(r"\s*(?:[,，;；]|\band\b|且)\s*", text)
    if not 2 <= len(parts) <= 3 or not all(_NAMED.fullmatch(part) for part in parts):
        return []
    pairs = sorted(tuple(s.strip() for s in part.split("=")) for part in parts)
    return [v for _, v in pairs] if [n for n, _ in pairs] == [*_NAMES[: len(pairs)]] else []


def near_tuple(rng: random.Random, answer: Answer) -> list[str]:
    """Two components exchanged, or one of them another."""
    found = components(answer.text)
    if found is None:
        return numeral_edits(rng, answer.text)
    items = found.items
    made: list[str] = []
    made += [
        found.rebuilt([*items[:n], items[n + 1], items[n], *items[n + 2 :]])
        for n in range(len(items) - 1)
    ]
    for n, item in enumerate(items):
        others = atoms.near(rng, answer.part(item))[:4]
        made += [found.rebuilt([*items[:n], other, *items[n + 1 :]]) for other in others]
    return made
