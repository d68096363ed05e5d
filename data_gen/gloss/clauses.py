"""Clauses: subject, predicate and object are in the same order in both languages.

What Chinese puts between subject and verb, a time or a place, goes to the end in English.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from data_gen.gloss.lexicon import lexicon, past, third_person
from data_gen.gloss.nouns import NounPhrases, Phrase

Kind = Literal["full", "phrase", "predicate", "link"]
_BE: Final = {"is": "are", "was": "were"}
_AUXILIARY: Final = ("be", "can", "cannot", "may", "must", "should", "will")
_RELATION = re.compile(r"\$?\s*(?:[=<>≤≥≠≈∈]|\\(?:leq?|geq?|neq?|approx|in)\b)")


class Predicate(NamedTuple):
    """A verb with what follows it; ``adverb`` stands before the verb, or behind "be"."""

    verb: str
    rest: str = ""
    past: str = ""
    adverb: str = ""
    negated: bool = False
    many: str = ""
    """``rest`` where several things are spoken of, if it differs."""


class Clause(NamedTuple):
    """A piece of English. ``kind`` tells what may stand beside it."""

    text: str
    kind: Kind


Read = tuple[int, Clause]


class Clauses(NounPhrases):
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
                *[(j, Clause(p.text, "phrase")) for j, p in self.phrases(at)],
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
            if at + 1 == len(self.tokens):
                found.append((at + 1, Clause(entry.english, "link")))
        return found

    def _framed(self, at: int) -> list[Read]:
        """当 … 时, 若 …, 在 … 上, 根据 …: what opens a clause or stands before a comma."""
        frames: list[tuple[int, str]] = self._times(at)
        for entry in self.entries(at, "sub"):
            ends = [(j, c) for j, c in self.clauses(at + 1) if c.kind in ("full", "phrase")]
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
                if c.kind == "full" or (c.kind == "phrase" and "=" in self._span(end, j))
            ]
        return found

    def _times(self, at: int) -> list[tuple[int, str]]:
        start = at + 1 if self.is_word(at, "当", "在") else at
        if start == at and not self.held(at):
            return []
        ends = self.clauses(start) if start > at else [
            (j, Clause(p.text, "phrase")) for j, p in self._primary(at) if p.relation
        ]  # fmt: skip
        return [
            (j + 1, f"when {c.text}")
            for j, c in ends
            if self.is_word(j, "时", "的时候") and c.kind in ("full", "phrase")
        ]

    def _skip(self, at: int, *words: str) -> int:
        return at + 1 if self.is_word(at, *words) else at

    def _span(self, start: int, end: int) -> str:
        return "".join(token.text for token in self.tokens[start:end])

    def _full(self, at: int) -> list[Read]:
        found: list[Read] = []
        for middle, subject in self.phrases(at):
            found += self._how_many(middle, subject)
            for j, p in self.predicates(middle):
                if subject.is_pair and p.adverb.startswith("all"):
                    p = p._replace(adverb=p.adverb.replace("all", "both", 1))
                if (not subject.relation or p.verb == "be") and (
                    subject.plural or "all" not in p.adverb.split()
                ):
                    found.append(
                        (j, Clause(f"{subject.text} {inflect(p, several=subject.plural)}", "full"))
                    )
            found += self._each(middle, subject)
            found += self._compared(middle, subject)
        return found

    def _how_many(self, at: int, subject: Phrase) -> list[Read]:
        """红球有3个: "there are 3 red balls"."""
        if (
            not self.is_word(at, "有", "共有", "一共有", "总共有")
            or not subject.bare
            or not subject.noun
        ):
            return []
        return [
            (j, Clause(f"there are {p.text.removesuffix(' people')} {subject.noun.plural}", "full"))
            for j, p in self.phrases(at + 1)
            if p.kind == "quantity" and self.entries(j - 1, "cl", "cla")
        ]

    def _each(self, at: int, subject: Phrase) -> list[Read]:
        """分别是 …, …: "are …, … respectively"."""
        if not self.is_word(at, "分别") or not subject.plural and subject.noun is None:
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
                owns = owns and entry.english in ("more", "less")
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
                if c.kind == "phrase" or (c.kind == "full" and entry.second == "clause")
            ]
            if start == len(self.tokens) and self.before_colon:
                found.append((start, Clause(entry.english, "full")))
        for entry in self.entries(at, "left"):
            for j, p in self.phrases(at + 1):
                if not p.relation:
                    be = "are" if p.plural or p.kind == "quantity" else "is"
                    found.append((j, Clause(f"{p.text} {be} {entry.english}", "full")))
        return found

    def predicates(self, at: int) -> tuple[tuple[int, Predicate], ...]:
        """What can be said of a subject."""
        cache: dict[int, tuple[tuple[int, Predicate], ...]]
        cache = self.__dict__.setdefault("_predicates", {})
        if at not in cache:
            cache[at] = ()
            found = [
                *self._modified(at),
                *self._copula(at),
                *self._verbs(at),
                *self._moved(at),
            ]
            token = self.held(at)
            if token is not None and _RELATION.match(token.text):
                found.append((at + 1, Predicate("", token.english)))
            found += [both for read in found for both in self._and(*read)]
            cache[at] = tuple(dict.fromkeys(found))[:40]
        return cache[at]

    def _and(self, end: int, first: Predicate) -> list[tuple[int, Predicate]]:
        """大于0且小于5: both of one subject."""
        if not self.is_word(end, "且", "并且", "而且", "并"):
            return []
        return [
            (j, first._replace(rest=f"{first.rest} and {inflect(second, several=False)}"))
            for j, second in self.predicates(end + 1)
            if first.verb == second.verb == "be"
        ]

    def _modified(self, at: int) -> list[tuple[int, Predicate]]:
        """Adverbs, modal verbs and negation before a predicate."""
        found: list[tuple[int, Predicate]] = []
        for entry in self.entries(at, "adv"):
            found += [
                (j, p._replace(adverb=f"{entry.english} {p.adverb}".strip()))
                for j, p in self.predicates(at + 1)
                if p.verb and not (p.negated and entry.english == "all")
            ]
        for entry in self.entries(at, "mod"):
            found += [
                (j, Predicate(entry.english, f"{p.adverb} {_base(p)}".strip()))
                for j, p in self.predicates(at + 1)
                if p.verb not in ("", *_AUXILIARY[1:]) and not p.past and not p.negated
            ]
        if self.is_word(at, "不"):
            found += [
                (j, p._replace(negated=True))
                for j, p in self.predicates(at + 1)
                if p.verb not in ("", *_AUXILIARY[1:]) and not (p.past or p.negated or p.adverb)
            ]
        return found

    def _copula(self, at: int) -> list[tuple[int, Predicate]]:
        found: list[tuple[int, Predicate]] = []
        for entry in self.entries(at, "cop"):
            head, _, rest = entry.english.partition(" ")
            pattern = Predicate(head, rest)
            start = at + 1
            if start == len(self.tokens) and self.before_colon:
                found.append((start, pattern))
            for j, text, many in self._complements(start):
                several = f"{rest} {many}".strip()
                found.append((j, pattern._replace(rest=f"{rest} {text}".strip(), many=several)))
        return [
            (j, p._replace(verb=p.verb.removesuffix("-not"), negated=True))
            if p.verb.endswith("-not")
            else (j, p)
            for j, p in found
        ]

    def _complements(self, at: int) -> list[tuple[int, str, str]]:
        """What "is" may be followed by, of one thing and of several."""
        found: list[tuple[int, str, str]] = []
        for end, phrase in self.phrases(at):
            bare = phrase.bare or phrase.text
            found.append((end, bare, phrase.many if phrase.bare else bare))
        token = self.tokens[at] if at < len(self.tokens) else None
        if token is not None and (adjective := self._adjective(at)):
            return [adjective, *found]
        return found

    def _adjective(self, at: int) -> tuple[int, str, str] | None:
        """正确的 as a complement: "correct"."""
        for entry in self.entries(at, "a"):
            if self.is_word(at + 1, "的"):
                return at + 2, entry.english, entry.english
        text = self.tokens[at].text
        for entry in (
            lexicon().entries.get(text.removesuffix("的"), ()) if text.endswith("的") else ()
        ):
            if entry.category == "a":
                return at + 1, entry.english, entry.english
        return None

    def _verbs(self, at: int) -> list[tuple[int, Predicate]]:
        found: list[tuple[int, Predicate]] = []
        for entry in self.entries(at, "vi"):
            head, _, rest = entry.english.partition(" ")
            found.append((at + 1, Predicate(head, rest)))
        for entry in self.entries(at, "vt"):
            head, _, rest = entry.english.partition(" ")
            done = self.is_word(at + 1, "了")
            form = (entry.second or past(head)) if done else ""
            for j, p in self.phrases(at + 2 if done else at + 1):
                if not p.relation or head in ("be", "equal"):
                    found.append((j, Predicate(*_with_object(head, rest, form, p.text))))
        if self.is_word(at, "没有", "无"):
            found += [(j, Predicate("have", f"no {p.noun.singular}")) for j, p in self.phrases(at + 1)
                      if p.noun is not None and p.text in (f"the {p.noun.singular}", p.noun.singular)]  # fmt: skip
        return found

    def _moved(self, at: int) -> list[tuple[int, Predicate]]:
        """A time or a place before the verb goes behind it; a place alone is the predicate."""
        found: list[tuple[int, Predicate]] = []
        places = self.places(at)
        every = [
            (at + 2, f"per {e.english}" if e.category == "unit" else f"for each {e.english}")
            for e in (self.entries(at + 1, "unit", "cla") if self.is_word(at, "每") else ())
        ]
        for middle, text in [*places, *self._times(at), *every]:
            found += [
                (j, p._replace(rest=f"{p.rest} {text}".strip()))
                for j, p in self.predicates(middle)
                if p.verb
            ]
        return [*found, *[(j, Predicate("be", text)) for j, text in places]]


def inflect(predicate: Predicate, *, several: bool) -> str:
    """The predicate after a subject in the singular or the plural."""
    verb, rest, done, adverb, negated, many = predicate
    rest = (many or rest) if several else rest
    if not verb:
        return rest
    if verb in _AUXILIARY:
        form = third_person(verb) if verb == "be" else verb
        form = _BE[form] if several and verb == "be" else form
        words = [form, "not" if negated else "", adverb, rest]
    elif negated:
        words = [adverb, "do not" if several else "does not", verb, rest]
    else:
        words = [adverb, done or (verb if several else third_person(verb)), rest]
    return " ".join(word for word in words if word)


def _with_object(verb: str, rest: str, done: str, text: str) -> tuple[str, str, str]:
    """The object behind the verb, or where ``{}`` stands in "have {} left"."""
    rest = rest if "{}" in rest else f"{rest} {{}}".strip()
    return verb, rest.replace("{}", text), done.replace(" {} left", "")


def _base(predicate: Predicate) -> str:
    return f"{predicate.verb} {predicate.rest}".strip()
