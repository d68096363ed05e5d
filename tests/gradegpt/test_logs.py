"""Logs of other tools: recognised by structure, read with their old scores, and compared."""

from __future__ import annotations

import json
import random
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradegpt.app import cli, console
from gradegpt.app.run import check_input
from gradegpt.core.errors import GradeGPTError, InputError, MissingError, OutputError
from gradegpt.core.records import read_objects, read_rows, write_rows
from gradegpt.core.schema import Item, Judgement
from gradegpt.tables.importers.logs import compare, items_of, recognise
from gradegpt.tables.importers.logs.by_row import LM_EVAL, user_turn
from gradegpt.tables.importers.logs.changed import Rescored, shown
from gradegpt.tables.importers.logs.reading import listed, question_and_context, references, score

LOGS = Path(__file__).parents[1] / "data" / "logs"
SUMS = LOGS / "lm_eval" / "samples_sums_2026-11-23T14-32-53.167757.jsonl"
CAPITALS = LOGS / "lm_eval" / "samples_capitals_2026-11-23T14-32-53.167757.jsonl"
REVIEWS = LOGS / "evalscope" / "reviews" / "mock" / "general_mcq_choices.jsonl"
COMPASS = LOGS / "opencompass"
PREDICTIONS = COMPASS / "predictions" / "canned" / "sums.json"
SHAPES = LOGS / "vlmevalkit" / "Canned_Shapes_exact_matching_result.tsv"
ANSWERS = LOGS / "vlmevalkit" / "Canned_TextVQA_VAL_results.tsv"
KINDS = {
    SUMS: "lm-evaluation-harness",
    CAPITALS: "lm-evaluation-harness",
    LOGS / "inspect" / "sums.json": "Inspect",
    LOGS / "inspect" / "sums.eval": "Inspect",
    **dict.fromkeys(sorted(COMPASS.rglob("*.json")), "OpenCompass"),
    SHAPES: "VLMEvalKit",
    SHAPES.with_suffix(".xlsx"): "VLMEvalKit",
    ANSWERS: "VLMEvalKit",
    REVIEWS: "evalscope",
    LOGS / "simple_evals_allresults.json": "simple-evals",
    **dict.fromkeys(sorted((LOGS / "helm").rglob("scenario_state.json")), "HELM"),
    LOGS / "verl.jsonl": "verl",
}


class Logged(NamedTuple):
    """An item of a log, and what its metadata say."""

    item: Item
    task: str
    metric: str
    old: float | None
    where: str
    unscored: str = ""


def read(path: Path) -> tuple[list[Logged], list[str]]:
    """The items of a log, and why other rows are left out."""
    tool = recognise(path)
    assert tool is not None
    rows = list(tool.read(path))
    items = [row for row in rows if isinstance(row, Item)]
    bare = [item.model_copy(update={"meta": {}}) for item in items]
    return (
        [
            Logged(one, task, *scores.popitem(), *more)
            for one, (task, scores, *more) in zip(
                bare, (i.meta.values() for i in items), strict=True
            )
        ],
        [row for row in rows if isinstance(row, str)],
    )


def named(path: Path) -> str:
    """A log's path below the folder of logs."""
    return str(path.relative_to(LOGS))


def call(*arguments: str | Path) -> int:
    """Run the command line in this process; the exit code."""
    with pytest.raises(SystemExit) as caught:
        cli.run(cli.app, [str(a) for a in arguments], name="gradegpt")
    return int(caught.value.code or 0)


@pytest.mark.parametrize("path", KINDS, ids=named)
def test_a_log_is_recognised_by_its_structure_alone(path: Path, tmp_path: Path) -> None:
    """With any name and suffix, in any folder."""
    renamed = tmp_path / "something.dat"
    renamed.write_bytes(path.read_bytes())
    tool = recognise(renamed)
    assert tool is not None
    assert tool.name == KINDS[path]


@pytest.mark.parametrize(
    "text",
    ['{"reference": "4", "response": "4"}\n', '{"reference": "4", "respons": "4"}\n', "",
     '{"reference": "4", "resp', "question,reference,response\n1,2,3\n", "no log\n",
     '{"reference": "4", "response": "4", "input": "", "output": "", "score": 1, "step": 1}\n',
     '[{"a": 1}]', '{\n"results": {},\n"configs": {}\n}', "<html><p>Score: 1</p></html>",
     json.dumps(dict.fromkeys(("input", "output", "score", "step", "index", "sample_score"), 1)),
     "a,b\n1\n", "a,b,a\n1,2,3\n", "\ufeffa,b\n", 'a,b\n"'],
    ids=["items", "misspelt", "empty", "cut", "table", "text", "items-with-more", "list",
         "results", "html", "two-tools", "short-row", "twice", "header", "open-quote"],
)  # fmt: skip
def test_no_tool_is_guessed(text: str, tmp_path: Path) -> None:
    """For items, whose reader reports the errors, for what none writes, and what two may have."""
    (tmp_path / "in.jsonl").write_text(text)
    assert recognise(tmp_path / "in.jsonl") is None
    assert recognise(tmp_path) is None
    assert recognise(tmp_path / "nothing") is None


@pytest.mark.parametrize("place", ["20260101_120000", "default/20260101_120000"])
def test_the_run_of_a_folder_of_runs_is_named(tmp_path: Path, place: str) -> None:
    """Not only that a folder is no file."""
    file = tmp_path / place / "predictions" / "small" / "sums.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(PREDICTIONS.read_bytes())
    with pytest.raises(InputError, match=f"predictions/; give one, such as {tmp_path / place}$"):
        recognise(tmp_path)


def test_lm_eval_gives_each_response_once_with_the_score_of_every_filter(tmp_path: Path) -> None:
    """It is the model's whole text; where a filter chooses among samples, each choice is one."""
    rows = [row for row in LM_EVAL.read(SUMS) if isinstance(row, Item)]
    assert [row.id for row in rows] == ["sums/0", "sums/1", "sums/2", "sums/3"]
    assert [[*row.meta["old_scores"].values()] for row in rows] == [[1, 0], [0, 0], [0, 0], [0, 0]]
    assert [*rows[0].meta["old_scores"]] == ["exact_match,strict", "exact_match,flexible"]
    second = rows[1]
    assert (second.question, second.reference) == ("What is 9 - 3?", ("6",))
    assert second.response == " 9 - 3 = 6, so the answer is six."
    assert second.meta["where"] == f"{SUMS.name}:2"
    row = {
        "doc_id": 0,
        "doc": {},
        "target": "6",
        "resps": [["5", "6"]],
        "exact_match": 1,
        "arguments": {"gen_args_0": {"arg_0": "?"}},
    }
    picks = [row | {"filter": f"take{n}", "filtered_resps": [str(n)]} for n in (5, 6)]
    write_rows(tmp_path / "in.jsonl", [*picks, picks[0]])
    found = [r.id for r in LM_EVAL.read(tmp_path / "in.jsonl") if isinstance(r, Item)]
    assert found == ["in/0,take5", "in/0,take5", "in/0,take6"]


def test_options_ranked_by_log_likelihood_are_left_out_with_the_reason() -> None:
    """They have no response; the reasons are counted."""
    for path, n, reason in (
        (CAPITALS, 3, "log-likelihood"),
        (COMPASS / "predictions" / "canned" / "ranked.json", 4, "perplexity"),
        (LOGS / "helm" / "ranked" / "scenario_state.json", 9, "one by one"),
    ):
        rows, left = read(path)
        assert not rows
        assert len(left) == n
        assert reason in left[0]


def test_lm_eval_reads_worked_references_and_repeats(tmp_path: Path) -> None:
    """``#### 72`` ends a solution; of several samples the filtered one is read."""
    row = {
        "doc_id": 0, "doc": {"prompt_text": "?"}, "target": "48 / 2 = 24\n#### 72",
        "arguments": {"gen_args_0": {"arg_0": "Q: how many?\nA:", "arg_1": {"until": []}}},
        "resps": [["71", "72"]], "filtered_resps": ["72"], "acc": 1.0, "metrics": ["acc"],
    }  # fmt: skip
    write_rows(tmp_path / "old.jsonl", [row, {**row, "filtered_resps": [["71", "72"]]}])
    second, first = LM_EVAL.read(tmp_path / "old.jsonl")
    assert isinstance(first, Item)
    assert isinstance(second, str)
    assert (first.reference, first.solution) == (("72",), "48 / 2 = 24")
    assert (first.question, first.response) == ("Q: how many?\nA:", "72")
    assert [*first.meta.values()][:2] == ["old", {"acc": 1.0}]


def test_inspect_reads_messages_grades_and_accepted_targets() -> None:
    """C is 1 and I is 0; the first scorer is used; a list of targets is alternatives."""
    rows, left = read(LOGS / "inspect" / "sums.json")
    assert not left
    assert [(r.item.id, r.metric, r.old) for r in rows] == [
        ("sums/s1", "match", 1), ("sums/s2", "match", 0),
        ("sums/s3", "match", 1), ("sums/s4", "match", 0),
    ]  # fmt: skip
    assert rows[2].item.reference == ("巴黎", "Paris")
    assert rows[2].item.response == "It is Paris."


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="the package reads its own logs")
def test_an_eval_log_read_by_the_package_equals_its_json() -> None:
    """Two runs of one task in the two forms give the same items and scores."""
    packed, _ = read(LOGS / "inspect" / "sums.eval")
    plain, _ = read(LOGS / "inspect" / "sums.json")
    assert [r[:4] for r in packed] == [r[:4] for r in plain]
    (first, second), _ = read(LOGS / "inspect" / "choices.eval")
    assert first.item.question == "Which number is even?\nA. 3\nB. 8\nC. 7"
    assert (first.item.reference, first.old) == (("B",), 1)
    assert (second.item.response, second.old) == ("The gas is helium.", 0)


def test_an_eval_log_without_its_package_is_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JSON logs need no package."""
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(MissingError, match="pip install inspect_ai, or write logs as JSON"):
        read(LOGS / "inspect" / "sums.eval")


def test_inspect_leaves_out_samples_that_ended_in_an_error(tmp_path: Path) -> None:
    """A sample without a score has no old score; the epoch is part of the id."""
    log = json.loads((LOGS / "inspect" / "sums.json").read_text())
    log["samples"][0]["error"] = {"message": "no answer"}
    log["samples"][1] |= {"scores": None, "epoch": 2}
    (tmp_path / "log").write_text(json.dumps(log))
    rows, left = read(tmp_path / "log")
    assert left == ["the sample ended in an error"]
    assert (rows[0].item.id, rows[0].metric, rows[0].old) == ("sums/s2/epoch2", "", None)


OLD: dict[str, tuple[str, list[float | None]]] = {
    "sums": ("correct", [1, 0, 0, 0, 0]),
    "plain": ("", [None] * 5),
    "judged": ("judge", [1, 1, 0, 0, None]),
    "cascade": ("cascade_correct", [1, 1, 0, 0, 0]),
    "choices": ("correct", [1, 1, 0, 1]),
    "twice": ("correct", [1] + [0] * 9),
    "split": ("correct", [1, 0, 0, 0, 0]),
}
"""The scores of OpenCompass's evaluators: by rules, none by item, by a judge, by both."""


@pytest.mark.parametrize("name", OLD)
def test_opencompass_joins_a_runs_predictions_and_results(name: str) -> None:
    """Responses are in the predictions and scores in the details."""
    metric, old = OLD[name]
    one = COMPASS / "predictions" / "canned" / f"{name}.json"
    paths = [one] if one.is_file() else sorted(one.parent.glob(f"{name}_*.json"))
    rows = [row for path in paths for row in read(path)[0]]
    assert [(r.item.id, r.task, r.old) for r in rows] == [
        (f"{name}/{n}", name, score) for n, score in enumerate(old)
    ]
    assert {r.metric for r in rows if r.old is not None} <= {metric}
    if name != "choices":
        assert rows[3].item.question == "法国的首都是哪里?"
        assert rows[1].item.response == "It is one half, so the answer is .5"
        assert (rows[0].item.reference, rows[1].item.reference) == (("4",), ("0.5",))


def test_why_a_prediction_has_no_old_score_is_said(tmp_path: Path) -> None:
    """The evaluator wrote none, the results have no details, or they are not there."""
    files = {kind: tmp_path / kind / "m" / "plain.json" for kind in ("predictions", "results")}
    for kind, file in files.items():
        file.parent.mkdir(parents=True)
        file.write_bytes((COMPASS / kind / "canned" / "plain.json").read_bytes())
    assert "details hold no score" in read(files["predictions"])[0][0].unscored
    results = json.loads(files["results"].read_text())
    del results["details"]
    files["results"].write_text(json.dumps(results))
    assert "evaluate with --dump-eval-details" in read(files["predictions"])[0][0].unscored
    files["results"].unlink()
    assert "no file of results/" in read(files["predictions"])[0][0].unscored


def test_a_run_of_opencompass_is_read_as_a_whole(tmp_path: Path) -> None:
    """All models and data sets, whose rows are named by both."""
    for model in ("small", "large"):
        for kind in ("predictions", "results"):
            (tmp_path / kind / model).mkdir(parents=True)
            source = COMPASS / kind / "canned" / "sums.json"
            (tmp_path / kind / model / "sums.json").write_bytes(source.read_bytes())
    rows, _ = read(tmp_path)
    assert [r.item.id for r in rows[::5]] == ["large/sums/0", "small/sums/0"]
    assert {r.task for r in rows} == {"large/sums", "small/sums"}
    assert [r.old for r in rows[:5]] == [r.old for r in rows[5:]] != [None] * 5
    assert recognise(tmp_path / "results") is None


def test_what_an_evaluator_extracted_is_not_read_as_a_response() -> None:
    """``[4, '4']`` beside ``[4, '4']`` is not what the model wrote; nor is a judge's reply."""
    for name in ("sums", "judged_replica0"):
        with pytest.raises(InputError, match=r"holds no responses.* give the file of predictions/"):
            read(COMPASS / "results" / "canned" / f"{name}.json")


def test_a_part_of_opencompass_predictions_without_the_earlier_ones_has_no_scores(
    tmp_path: Path,
) -> None:
    """Its place in the results is not known."""
    for kind, name in (("predictions", "split_1.json"), ("results", "split.json")):
        (tmp_path / kind / "m").mkdir(parents=True)
        source = COMPASS / kind / "canned" / name
        (tmp_path / kind / "m" / name).write_bytes(source.read_bytes())
    rows, _ = read(tmp_path / "predictions" / "m" / "split_1.json")
    assert [(r.item.id, r.old) for r in rows] == [("split_1/0", None), ("split_1/1", None)]


def test_vlmevalkit_has_columns_of_options_and_cells_with_several_answers() -> None:
    """Options stand below the question, the hint is the context; a list is alternatives."""
    rows, _ = read(SHAPES)
    assert [(r.item.id, r.metric, r.old) for r in rows] == [
        ("1", "hit", 1), ("2", "hit", 1), ("3", "hit", 0),
        ("4", "hit", 0), ("5", "hit", 1), ("6", "hit", 0),
    ]  # fmt: skip
    assert rows[0].item.question.endswith("?\nA. circle\nB. square\nC. triangle")
    assert [r.item.context for r in rows] == [None, "Count the red ones too."] + [None] * 4
    assert rows[1].where == f"{SHAPES.name}:3"
    rows, _ = read(ANSWERS)
    assert [(r.metric, r.old) for r in rows] == [("eval_score", old) for old in (0.75, 0, 0, 0)]
    assert [r.item.reference for r in rows[:2]] == [
        ("stop", "STOP", "halt"), ("red", "dark red", "crimson"),
    ]  # fmt: skip


def test_a_workbook_gives_the_same_items_as_its_tsv(tmp_path: Path) -> None:
    """Numbers and empty cells, as pandas writes them, become the texts of the TSV."""
    pytest.importorskip("openpyxl")
    rows, tsv = read(SHAPES.with_suffix(".xlsx"))[0], read(SHAPES)[0]
    # Of a column with an empty cell pandas makes 6.0 in a TSV; a workbook keeps 6.
    same = [
        r.item.model_copy(update={"question": r.item.question.replace("6.0", "6")}) for r in tsv
    ]
    assert [r.item for r in rows] == same
    assert [r.old for r in rows] == [r.old for r in tsv]
    with zipfile.ZipFile(tmp_path / "broken.xlsx", "w") as packed:
        packed.writestr("xl/workbook.xml", "")
    assert recognise(tmp_path / "broken.xlsx") is None
    with pytest.raises(InputError, match=r"broken\.xlsx: not a readable workbook"):
        check_input(tmp_path / "broken.xlsx")


def test_evalscope_reads_reviews() -> None:
    """The score of the benchmark is the old one."""
    rows, _ = read(REVIEWS)
    assert [(r.item.reference, r.item.response, r.metric, r.old) for r in rows] == [
        (("B",), "ANSWER: B", "accuracy", 1),
        (("C",), "It can only be helium, option C", "accuracy", 1),
        (("B",), "ANSWER: A", "accuracy", 0),
    ]
    unscored, _ = read(REVIEWS.with_name("general_qa_sums.jsonl"))
    assert (unscored[0].item.question, unscored[0].old) == ("What is 2 + 2?", None)


def test_simple_evals_is_read_from_the_html_of_each_example(tmp_path: Path) -> None:
    """Escaped texts are unescaped; no response holds the field of a score; a mark is no text."""
    name = "simple_evals_allresults.json"
    rows, _ = read(LOGS / name)
    assert [(r.item.reference, r.item.response, r.old) for r in rows] == [
        (("4",), "2 + 2 is 4.\nANSWER: 4", 1),
        (("x < 3",), "Divide by 2: x < 3.\nSo the answer is x < 3.", 0),
        (("56",), "<p>Score: 1.0</p> & ANSWER: 54", 0),
    ]
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (LOGS / name).read_bytes())
    assert [r.item for r in read(tmp_path / name)[0]] == [r.item for r in rows]


def test_helm_reads_requests_and_the_statistics_beside_them() -> None:
    """An instance has a row for each metric class; the most specific metric is the old score."""
    rows, left = read(LOGS / "helm" / "sums" / "scenario_state.json")
    assert not left
    assert [(r.item.id, r.item.reference, r.metric, r.old) for r in rows] == [
        ("sums/id1", ("4", "four"), "quasi_exact_match", 1),
        ("sums/id2", ("0.5",), "quasi_exact_match", 0),
        ("sums/id3", ("56",), "quasi_exact_match", 0),
        ("sums/id4", ("巴黎",), "quasi_exact_match", 1),
        ("sums/id5", ("4",), "quasi_exact_match", 0),
    ]


def test_helm_reads_the_letter_of_the_correct_option_and_perturbed_questions() -> None:
    """The letter is the reference; each perturbation and seed has its own id and score."""
    rows, _ = read(LOGS / "helm" / "choices" / "scenario_state.json")
    assert [(r.item.id, r.item.reference, r.old) for r in rows] == [
        ("choices/id1", ("B",), 1), ("choices/id1/typos", ("B",), 0),
        ("choices/id1/typos-1", ("B",), 1),
        ("choices/id2", ("A",), 0), ("choices/id2/typos", ("A",), 0),
        ("choices/id3", ("C",), 0), ("choices/id3/typos", ("C",), 0),
        ("choices/id3/typos-1", ("C",), 0),
    ]  # fmt: skip
    assert rows[1].item.question == "Which of these is s gas?\nA. iron\nB. helium\nC. salt"


def test_rollouts_are_read_with_the_users_turn_and_the_reward() -> None:
    """From prompts without special tokens."""
    questions = [
        "What is 2 + 2?", "What is 1/2 as a decimal?", "What is 7 * 8?",
        "Half of a number is 6. What is the number?",
    ]  # fmt: skip
    rows, _ = read(LOGS / "verl.jsonl")
    assert [r.item.question for r in rows] == questions
    assert [r.old for r in rows] == [1, 0.1, 0.1, -1]


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("user\nA?\nassistant\n<think>\n", "A?"),
        ("user\nA?\nmodel\n", "A?"),
        ("no template", "no template"),
    ],
    ids=["thinks", "gemma", "none"],
)  # fmt: skip
def test_the_users_turn_is_found_in_each_models_template(prompt: str, question: str) -> None:
    """Where there is none, the whole prompt is the question."""
    assert user_turn(prompt) == question


def test_shared_values_are_read_strictly() -> None:
    """Only a number is a score; empty references and system prompts are ignored."""
    assert [score(v) for v in (True, "False", "0.5", 2, None, "C", float("nan"), [1])] == [
        1, 0, 0.5, 2, None, None, None, None,
    ]  # fmt: skip
    assert references(["a", "", None, 3]) == ("a", "3")
    for unread in ("[1, 2]", "[x, 2)", "['a', 2]", "[" * 300 + "]" * 300, "['a'", 3, ["a"]):
        assert listed(unread) == unread
    assert listed("['a', 'b', 'a']") == ["a", "b"]
    turns = [("system", "S"), ("user", "A"), ("assistant", "B"), ("user", [{"text": "C"}])]
    assert question_and_context([{"role": r, "content": c} for r, c in turns]) == ("C", "A\n\nB")
    assert question_and_context([]) == ("", None)


BREAKS: dict[str, tuple[Path, Callable[[dict[str, Any]], object], str]] = {
    "lm-eval": (SUMS, lambda row: row.pop("target"), ":2: .*target"),
    "evalscope": (REVIEWS, lambda row: row.update(sample_score=3), ":2: .*AttributeError"),
    "verl": (LOGS / "verl.jsonl", lambda row: row.pop("output"), ":2: .*output"),
    "verl-type": (LOGS / "verl.jsonl", lambda row: row.update(output=3), ":2: response: "),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_row_is_an_error_with_its_line(name: str, tmp_path: Path) -> None:
    """The first row identifies the tool; a later row without a field is an error."""
    path, spoil, message = BREAKS[name]
    rows = [row for _, row in read_objects(path)]
    spoil(rows[1])
    write_rows(tmp_path / "in.jsonl", rows)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "in.jsonl")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys of every place in a JSON value."""
    yield at
    named = value.items() if isinstance(value, dict) else ()
    within = enumerate(value) if isinstance(value, list) else named
    for key, inner in within:
        yield from places(inner, (*at, key))


@pytest.mark.parametrize("path", [p for p in KINDS if ".json" in p.suffix], ids=named)
def test_a_log_with_any_value_replaced_is_read_or_an_input_error(
    path: Path, tmp_path: Path
) -> None:
    """A log that was cut, edited or made by another version never ends in a traceback."""
    rng, lines = random.Random(0), path.suffix == ".jsonl"
    docs = [json.loads(t) for t in (path.read_text().splitlines() if lines else [path.read_text()])]
    for at in rng.sample(everywhere := list(places(docs[-1]))[1:], min(20, len(everywhere))):
        spoilt = json.loads(json.dumps(docs))
        inner = spoilt[-1]
        for key in at[:-1]:
            inner = inner[key]
        inner[at[-1]] = rng.choice([None, 3, "x", True, [], {}, [[]], [{}], [1], {"a": 1}])
        texts = [json.dumps(row, indent=None if lines else 1) for row in spoilt]
        (tmp_path / "log").write_text("\n".join(texts))
        with suppress(GradeGPTError):
            tool = recognise(tmp_path / "log")
            if tool is not None:
                items_of(tmp_path / "log", tool, tmp_path / "out.jsonl")


# Changes, counted by hand.

ROWS = [Rescored(*row) for row in (
    ("a", "t", "acc", 1, 1), ("b", "t", "acc", 1, 0), ("c", "t", "acc", 0, 1),
    ("d", "t", "acc", -1, 1), ("e", "u", "f1", 0.4, 1), ("f", "u", "f1", None, 0, "no file"),
    ("g", "u", "f1", 1, None), ("h", "u", "f1", None, None),
)]  # fmt: skip


def test_the_changes_are_summarised_in_a_few_lines() -> None:
    """The total, rows that are not compared, each task, and the first changed ids.

    1 is right, 0 and a reward of -1 are wrong; partial credit is neither. 4 of 8 rows are compared:
    2 right before, 3 after, 2 up and 1 down; the counts add up.
    """
    many = [Rescored(str(n), "t", "acc", 0, 1) for n in range(7)]
    assert shown(ROWS).splitlines() == [
        "all (acc, f1): 8 rows; correct, on the 4 judged on both sides: 50.0 -> 75.0 %; "
        "2 became right, 1 became wrong; old score of all 5: 60.0 %",
        "not compared: 2 without a verdict + 1 without an old score (no file) "
        "+ 1 whose old score is neither right nor wrong",
        "t (acc): 4 rows; correct, on all: 50.0 -> 75.0 %; 2 became right, 1 became wrong",
        "u (f1): 4 rows, none with an old score and a verdict to compare",
        "became right: c, d",
        "became wrong: b",
    ]
    assert shown(many, "out.scores.jsonl").splitlines()[-1] == (
        "became right: 0, 1, 2, 3, 4 and 2 more; "
        "all with change = 'became right' in out.scores.jsonl"
    )
    assert "none with an old score" in shown([])


# The command.


def test_judge_grades_a_log_again_and_summarises_the_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It writes judgements, rows of old and new scores, and prints the changes."""
    out = tmp_path / "out.jsonl"
    assert call("judge", LOGS / "inspect" / "sums.json", "--judge", "rules", "-o", out) == 0
    printed = capsys.readouterr()
    assert "Inspect: 4 responses" in printed.err
    assert printed.out.endswith(
        "all (match): 4 rows; correct, on all: 50.0 -> 75.0 %; 1 became right, 0 became wrong\n"
        "became right: sums/s2\n"
    )
    assert [j.id for j in read_rows(out, Judgement)] == ["sums/s1", "sums/s2", "sums/s3", "sums/s4"]
    rows = [row for _, row in read_objects(f"{out}.scores.jsonl")]
    assert rows[1] == {
        "id": "sums/s2", "task": "sums", "metric": "match", "old_score": 0.0, "new_score": 1.0,
        "change": "became right", "outcome": "judged", "verdict": "correct",
    }  # fmt: skip
    (first, *_) = read_rows(f"{out}.items.jsonl", Item)
    assert first.meta == {
        "task": "sums", "old_scores": {"match": 1.0}, "where": "sums.json: sample 1",
    }  # fmt: skip
    assert compare(out).startswith("all (match): 4 rows")


def test_a_table_that_is_recognised_as_a_log_can_be_read_as_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plain CSV of answers may have a tool's columns; the message says how."""
    path, out = tmp_path / "answers.csv", tmp_path / "out.csv"
    path.write_text("index,question,answer,prediction\n1,2+2=?,4,It is 4.\n")
    assert call("judge", path, "--judge", "rules", "-o", out) == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "a log of VLMEvalKit" in error
    assert "--map FIELD=COLUMN" in error
    assert call("judge", path, "--judge", "rules", "-o", out, "--map", "reference=answer") == 0
    assert "correct" in out.read_text()


def test_the_judgements_of_a_log_are_not_overwritten(tmp_path: Path) -> None:
    """The output and the items beside it are kept without --overwrite."""
    out = tmp_path / "out.jsonl"
    call("judge", LOGS / "verl.jsonl", "--judge", "rules", "-o", out)
    kept = Path(f"{out}.items.jsonl").read_bytes()
    other = ("judge", REVIEWS, "--judge", "rules", "-o", out)
    assert call(*other) == OutputError.exit_code
    assert Path(f"{out}.items.jsonl").read_bytes() == kept
    assert call(*other, "--overwrite") == 0
    assert len(list(read_rows(out, Judgement))) == 3


def test_a_log_with_nothing_to_grade_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reasons are counted, and no output is written."""
    assert call("judge", CAPITALS, "--judge", "rules", "-o", tmp_path / "out.jsonl") == 2
    error = capsys.readouterr().err
    assert "log of lm-evaluation-harness has nothing to grade (3 left out: options" in error
    assert not list(tmp_path.iterdir())


def test_outputs_of_other_items_are_not_compared(tmp_path: Path) -> None:
    """The judgements of a log are compared with its own scores alone."""
    for name, path in (("verl", LOGS / "verl.jsonl"), ("other", REVIEWS)):
        call("judge", path, "--judge", "rules", "-o", tmp_path / name)
    with pytest.raises(GradeGPTError, match="judge a log first"):
        compare(tmp_path / "nothing")
    (tmp_path / "verl").write_bytes((tmp_path / "other").read_bytes())
    with pytest.raises(InputError, match=r"not the judgements of .*verl\.items\.jsonl"):
        compare(tmp_path / "verl")


def test_a_log_is_a_table_of_items_for_every_command() -> None:
    """Its old score is in the metadata."""
    (first, *_) = console.read_items(LOGS / "inspect" / "sums.json")
    assert (first.item.id, first.item.meta["old_scores"]) == ("sums/s1", {"match": 1.0})
    assert first.row["meta"]["task"] == "sums"


def test_a_plain_table_with_a_tools_columns_is_read_as_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the commands that do not compare with old scores; the columns are said in one line."""
    path = tmp_path / "answers.csv"
    path.write_text("index,question,answer,prediction\n7,2+2=?,['4'],It is 4.\n")
    (row,) = console.read_items(path)
    assert (row.item.id, row.item.reference, row.where) == ("7", ("['4']",), f"{path}:2")
    said = "columns: id = index, reference = answer, response = prediction\n"
    assert capsys.readouterr().err == said
