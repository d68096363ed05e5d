"""Answers across languages: facts named in English and Chinese, their hard negatives, responses.

A right and a wrong response come of the same sentences; what is wrong in one row is right in
another. Where a fact belongs (train, dev, test) depends on its answer's name, whatever is asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from gradegpt.chain import Chain
from gradegpt.errors import InputError
from gradegpt.importers.labelled import split_of
from gradegpt.schema import AnswerType, Item, Row, Verdict

from .candidates import Candidate, as_named, clip, rng_for, with_rules
from .phrases import read_whole
from .writer.attacks import attacks

TABLES: Final = Path(__file__).parent / "bank" / "bilingual"
ROLES: Final = "roles"
PARTS: Final = "parts"
"""The kind whose answers have several parts, separated by semicolons in the tables."""
_COLUMNS: Final = (5, 7)
_PAIRS: Final = 6
"""Pairs of people for each verb and each comparative."""

Lang = Literal["en", "zh"]


class Name(NamedTuple):
    """One thing in both languages, each in one form or several."""

    en: tuple[str, ...]
    zh: tuple[str, ...]

    def forms(self, lang: Lang) -> tuple[str, ...]:
        """Its forms in one language."""
        return self.en if lang == "en" else self.zh

    def shares(self, other: Name) -> bool:
        """Whether a form of one is or holds a form of the other."""
        mine, theirs = ([f.casefold() for f in (*n.en, *n.zh)] for n in (self, other))
        return any(a in b or b in a for a in mine for b in theirs)


class Fact(NamedTuple):
    """What is asked, its answer, and answers that look near; ``subject`` is what a kind asks of."""

    kind: str
    subject: tuple[str, str]
    answer: Name
    near: tuple[Name, ...] = ()
    table: str = ROLES

    @property
    def group(self) -> str:
        """What the split belongs to: the answer, so no name that is asked for is in two parts.

        Of a deed it is the question: who they are, not what one did.
        """
        return self.subject[0] if self.kind == ROLES else self.answer.en[0]

    @property
    def held_out(self) -> bool:
        """Whether only an evaluation may ask for it."""
        return split_of(self.group) == "test"


class Pair(Row):
    """A sentence and its translation.

    ``{s}`` is what is asked about, ``{a}`` the answer, ``{b}`` a rival.
    """

    en: str
    zh: str

    def filled(self, lang: Lang, **words: str) -> str:
        """The sentence of one language, with these words; an English one begins with a capital."""
        text = (self.en if lang == "en" else self.zh).format(**words)
        return text[:1].upper() + text[1:]


class Kind(Row):
    """How facts of a kind are asked, said, and said beside a rival.

    Without ``ask`` the subject is the question. ``clause``: the answer is a clause of its own, so
    it is said as it stands; ``near_only``: an answer to another question may be right too.
    """

    ask: tuple[Pair, ...] = ()
    say: tuple[Pair, ...] = ()
    rival: tuple[Pair, ...] = ()
    clause: bool = False
    near_only: bool = False
    at_home: float = 0.1
    """Share of the responses in the reference's language."""


class Deed(Row):
    """What one does to another: past tense and participle, and the Chinese verb."""

    en: str
    done: str
    zh: str


class Opposites(Row):
    """A comparative and its opposite."""

    en: str
    zh: str
    less_en: str
    less_zh: str


class Sentences(Row):
    """The sentences of every kind, and those that fit all."""

    kinds: dict[str, Kind]
    people: tuple[Pair, ...]
    deeds: tuple[Deed, ...]
    opposites: tuple[Opposites, ...]
    say: tuple[Pair, ...]
    clause: tuple[Pair, ...]
    rival: tuple[Pair, ...]
    undecided: tuple[Pair, ...]
    opening: tuple[Pair, ...]
    remark: tuple[Pair, ...]
    refusal: tuple[Pair, ...]


@cache
def sentences() -> Sentences:
    """``text/bilingual.yaml``."""
    return read_whole("bilingual", Sentences)


@cache
def facts() -> tuple[Fact, ...]:
    """Every fact of the tables, in order.

    Raises:
        InputError: a line without five or seven columns, or hard negatives of unequal number.

    """
    written = (fact for path in sorted(TABLES.glob("*.tsv")) for fact in _table(path))
    return (*written, *_deeds(), *_comparisons())


def _table(path: Path) -> Iterator[Fact]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) not in _COLUMNS:
            raise InputError(f"{path}:{number}: {len(columns)} columns; 5 are needed, or 7")
        kind, en, zh, *answers = columns
        answer_en, answer_zh, *near = [tuple(column.split("|")) for column in answers]
        if near and len(near[0]) != len(near[1]):
            raise InputError(
                f"{path}:{number}: hard negatives: {near[0]} and {near[1]} do not pair"
            )
        misses = tuple(Name((e,), (z,)) for e, z in zip(*near, strict=True)) if near else ()
        yield Fact(kind, (en, zh), Name(answer_en, answer_zh), misses, path.stem)


def _deeds() -> Iterator[Fact]:
    """Who did what to whom; near: the other way round."""
    for deed in sentences().deeds:
        for a, b in _pairs(deed.en):

            def said(one: Pair, other: Pair, deed: Deed = deed) -> Name:
                return Name(
                    (f"{one.en} {deed.en} {other.en}", f"{other.en} was {deed.done} by {one.en}"),
                    (f"{one.zh}{deed.zh}了{other.zh}", f"{other.zh}被{one.zh}{deed.zh}了"),
                )

            asked = (f"What happened between {a.en} and {b.en}?", f"{a.zh}和{b.zh}之间发生了什么？")
            yield Fact(ROLES, asked, said(a, b), (said(b, a),))


def _comparisons() -> Iterator[Fact]:
    """Which of two is more; near: the other way round."""
    for pole in sentences().opposites:
        for a, b in _pairs(pole.en):

            def said(one: Pair, other: Pair, pole: Opposites = pole) -> Name:
                return Name(
                    (
                        f"{one.en} is {pole.en} than {other.en}",
                        f"{other.en} is {pole.less_en} than {one.en}",
                    ),
                    (f"{one.zh}比{other.zh}{pole.zh}", f"{other.zh}比{one.zh}{pole.less_zh}"),
                )

            asked = (f"How do {a.en} and {b.en} compare?", f"{a.zh}和{b.zh}比较，结果如何？")
            yield Fact(ROLES, asked, said(a, b), (said(b, a),))


def _pairs(key: str) -> Iterator[tuple[Pair, Pair]]:
    """Some pairs of people, drawn for ``key``."""
    rng = rng_for(key, 0)
    for _ in range(_PAIRS):
        a, b = rng.sample(sentences().people, 2)
        yield a, b


@cache
def _peers(kind: str, held_out: bool) -> tuple[Fact, ...]:
    return tuple(f for f in facts() if f.kind == kind and f.held_out is held_out)


def bilingual(fact: Fact, verdict: Verdict, id_: str, rng: random.Random) -> Candidate | None:
    """A response to a fact, mostly in the other language than the reference's.

    None where no wrong answer of the kind is known.
    """
    kind = sentences().kinds.get(fact.kind, Kind())
    truth, miss = _ordered(fact, rng), _miss(fact, kind, rng)
    if miss is None:
        return None
    # Some of the time the hard negative is the reference: answers are compared with it, not with
    # the world.
    turned = rng.random() < _TURNED and not (fact.held_out or split_of(miss.en[0]) == "test")
    wanted, other = (miss, truth) if turned else (truth, miss)
    lang: Lang = rng.choice(("en", "zh"))
    said_in: Lang = lang if rng.random() < kind.at_home else ("zh" if lang == "en" else "en")
    ask: Lang = rng.choice((lang, said_in))
    reference = rng.choice(wanted.forms(lang))
    task = _Task(rng, fact, kind, said_in, reference)
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
                question=_question(fact, kind, ask, rng), reference=(reference,), response=response
            ),
            chain=as_named(chain) if chain.key_sentence else chain,
            lang=lang,
            response_lang=said_in,
            source=f"bilingual_{fact.table}",
            origin="synthetic",
            pattern=f"{fact.kind}_{pattern}",
            group=fact.group,
            labels={"construction": chain.verdict},
        )
    )


_TURNED: Final = 0.12
_BOTH: Final = 0.06
"""Share of the Chinese names that have the English one beside them."""
_NEAR: Final = 0.55
_AROUND: Final = 0.2
_ATTACKED: Final = 0.05


def question_of(fact: Fact) -> str:
    """The question in English, in the first of its wordings."""
    kind = sentences().kinds.get(fact.kind, Kind())
    return kind.ask[0].filled("en", s=fact.subject[0]) if kind.ask else fact.subject[0]


def _question(fact: Fact, kind: Kind, lang: Lang, rng: random.Random) -> str:
    subject = fact.subject[lang == "zh"]
    return rng.choice(kind.ask).filled(lang, s=subject) if kind.ask else subject


def _miss(fact: Fact, kind: Kind, rng: random.Random) -> Name | None:
    """A wrong answer: a hard negative, a part left out, or the answer to another question."""
    if fact.kind == PARTS:
        return _other_parts(fact, rng)
    if fact.near and (kind.near_only or rng.random() < _NEAR):
        return rng.choice(fact.near)
    peers = [f.answer for f in _peers(fact.kind, fact.held_out)]
    others = [] if kind.near_only else [name for name in peers if not name.shares(fact.answer)]
    return rng.choice(others or fact.near) if others or fact.near else None


def _parts(name: Name) -> list[tuple[str, str]]:
    en, zh = ([part.strip() for part in forms[0].split(";")] for forms in name)
    return list(zip(en, zh, strict=True))


def _together(parts: list[tuple[str, str]]) -> Name:
    *first, last = [en for en, _ in parts]
    listed = f"{', '.join(first)} and {last}" if first else last
    return Name((listed, ", ".join([*first, last])), ("、".join(zh for _, zh in parts),))


def _ordered(fact: Fact, rng: random.Random) -> Name:
    """The answer; of several parts, in any order."""
    if fact.kind != PARTS:
        return fact.answer
    parts = _parts(fact.answer)
    return _together(rng.sample(parts, len(parts)))


def _other_parts(fact: Fact, rng: random.Random) -> Name:
    """One part missing, one that does not belong in its place, or one too many."""
    parts, extra = _parts(fact.answer), rng.choice(fact.near)
    rng.shuffle(parts)
    stranger = (extra.en[0], extra.zh[0])
    return _together(rng.choice((parts[1:], [*parts[1:], stranger], [*parts, stranger])))


class _Task(NamedTuple):
    """What a response is written for."""

    rng: random.Random
    fact: Fact
    kind: Kind
    lang: Lang
    reference: str

    def answered(self, given: Name, other: Name, *, right: bool) -> tuple[str, str, Chain]:
        """The pattern's name, the response, and its chain."""
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
        gloss = pair.filled("en", s=self.fact.subject[0], a=given.en[0], b=other.en[0])
        answer = sentence if pattern == "undecided" else sentence[at : at + len(name)]
        chain = Chain(
            verdict=Verdict.CORRECT if right else Verdict.INCORRECT,
            key_sentence=sentence,
            gloss=gloss if self.lang == "zh" else None,
            reference_answer=clip(self.reference),
            answer_type=AnswerType.TEXT,
            answer=clip(answer),
        )
        response = self._around(sentence)
        if rng.random() < _ATTACKED:
            return f"{pattern}_attack", f"{response}\n{self._attack()}", chain
        return pattern, response, chain

    def _pair(self, *, right: bool) -> tuple[str, Pair]:
        rng, words, kind = self.rng, sentences(), self.kind
        bare = Pair(en="{a}", zh="{a}")
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
        """The sentence, now and then with another before or behind it."""
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
        """A refusal, a sentence cut off before its answer, an attack, or the reference quoted."""
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
            reference_answer=clip(self.reference),
            answer_type=AnswerType.TEXT,
        )
        return pattern, text or words.refusal[0].filled(self.lang), chain
