"""Answers across languages: facts named in English and Chinese, their hard negatives, responses.

Right and wrong responses are made from the same sentence templates, and an answer that is wrong in
one row is right in another. The split of a fact (train, dev, test) depends on the name of its
answer alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from gradegpt.chains.chain import Chain
from gradegpt.core.errors import InputError
from gradegpt.core.schema import AnswerType, Item, Row, Verdict
from gradegpt.tables.importers.labelled import split_of

from .candidates import Candidate, rng_for, with_rules
from .phrases import attacks, read_whole

TABLES: Final = Path(__file__).parent / "bank" / "bilingual"
ROLES: Final = "roles"
PARTS: Final = "parts"
"""The kind whose answers have several parts, separated by semicolons in the tables."""
_COLUMNS: Final = (5, 7)
_PAIRS: Final = 6
"""Pairs of people for each verb and each comparative adjective."""

Lang = Literal["en", "zh"]


class Name(NamedTuple):
    """The name of one thing in both languages, with one or several forms in each."""

    en: tuple[str, ...]
    zh: tuple[str, ...]

    def forms(self, lang: Lang) -> tuple[str, ...]:
        """The forms in one language."""
        return self.en if lang == "en" else self.zh

    def english_of(self, form: str) -> str | None:
        """The English of a Chinese form: that beside it, or the first of the first; else none."""
        if len(self.en) == len(self.zh):
            return self.en[self.zh.index(form)]
        return self.en[0] if form == self.zh[0] else None

    def shares(self, other: Name) -> bool:
        """Whether a form of one name equals or contains a form of the other."""
        mine, theirs = ([f.casefold() for f in (*n.en, *n.zh)] for n in (self, other))
        return any(a in b or b in a for a in mine for b in theirs)


class Fact(NamedTuple):
    """A subject that is asked about, its answer, and hard negatives of the answer."""

    kind: str
    subject: tuple[str, str]
    answer: Name
    near: tuple[Name, ...] = ()
    table: str = ROLES

    @property
    def id(self) -> str:
        """Its kind and subject."""
        return f"bilingual:{self.kind}:{self.subject[0]}"

    @property
    def group(self) -> str:
        """The key of the split: the answer, so that no answer is asked for in two splits.

        For ``roles`` (who did what to whom) it is the question, which names the people.
        """
        return self.subject[0] if self.kind == ROLES else self.answer.en[0]

    @property
    def held_out(self) -> bool:
        """Whether the fact is kept for evaluation."""
        return split_of(self.group) == "test"


class Translation(Row):
    """A sentence and its translation.

    ``{s}`` is the subject, ``{a}`` the answer, ``{b}`` an answer that the sentence rejects.
    """

    en: str
    zh: str

    def filled(self, lang: Lang, **words: str) -> str:
        """The sentence of one language with its fields filled, and a capital letter first."""
        text = (self.en if lang == "en" else self.zh).format(**words)
        return text[:1].upper() + text[1:]


class FactKind(Row):
    """Templates for facts of a kind: questions, answers, and answers that reject another one.

    Without ``ask`` the subject is the question. ``clause``: the answer is a complete clause and is
    used unchanged; ``free``: its two languages say the same fact in their own ways, so that the one
    is no gloss of the other. ``near_only``: only the listed hard negatives are wrong, because the
    answer to another question may be right too.
    """

    ask: tuple[Translation, ...] = ()
    say: tuple[Translation, ...] = ()
    rival: tuple[Translation, ...] = ()
    clause: bool = False
    free: bool = False
    near_only: bool = False
    at_home: float = 0.1
    """Share of the responses in the reference's language."""


class Deed(Row):
    """A verb with two people: English past tense and participle, and the Chinese verb."""

    en: str
    done: str
    zh: str


class Opposites(Row):
    """A comparative adjective and its opposite."""

    en: str
    zh: str
    less_en: str
    less_zh: str


class Sentences(Row):
    """The sentence templates of every kind, and those that fit all kinds."""

    kinds: dict[str, FactKind]
    people: tuple[Translation, ...]
    deeds: tuple[Deed, ...]
    opposites: tuple[Opposites, ...]
    say: tuple[Translation, ...]
    clause: tuple[Translation, ...]
    rival: tuple[Translation, ...]
    undecided: tuple[Translation, ...]
    opening: tuple[Translation, ...]
    remark: tuple[Translation, ...]
    refusal: tuple[Translation, ...]


@cache
def sentences() -> Sentences:
    """The sentence templates of ``text/bilingual.yaml``."""
    return read_whole("bilingual", Sentences)


@cache
def facts() -> tuple[Fact, ...]:
    """Every fact of the tables, in order.

    Raises:
        InputError: a line without five or seven columns, or hard negatives of unequal number.

    """
    written = (fact for path in sorted(TABLES.glob("*.tsv")) for fact in _table(path))
    return (*written, *_roles())


def _table(path: Path) -> Iterator[Fact]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) not in _COLUMNS:
            raise InputError(f"{path}:{number}: {len(columns)} columns; write 5 or 7")
        kind, en, zh, *answers = columns
        answer_en, answer_zh, *near = [tuple(column.split("|")) for column in answers]
        if near and len(near[0]) != len(near[1]):
            raise InputError(
                f"{path}:{number}: hard negatives: {near[0]} and {near[1]} differ in number and do "
                "not pair; list as many in Chinese as in English"
            )
        misses = tuple(Name((e,), (z,)) for e, z in zip(*near, strict=True)) if near else ()
        yield Fact(kind, (en, zh), Name(answer_en, answer_zh), misses, path.stem)


def _roles() -> Iterator[Fact]:
    """Who did what to whom, and how two people compare; a hard negative exchanges the two."""
    asked = ("What happened between {} and {}?", "{}和{}之间发生了什么？")
    for deed in sentences().deeds:
        en = ("{a} " + deed.en + " {b}", "{b} was " + deed.done + " by {a}")
        zh = ("{a}" + deed.zh + "了{b}", "{b}被{a}" + deed.zh + "了")
        yield from _between(deed.en, asked, en, zh)
    asked = ("How do {} and {} compare?", "{}和{}比较，结果如何？")
    for pole in sentences().opposites:
        en = ("{a} is " + pole.en + " than {b}", "{b} is " + pole.less_en + " than {a}")
        zh = ("{a}比{b}" + pole.zh, "{b}比{a}" + pole.less_zh)
        yield from _between(pole.en, asked, en, zh)


def _between(
    key: str, asked: tuple[str, str], en: tuple[str, ...], zh: tuple[str, ...]
) -> Iterator[Fact]:
    """Facts on random pairs of people, seeded by ``key``."""
    rng = rng_for(key, 0)
    for _ in range(_PAIRS):
        one, other = rng.sample(sentences().people, 2)
        stated, exchanged = (
            Name(
                tuple(way.format(a=a.en, b=b.en) for way in en),
                tuple(way.format(a=a.zh, b=b.zh) for way in zh),
            )
            for a, b in ((one, other), (other, one))
        )
        questions = (asked[0].format(one.en, other.en), asked[1].format(one.zh, other.zh))
        yield Fact(ROLES, questions, stated, (exchanged,))


def kind_of(fact: Fact) -> FactKind:
    """How facts of this kind are asked and answered."""
    return sentences().kinds.get(fact.kind, FactKind())


@cache
def names() -> dict[str, str]:
    """The English of each Chinese name, by the facts whose answers are names."""
    short = (f for f in facts() if f.kind != PARTS and not kind_of(f).clause)
    found = {
        z: e for f in short for n in (f.answer, *f.near) for z in n.zh if (e := n.english_of(z))
    }
    return {chinese: english for chinese, english in found.items() if len(chinese) > 1}


@cache
def _peers(kind: str, held_out: bool) -> tuple[Fact, ...]:
    return tuple(f for f in facts() if f.kind == kind and f.held_out is held_out)


def bilingual(fact: Fact, verdict: Verdict, id_: str, rng: random.Random) -> Candidate:
    """A response to a fact, mostly not in the language of the reference."""
    kind = kind_of(fact)
    truth, miss = _ordered(fact, rng), wrong_name(fact, rng)
    # Sometimes the hard negative is the reference, so that a judge compares with the reference and
    # not with what it knows.
    swapped = rng.random() < _SWAPPED and not (fact.held_out or split_of(miss.en[0]) == "test")
    wanted, other = (miss, truth) if swapped else (truth, miss)
    lang: Lang = rng.choice(("en", "zh"))
    response_lang: Lang = lang if rng.random() < kind.at_home else ("zh" if lang == "en" else "en")
    ask: Lang = rng.choice((lang, response_lang))
    reference = rng.choice(wanted.forms(lang))
    task = _Task(rng, fact, kind, response_lang, reference)
    if verdict is Verdict.INVALID:
        pattern, response, chain = task.unanswered(wanted)
    else:
        right = verdict is Verdict.CORRECT
        pair = (wanted, other) if right else (other, wanted)
        pattern, response, chain = task.answered(*pair, right=right)
    return with_rules(
        Candidate(
            id=id_,
            item=Item(
                question=question_in(fact, ask, rng), reference=(reference,), response=response
            ),
            chain=chain,
            lang=lang,
            response_lang=response_lang,
            source=f"bilingual_{fact.table}",
            origin="synthetic",
            pattern=f"{fact.kind}_{pattern}",
            group=fact.group,
            labels={"construction": chain.verdict},
        )
    )


_SWAPPED: Final = 0.12
_BOTH: Final = 0.06
"""Share of the Chinese names followed by the English one in brackets."""
_NEAR: Final = 0.55
_AROUND: Final = 0.2
_ATTACKED: Final = 0.05


def question_of(fact: Fact) -> str:
    """The question in English, by the first template of its kind."""
    kind = kind_of(fact)
    return kind.ask[0].filled("en", s=fact.subject[0]) if kind.ask else fact.subject[0]


def question_in(fact: Fact, lang: Lang, rng: random.Random) -> str:
    """The question in one language, by a template of its kind."""
    kind = kind_of(fact)
    subject = fact.subject[lang == "zh"]
    return rng.choice(kind.ask).filled(lang, s=subject) if kind.ask else subject


def wrong_name(fact: Fact, rng: random.Random) -> Name:
    """A wrong answer: a hard negative, a part left out, or the answer to another question."""
    kind = kind_of(fact)
    if fact.kind == PARTS:
        return _other_parts(fact, rng)
    if fact.near and (kind.near_only or rng.random() < _NEAR):
        return rng.choice(fact.near)
    peers = [f.answer for f in _peers(fact.kind, fact.held_out)]
    others = [] if kind.near_only else [name for name in peers if not name.shares(fact.answer)]
    return rng.choice(others or fact.near)


def _parts(name: Name) -> list[tuple[str, str]]:
    en, zh = ([part.strip() for part in forms[0].split(";")] for forms in name)
    return list(zip(en, zh, strict=True))


def _joined_parts(parts: list[tuple[str, str]]) -> Name:
    *first, last = [en for en, _ in parts]
    listed = f"{', '.join(first)} and {last}" if first else last
    return Name((listed, ", ".join([*first, last])), ("、".join(zh for _, zh in parts),))


def _ordered(fact: Fact, rng: random.Random) -> Name:
    """The answer; several parts are put into a random order."""
    if fact.kind != PARTS:
        return fact.answer
    parts = _parts(fact.answer)
    return _joined_parts(rng.sample(parts, len(parts)))


def _other_parts(fact: Fact, rng: random.Random) -> Name:
    """The answer with one part removed, replaced by a foreign one, or added."""
    parts, extra = _parts(fact.answer), rng.choice(fact.near)
    rng.shuffle(parts)
    foreign = (extra.en[0], extra.zh[0])
    return _joined_parts(rng.choice((parts[1:], [*parts[1:], foreign], [*parts, foreign])))


class _Task(NamedTuple):
    """The parameters of one response."""

    rng: random.Random
    fact: Fact
    kind: FactKind
    lang: Lang
    reference: str

    def answered(self, given: Name, other: Name, *, right: bool) -> tuple[str, str, Chain]:
        """The name of the pattern, the response, and its chain."""
        rng = self.rng
        pattern, pair = self._pair(right=right)
        said = rng.choice(given.forms(self.lang))
        name = said
        if self.lang == "zh" and rng.random() < _BOTH:
            said = f"{said}（{given.en[0]}）"
        rival = rng.choice(other.forms(self.lang))
        subject = self.fact.subject[self.lang == "zh"]
        sentence = pair.filled(self.lang, s=subject, a=said, b=rival)
        at = pair.filled(self.lang, s=subject, a="\0", b=rival).index("\0")
        answer = sentence if pattern == "undecided" else sentence[at : at + len(name)]
        chain = Chain(
            verdict=Verdict.CORRECT if right else Verdict.INCORRECT,
            quotes=(sentence,),
            glosses=self._glosses(pair, (given, name), (other, rival)),
            reference_answer=self.reference,
            answer_type=AnswerType.TEXT,
            answer=answer,
        )
        response = self._around(sentence)
        if rng.random() < _ATTACKED:
            return f"{pattern}_attack", f"{response}\n{self._attack()}", chain
        return pattern, response, chain

    def _glosses(
        self, pair: Translation, given: tuple[Name, str], other: tuple[Name, str]
    ) -> tuple[str, ...]:
        """The gloss of a Chinese sentence with these forms; empty where a form has no English."""
        if self.lang == "en" or self.kind.free:
            return ()
        said, rival = (name.english_of(form) for name, form in (given, other))
        if said is None or ("{b}" in pair.zh and rival is None):
            return ()
        return (pair.filled("en", s=self.fact.subject[0], a=said, b=rival or ""),)

    def _pair(self, *, right: bool) -> tuple[str, Translation]:
        rng, words, kind = self.rng, sentences(), self.kind
        bare = Translation(en="{a}", zh="{a}")
        if not right and rng.random() < 0.04 and not kind.clause:
            return "undecided", rng.choice(words.undecided)
        if kind.clause:
            return "clause", rng.choice((bare, bare, *words.clause))
        match rng.choices(("bare", "say", "kind", "rival"), weights=(4, 3, 5, 3))[0]:
            case "bare":
                return "bare", bare
            case "rival":
                return "rival", rng.choice((*words.rival, *kind.rival))
            case "kind" if kind.say:
                return "sentence", rng.choice(kind.say)
            case _:
                return "said", rng.choice(words.say)

    def _around(self, sentence: str) -> str:
        """The sentence, sometimes with another sentence before or after it."""
        rng, words = self.rng, sentences()
        before = rng.choice(words.opening) if rng.random() < _AROUND else None
        after = rng.choice(words.remark) if rng.random() < _AROUND else None
        pieces = [p.filled(self.lang) if p else "" for p in (before, after)]
        if not any(pieces):
            return sentence
        ended = sentence if sentence[-1:] in ".。" else sentence + (".", "。")[self.lang == "zh"]
        return (" " if self.lang == "en" else "").join(filter(None, (pieces[0], ended, pieces[1])))

    def _attack(self) -> str:
        words = attacks(self.lang == "zh")
        return self.rng.choice((*words.instructions, *words.fake_judgements, *words.delimiters))

    def unanswered(self, wanted: Name) -> tuple[str, str, Chain]:
        """A refusal, a sentence cut off before its answer, an attack, or a quoted reference."""
        rng, words = self.rng, sentences()
        subject = self.fact.subject[self.lang == "zh"]
        match rng.choices(("refusal", "cut_off", "attack", "quoted"), weights=(4, 4, 2, 2))[0]:
            case "refusal":
                pattern, text = "refusal", rng.choice(words.refusal).filled(self.lang)
            case "cut_off":
                pair = rng.choice([p for p in (*self.kind.say, *words.say) if p.en[0] != "{"])
                whole = pair.filled(self.lang, s=subject, a="\0")
                pattern, text = "cut_off", whole.partition("\0")[0].rstrip()
            case "attack":
                pattern, text = "attack", self._attack()
            case _:
                quoted = rng.choice(attacks(self.lang == "zh").quotes)
                pattern, text = "quoted", quoted.format(rng.choice(wanted.forms(self.lang)))
        chain = Chain(
            verdict=Verdict.INVALID,
            reference_answer=self.reference,
            answer_type=AnswerType.TEXT,
        )
        return pattern, text or words.refusal[0].filled(self.lang), chain
