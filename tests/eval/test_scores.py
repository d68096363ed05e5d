"""A model's scores from a judged file: by hand, and from the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from eval.scores import ModelScores, classes, score_of, scores, ssr
from eval.scores.__main__ import app
from eval.scores.rates import Rate, Rates, no_answer, rates
from eval.tables import print_scores
from gradegpt.app.run import check_input, judge_file
from gradegpt.core.errors import InputError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges import RuleJudge

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


def test_the_same_words_in_another_context_are_another_question() -> None:
    """As with "(2) Find the speed." in several problems; rows with equal contexts are samples."""
    rows = [
        (item.model_copy(update={"context": context}), judgement)
        for context in ("A car.", "A train.")
        for item, judgement in answers("+-", "Find the speed.")
    ]
    assert found(rows).overall.n_questions == 2
    assert found(answers("+-+-", "Find the speed.")).overall.n_questions == 1


def test_rows_without_a_verdict_are_left_out_and_counted() -> None:
    """A refusal is wrong in the accuracy and left out of the accuracy of answers."""
    score = score_of([*answers("+-0?", "a"), *answers("??", "b")], (1, 3))
    assert score.accuracy is not None
    assert score.accuracy_of_answers is not None
    assert score.accuracy.value == pytest.approx(1 / 3)
    assert score.accuracy.n_questions == 1
    assert score.accuracy_of_answers.value == 0.5
    assert (score.no_answer, score.not_judged) == ({"refusal": 1}, {"undecided": 3})
    assert [one.pass_at_k.n_questions for one in score.samples] == [1, 1]
    with pytest.raises(InputError, match="k = 4: no question has as many judged answers"):
        score_of(answers("+-0?", "a"), (4,))
    assert score_of(answers("??", "a")).accuracy is None


def test_the_default_k_is_of_judged_answers() -> None:
    """Four answers with one verdict give no pass@2; without any verdict there is no score."""
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
    assert ssr([answers("?", "a")], 0.1) is None


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


def test_the_command(tmp_path: Path) -> None:
    """Labels in the items are ignored; judgements of other rows are refused with their position."""
    rows = [*answers("++-+", "a", ["angles"]), *answers("+0--", "b", ["areas"])]
    write_rows(
        tmp_path / "in.jsonl", (i.model_dump(mode="json") | {"verdict": "x"} for i, _ in rows)
    )
    write_rows(tmp_path / "out.jsonl", (j.model_dump(mode="json") for _, j in rows))
    files = [str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl")]
    ran = CliRunner().invoke(app, [*files, "-o", str(tmp_path / "scores.json"), "--k", "4"])
    assert ran.exit_code == 0, ran.output
    assert re.search(r"\n 4 +2 +", ran.output)
    assert "SSR of points" in ran.output
    written = ModelScores.model_validate(json.loads((tmp_path / "scores.json").read_text()))
    assert written == found(rows, 4)
    other = rows[1:] + rows[:1]
    with pytest.raises(InputError, match="row 1: item 'a0' beside judgement 'a1'"):
        scores([i for i, _ in rows], [j for _, j in other])
    with pytest.raises(InputError, match="8 items and 7 judgements"):
        scores([i for i, _ in rows], [j for _, j in rows[:-1]])


@pytest.mark.parametrize(
    "name",
    ["answer.__main__", "estimate.__main__", "protocol", "report.__main__", "scores.__main__"],
)
def test_an_output_that_is_a_folder_is_refused_before_any_work(name: str, tmp_path: Path) -> None:
    """By every command that writes a file."""
    command = typer.main.get_command(import_module(f"eval.{name}").app)
    (output,) = (option for option in command.params if "-o" in option.opts)
    given = [str(tmp_path)] if output.multiple else str(tmp_path)
    with pytest.raises(typer.BadParameter, match="is a directory"):
        output.process_value(typer.Context(command), given)


def test_a_file_without_a_verdict_has_no_scores(tmp_path: Path) -> None:
    """The error counts why."""
    item = Item(id="1", reference=("4",), response="4")
    failed = Judgement(id="1", outcome=Outcome.FAILED, method="model")
    write_rows(tmp_path / "items.jsonl", [item])
    write_rows(tmp_path / "judged.jsonl", [failed])
    done = CliRunner().invoke(app, [str(tmp_path / "items.jsonl"), str(tmp_path / "judged.jsonl")])
    assert isinstance(done.exception, InputError)
    says = r"judged\.jsonl: no row has a verdict \(1 failed\); judge them again first$"
    assert re.search(says, str(done.exception))


def test_the_rates_of_atlas() -> None:
    """Table 4: 99 of 1,204 cut off and one JSON error are 8.22 % and 0.08 % (Doubao-Seed-1.6).

    1,204 is four predictions to each of 301 questions, the one size below 1,400 that all six
    printed rates are shares of: 19, 26, 42, 99 and 125 cut off, and 1 JSON error.
    """
    rows = [*answers("+" * 1204, "a")]
    for n in range(99):
        item, judgement = rows[n]
        rows[n] = (item.model_copy(update={"meta": {"cut_off": True}}), judgement)
    rows[99] = (rows[99][0], none_because("response:json-error"))
    found = rates(rows)
    assert (found.truncated.n, found.json_error.n, found.refusal.n) == (99, 1, 0)
    assert f"{100 * found.truncated.share:.2f}" == "8.22"
    assert f"{100 * found.json_error.share:.2f}" == "0.08"
    for count, printed in ((19, "1.58"), (26, "2.16"), (42, "3.49"), (125, "10.38")):
        assert f"{100 * count / 1204:.2f}" == printed


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


def test_every_score_has_rates() -> None:
    """There are rates of all rows and of each tag; they never count more rows than exist."""
    got = found([*answers("+0-?", "a", ["angles"]), *answers("00", "b", ["areas"])])
    assert (got.overall.rates.refusal.n, got.overall.rates.refusal.share) == (3, 0.5)
    assert got.tags["points"]["areas"].rates.refusal.share == 1.0
    assert got.tags["points"]["angles"].rates.n_rows == 4
    one = Rate(n=2, share=1.0)
    with pytest.raises(ValueError, match="more rows without an answer than rows"):
        Rates(n_rows=2, truncated=one, refusal=one, json_error=one, unparsable=one)


def test_the_tables_fit_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """No line is longer than 100 columns, no cell is cut, and shares have their counts."""
    rows = [*answers("+-0?" * 300, "a", ["angles"]), *answers("+" * 4, "b", ["areas"])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        print_scores(found(rows))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 100
    assert "24.92 (300)" in said
    assert "33.6 [33,100]" in said
    assert "…" not in said


def test_what_was_judged_may_be_a_table_of_any_form(tmp_path: Path) -> None:
    """Its columns are recognised as by the judge; an invalid row is named."""
    path, judged = tmp_path / "answers.csv", tmp_path / "judged.jsonl"
    path.write_text("q,gold,output,n\n2+2=?,4,It is 4.,1\n2+3=?,5,It is 6.,2\n")
    source = check_input(path, columns={"question": "q"})
    judge_file(source, judged, RuleJudge())
    call = [str(path), str(judged), "--map", "question=q", "-o", str(tmp_path / "scores.json")]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    written = json.loads((tmp_path / "scores.json").read_text())
    assert (written["overall"]["n_questions"], written["overall"]["accuracy"]["value"]) == (2, 0.5)
