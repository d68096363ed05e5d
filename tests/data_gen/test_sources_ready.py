"""The ready mappings: each reads its data set completely and without guessing."""

from __future__ import annotations

from collections import Counter

import pytest

from data_gen.sources import Questions, load_mapping, read_problems
from data_gen.sources.mapping import READY
from tests.data_gen.source_parts import SHAPE, problems


def facts(mapping: str) -> list[tuple[str, str, str, str | None]]:
    read = problems(SHAPE[mapping], mapping)
    return [(p.lang, p.answer_type.value, p.reference, p.tolerance) for p in read]


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (
            "olympiadbench",
            [
                ("en", "number", "$19.6$", "olympiadbench:1e-1"),
                ("zh", "interval", r"$(1,+\infty)$", None),
                ("en", "multi_answer", "$3,-3$", None),
                ("en", "multi_answer", r"$\sqrt{k/g}$, $4.2$", None),
            ],
        ),
        (
            "olympicarena",
            [
                ("en", "single_choice", "B", None),
                ("zh", "multiple_choice", "AC", None),
                ("en", "number", "60", None),
                ("en", "multi_part", "(1) 1.25; (2) 0.5", None),
                ("en", "set", "{2, 3, 5}", None),
            ],
        ),
        ("gsm8k", [("en", "number", "8", None), ("en", "number", "1,500", None)]),
        (
            "math",
            [
                ("en", "number", r"\frac{3}{4}", None),
                ("en", "set", r"\{0, 1\}", None),
            ],
        ),
        ("cmath", [("zh", "number", answer, None) for answer in ("7", "0.8", "36")]),
        (
            "gaokao_bench",
            [
                ("zh", "single_choice", "A", None),
                ("zh", "multi_part", "(1) B; (2) C", None),
                ("zh", "number", "2", None),
            ],
        ),
        (
            "cmmath",
            [
                ("zh", "single_choice", "A", None),
                ("zh", "number", r"$$4\pi $$", None),
                ("zh", "single_choice", "A", None),
            ],
        ),
        (
            "jsonl",
            [
                ("zh", "number", "9.6", "olympiadbench:5e-1"),
                ("zh", "single_choice", "B", None),
                ("en", "number", r"\frac{3}{4}", None),
                ("en", "multi_answer", "$4$, $-4$", None),
            ],
        ),
    ],
)
def test_a_ready_mapping_reads_its_data_set(
    mapping: str, expected: list[tuple[str, str, str, str | None]]
) -> None:
    """Language, type, reference and tolerance are right for each row with a reference."""
    assert facts(mapping) == expected


def test_every_ready_mapping_has_a_test_file_and_an_example() -> None:
    """Each mapping has a file in ``shapes`` and a comment with an example line."""
    ready = sorted(READY.glob("*.yaml"))
    assert [path.stem for path in ready] == sorted(SHAPE)
    for path in ready:
        head = [line for line in path.read_text(encoding="utf-8").splitlines() if line[0] == "#"]
        assert any(line.startswith("# questions: [{path: ") for line in head), path.stem
        load_mapping(path.stem)


def test_context_and_options_become_part_of_the_question() -> None:
    """The question contains context and options; options that it lists are not repeated."""
    in_context = problems(SHAPE["olympiadbench"], "olympiadbench")[1].question
    assert in_context == "已知函数 $f(x)=x^2-2x$.\n求 $f(x)$ 的单调递增区间."
    with_own, _, with_column = (p.question for p in problems(SHAPE["cmmath"], "cmmath"))
    assert with_own.count("A.") == 1
    assert with_column.endswith("\nA. 等腰三角形\nB. 平行四边形")


def test_solutions_come_as_steps_without_the_answer_line_and_pictures() -> None:
    """GSM8K's calculator annotations are removed; the first of several solutions is used."""
    assert problems(SHAPE["gsm8k"], "gsm8k")[0].solution == (
        "The pens cost 3*4=$12.",
        "She gets 20-12=$8 back.",
    )
    assert problems(SHAPE["cmmath"], "cmmath")[0].solution[-1] == "故选A．"
    first, second, *_ = problems(SHAPE["olympiadbench"], "olympiadbench")
    assert first.solution == (r"It falls $\frac{1}{2} g t^2$.", "With $t=2$ this is $19.6$.")
    assert second.solution == ("由f'(x)=2x-2>0得x>1。", r"故所求区间为(1,+\infty)。")


@pytest.mark.parametrize(
    ("mapping", "left_out"),
    [
        ("olympiadbench", {"no_reference": 1, "placeholder": 1}),
        ("olympicarena", {"no_reference": 1}),
        ("gsm8k", {"no_reference": 1}),
        ("math", {"no_reference": 2}),
        ("cmmath", {"no_question": 1}),
        ("jsonl", {"other_language": 1}),
        ("cmath", {}),
    ],
)
def test_rows_left_out_are_counted_with_the_reason(mapping: str, left_out: dict[str, int]) -> None:
    """The number of rows read is the sum of the rows used and those left out."""
    counts: Counter[str] = Counter()
    taken = list(read_problems(Questions(path=SHAPE[mapping], mapping=mapping), counts))
    skipped = {k.split(":")[2]: n for k, n in counts.items() if k.startswith("skipped:")}
    assert skipped == left_out
    assert counts[f"read:{mapping}"] == len(taken) + sum(left_out.values())


def test_problems_have_unique_ids_that_name_the_source() -> None:
    """The id of a row is derived from its question and independent of its position."""
    read = problems(SHAPE["gsm8k"], "gsm8k")
    assert [p.id for p in read] == [p.id for p in problems(SHAPE["gsm8k"], "gsm8k")]
    assert len({p.id for p in read}) == len(read)
