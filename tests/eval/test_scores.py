"""A model's scores from a judged file: by hand, and from the command line."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from eval.report.__main__ import app
from eval.report.results import read_judged
from eval.scores import (
    ModelScores,
    answers_of,
    at_least,
    classes,
    mg_pass,
    no_answer,
    score_of,
    scores,
    ssr,
)
from eval.tables import print_scores
from gradegpt.app.run import check_input, judge_file
from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.compare import Comparison

SIGNS = {"+": Verdict.CORRECT, "-": Verdict.INCORRECT, "0": Verdict.INVALID, "?": None}


def answers(marks: str, question: str, points: Sequence[str] = ()) -> list[tuple[Item, Judgement]]:
    """A row for each sign: right, wrong, invalid, not judged."""
    rows = []
    for n, mark in enumerate(marks):
        item = Item(
            id=f"{question}{n}", question=question, reference=("1",), response="x",
            tags={"points": tuple(points)} if points else {},
        )  # fmt: skip
        verdict = SIGNS[mark]
        outcome = Outcome.UNDECIDED if verdict is None else Outcome.JUDGED
        judgement = Judgement(
            id=item.id, outcome=outcome, verdict=verdict, method="rules",
            reason="response:refusal" if mark == "0" else "number:equal",
        )  # fmt: skip
        rows.append((item, judgement))
    return rows


def found(rows: Sequence[tuple[Item, Judgement]], *ks: int) -> ModelScores:
    return scores([i for i, _ in rows], [j for _, j in rows], ks=ks)


def test_answers_are_scored_as_samples_of_their_question() -> None:
    """Three of four, one of four: pass@2 is 1 and 1/2, mG-Pass@2 1/2 and 0."""
    rows = [*answers("+++-", "a"), *answers("+---", "b")]
    overall = found(rows, 2).overall
    assert overall.accuracy is not None
    assert (overall.n_rows, overall.n_questions, overall.accuracy.value) == (8, 2, 0.5)
    (two,) = overall.samples
    assert two.pass_at_k.value == pytest.approx(0.75)
    assert two.mg_pass.value == pytest.approx(0.25)
    assert two.g_pass["0.5"].value == two.pass_at_k.value
    assert two.g_pass["1"].value == two.mg_pass.value
    assert two.mg_pass.interval.low <= 0.25 <= two.mg_pass.interval.high
    assert [one.k for one in found(rows).overall.samples] == [2, 4]


def test_open_rows_are_left_out_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A refusal is wrong in the accuracy and left out of the accuracy of answers."""
    score = score_of(answers_of([*answers("+-0?", "a"), *answers("??", "b")]), (1, 3))
    assert score.accuracy is not None
    assert score.accuracy_of_answers is not None
    assert score.accuracy.value == pytest.approx(1 / 3)
    assert score.accuracy.n_questions == 1
    assert score.accuracy_of_answers.value == 0.5
    assert (score.no_answer, score.not_judged) == ({"refusal": 1}, {"undecided": 3})
    assert (score.bounds.low, score.bounds.high) == pytest.approx((1 / 6, 4 / 6))
    assert score.many_open
    assert [one.pass_at_k.n_questions for one in score.samples] == [1, 1]
    print_scores(ModelScores(overall=score, tags={}, ssr={}))
    assert re.search(r"k +questions *\n\W+1 +1 of 2 *\n", capsys.readouterr().out[-500:])
    with pytest.raises(InputError, match="k = 4: no question has as many judged answers"):
        score_of(answers_of(answers("+-0?", "a")), (4,))
    assert score_of(answers_of(answers("??", "a"))).accuracy is None


def test_the_default_k_is_of_judged_answers() -> None:
    """Four answers with one verdict give no pass@2; without any verdict there is no score.

    Nor do questions with unequal numbers of answers, unless these are drawn samples.
    """
    uneven = [*answers("+-", "a"), *answers("+-+", "b")]
    assert found(uneven).overall.samples == ()
    drawn = [(item.model_copy(update={"meta": {"sample": 0}}), one) for item, one in uneven]
    assert [one.k for one in found(drawn).overall.samples] == [2]
    assert found(answers("+???", "a")).overall.samples == ()
    assert found(answers("????", "a")).overall.accuracy is None


def test_knowledge_points_are_mastered_above_alpha() -> None:
    """CMMaTH, appendix D.2: of three points with accuracies 1/4, 3/5 and 0 one is above 0.3.

    A question with two points counts for both; an accuracy of alpha itself is not above it.
    """
    rows = [
        *answers("+--", "a", ["angles"]),
        *answers("-", "b", ["angles", "areas"]),
        *answers("+++-", "c", ["areas"]),
        *answers("-?", "d", ["sets"]),
    ]
    got = found(rows)
    assert {value: s.n_rows for value, s in got.tags["points"].items()} == {
        "angles": 4, "areas": 5, "sets": 2,
    }  # fmt: skip
    assert got.ssr["points"] == pytest.approx({"0.1": 2 / 3, "0.2": 2 / 3, "0.3": 1 / 3, "0.6": 0})
    assert ssr([score_of(answers_of(answers("?", "a")))], 0.1) is None
    points = [answers("+", "a"), answers("+", "b"), answers("??", "c")]
    assert ssr(map(score_of, map(answers_of, points)), 0.1) == pytest.approx(2 / 3), (
        "a point without a verdict is in N_kn, too"
    )


def test_consensus_is_by_value() -> None:
    """One half in three forms outvotes 0.4 given twice; the majority may be wrong."""
    said = [
        "The answer is 1/2.",
        "The answer is 0.4.",
        "答案是50%。",
        "The answer is 0.4.",
        "So 0.5.",
    ]
    items = [
        Item(id=str(n), question="?", reference=("0.5",), response=r) for n, r in enumerate(said)
    ]
    judged = RuleJudge().judge(items)
    assert classes(list(zip(items, judged, strict=True))) == [0, 1, 0, 1, 0]
    overall = scores(items, judged).overall
    assert overall.consensus is not None
    assert (overall.accuracy and overall.accuracy.value, overall.consensus.value) == (0.6, 1.0)
    wrong = [i.model_copy(update={"reference": ("0.4",)}) for i in items]
    minority = scores(wrong, RuleJudge().judge(wrong)).overall.consensus
    assert minority is not None
    assert minority.value == 0


def test_many_different_answers_are_compared_by_their_text_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a hundred answers the ten most frequent by the rules: else a large file takes hours."""
    times: list[Any] = []

    def compared(*answers: Any, **_: Any) -> Comparison:
        times.append(answers)
        return Comparison(None, "")

    monkeypatch.setattr("eval.scores.compare", compared)
    item = Item(question="How many?", reference=("1",), response="x", answer_type="number")
    said = Judgement(id="", outcome=Outcome.JUDGED, verdict=Verdict.INCORRECT, method="rules")
    rows = [(item, said.model_copy(update={"answer": str(n)})) for n in [*range(50), *range(50)]]
    assert classes(rows) == [*range(50), *range(50)]
    assert len(times) == 45


def test_comparisons_that_change_no_consensus_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores of all groups are those with all comparisons, in 30 draws."""
    rng = random.Random(1)
    for _ in range(30):
        texts = rng.choices(("1", "1.0", "2"), (4, 1, 2), k=28)
        kinds = {"1": "++++--0?", "1.0": "+", "2": "-"}
        marks = "".join(rng.choice(kinds[text]) for text in texts)
        rows = [row for n, q in enumerate("abcd") for row in answers(marks[7 * n : 7 * n + 7], q)]
        named = zip(rows, texts, strict=True)
        said = [j.model_copy(update={"answer": text}) for (_, j), text in named]
        tags = [{"model": rng.choice("xy"), "q": i.question} for i, _ in rows]
        items = [i.model_copy(update={"tags": t}) for (i, _), t in zip(rows, tags, strict=True)]
        made = scores(items, said)
        with monkeypatch.context() as patched:
            patched.setattr("eval.scores._is_settled", lambda _: False)
            assert scores(items, said) == made


def test_programs_have_no_consensus() -> None:
    """Two programs are not compared, so the first of them would stand for all."""
    items = [
        Item(id=str(n), question="?", reference=("x",), response=f"print({n})", answer_type="code")
        for n in range(3)
    ]
    said = [
        Judgement(id=str(n), outcome="judged", verdict=v, method="code", answer=f"print({n})")
        for n, v in enumerate((Verdict.CORRECT, Verdict.INCORRECT, Verdict.INCORRECT))
    ]
    assert scores(items, said).overall.consensus is None


def test_the_command(tmp_path: Path) -> None:
    """It prints and writes the scores; judgements of other rows are refused with their position."""
    rows = [*answers("++-+", "a", ["angles"]), *answers("+0--", "b", ["areas"])]
    write_rows(tmp_path / "in.jsonl", (i.model_dump(mode="json") for i, _ in rows))
    write_rows(tmp_path / "out.jsonl", (j.model_dump(mode="json") for _, j in rows))
    call = [str(tmp_path / "out.jsonl"), "--items", str(tmp_path / "in.jsonl")]
    ran = CliRunner().invoke(app, [*call, "-o", str(tmp_path / "scores.json")])
    assert ran.exit_code == 0, ran.output
    assert re.search(r"\n 2 +2 +", ran.output)
    assert "SSR of points: % of its values with an accuracy above 0.1: " in ran.output
    written = json.loads((tmp_path / "scores.json").read_text())
    assert ModelScores.model_validate(written["out"]) == found(rows)
    other = rows[1:] + rows[:1]
    with pytest.raises(InputError, match="row 1: item 'a0' beside judgement 'a1'"):
        scores([i for i, _ in rows], [j for _, j in other])
    with pytest.raises(InputError, match="8 items and 7 judgements"):
        scores([i for i, _ in rows], [j for _, j in rows[:-1]])


@pytest.mark.parametrize("name", ["answer", "estimate.__main__", "protocol", "report.__main__"])
def test_an_output_that_is_a_folder_is_refused_before_any_work(name: str, tmp_path: Path) -> None:
    """By every command that writes a file."""
    command = typer.main.get_command(import_module(f"eval.{name}").app)
    (output,) = (option for option in command.params if "-o" in option.opts)
    given = [str(tmp_path)] if output.multiple else str(tmp_path)
    with pytest.raises(typer.BadParameter, match="is a directory"):
        output.process_value(typer.Context(command), given)


def none_because(reason: str) -> Judgement:
    return Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.INVALID, method="m", reason=reason
    )


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("response:cut-off", "truncated"), ("response:refusal", "refusal"),
        ("response:no-json", "json_error"), ("response:json-error", "json_error"),
        ("response:wrong-count", "unparsable"), ("response:loop", "unparsable"),
        ("parts:C,C:refusal", "refusal"), ("model:chain", "unparsable"),
        ("atlas:C,C:incomplete-or-refusal", "truncated"),
    ],
)  # fmt: skip
def test_why_there_is_no_answer(reason: str, kind: str) -> None:
    """Every invalid row has one kind; a response cut off at the token limit is truncated."""
    item = Item(question="?", reference=("1",), response="So it is")
    assert no_answer(item, none_because(reason)) == kind
    cut = item.model_copy(update={"meta": {"cut_off": True}})
    assert no_answer(cut, none_because(reason)) == "truncated"
    said = item.model_copy(update={"response": "I cannot answer this question."})
    if "incomplete" in reason:
        assert no_answer(said, none_because(reason)) == "refusal"
    (_, wrong), (_, unjudged) = answers("-?", "a")
    assert no_answer(item, wrong) is no_answer(item, unjudged) is None


def test_the_tables_fit_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """No line is longer than 100 columns, no cell is cut, no column is of dashes."""
    rows = [*answers("+-0?" * 300, "a", ["angles"]), *answers("+" * 4, "b", ["areas"])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        print_scores(found(rows))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 100
    assert "24.92 (300)" in said
    assert re.search(r"all +1,204 +2 +– +25.2 to 50.2", said), said
    assert "those without a verdict all wrong, and all right" in said
    assert "…" not in said
    assert "of answers" in said
    assert "JSON error" not in said


def drawn(n: int, c: int, k: int, least: int) -> float:
    """The share of all subsets of ``k`` answers with at least ``least`` right ones."""
    subsets = list(combinations([1] * c + [0] * (n - c), k))
    return sum(sum(subset) >= least for subset in subsets) / len(subsets)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_every_subset_is_counted(n: int) -> None:
    """The formulas are the shares of subsets, for every number of right answers."""
    right = np.arange(n + 1.0)
    for k in range(1, n + 1):
        tails = at_least(np.full(n + 1, float(n)), right, k)
        by_subset = np.array([[drawn(n, c, k, i) for i in range(k + 1)] for c in range(n + 1)])
        assert tails == pytest.approx(by_subset, abs=1e-9)
        assert mg_pass(tails) == pytest.approx(2 / k * by_subset[:, -(-k // 2) + 1 :].sum(axis=1))


def test_one_judge_is_listed_by_a_column(tmp_path: Path) -> None:
    """Such as a pupil's class; several who answer are no samples of one model."""
    rows = [
        {"question": "2+2=?", "reference": "4", "response": response, "class": name}
        for name, response in (("3a", "4"), ("3a", "4"), ("3b", "5"), ("3b", "4"))
    ]
    write_rows(tmp_path / "answers.jsonl", rows)
    judge_file(check_input(tmp_path / "answers.jsonl"), tmp_path / "judged.jsonl", RuleJudge())
    arguments = (tmp_path / "judged.jsonl", "--by", "class", "-o", tmp_path / "report.html")
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert re.search(r"class: 3a +2 +1 +100.0", done.output)
    assert re.search(r"class: 3b +2 +1 +50.0", done.output)
    assert not re.search("pass@k|SSR", done.output)
    with pytest.raises(SettingsError, match=r"--by pupil: .* the columns are: question, .*, class"):
        read_judged([tmp_path / "judged.jsonl"], by="pupil")


@pytest.mark.parametrize("tag", [True, False], ids=["tag", "column"])
def test_a_judged_log_is_listed_by_its_task_or_its_model(tmp_path: Path, *, tag: bool) -> None:
    """Models are no samples of one another, and neither tag is a knowledge point."""
    rows = [
        {"question": "2+2=?", "reference": "4", "response": response, "meta": {"task": task},
         **({"tags": {"model": [model]}} if tag else {"model": model})}
        for model, task, response in (
            ("m1", "sums", "4"), ("m2", "sums", "4"), ("m1", "more", "5"), ("m2", "more", "4"),
        )
    ]  # fmt: skip
    write_rows(tmp_path / "answers.jsonl", rows)
    judge_file(check_input(tmp_path / "answers.jsonl"), tmp_path / "judged.jsonl", RuleJudge())
    arguments = (tmp_path / "judged.jsonl", "-o", tmp_path / "report.html")
    plain = CliRunner().invoke(app, [*map(str, arguments)]).output
    by_task = CliRunner().invoke(app, [*map(str, arguments), "--by", "task"]).output
    assert re.search(r"model: m1 +2 +1 +50.0", plain)
    assert re.search(r"task: more +2 +1 +50.0", by_task)
    assert "model: m1" not in by_task
    assert "[95 %]: Wilson's, over questions" in by_task
    assert not re.search("pass@k|SSR", plain + by_task)
