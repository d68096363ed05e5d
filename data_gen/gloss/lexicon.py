"""The words of the gloss: ``text/gloss.tsv``, Chinese TAB category TAB English [TAB preposition].

The categories are named at the head of that file. A word may stand in several of them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.errors import InputError

FOLDER: Final = Path(__file__).parent.parent / "text"
_IRREGULAR: Final = {"be": "is", "have": "has", "do": "does", "can": "can", "may": "may"}
_SIBILANTS: Final = ("s", "x", "z", "ch", "sh")


class Entry(NamedTuple):
    """One meaning. ``second`` is the plural of a noun, the past of a verb, a measure alone."""

    category: str
    english: str
    second: str
    preposition: str


class Lexicon(NamedTuple):
    """Entries by Chinese word, and the length of the longest word."""

    entries: dict[str, tuple[Entry, ...]]
    longest: int


@cache
def lexicon() -> Lexicon:
    """The table, read once."""
    path = FOLDER / "gloss.tsv"
    entries: dict[str, tuple[Entry, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if not 3 <= len(fields) <= 4:
            raise InputError(
                f"{path}:{number}: {len(fields)} fields; "
                "write Chinese TAB category TAB English [TAB preposition]"
            )
        english, _, second = fields[2].partition("|")
        preposition = fields[3] if len(fields) == 4 else "of"
        entry = Entry(fields[1], english, second, preposition)
        entries[fields[0]] = (*entries.get(fields[0], ()), entry)
    return Lexicon(entries, max(map(len, entries)))


@cache
def simplified() -> dict[int, str]:
    """Traditional characters to simplified ones, for ``str.translate``."""
    lines = (FOLDER / "gloss_traditional.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return {ord(old): new for olds, news in pairs for old, new in zip(olds, news, strict=True)}


def plural(noun: str) -> str:
    """The plural of an English noun that follows the rules; the last word carries it."""
    if noun.endswith(_SIBILANTS):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def third_person(verb: str) -> str:
    """The form of a verb's first word after a singular subject."""
    first, blank, rest = verb.partition(" ")
    return (_IRREGULAR.get(first) or plural(first)) + blank + rest


def past(verb: str) -> str:
    """The past of a regular verb's first word."""
    first, blank, rest = verb.partition(" ")
    if first.endswith("y") and first[-2:-1] not in "aeiou":
        first = f"{first[:-1]}i"
    return first + ("d" if first.endswith("e") else "ed") + blank + rest


def article(noun: str) -> str:
    """The noun with "a" or "an"."""
    return f"{'an' if noun[:1].lower() in 'aeio' or noun.startswith('un') else 'a'} {noun}"
