"""The evaluation on dev rows: counts that add up, and the best step."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegpt.chains.chain import NO, YES
from gradegpt.core.errors import EngineError, InputError, SettingsError
from gradegpt.core.records import read_rows, sha256_file, write_rows
from gradegpt.core.schema import Message, TrainingRow
from gradegpt.core.settings import build_settings
from gradegpt.engines.local import LocalEngine
from gradegpt.engines.scripted import ScriptedEngine
from tests.train.options import QUICK, settings_of
from train.dev import DevEvaluation, DevRow, check_decides, count, dev_sample, scores
from train.settings import SFTSettings
from train.sft import fine_tune

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
ADAPTER = "adapter_model.safetensors"


def asked(is_correct: bool) -> DevRow:
    return DevRow((Message(role="user", content="?"),), is_correct, 5)


# --- counting -------------------------------------------------------------------------------------


def test_what_cannot_be_parsed_is_wrong_and_never_dropped() -> None:
    """For either label; by hand, kappa = (p_o - p_e) / (1 - p_e) = (0.4 - 0.48) / 0.52."""
    rows = [asked(True), asked(True), asked(False), asked(False), asked(False)]
    engine = ScriptedEngine([YES, "The answers", NO, "agree: <Maybe>", YES])
    cells = count(engine, rows, 8)
    assert cells.tolist() == [[1, 1, 0, 1, 0], [0, 1, 0, 1, 0]]
    assert scores(cells) == {
        "verdict_accuracy": 0.4, "parsed": 0.6, "kappa": pytest.approx(-2 / 13),
    }  # fmt: skip


def test_kappa_is_left_out_where_agreement_by_chance_is_certain() -> None:
    """All labels and verdicts are the same."""
    cells = count(ScriptedEngine([NO, NO]), [asked(False)] * 2, 8)
    assert scores(cells) == {"verdict_accuracy": 1.0, "parsed": 1.0}


def test_an_engine_that_fails_is_an_error() -> None:
    """A failed request is not a wrong verdict."""
    with pytest.raises(EngineError, match="out of memory"):
        count(ScriptedEngine([EngineError("out of memory")]), [asked(True)], 8)


# --- the sample -----------------------------------------------------------------------------------


def test_the_sample_is_fixed_by_the_seed(judge_data: Path, tokenizer: Any) -> None:
    """It has only rows that fit; it is empty with size 0."""
    path = judge_data / "train.jsonl"
    rows = list(read_rows(path, TrainingRow))

    def drawn(size: int, seed: int, max_length: int = 10_000) -> list[DevRow]:
        return dev_sample(path, size, tokenizer, max_length, random.Random(seed))

    assert drawn(8, 1) == drawn(8, 1) != drawn(8, 2)
    assert drawn(0, 1) == []
    assert len(drawn(10_000, 1)) == len(rows)
    assert drawn(8, 1, max_length=2) == []
    truth = {row.prompt: row.completion[-1].content.endswith(YES) for row in rows}
    assert all(row.is_correct == truth[row.prompt] for row in drawn(10_000, 3))


def test_a_dev_row_without_a_verdict_is_an_error(tokenizer: Any, tmp_path: Path) -> None:
    """It would always count as wrong."""
    messages = [{"role": "user", "content": "?"}], [{"role": "assistant", "content": "Maybe"}]
    write_rows(tmp_path / "dev.jsonl", [{"prompt": messages[0], "completion": messages[1]}])
    with pytest.raises(InputError, match=r"dev\.jsonl: a chain without a verdict: 'Maybe'"):
        dev_sample(tmp_path / "dev.jsonl", 1, tokenizer, 999, random.Random(0))


def test_kappa_cannot_choose_on_one_verdict_alone() -> None:
    """It may be undefined there; accuracy is not."""
    with pytest.raises(SettingsError, match="kappa: undefined, because all drawn dev rows have"):
        check_decides([asked(True), asked(True)], "kappa")
    check_decides([asked(True), asked(False)], "kappa")
    check_decides([asked(True), asked(True)], "verdict_accuracy")


@pytest.mark.parametrize(
    ("values", "message"),
    [({"dev_rows": 0}, "metric_for_best_model: needs generated chains; set dev_rows too, or loss"),
     ({"sft": {"save_steps": "0"}}, "sft: save_steps: expected more than 0, got 0"),
     ({"sft": {"learning_rate": "high"}}, "sft: learning_rate: expected a number, got 'high'"),
     ({"sft": {"packing": "true"}}, "set by this trainer; leave it out, and set packing"),
     ({"sft": {"push_to_hub": "true"}}, "sft: push_to_hub: set by this trainer; leave it out$")],
    ids=["nothing to choose by", "no steps", "no number", "instead", "ours"],
)  # fmt: skip
def test_contradicting_settings_are_errors(values: dict[str, Any], message: str) -> None:
    """The error comes before anything is loaded."""
    with pytest.raises(SettingsError, match=message):
        build_settings(SFTSettings, {"name": "x", "data": "y", "model": "z"} | values, "c.yaml")


# --- the run --------------------------------------------------------------------------------------


@pytest.fixture
def run(base: Path, judge_data: Path, tmp_path: Path) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """A run of four steps with changed settings: its folder and manifest."""

    def go(**changes: Any) -> tuple[Path, dict[str, Any]]:
        values = {
            "name": "x", "data": str(judge_data), "model": str(base / "model"),
            "out": str(tmp_path), "max_steps": 4, "rows_per_step": 2, "r": 2,
            "learning_rate": 0.05, "eval_strategy": "steps", "eval_steps": 1, "dev_rows": 2,
            "save_steps": 100,
        }  # fmt: skip
        return tmp_path, fine_tune(settings_of(**(QUICK | values | changes)))

    return go


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[float]], Iterator[float]]:
    """Evaluations that return the given accuracies in turn."""

    def script(values: list[float]) -> Iterator[float]:
        left = iter(values)
        monkeypatch.setattr(
            DevEvaluation, "measure", lambda *_: {"verdict_accuracy": next(left), "parsed": 1.0}
        )
        return left

    return script


def test_the_best_evaluated_step_becomes_the_adapter(run: Any, scripted: Any) -> None:
    """It is not the last step; manifest and card have the step, its metric and its numbers."""
    scripted([0.5, 0.75, 0.6, 0.7])
    out, manifest = run()
    assert manifest["best"] == {"step": 2, "by": "eval_verdict_accuracy", "value": 0.75}
    assert manifest["metrics"]["eval_verdict_accuracy"] == 0.75
    assert sha256_file(out / "adapter" / ADAPTER) == sha256_file(out / "checkpoint-2" / ADAPTER)
    assert sha256_file(out / "adapter" / ADAPTER) != sha256_file(out / "checkpoint-4" / ADAPTER)
    text = (out / "adapter" / "README.md").read_text()
    assert "Step 2 of 4, the best by eval_verdict_accuracy" in text
    assert "| eval_verdict_accuracy | 0.75 |" in text


def test_the_last_step_is_evaluated_too(run: Any, scripted: Any) -> None:
    """Every evaluated step is saved, independently of save_steps."""
    left = scripted([0.5, 0.75, 0.99])
    out, manifest = run(max_steps=5, eval_steps=2)
    assert manifest["best"]["step"] == 5
    assert next(left, None) is None
    assert sha256_file(out / "adapter" / ADAPTER) == sha256_file(out / "checkpoint-5" / ADAPTER)


def test_the_lowest_loss_can_choose(run: Any) -> None:
    """No chain is generated then."""
    out, manifest = run(metric_for_best_model="loss", dev_rows=0, max_steps=3)
    state = json.loads((out / "checkpoint-3" / "trainer_state.json").read_text())
    losses = {e["step"]: e["eval_loss"] for e in state["log_history"] if "eval_loss" in e}
    assert len(losses) == 3
    assert manifest["best"]["step"] == min(losses, key=lambda step: losses[step])
    assert "eval_verdict_accuracy" not in manifest["metrics"]


def test_the_model_in_training_is_what_generates(
    run: Any, base: Path, judge_data: Path, tokenizer: Any
) -> None:
    """The logged scores are those of the saved adapter on the same rows."""
    out, manifest = run(max_steps=2, eval_steps=2, learning_rate=1e-3)
    rows = dev_sample(judge_data / "dev.jsonl", 2, tokenizer, 1024, random.Random(0))
    engine = LocalEngine(str(base / "model"), str(out / "adapter"), device="cpu")
    whole = count(engine, rows, 2 * max(row.tokens for row in rows))
    found = {f"eval_{name}": round(value, 5) for name, value in scores(whole).items()}
    assert found.items() <= manifest["metrics"].items()
    assert manifest["parameters"]["trainable"] < manifest["parameters"]["all"]
    assert manifest["tokens_per_second"] > 0


def test_evaluation_leaves_training_as_it_was(run: Any, tmp_path: Path) -> None:
    """The final weights are the same with and without it."""
    none = {"eval_strategy": "no", "dev_rows": 0}
    run(max_steps=2, out=str(tmp_path / "none"), lora_dropout=0.1, **none)
    run(max_steps=2, eval_steps=1, out=str(tmp_path / "some"), lora_dropout=0.1)
    digests = {sha256_file(tmp_path / name / "checkpoint-2" / ADAPTER) for name in ("none", "some")}
    assert len(digests) == 1
