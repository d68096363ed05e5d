"""Labelled answers -> training rows: every row is used or named, and a question has one split."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from data_gen.__main__ import app
from data_gen.labelled import prepare, read_labelled
from data_gen.settings import LabelledSettings
from gradegpt.app.cli import run
from gradegpt.chains.chain import NO, NO_KEY, YES
from gradegpt.core.errors import InputError
from gradegpt.core.records import read_objects, read_rows, write_rows
from gradegpt.core.schema import ChainFormat, Example, TrainingRow
from gradegpt.tables.importers.labelled import item_key
from tests.data_gen.answers import check_rows
from tests.data_gen.teacher_parts import teacher_of
from tests.data_gen.teacher_server import serving

SORRY = "I'm sorry, I cannot answer this question."


def answers(questions: int = 20, each: int = 4) -> list[dict[str, Any]]:
    """Rows of which the first half of each question is right."""
    return [
        {
            "id": f"{q}-{n}",
            "question": f"What is the capital of country {q}?",
            "reference": f"Town {q}",
            "response": f"The capital is Town {q if n < each // 2 else q + 100} ({n}).",
            "label": n < each // 2,
        }
        for q in range(questions)
        for n in range(each)
    ]


def made(tmp_path: Path, rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """The manifest of the rows, written to ``tmp_path / "out"``, without guard rows."""
    write_rows(tmp_path / "graded.jsonl", rows)
    values = {"name": "x", "path": str(tmp_path / "graded.jsonl"), "guard": 0}
    values |= {"out": str(tmp_path / "out")}
    return prepare(LabelledSettings.model_validate(values | changes))


def examples(tmp_path: Path, part: str) -> list[Example]:
    """The examples of a split."""
    return list(read_rows(tmp_path / "out" / "examples" / f"{part}.jsonl", Example))


def left_out(tmp_path: Path) -> list[dict[str, Any]]:
    """The rows that are not used."""
    return [row for _, row in read_objects(tmp_path / "out" / "left_out.jsonl")]


def training_rows(tmp_path: Path) -> list[TrainingRow]:
    """The training rows."""
    return list(read_rows(tmp_path / "out" / "train.jsonl", TrainingRow))


def test_every_row_is_used_or_named_with_its_reason(tmp_path: Path) -> None:
    """Rows without a label, repeated and contradicted rows are named; the counts add up."""
    rows = answers()
    unlabelled, repeated = rows[0] | {"id": "u", "label": None}, rows[5] | {"id": "r"}
    contradicted = rows[9] | {"id": "c", "label": not rows[9]["label"]}
    manifest = made(tmp_path, [*rows, unlabelled, repeated, contradicted])
    named = left_out(tmp_path)
    assert Counter(row["why"] for row in named) == {
        "no label": 1,
        "repeats an earlier row": 1,
        "the same answer is labelled both correct and not correct": 2,
    }
    used = [e.id for part in ("train", "dev", "test") for e in examples(tmp_path, part)]
    assert len(used) + len(named) == len(rows) + 3
    assert manifest["counts"]["train"] == len(examples(tmp_path, "train"))
    assert sorted(used + [row["id"] for row in named]) == sorted(
        [*(row["id"] for row in rows), "u", "r", "c"]
    )


def test_a_question_is_in_one_split(tmp_path: Path) -> None:
    """No question of one split is in another, and the shares are near those asked for."""
    made(tmp_path, answers(40))
    keys = [{item_key(e) for e in examples(tmp_path, p)} for p in ("train", "dev", "test")]
    assert sum(map(len, keys)) == len(set.union(*keys))
    assert [len(k) for k in keys] == [22, 8, 10]


def test_a_test_file_is_the_test_split_and_its_questions_train_nothing(tmp_path: Path) -> None:
    """A question that the test file has, too, is named and left out of training."""
    rows = answers()
    write_rows(tmp_path / "test.jsonl", rows[:8])
    made(tmp_path, rows, test=str(tmp_path / "test.jsonl"))
    held = {item_key(e) for e in examples(tmp_path, "test")}
    assert len(held) == 2
    assert not held & {item_key(e) for p in ("train", "dev") for e in examples(tmp_path, p)}
    named = left_out(tmp_path)
    assert {row["why"] for row in named} == {"its question is in the test file"}
    assert len(named) == 8


@pytest.mark.parametrize(
    ("wanted", "formats"),
    [
        ("tag", {"outcome": 44}),
        ("chain", {"cross_lingual": 22, "outcome": 22}),
        ("both", {"outcome": 66, "cross_lingual": 22}),
    ],
)
def test_the_format_decides_what_a_row_teaches(
    tmp_path: Path, wanted: str, formats: dict[str, int]
) -> None:
    """The tag alone, a chain where one can be written, or both as separate rows."""
    made(tmp_path, answers(), format=wanted)
    rows = training_rows(tmp_path)
    assert Counter(row.meta["chain_format"] for row in rows) == formats


def test_a_label_that_the_rules_contradict_teaches_the_tag_alone(tmp_path: Path) -> None:
    """The user's label is taught, and no chain is written that would contradict it."""
    rows = [
        {"question": f"{n}+{n}=?", "reference": str(2 * n), "response": f"The answer is {2 * n}.",
         "label": bool(n % 2)}
        for n in range(60)
    ]  # fmt: skip
    manifest = made(tmp_path, rows)
    tags = Counter(
        (row.meta["chain_format"], row.completion[-1].content.endswith(YES))
        for row in training_rows(tmp_path)
    )
    wrong = sum(e.verdict == "incorrect" for e in examples(tmp_path, "train"))
    assert tags["outcome", False] == wrong
    assert ("cross_lingual", False) not in tags
    both = [e for p in ("train", "dev") for e in examples(tmp_path, p)]
    right = sum(e.verdict == "correct" for e in both)
    assert manifest["rules"] == {"decided": len(both), "agree": right}
    assert manifest["no_chain"] == {"contradicted": wrong}
    disputed = [row for _, row in read_objects(tmp_path / "out" / "disputed.jsonl")]
    assert {(row["label"], row["rules"]) for row in disputed} == {("incorrect", "correct")}
    assert manifest["disputed"] == [row["id"] for row in disputed]
    assert {*manifest["disputed"]} == {e.id for e in both if e.verdict == "incorrect"}
    sure = [row["confidence"] for row in disputed]
    assert sure == sorted(sure, reverse=True)


def test_a_response_without_an_answer_is_taught_as_one(tmp_path: Path) -> None:
    """Where the label says no more than incorrect, and the rules say that none is given."""
    rows = [row | ({} if row["label"] else {"response": SORRY}) for row in answers(each=2)]
    made(tmp_path, [*rows, *answers(each=2)], format="chain")
    said = {r.completion[-1].content for r in training_rows(tmp_path) if SORRY in str(r.prompt)}
    assert {text.startswith(NO_KEY) for text in said} == {True}


def test_each_chain_has_the_format_that_fits_it_and_a_later_run_reads_the_teachers(
    tmp_path: Path,
) -> None:
    """Where it agrees with the label, which stays; the manifest has the format of most chains."""
    rows = answers(each=2)
    for n in range(30):
        row = {"id": f"{n}", "question": f"{n}+1=?", "reference": f"{n + 1}", "label": n % 2 == 0}
        rows.append(row | {"response": f"一共：{n + 1 + n % 2}。"})
    alone = made(tmp_path, rows, format="chain")
    assert check_rows(tmp_path / "out")[ChainFormat.JUDGE_OF_CHAIN] > 5
    assert alone["chain_format"] == ChainFormat.JUDGE_OF_CHAIN
    with serving(teacher_of(lambda item: item.reference[0] + " (" in item.response)) as server:
        teacher = {"model": "m", "base_url": server.base_url}
        teacher |= {"cache": str(tmp_path / "cache.sqlite")}
        manifest = made(tmp_path, rows, teacher=teacher, format="chain")
    assert check_rows(tmp_path / "out")[ChainFormat.CROSS_LINGUAL] == manifest["counts"]["train"]
    assert manifest["labelled_by"].keys() == {"people"}
    before = (tmp_path / "out" / "train.jsonl").read_bytes()
    read = (tmp_path / "out" / "readings.jsonl").rename(tmp_path / "read")
    made(tmp_path, rows, format="chain", readings=[str(read)])
    assert (tmp_path / "out" / "train.jsonl").read_bytes() == before


def test_a_teachers_labels_measure_nothing_beside_those_of_people(tmp_path: Path) -> None:
    """The test split has people's labels alone; the other held-out rows are named."""
    rows = answers(each=8)
    for row in rows[::2]:
        row["label"] = None
    with serving(teacher_of(lambda item: item.reference[0] + " (" in item.response)) as server:
        teacher = {"model": "m", "base_url": server.base_url}
        teacher |= {"cache": str(tmp_path / "cache.sqlite")}
        manifest = made(tmp_path, rows, teacher=teacher, format="tag")
    assert {e.labelled_by for e in examples(tmp_path, "test")} == {"people"}
    assert {e.labelled_by for e in examples(tmp_path, "train")} == {"people", "teacher"}
    counts = manifest["counts"]
    assert counts["sheet"] == 0
    named = [row for row in left_out(tmp_path) if "held out for the test" in row["why"]]
    assert len(named) == counts["test"]
    assert len(named) + counts["train"] + counts["dev"] + counts["test"] == len(rows)


def test_dev_rows_are_the_tag_alone(tmp_path: Path) -> None:
    """So the dev loss is that of the verdict."""
    made(tmp_path, answers(40))
    dev = list(read_rows(tmp_path / "out" / "dev.jsonl", TrainingRow))
    assert {row.completion[-1].content for row in dev} == {YES, NO}


def test_guard_rows_say_nothing_or_stand_beside_an_answer_whose_label_stays(tmp_path: Path) -> None:
    """Their questions are training questions; the share is that asked for; nothing else changes."""
    manifest = made(tmp_path, answers(40), guard=0.5)
    rows = {row.meta["id"]: row for row in training_rows(tmp_path)}
    guards = {id_: row for id_, row in rows.items() if id_.endswith(":guard")}
    assert manifest["counts"]["guards"] == len(guards)
    assert 0.3 < len(guards) / manifest["counts"]["train"] < 0.6
    originals = {e.id: e for e in examples(tmp_path, "train")}
    beside = 0
    for id_, row in guards.items():
        original = originals[id_.removesuffix(":guard")]
        is_yes = row.completion[-1].content == YES
        if original.response in row.prompt[-1].content:
            assert is_yes is (original.verdict == "correct")
            beside += 1
        else:
            assert not is_yes
    assert 0 < beside < len(guards)


def test_mixed_rows_are_added(tmp_path: Path) -> None:
    """``mix`` adds the training rows of other folders, and nothing else is added."""
    made(tmp_path, answers(), out=str(tmp_path / "other"), seed=1)
    manifest = made(tmp_path, answers(), mix=[str(tmp_path / "other")])
    assert manifest["counts"]["mixed"] == 88
    assert manifest["counts"]["rows"] == 176
    assert len(training_rows(tmp_path)) == 176


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two runs write equal files."""
    made(tmp_path, answers())
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*.jsonl")}
    made(tmp_path, answers())
    assert before == {p: p.read_bytes() for p in (tmp_path / "out").rglob("*.jsonl")}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (answers()[:8], "8 labelled answers to 2 questions"),
        ([row | {"label": True} for row in answers()], "all 80 labels are 'correct'"),
        ([{k: v for k, v in row.items() if k != "label"} for row in answers()], "--map label="),
        ([row | {"label": "perhaps"} for row in answers()], "'perhaps'"),
        (answers(5, 40), "200 labelled answers to 5 questions"),
    ],
    ids=["eight rows", "one class", "no labels", "unknown labels", "five questions"],
)
def test_labels_that_do_not_suffice_get_one_error_before_anything_is_written(
    tmp_path: Path, rows: list[dict[str, Any]], said: str
) -> None:
    """The message says what is missing; no folder appears."""
    with pytest.raises(InputError, match=said):
        made(tmp_path, rows)
    assert not (tmp_path / "out").exists()


def test_a_table_is_read_as_by_judge(tmp_path: Path) -> None:
    """Usual names, CSV, and labels in their usual forms."""
    rows = ["题目,标准答案,作答,标签", *(f"{n}题,答{n},我答{n},{'对错'[n % 2]}" for n in range(50))]
    (tmp_path / "graded.csv").write_text("\n".join(rows), encoding="utf-8")
    path = str(tmp_path / "graded.csv")
    found, left_out = read_labelled(path, LabelledSettings(name="x", path=path))
    assert (len(found), left_out) == (50, [])
    assert Counter(e.verdict.value for e in found) == {"correct": 25, "incorrect": 25}


def test_an_unreadable_label_is_an_error_that_names_the_remedies_or_is_skipped(
    tmp_path: Path,
) -> None:
    """``--skip-bad`` leaves the row out, and names it with its reason."""
    rows = [*answers(), answers()[0] | {"id": "bad", "label": "maybe"}]
    with pytest.raises(InputError, match=r"'maybe' is not a verdict.*--map label=.*--skip-bad"):
        made(tmp_path, rows)
    made(tmp_path, rows, skip_bad=True)
    (row,) = left_out(tmp_path)
    assert (row["id"], row["why"]) == ("bad", "its label is not a verdict")


def test_a_table_without_questions_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge then never reads one; not where the user said that there is none."""
    rows = [{k: v for k, v in row.items() if k != "question"} for row in answers()]
    made(tmp_path, rows)
    assert "no column of questions" in capsys.readouterr().err
    made(tmp_path, rows, columns={"question": ""})
    made(tmp_path, answers())
    assert "no column of questions" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "before"), [("labelled", "gradegpt data labelled path=odd.csv "), ("own.yaml", "")]
)
def test_columns_that_are_not_known_are_named_with_options_that_the_command_has(
    first: str, before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The whole command; the options alone for settings that finetune wrote, which has them too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.csv").write_text("Q,gold_a,gold_b,out,score\n1+1=?,2,2,It is 2.,1\n", "utf-8")
    (tmp_path / "own.yaml").write_text("{name: own, kind: labelled}", "utf-8")
    with pytest.raises(SystemExit):
        run(app, [first, "path=odd.csv"], name="gradegpt data")
    assert f"\n  {before}--map question=COLUMN --map reference=" in capsys.readouterr().err


def test_the_command_names_the_rows_that_are_left_out(tmp_path: Path) -> None:
    """``gradegpt data labelled path=FILE out=DIR``, with the options that its errors advise."""
    rows = [*answers(), answers()[0] | {"id": "again"}, answers()[1] | {"label": "maybe"}]
    for n, row in enumerate(rows):
        row["grade"] = row.pop("label") if n else False
    write_rows(tmp_path / "graded.jsonl", rows)
    given = [f"path={tmp_path / 'graded.jsonl'}", f"out={tmp_path / 'out'}"]
    done = CliRunner().invoke(app, ["labelled", *given, "--map", "label=grade", "--skip-bad"])
    assert done.exit_code == 0, done.output
    assert "left out: 2: the same answer is labelled both correct and not correct" in done.output
    assert "left out: 1: its label is not a verdict" in done.output
    assert training_rows(tmp_path)
