"""Clauses: subject, predicate and object are in the same order in both languages."""

from __future__ import annotations

from typing import Literal, NamedTuple

from typing_extensions import override

from data_gen.gloss.predicates import Predicate, Predicates, inflect
from data_gen.gloss.words import Phrase

Kind = Literal["full", "phrase", "formula", "predicate", "link"]


class Clause(NamedTuple):
    """A piece of English. ``kind`` tells what may stand beside it."""

    text: str
    kind: Kind


Read = tuple[int, Clause]


class Clauses(Predicates):
    """Reads one stretch between two marks."""

    def whole(self) -> Clause | None:
        """The reading of all tokens, or none."""
        end = len(self.tokens)
        return next((clause for j, clause in self.clauses(0) if j == end), None)

    def clauses(self, at: int) -> tuple[Read, ...]:
        """Clauses from a token on, the preferred first."""
        cache: dict[int, tuple[Read, ...]] = self.__dict__.setdefault("_clauses", {})
        if at not in cache:
            cache[at] = ()
            found = [
                *self._fixed(at),
                *self._linked(at),
                *self._framed(at),
                *self._full(at),
                *self._there_is(at),
                *self._without_subject(at),
                *[
                    (j, Clause(p.text, "formula" if p.relation else "phrase"))
                    for j, p in self.phrases(at)
                ],
                *[
                    (j, Clause(inflect(p, several=False), "predicate"))
                    for j, p in self.predicates(at)
                ],
            ]
            joined = [both for read in found for both in self._joined(*read)]
            cache[at] = tuple(dict.fromkeys([*joined, *found]))[:60]
        return cache[at]

    def _joined(self, end: int, first: Clause) -> list[Read]:
        """Two clauses with a word between them: "and", "or", "so that"."""
        if first.kind == "link":
            return []
        words = self.entries(end, "between")
        return [
            (j, Clause(f"{first.text} {words[0].english} {second.text}", "full"))
            for j, second in (self.clauses(end + 1) if words else ())
            if second.kind == "full" or second.kind == first.kind
        ]

    def _fixed(self, at: int) -> list[Read]:
        return [(at + 1, Clause(e.english, "full")) for e in self.entries(at, "s")]

    def _linked(self, at: int) -> list[Read]:
        found: list[Read] = []
        for entry in self.entries(at, "link", "open"):
            that = " that" if entry.english.endswith(("get", "gives", "find")) else ""
            found += [
                (j, Clause(f"{entry.english}{that if c.kind == 'full' else ''} {c.text}", c.kind))
                for j, c in (self.clauses(at + 1) if entry.category == "link" else ())
                if c.kind != "predicate"
            ]
            unfinished = entry.english.endswith(("get", "gives", "find", "learn that"))
            if at + 1 == len(self.tokens) and (self.before_colon or not unfinished):
                found.append((at + 1, Clause(entry.english.removesuffix(" that"), "link")))
        return found

    def _framed(self, at: int) -> list[Read]:
        """当 … 时, 若 …, 在 … 上, 根据 …: what opens a clause or stands before a comma."""
        frames: list[tuple[int, str]] = self.times(at)
        for entry in self.entries(at, "sub"):
            ends = [(j, c) for j, c in self.clauses(at + 1) if c.kind in ("full", "formula")]
            frames += [
                (self._skip(j, "则", "那么", "时"), f"{entry.english} {c.text}") for j, c in ends
            ]
        for entry in self.entries(at, "prep"):
            frames += [(j, f"{entry.english} {p.text}") for j, p in self.phrases(at + 1)]
        frames += self.places(at)
        found: list[Read] = [
            (j, Clause(text, "link")) for j, text in frames if j == len(self.tokens)
        ]
        for end, text in frames:
            found += [
                (j, Clause(f"{text}, {c.text}", "full"))
                for j, c in self.clauses(end)
                if c.kind in ("full", "formula")
            ]
        return found

    @override
    def times(self, at: int) -> list[tuple[int, str]]:
        start = at + 1 if self.is_word(at, "当", "在") else at
        if start == at and not self.held(at):
            return []
        ends = self.clauses(start) if start > at else [
            (j, Clause(p.text, "formula")) for j, p in self._primary(at) if p.relation
        ]  # fmt: skip
        return [
            (j + 1, f"when {c.text}")
            for j, c in ends
            if self.is_word(j, "时", "的时候") and c.kind in ("full", "formula")
        ]

    def _skip(self, at: int, *words: str) -> int:
        return at + 1 if self.is_word(at, *words) else at

    def _full(self, at: int) -> list[Read]:
        found: list[Read] = []
        for middle, subject in self.phrases(at):
            found += self._how_many(middle, subject)
            found += [
                (j, Clause(f"{subject.text} {said}", "full"))
                for j, p in self.predicates(middle)
                if (said := self._said(subject, p)) and not self._is_count(middle, j, subject)
            ]
            found += self._each(middle, subject)
            found += self._compared(middle, subject)
        return found

    def _is_count(self, at: int, end: int, subject: Phrase) -> bool:
        """零点有2个: no zero "has 2"; what people and places have, they do have."""
        if not self.is_word(at, "有", "共有", "一共有", "总共有"):
            return False
        owner = subject.noun is not None and subject.noun.kind == "np"
        counted = any(p.kind == "quantity" for j, p in self.phrases(at + 1) if j == end)
        return subject.kind in ("attribute", "named") or (counted and not owner)

    def _said(self, subject: Phrase, predicate: Predicate) -> str:
        """The predicate in the subject's number; empty where the two do not go together."""
        if subject.relation and predicate.verb != "be":
            return ""
        if "all" in predicate.adverb.split():
            if not subject.plural:
                return ""
            both = "both" if subject.is_pair else "all"
            predicate = predicate._replace(adverb=predicate.adverb.replace("all", both, 1))
        return inflect(predicate, several=subject.plural)

    def _how_many(self, at: int, subject: Phrase) -> list[Read]:
        """红球有3个: "there are 3 red balls"."""
        if (
            not self.is_word(at, "有", "共有", "一共有", "总共有")
            or not subject.bare
            or not subject.noun
        ):
            return []
        found: list[Read] = []
        for j, p in self.phrases(at + 1):
            if p.kind != "quantity":
                continue
            if self.entries(j - 1, "cl", "cla"):
                text = f"there are {p.text.removesuffix(' people')} {subject.noun.plural}"
                found.append((j, Clause(text, "full")))
            elif any(e.preposition == "stuff" for e in self.entries(j - 1, "unit")):
                text = f"there are {p.text} of {subject.noun.plural}"
                found.append((j, Clause(text, "full")))
        return found

    def _each(self, at: int, subject: Phrase) -> list[Read]:
        """分别是 …, …: "are …, … respectively"."""
        if not self.is_word(at, "分别") or (not subject.plural and subject.noun is None):
            return []
        start = at + 1
        for entry in self.entries(at + 1, "cop"):
            if entry.english in ("be", "equal"):
                start = at + 2
        if start == len(self.tokens) and start == at + 2 and self.before_colon:
            return [(start, Clause(f"{subject.text} are respectively", "full"))]
        return [
            (j, Clause(f"{subject.text} are {p.text} respectively", "full"))
            for j, p in self.phrases(start)
            if p.kind == "list" and start == at + 2
        ]

    def _compared(self, at: int, subject: Phrase) -> list[Read]:
        """比 … 多 3 个: "is more than … by 3"."""
        found: list[Read] = []
        be = "are" if subject.plural else "is"
        for end, other in self.phrases(at + 1) if self.is_word(at, "比") else ():
            for entry in self.entries(end, "cmp"):
                owns = subject.noun is not None and subject.noun.kind == "np"
                if owns and not self.is_word(end, "多", "少"):
                    continue  # of people, 大 and 小 mean older and younger
                text = f"{subject.text} {be} {entry.english} than {other.text}"
                for j, p in self.phrases(self._skip(end + 1, "了")):
                    if owns and p.kind in ("quantity", "counted"):
                        has = f"{subject.text} has {p.text} {entry.english} than {other.text}"
                        found.append((j, Clause(has, "full")))
                    elif p.kind in ("quantity", "held") and not p.relation:
                        found.append((j, Clause(f"{text} by {p.text}", "full")))
                if not owns:
                    found.append((end + 1, Clause(text, "full")))
        return found

    def _there_is(self, at: int) -> list[Read]:
        """有 …, 袋子中有 …, 共有 …: "there are … in the bag"."""
        found: list[Read] = []
        starts = [(at, "")] + [(j, f" {text}") for j, text in [*self.inside(at), *self.places(at)]]
        for start, place in starts:
            for entry in self.entries(start, "there"):
                for j, p in self.phrases(start + 1):
                    if p.relation:
                        continue
                    several = p.plural or p.kind == "list"
                    text = entry.english.replace("BE", "are" if several else "is")
                    found.append((j, Clause(text.replace("{}", p.text) + place, "full")))
        return found

    def _without_subject(self, at: int) -> list[Read]:
        """选 B, 得 x=1, 还剩 3 个: commands, results, and what is left or needed."""
        found: list[Read] = []
        for entry in self.entries(at, "sv"):
            start = at + 1
            found += [
                (j, Clause(f"{entry.english} {c.text}", "full"))
                for j, c in self.clauses(start)
                if c.kind in ("phrase", "formula")
                or (c.kind == "full" and entry.second == "clause")
            ]
            if start == len(self.tokens) and self.before_colon:
                found.append((start, Clause(entry.english, "full")))
        for entry in self.entries(at, "left"):
            for j, p in self.phrases(at + 1):
                if not p.relation:
                    be = "are" if p.plural or p.kind == "quantity" else "is"
                    found.append((j, Clause(f"{p.text} {be} {entry.english}", "full")))
        return found
