"""Noun phrases: the possessor that Chinese puts first goes behind "of" in English.

Every method reads from a token on and gives all that could end there: (next token, phrase) pairs,
the preferred first. What no rule reads has no gloss.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from data_gen.gloss.lexicon import Entry, article, plural
from data_gen.gloss.tokens import Token

_RELATION = re.compile(
    r"[=<>≤≥≠≈∈⊂⊆]|\\(?:leq?|geq?|neq?|approx|in|lt|gt|leqslant|geqslant|subset)\b"
)
_LETTERS = re.compile(
    r"\$\\mathrm\{\(?[A-H]{1,5}\)?\}\$|\$?[A-H]{1,5}\$?|\([A-H]\)|[A-H](?:[,，/ ]+[A-H])+"
)
_QUANTITY = re.compile(r"[-+]?[\d.,/]+%?|[a-z]|\$[^$]*\$|\\\(.*\\\)|`[^`]*`|\\boxed\{.*\}")
_ORDINAL: Final = {
    "one": "first", "two": "second", "three": "third", "four": "fourth", "five": "fifth",
    "six": "sixth", "seven": "seventh", "eight": "eighth", "nine": "ninth", "ten": "tenth",
}  # fmt: skip


class Noun(NamedTuple):
    """A noun in both numbers; ``kind`` is its category in the table."""

    singular: str
    plural: str
    kind: str
    preposition: str = "of"


class Phrase(NamedTuple):
    """A finished noun phrase. ``bare`` is how it reads as a complement: "a square"."""

    text: str
    kind: str
    plural: bool = False
    bare: str = ""
    relation: bool = False
    noun: Noun | None = None

    @property
    def many(self) -> str:
        """As what several things are: "prime numbers", "solutions to the equation"."""
        noun = self.noun
        if noun is None or not self.text.startswith(f"the {noun.singular}"):
            return self.text
        return noun.plural + self.text.removeprefix(f"the {noun.singular}")

    @property
    def is_pair(self) -> bool:
        """Whether it names two things, which are "both" and not "all"."""
        return self.text.count(" and ") == 1 and "," not in self.text


Found = tuple[int, Phrase]


class NounPhrases:
    """Reads the noun phrases of one clause."""

    def __init__(self, tokens: tuple[Token, ...], *, before_colon: bool) -> None:
        self.tokens = tokens
        self.before_colon = before_colon
        self.memo: dict[tuple[str, int], tuple[Found, ...]] = {}

    def entries(self, at: int, *categories: str) -> list[Entry]:
        """What the token can mean in these categories."""
        if at >= len(self.tokens):
            return []
        return [e for e in self.tokens[at].entries if e.category in categories]

    def is_word(self, at: int, *words: str) -> bool:
        """Whether one of the words stands there."""
        return at < len(self.tokens) and self.tokens[at].text in words

    def held(self, at: int) -> Token | None:
        """The mathematics that stands there."""
        token = self.tokens[at] if at < len(self.tokens) else None
        return token if token is not None and token.kind == "held" else None

    def phrases(self, at: int) -> tuple[Found, ...]:
        """Noun phrases, and lists of them."""
        if ("phrases", at) not in self.memo:
            found: list[Found] = []
            for end, first in self._chain(at):
                found += [*self._listed(end, [first]), (end, first)]
            self.memo["phrases", at] = _distinct(found)
        return self.memo["phrases", at]

    def _listed(self, at: int, members: list[Phrase], word: str = "") -> list[Found]:
        """``members`` and what is joined to them: by 、, then at most by one "and" or "or"."""
        joins = self.entries(at, "join")
        if not joins or word in ("and", "or") or len(members) > 12:
            return []
        found: list[Found] = []
        english = joins[0].english
        for end, phrase in self._chain(at + 1):
            both = [*members, phrase]
            found += [*self._listed(end, both, english), (end, _list_of(both, english))]
        return found

    def _chain(self, at: int) -> tuple[Found, ...]:
        """A phrase with all that hangs on it by 的, by a place, or directly."""
        if ("chain", at) not in self.memo:
            self.memo["chain", at] = ()
            found: list[Found] = []
            open_ends = [*self._groups(at), *self._primary(at)]
            groups = len(open_ends) - len(self._primary(at))
            for number, (end, phrase) in enumerate(open_ends):
                grown = self._grown(end, phrase)
                found += grown if number < groups else [*grown, (end, phrase)]
            self.memo["chain", at] = _distinct(found)
        return self.memo["chain", at]

    def _grown(self, at: int, owner: Phrase) -> list[Found]:
        """``owner`` with what it owns: "the area of the circle", longest first."""
        found: list[Found] = []
        for end, phrase in self._owned(at, owner):
            found += [*self._grown(end, phrase), (end, phrase)]
        return found

    def _owned(self, at: int, owner: Phrase) -> list[Found]:
        if owner.relation or owner.kind == "quantity":
            return []
        found: list[Found] = []
        for end, place in self.places(at):
            start = end + 1 if self.is_word(end, "的") else end
            heads = self._heads(start, attributes_only=start == end)
            found += [(j, _owned_by(head, owner, f" {place}")) for j, head in heads]
        if not self.is_word(at, "的"):
            return [*found, *self._owned_directly(at, owner)]
        found += [(j, _owned_by(head, owner)) for j, head in self._heads(at + 1)]
        found += [(j, p._replace(text=f"{p.text} {owner.text}")) for j, p in self._shares(at + 1)]
        if self.is_word(at + 2, "次方") and self.tokens[at + 1].english:
            text = f"{owner.text} to the power {self.tokens[at + 1].english}"
            found.append((at + 3, Phrase(text, "held")))
        return found

    def _owned_directly(self, at: int, owner: Phrase) -> list[Found]:
        if at < len(self.tokens) and len(self.tokens[at].text) == 1:
            return []  # 和, 比, 长 are other words more often than names of attributes
        if owner.kind == "attribute" and len(self.tokens[at - 1].text) == 1:
            return []  # 解方程 is no solution of an equation
        heads = self._heads(at, attributes_only=True)
        return [(j, _owned_by(head, owner)) for j, head in heads]

    def _heads(self, at: int, *, attributes_only: bool = False) -> list[Found]:
        """What can be owned: nouns with their symbols, counted nouns, and pairs of attributes."""
        found = [
            (j, p)
            for j, p in self._named(at)
            if not attributes_only or (p.noun is not None and p.noun.kind == "na")
        ]
        if not attributes_only:
            more = [*self._counted(at), *self._pointed(at)]
            found += [(j, p) for j, p in more if p.noun is not None]
        pairs: list[Found] = []
        for j, first in found:
            join = self.entries(j, "join")
            if not join or first.kind != "attribute" or join[0].english == ",":
                continue
            for k, second in self._named(j + 1):
                if second.kind == "attribute" and not self.is_word(k, "的"):
                    pairs.append((k, _list_of([first, second], join[0].english)))
        return [*pairs, *found]

    def _shares(self, at: int) -> list[Found]:
        """ "Two thirds of", "3 times": what stands before the whole in English."""
        if at >= len(self.tokens):
            return []
        token = self.tokens[at]
        if self.is_word(at + 1, "倍") and token.kind in ("number", "held"):
            return [(at + 2, Phrase(f"{token.english} times", "attribute"))]
        if self.is_word(at, "一半"):
            return [(at + 1, Phrase("half of", "attribute"))]
        if "分之" in token.text or (
            token.kind == "held" and token.text.rstrip("$\\").endswith("%")
        ):
            return [(at + 1, Phrase(f"{token.english} of", "attribute"))]
        return []

    def _groups(self, at: int) -> list[Found]:
        """Lists of like things that own something together: "the sum of a and b"."""
        found: list[Found] = []
        for end, first in self._primary(at):
            members, stop = [first], end
            while self.entries(stop, "join") and len(members) < 8:
                more = [(j, p) for j, p in self._primary(stop + 1) if p.kind == first.kind]
                if not more or first.relation or more[0][1].relation:
                    break
                word = self.entries(stop, "join")[0].english
                stop, member = more[0]
                members.append(member)
                if word != "or" and first.kind != "quantity":
                    found.append((stop, _list_of(members, word)))
            if self.is_word(end, "到", "与", "和") and first.kind in ("thing", "held"):
                found += [
                    (j, Phrase(f"from {first.text} to {p.text}", "path"))
                    for j, p in self._primary(end + 1)
                    if self.is_word(end, "到") and p.kind in ("thing", "held")
                ]
        return found[::-1]

    def places(self, at: int) -> list[tuple[int, str]]:
        """在 … 上 and its like: "on the line"."""
        if not self.is_word(at, "在"):
            return []
        return self.inside(at + 1)

    def inside(self, at: int) -> list[tuple[int, str]]:
        """A phrase with a word of place behind it."""
        found: list[tuple[int, str]] = []
        for end, phrase in self.phrases(at):
            for entry in self.entries(end, "loc"):
                if entry.english != "between" or phrase.kind == "list":
                    found.append((end + 1, f"{entry.english} {phrase.text}"))
        return found

    def _primary(self, at: int) -> tuple[Found, ...]:
        if ("primary", at) not in self.memo:
            found = [*self._options(at), *self._counted(at), *self._pointed(at), *self._named(at)]
            if token := self.held(at):
                if self.is_word(at + 1, "点") and re.fullmatch(r"\$?[A-Z]'?\$?", token.text):
                    found.append((at + 2, Phrase(f"point {token.english}", "thing")))
                relation = bool(_RELATION.search(_unbracketed(token.text)))
                found.append((at + 1, Phrase(token.english, "held", relation=relation)))
            if at < len(self.tokens) and self.tokens[at].kind == "number":
                found.append((at + 1, Phrase(self.tokens[at].english, "quantity")))
            for entry in self.entries(at, "fx", "pr"):
                several = entry.second == "plural"
                found.append((at + 1, Phrase(entry.english, "thing", several)))
            self.memo["primary", at] = _distinct(found)
        return self.memo["primary", at]

    def _options(self, at: int) -> list[Found]:
        """选项B, B项, B选项 -> option B."""
        start = at + 1 if self.is_word(at, "选项") else at
        token = self.held(start)
        if token is None or not _LETTERS.fullmatch(token.text):
            return []
        letters, names, end = len(re.findall("[A-H]", token.text)), [token.english], start + 1
        while self.is_word(end, "、", "和", "与", "或") and (more := self.held(end + 1)):
            if not _LETTERS.fullmatch(more.text):
                break
            names += [self.entries(end, "join")[0].english, more.english]
            letters, end = letters + 1, end + 2
        if self.is_word(end, "选项", "项") and start == at:
            end += 1
        elif start == at:
            return []
        words = " ".join(names).replace(" ,", ",")
        several = letters > 1
        return [(end, Phrase(f"option{'s' if several else ''} {words}", "option", several))]

    def _pointed(self, at: int) -> list[Found]:
        """该, 每个, 所有 and ordinals before a noun."""
        found: list[Found] = []
        for entry in self.entries(at, "det"):
            several = entry.second == "plural"
            for j, noun in self._nouns(at + 1):
                name = noun.plural if several and noun.kind != "nm" else noun.singular
                kind = "attribute" if noun.kind == "na" else "thing"
                text = f"{entry.english} {name}"
                found += [*self._labelled(j, text, kind, several, noun)]
                found.append((j, Phrase(text, kind, several, noun=noun)))
        if self.is_word(at, "第") and at + 1 < len(self.tokens):
            token = self.tokens[at + 1]
            if token.kind not in ("number", "held") or (
                token.kind == "held" and not re.fullmatch(r"\d+|\$?[a-z]\$?", token.text)
            ):
                return found
            number = _ORDINAL.get(token.english, f"No. {token.english}")
            start = (
                at + 3
                if self.is_word(at + 2, "个", "种", "道", "只", "次") and self._nouns(at + 3)
                else at + 2
            )
            for j, noun in [*self._nouns(start), *self._units_as_nouns(start)]:
                found.append(
                    (j, Phrase(f"the {number} {noun.singular}", "thing"))
                    if number in _ORDINAL.values()
                    else (j, Phrase(f"{noun.singular} {number}", "thing"))
                )
        return found

    def _units_as_nouns(self, at: int) -> list[tuple[int, Noun]]:
        units = self.entries(at, "unit", "cla")
        return [
            (at + 1, Noun(e.english, e.second or plural(e.english), "n"))
            for e in units
            if e.english
        ]

    def _named(self, at: int) -> list[Found]:
        """A noun without a number, with the symbol that follows it."""
        found: list[Found] = []
        for j, noun in self._nouns(at):
            kind = "attribute" if noun.kind == "na" else "thing"
            text = noun.singular if noun.kind in ("nm", "np") else f"the {noun.singular}"
            bare = article(noun.singular) if noun.kind == "n" else ""
            several = noun.kind == "npl" or noun.singular.endswith("coordinates")
            found += self._labelled(j, text, kind, several, noun)
            found.append((j, Phrase(text, kind, several, bare, noun=noun)))
        return found

    def _labelled(self, at: int, text: str, kind: str, several: bool, noun: Noun) -> list[Found]:
        token = self.held(at)
        if token is None or noun.kind in ("np",):
            return []
        relation = kind == "attribute" and bool(_RELATION.search(_unbracketed(token.text)))
        return [
            (at + 1, Phrase(f"{text} {token.english}", kind, several, relation=relation, noun=noun))
        ]

    def _nouns(self, at: int) -> list[tuple[int, Noun]]:
        """Nouns with their adjectives."""
        found: list[tuple[int, Noun]] = []
        for entry in self.entries(at, "n", "na", "nm", "np", "npl"):
            several = entry.second or (
                entry.english if entry.category in ("nm", "npl") else plural(entry.english)
            )
            found.append((at + 1, Noun(entry.english, several, entry.category, entry.preposition)))
        for entry in self.entries(at, "a"):
            start = at + 2 if self.is_word(at + 1, "的") else at + 1
            for end, noun in self._nouns(start):
                if noun.kind == "np":
                    continue
                names = (f"{entry.english} {noun.singular}", f"{entry.english} {noun.plural}")
                found.append((end, noun._replace(singular=names[0], plural=names[1])))
        for entry in self.entries(at, "rel"):
            for end, noun in self._nouns(at + 2) if self.is_word(at + 1, "的") else []:
                if noun.kind in ("n", "na"):
                    one, several = (
                        f"{noun.singular} that {entry.english}",
                        f"{noun.plural} that {entry.second}",
                    )
                    found.append((end, noun._replace(singular=one, plural=several)))
        return found

    def _counted(self, at: int) -> list[Found]:
        """约18个苹果 -> about 18 apples; 每小时60千米 -> 60 kilometres per hour."""
        found: list[Found] = []
        for entry in self.entries(at, "ap"):
            more = [
                p
                for p in self._primary(at + 1)
                if p[1].kind in ("quantity", "held") and not p[1].relation
            ]
            found += [(j, p._replace(text=f"{entry.english} {p.text}", noun=None)) for j, p in more]
        if self.is_word(at, "每"):
            for entry in self.entries(at + 1, "unit", "cla"):
                found += [
                    (j, p._replace(text=f"{p.text} per {entry.english}"))
                    for j, p in self._measured(at + 2)
                    if p.kind == "quantity"
                ]
        for j, phrase in self._measured(at):
            found += [*self._bounded(j, phrase), (j, phrase)]
        return found

    def _bounded(self, at: int, phrase: Phrase) -> list[Found]:
        return [
            (at + 1, phrase._replace(text=entry.english.replace("{}", phrase.text), noun=None))
            for entry in self.entries(at, "bound")
        ]

    def _measured(self, at: int) -> list[Found]:
        token = self.tokens[at] if at < len(self.tokens) else None
        if token is None or token.kind not in ("number", "held"):
            return []
        if token.kind == "held" and not _QUANTITY.fullmatch(token.text):
            return []
        one = token.text in ("1", "一", "$1$")
        if re.fullmatch(r"1\d{3}|20\d\d", token.text) and self.is_word(at + 1, "年"):
            return [(at + 2, Phrase(f"the year {token.english}", "thing"))]
        found: list[Found] = []
        if token.kind == "number" and not one and "分之" not in token.text:
            found += [
                self._counting(token, j, noun, one)
                for j, noun in self._nouns(at + 1)
                if noun.kind in ("n", "na")
            ]
        for entry in self.entries(at + 1, "cl", "cla", "unit"):
            if entry.category != "unit":
                start = at + 3 if self.is_word(at + 2, "不同的") else at + 2
                found += [
                    self._counting(token, j, noun, one)
                    for j, noun in self._nouns(start)
                    if noun.kind in ("n", "na")
                ]
            found += self._with_unit(token, at + 2, entry, one)
        return found

    def _counting(self, token: Token, end: int, noun: Noun, one: bool) -> Found:
        """A number of things."""
        if token.text == "一":
            return end, Phrase(article(noun.singular), "counted", noun=noun)
        name = noun.singular if one else noun.plural
        return end, Phrase(f"{token.english} {name}", "counted", not one, noun=noun)

    def _with_unit(self, token: Token, at: int, entry: Entry, one: bool) -> list[Found]:
        """A number with its unit, the stuff measured, or a second unit: "3 hours 20 minutes"."""
        unit = (
            entry.english
            if one
            else entry.second or (plural(entry.english) if entry.english else "")
        )
        text = f"{token.english} {unit}".strip()
        found: list[Found] = []
        if entry.category == "unit":
            for end, noun in self._nouns(at):
                if noun.kind == "nm" or (noun.kind == "n" and entry.preposition == "stuff"):
                    name = noun.singular if noun.kind == "nm" else noun.plural
                    found.append((end, Phrase(f"{text} of {name}", "counted", not one, noun=noun)))
            if self.is_word(at, "/"):
                found += [
                    (at + 2, Phrase(f"{text} per {e.english}", "quantity"))
                    for e in self.entries(at + 1, "unit", "cla")
                ]
                if self.is_word(at + 1, "时"):
                    found.append((at + 2, Phrase(f"{text} per hour", "quantity")))
            for end, more in self._measured(at):
                if more.kind == "quantity" and entry.english:
                    found.append((end, Phrase(f"{text} {more.text}", "quantity")))
        found.append((at, Phrase(text, "quantity", plural=not one and entry.category != "unit")))
        return found


def _distinct(found: list[Found]) -> tuple[Found, ...]:
    """Without repetitions; at most 40, so that no sentence takes long."""
    return tuple(dict.fromkeys(found))[:40]


def _unbracketed(text: str) -> str:
    """Without what stands in brackets: P(X=2) is no relation."""
    for _ in range(4):
        text = re.sub(r"\([^()]*\)|\[[^\[\]]*\]|_\{[^{}]*\}", "", text)
    return text


def _list_of(members: list[Phrase], word: str) -> Phrase:
    texts = [p.text for p in members]
    text = ", ".join(texts) if word == "," else f"{', '.join(texts[:-1])} {word} {texts[-1]}"
    return Phrase(text, "list", word != "or", relation=any(p.relation for p in members))


def _owned_by(head: Phrase, owner: Phrase, place: str = "") -> Phrase:
    noun = head.noun
    preposition = noun.preposition if noun else "of"
    if preposition == "between" and owner.kind != "list":
        preposition = "of"
    the = "the " if head.kind == "counted" else ""
    joint = " " if owner.kind == "path" else f" {preposition} "
    kind = "attribute" if head.kind in ("attribute", "list") else "thing"
    text = f"{the}{head.text}{joint}{owner.text}{place}"
    return Phrase(text, kind, head.plural, noun=noun and noun._replace(kind="owned"))
