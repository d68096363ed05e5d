"""Noun phrases: the possessor that Chinese puts first goes behind "of" in English."""

from __future__ import annotations

import re
from typing import Final

from data_gen.gloss.words import RELATION, Found, Phrase, Words, unbracketed
from gradegpt.answers.options import LETTERS

_LETTERS = re.compile(
    rf"\$\\mathrm\{{\(?[{LETTERS}]{{1,5}}\)?\}}\$|\$?[{LETTERS}]{{1,5}}\$?|\([{LETTERS}]\)"
    rf"|[{LETTERS}](?:[,，/ ]+[{LETTERS}])+"
)
_COMBINING: Final = (
    "sum", "difference", "product", "quotient", "ratio", "angle", "distance", "proportion",
    "intersection", "union", "point of intersection", "midpoint", "total", "mean", "average",
    "greatest common factor", "greatest common divisor", "least common multiple", "number",
    "common factor", "common multiple", "total number", "relation", "size", "median",
)  # fmt: skip
"""What takes two things; behind a list it is of the list."""
_COUNTING: Final = ("number", "total number", "quantity")


class NounPhrases(Words):
    """Reads the noun phrases of one clause, lists of them, and places."""

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
            if phrase.kind == "combined":
                continue  # 圆的周长与直径的比: what is compared is the list itself
            if phrase.relation != members[0].relation:
                continue
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
        if owner.relation or owner.kind in ("quantity", "named"):
            return []
        found: list[Found] = []
        for end, place in self.places(at):
            start = end + 1 if self.is_word(end, "的") else end
            heads = self._heads(start, attributes_only=start == end)
            found += [(j, _owned_by(head, owner, f" {place}")) for j, head in heads]
        if not self.is_word(at, "的"):
            return [*found, *self._owned_directly(at, owner)]
        heads = [
            (j, head)
            for j, head in self._heads(at + 1)
            if owner.kind != "held" or head.kind == "list" or (head.noun and head.noun.kind == "na")
        ]  # 周期为2π的函数 is no function of 2π
        found += [(j, _owned_by(head, owner)) for j, head in heads]
        found += [(j, p._replace(text=f"{p.text} {owner.text}")) for j, p in self._shares(at + 1)]
        if self.is_word(at + 2, "次方") and self.tokens[at + 1].english:
            text = f"{owner.text} to the power {self.tokens[at + 1].english}"
            found.append((at + 3, Phrase(text, "held")))
        return found

    def _owned_directly(self, at: int, owner: Phrase) -> list[Found]:
        if at < len(self.tokens) and len(self.tokens[at].text) == 1:
            return []  # 和, 比, 长 are other words more often than names of attributes
        if owner.noun is not None and owner.noun.kind == "nm":
            return []  # 物理意义 is no meaning of physics
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
            pairs += self._attributes(j, [first]) if first.kind == "attribute" else []
        return [*pairs, *found]

    def _attributes(self, at: int, members: list[Phrase]) -> list[Found]:
        """Attributes of one owner: the length, the width and the height."""
        join = self.entries(at, "join")
        found: list[Found] = []
        for end, more in self._named(at + 1) if join and len(members) < 6 else ():
            if more.kind == "attribute" and not self.is_word(end, "的"):
                both = [*members, more]
                found += [*self._attributes(end, both), (end, _list_of(both, join[0].english))]
        return found

    def _shares(self, at: int) -> list[Found]:
        """What stands before the whole in English: "two thirds of", "3 times"."""
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
                if entry.english == "between" and phrase.kind != "list":
                    continue
                found += [(end + 1, f"{entry.english} {phrase.text}")]
        return found

    def _primary(self, at: int) -> tuple[Found, ...]:
        if ("primary", at) not in self.memo:
            found = [*self._options(at), *self._counted(at), *self._pointed(at), *self._named(at)]
            if token := self.held(at):
                if self.is_word(at + 1, "点") and re.fullmatch(r"\$?[A-Z]'?\$?", token.text):
                    found.append((at + 2, Phrase(f"point {token.english}", "thing")))
                relation = bool(RELATION.search(unbracketed(token.text)))
                found.append((at + 1, Phrase(token.english, "held", relation=relation)))
            if at < len(self.tokens) and self.tokens[at].kind == "number":
                found.append((at + 1, Phrase(self.tokens[at].english, "quantity")))
            for entry in self.entries(at, "rel", "a") if self.is_word(at + 1, "的") else ():
                one = f"the one that {entry.english}" if entry.category == "rel" else ""
                found.append((at + 2, Phrase(one or f"the {entry.english} one", "named")))
            if self.is_word(at, "只有", "仅有"):
                found += [(j, p._replace(text=f"only {p.text}")) for j, p in self._primary(at + 1)]
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
        letters, names, end = sum(map(token.text.count, LETTERS)), [token.english], start + 1
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


def _distinct(found: list[Found]) -> tuple[Found, ...]:
    """Without repetitions; at most 40, so that no sentence takes long."""
    return tuple(dict.fromkeys(found))[:40]


def _list_of(members: list[Phrase], word: str) -> Phrase:
    texts = [p.text for p in members]
    text = ", ".join(texts) if word == "," else f"{', '.join(texts[:-1])} {word} {texts[-1]}"
    return Phrase(text, "list", word != "or", relation=any(p.relation for p in members))


def _owned_by(head: Phrase, owner: Phrase, place: str = "") -> Phrase:
    noun = head.noun
    preposition = noun.preposition if noun else "of"
    if preposition == "between" and owner.kind != "list":
        preposition = "of"
    kind = "attribute" if head.kind in ("attribute", "list") else "thing"
    combining = noun is not None and noun.singular in _COMBINING
    if combining and owner.kind not in ("list", "path") and not owner.plural:
        kind = "combined"
    name, several = head.text, head.plural
    if noun and owner.kind == "list" and not combining and name == f"the {noun.singular}":
        name, several = f"the {noun.plural}", True
    if head.kind == "counted" and not name.startswith(("a ", "an ")):
        name = f"the {name}"
    whose = owner.text
    if noun and noun.singular in _COUNTING and owner.noun and owner.bare:
        whose = owner.noun.plural
    joint = " " if owner.kind == "path" else f" {preposition} "
    text = f"{name}{joint}{whose}{place}"
    return Phrase(text, kind, several, noun=noun and noun._replace(kind="owned"))
