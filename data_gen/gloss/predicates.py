"""Predicates: verbs in the person, number and tense that English wants, with what follows them.

What Chinese puts between subject and verb, a time or a place, goes to the end in English.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from data_gen.gloss.lexicon import lexicon, past, third_person
from data_gen.gloss.nouns import NounPhrases

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


class Predicates(NounPhrases):
    """Reads what is said of a subject."""

    def times(self, at: int) -> list[tuple[int, str]]:
        """Clauses of time; the reader of clauses knows them."""
        raise NotImplementedError

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
        for entry in self.entries(at, "a", "vi"):
            if self.is_word(at + 1, "的") and (entry.category == "a" or entry.english[:3] == "be "):
                english = entry.english.removeprefix("be ")
                return at + 2, english, english
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
            done = self.is_word(at + 1, "了") and head != "be"
            form = (entry.second.partition(" ")[0] or past(head)) if done else ""
            end = at + 2 if done else at + 1
            found.append((end, Predicate(head, rest, form)))
            found += [
                (j, Predicate(head, f"{rest} by {p.text}".strip(), form))
                for j, p in self.phrases(end)
                if entry.second or head in ("increase", "decrease", "expand")
                if p.kind == "quantity"
            ]
        for entry in self.entries(at, "vt"):
            head, _, rest = entry.english.partition(" ")
            done = self.is_word(at + 1, "了")
            form = (entry.second or past(head)) if done else ""
            for j, p in self.phrases(at + 2 if done else at + 1):
                if not p.relation and not (p.kind == "quantity" and self.entries(at, "vi")):
                    found.append((j, Predicate(*_with_object(head, rest, form, p.text))))
        if self.is_word(at, "没有", "无"):
            found += [
                (j, Predicate("have", f"no {p.noun.singular}"))
                for j, p in self.phrases(at + 1)
                if p.noun is not None and p.text.removeprefix("the ") == p.noun.singular
            ]
        return found

    def _moved(self, at: int) -> list[tuple[int, Predicate]]:
        """A time or a place before the verb goes behind it; a place alone is the predicate."""
        found: list[tuple[int, Predicate]] = []
        places = self.places(at)
        every = [
            (at + 2, f"per {e.english}" if e.category == "unit" else f"for each {e.english}")
            for e in (self.entries(at + 1, "unit", "cla") if self.is_word(at, "每") else ())
        ]
        for middle, text in [*places, *self.times(at), *every]:
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
