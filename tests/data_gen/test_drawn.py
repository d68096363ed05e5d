"""Drawn problems: their answers are right, and only the value reveals a right answer."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from data_gen import drawn as kinds
from data_gen.bilingual import facts
from data_gen.drawn import KINDS, DrawnProblem, Kind, parametric, polynomial
from data_gen.problems import Problem, bank
from gradegpt.answers.quantity import quantity
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import compare

EVERY = [
    pytest.param(kind, answer_type, id=f"{answer_type.value}:{kind.__name__}")
    for answer_type, made in KINDS.items()
    for kind in made
]
HAN = re.compile(r"[\u3400-\u9fff]")


@cache
def problems() -> list[Problem]:
    """Twenty problems of each answer type."""
    return list(parametric(240, seed=1))


def numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", text)]


def english(kind: Kind, count: int = 40) -> Iterator[DrawnProblem]:
    return (kind(random.Random(f"check:{index}"), False) for index in range(count))


@pytest.mark.parametrize(("kind", "answer_type"), EVERY)
def test_a_kind_makes_problems_of_its_type_in_both_languages(
    kind: Kind, answer_type: AnswerType
) -> None:
    """Right and wrong answers in as many forms, and varied questions in the language."""
    asked = set()
    for zh, index in itertools.product((True, False), range(15)):
        made = kind(random.Random(f"{index}:{zh}"), zh)
        assert made.type is answer_type
        assert made.right
        assert made.wrong
        assert zh is bool(HAN.search(made.question)) or answer_type is AnswerType.TRUE_FALSE
        assert not re.search(r"\+-|--|\{\}|None", made.question), made
        asked.add(made.question)
    assert len(asked) >= 20


@pytest.mark.parametrize("given", [bank(), problems()], ids=["bank", "drawn"])
def test_the_rules_contradict_no_problem(given: Sequence[Problem]) -> None:
    """No right form is called different, and no wrong form equal except by an unnamed unit."""
    for p in given:
        reference = read(p.reference, p.answer_type, p.question)
        said = {
            form: compare(
                reference, read(form, p.answer_type, p.question), question=p.question
            ).same
            for form in (*p.also_correct, *p.hard_negatives)
        }
        assert not {p.reference, *p.also_correct} & {*p.hard_negatives}
        assert all(said[right] is not False for right in p.also_correct), p
        equal = [wrong for wrong in p.hard_negatives if said[wrong]]
        assert all(_unit_alone_differs(p.reference, wrong) for wrong in equal), p


def _unit_alone_differs(right: str, wrong: str) -> bool:
    read, other = quantity(fold(right)), quantity(fold(wrong))
    return read is not None and other is not None and not read.unit and bool(other.unit)


def test_the_bank_has_every_answer_type_in_both_languages() -> None:
    """All types but code occur in both languages, and each problem occurs once."""
    types = {*AnswerType} - {AnswerType.CODE}
    assert {(p.lang, p.answer_type) for p in bank()} == {*itertools.product(("zh", "en"), types)}
    assert len({p.id for p in bank()}) == len({p.question for p in bank()}) == len(bank())


@pytest.mark.parametrize("mark", [r"\$", "=", " ", r"\\", HAN.pattern])
def test_the_notation_of_an_answer_does_not_reveal_whether_it_is_right(mark: str) -> None:
    """Marks of notation are about as frequent among wrong answers as among right ones."""

    def share(forms: Sequence[str]) -> float:
        return sum(bool(re.search(mark, form)) for form in forms) / len(forms)

    right = [share([p.reference, *p.also_correct]) for p in problems()]
    wrong = [share(p.hard_negatives) for p in problems()]
    assert sum(right) / len(right) == pytest.approx(sum(wrong) / len(wrong), abs=0.05)


def test_all_types_are_equally_frequent_and_no_question_occurs_twice() -> None:
    """Half of each type is in Chinese; all types but code occur."""
    found = Counter((p.answer_type, p.lang) for p in problems())
    assert {*found} == {*itertools.product({*AnswerType} - {AnswerType.CODE}, ("zh", "en"))}
    assert max(found.values()) - min(found.values()) <= 4
    assert len({p.question for p in problems()}) == len(problems()) == 240


def test_no_fact_that_is_held_out_is_asked_for() -> None:
    """The evaluation set across languages asks for them."""
    asked = {made.question for zh in (True, False) for made in _recalled(zh)}
    own = {text for fact in facts() if not fact.held_out for text in fact.subject}
    held = {text for fact in facts() if fact.held_out for text in fact.subject} - own
    assert len(asked & own) > 40
    assert not asked & held


def _recalled(zh: bool) -> Iterator[DrawnProblem]:
    return (kinds.recall(random.Random(f"{index}"), zh) for index in range(200))


def test_two_roots_solve_their_equation() -> None:
    """By the coefficients of a quadratic with the leading one divided out."""
    for made in english(kinds.quadratic):
        p, q = numbers(re.sub(r"_\d", "", made.right[0]))
        left = re.search(r"\$(.*)=0", made.question)
        k = int((re.match(r"\d+", left[1]) or "1")[0]) if left else 0
        assert left
        assert left[1] == polynomial((k, -k * (p + q), k * p * q))


def test_set_operations_are_those_of_python() -> None:
    """The answer has the elements that Python's own sets have."""
    operations = {"cap": set.intersection, "cup": set.union, "setminus": set.difference}
    for made in english(kinds.set_operation):
        one, other = ({*numbers(text)} for text in re.findall(r"\\\{(.*?)\\\}", made.question))
        (name,) = re.findall(r"cap|cup|setminus", made.question)
        assert {*numbers(made.right[0])} == operations[name](one, other), made
