"""The ablation: the same rows in every format, equal budgets, unparsed replies counted as wrong."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import eval.ablation
from eval.ablation import AblationSettings, Arm, ablate, in_format, train_all, write_format
from eval.evaluate import evaluate
from gradegpt.chains.chain import Chain, PromptSettings, build_prompt, parse_prompt, render_chain
from gradegpt.core.errors import InputError, MissingError, OutputError
from gradegpt.core.records import read_rows, write_json, write_rows
from gradegpt.core.schema import (
    AnswerType,
    ChainFormat,
    Example,
    Item,
    Judgement,
    Message,
    Outcome,
    TrainingRow,
    Verdict,
)
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings, ModelJudgeSettings
from tests.tiny import random_model

OUTCOME = Arm(chain_format=ChainFormat.OUTCOME)


def row(
    number: int, chain_format: ChainFormat = ChainFormat.CROSS_LINGUAL, place: Any = "last"
) -> TrainingRow:
    """A Chinese answer, right where ``number`` is even."""
    verdict = Verdict.INCORRECT if number % 2 else Verdict.CORRECT
    item = Item(
        question=f"{number}+1=?", reference=(str(number + 1),), response=f"所以是{number}。"
    )
    chain = Chain(
        verdict=verdict, quotes=(f"所以是{number}。",), glosses=(f"So it is {number}.",),
        reference_answer=str(number + 1), answer_type=AnswerType.NUMBER, answer=str(number),
        why="one is more",
    )  # fmt: skip
    return TrainingRow(
        prompt=build_prompt(item, PromptSettings(chain_format=chain_format, verdict=place)),
        completion=(Message(role="assistant", content=render_chain(chain, chain_format, place)),),
        meta={"id": str(number), "verdict": verdict.value, "chain_format": chain_format.value},
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twenty cross-lingual rows and one of another format, with the manifest of data_gen."""
    folder = tmp_path / "rows"
    rows = [*map(row, range(20)), row(20, ChainFormat.OUTCOME)]
    for part in ("train", "dev"):
        write_rows(folder / f"{part}.jsonl", (r.model_dump(mode="json") for r in rows))
    prompt = PromptSettings().model_dump(mode="json")
    write_json(folder / "manifest.json", {"settings": {"prompt": prompt, "formats": {}}})
    return folder


def test_a_row_in_another_format_keeps_item_and_label() -> None:
    """Only the system message and the reply change, also with the tag in its other place."""
    cross = row(4)
    for chain_format, place in itertools.product(ChainFormat, ("last", "first")):
        other = in_format(cross, chain_format, place)  # type: ignore[arg-type]
        assert parse_prompt(other.prompt) == parse_prompt(cross.prompt)
        assert other == row(4, chain_format, place)
    assert in_format(row(4), ChainFormat.OUTCOME).completion[0].content == "<Yes>"


def test_a_folder_in_another_format_is_one_that_trains(data: Path, tmp_path: Path) -> None:
    """It has only the cross-lingual rows, in order, with the prompt settings."""
    assert write_format(data, OUTCOME, tmp_path / "out") == 20
    rows = list(read_rows(tmp_path / "out" / "train.jsonl", TrainingRow))
    assert [r.meta["id"] for r in rows] == [str(n) for n in range(20)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["settings"]["formats"] == {"outcome": 1.0}
    with pytest.raises(MissingError, match="make the rows first"):
        write_format(tmp_path / "nowhere", OUTCOME, tmp_path / "x")
    write_rows(data / "train.jsonl", [row(1, ChainFormat.OUTCOME).model_dump(mode="json")])
    with pytest.raises(InputError, match="no cross-lingual row"):
        write_format(data, OUTCOME, tmp_path / "y")


class Trainer:
    """Replaces ``gradegpt train``: records commands and writes manifests."""

    def __init__(self, code: int = 0) -> None:
        self.commands: list[dict[str, str]] = []
        self.code = code

    def __call__(self, command: Sequence[str], *, check: bool) -> Any:
        assert command[1:4] == ["-m", "gradegpt", "train"]
        given = dict(part.split("=", 1) for part in command[5:])
        self.commands.append(given)
        if not self.code:
            per_row = {"outcome": 50, "judge_of_chain": 80, "cross_lingual": 100}
            tokens = 20 * per_row[Path(given["data"]).name.removesuffix("-first")]
            used = {"rows_per_step": 8}
            made = {"settings": used, "tokens": tokens, "rows": {"train": 20}}
            write_json(Path(given["out"]) / "manifest.json", made)
        return SimpleNamespace(returncode=self.code)


def settings_of(data: Path, out: Path, **changes: Any) -> AblationSettings:
    """Two seeds of ten steps, measured on a handful of rows."""
    graded = out / "graded.jsonl"
    if not graded.exists():
        rows = [
            Example(question=f"q{n}", reference=("1",), response=f"r{n}", source="people",
                    verdict=Verdict.CORRECT if n < 6 else Verdict.INCORRECT, id=str(n))
            for n in range(12)
        ]  # fmt: skip
        write_rows(graded, (r.model_dump(mode="json") for r in rows))
    values = {
        "name": "small", "out": str(out), "data": str(data), "recipe": "recipe.yaml",
            "model": "nano", "steps": 10,
        "seeds": [0, 1], "sources": [{"path": str(graded), "fields": None}],
        "train": {"verdict_weight": "1"},
    }  # fmt: skip
    return AblationSettings.model_validate(values | changes)


def test_runs_have_equal_steps_or_equal_tokens(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formats with shorter rows train for more steps; a finished run is not trained again."""
    trainer = Trainer()
    monkeypatch.setattr("eval.ablation.subprocess.run", trainer)
    runs = train_all(settings_of(data, tmp_path / "out"))
    steps = {(r.budget, r.arm.name): r.steps for r in runs if r.seed == 1}
    assert steps == {
        ("steps", "outcome"): 10, ("steps", "judge_of_chain"): 10, ("steps", "cross_lingual"): 10,
        ("tokens", "outcome"): 20, ("tokens", "judge_of_chain"): 12,
        ("tokens", "cross_lingual"): 10,
    }  # fmt: skip
    assert {r.tokens for r in runs if r.budget == "tokens"} == {8000, 7680}
    assert len(trainer.commands) == 2 * 5
    assert {c["verdict_weight"] for c in trainer.commands} == {"1"}
    assert train_all(settings_of(data, tmp_path / "out")) == runs
    assert len(trainer.commands) == 2 * 5


def test_a_run_that_fails_stops_the_ablation(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the folder, and nothing is measured on an incomplete set of runs."""
    monkeypatch.setattr("eval.ablation.subprocess.run", Trainer(code=3))
    with pytest.raises(
        OutputError, match=r"gradegpt train recipe.yaml .*outcome-steps-0.*: failed; its output"
    ):
        train_all(settings_of(data, tmp_path / "out"))


class Fixed:
    """Judges the first ``right`` rows of every twelve correctly."""

    name = "fixed"

    def __init__(self, settings: JudgeSettings) -> None:
        self.fingerprint = settings.label
        self.right = {"outcome": 8, "judge_of_chain": 9, "cross_lingual": 11}[
            settings.label.split("-")[0]
        ]

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        return [self._one(int(item.id)) for item in items]

    def _one(self, number: int) -> Judgement:
        right = (number * 7) % 12 < self.right
        verdict = Verdict.CORRECT if (number < 6) is right else Verdict.INCORRECT
        return Judgement(id=str(number), outcome=Outcome.JUDGED, verdict=verdict, method="model")


def test_the_whole_ablation(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are runs of both budgets and gains over the first format; the table is written."""
    monkeypatch.setattr("eval.ablation.subprocess.run", Trainer())
    monkeypatch.setattr(eval.ablation, "evaluate", lambda s, overwrite: evaluate(s, build=Fixed))
    settings = settings_of(data, tmp_path / "out")
    rows = ablate(settings.model_copy(update={"seeds": (0,)}))
    assert [(row["equal"], row["format"]) for row in rows] == [
        (budget, f.value) for budget in ("steps", "tokens") for f in ChainFormat
    ]
    assert [row["balanced"].split()[0] for row in rows[:3]] == ["66.7", "75.0", "91.7"]
    assert [row["gain"].split()[0] for row in rows[1:3]] == ["+8.3", "+25.0"]
    assert rows[0]["gain"] == ""
    assert rows[2]["sources"] == {"people": rows[2]["balanced"]}
    written = json.loads((tmp_path / "out" / "ablation.json").read_text())
    assert (written["rows"], written["runs"]) == (12, rows)


def test_arms_of_an_untrained_base_stand_beside_the_trained(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are judged by the base alone, on the texts that the others see, and not trained."""
    trainer = Trainer()
    monkeypatch.setattr("eval.ablation.subprocess.run", trainer)
    asked = dict[str, JudgeSettings]()

    def build(settings: JudgeSettings) -> Judge:
        asked[settings.label] = settings
        return build_judge(settings) if settings.label == "outcome-4-shot" else Fixed(settings)

    monkeypatch.setattr(eval.ablation, "evaluate", lambda s, overwrite: evaluate(s, build=build))
    tag, cross = {"chain_format": "outcome"}, {"chain_format": "cross_lingual"}
    arms = [tag, cross | {"verdict": "first"}, tag | {"shots": 4}, cross | {"shots": 0},
            cross | {"shots": 4}]  # fmt: skip
    model = str(random_model(tmp_path / "base"))
    rows = ablate(settings_of(data, tmp_path / "out", seeds=[1], model=model, arms=arms))
    trained = ["outcome", "cross_lingual-first"]
    base = ["outcome-4-shot", "cross_lingual-0-shot", "cross_lingual-4-shot"]
    assert [row["format"] for row in rows] == [*trained, *trained, *base]
    assert {Path(command["data"]).name for command in trainer.commands} == {*trained}
    few = asked["cross_lingual-4-shot"]
    assert isinstance(few, ModelJudgeSettings)
    assert (few.adapter, few.shots, few.prompt) == (None, 4, PromptSettings())
    judges = json.loads((tmp_path / "out" / "eval" / "manifest.json").read_text())["judges"]
    assert "|4-shot" in judges["outcome-4-shot"]["fingerprint"]
    assert (rows[-3]["parsed"], rows[-3]["written"]) == ("100.0", 1.0)
    assert [bool(row["gain"]) for row in rows[-3:]] == [False, False, True]  # over outcome-4-shot
