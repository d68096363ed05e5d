"""LoRA fine-tuning on a tiny base: outputs, weights of the loss, and a judge that loads it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.errors import EngineError, InputError, MissingError, SettingsError
from gradegpt.core.records import read_rows, sha256_file, write_rows
from gradegpt.core.schema import Item, TrainingRow
from gradegpt.engines.files import prompt_settings_beside
from tests.train.options import QUICK, settings_of, trainer_of
from train import sft
from train.loading import load_base
from train.rows import encode, prompt_settings_of, verdict_token_ids
from train.settings import SFTSettings
from train.sft import check_options, fine_tune

# PEFT and TRL use transformers' old names for itinternally.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)

ITEM = Item(question="2+2=?", reference=("4",), response="The answer is 4.")


def short(base: Path, data: Path, out: Path, **changes: Any) -> SFTSettings:
    """Two steps without reporting."""
    values = {
        "name": "short", "data": str(data), "model": str(base / "model"), "out": str(out),
        "max_steps": 2, "rows_per_step": 4, "per_device_eval_batch_size": 4, "r": 4,
        "learning_rate": 1e-2, "save_steps": 1,
    }  # fmt: skip
    return settings_of(**(QUICK | values | changes))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, base: Path, judge_data: Path) -> Path:
    """A run of two steps: its output folder."""
    out = tmp_path_factory.mktemp("tuned")
    fine_tune(short(base, judge_data, out))
    return out


def test_a_run_leaves_adapter_prompt_and_manifest(
    tuned: Path, base: Path, judge_data: Path
) -> None:
    """The manifest has the digests of its inputs; the prompt settings are those of the rows."""
    adapter = tuned / "adapter"
    assert (adapter / "adapter_model.safetensors").is_file()
    assert prompt_settings_beside(str(adapter)) == prompt_settings_of(judge_data)
    manifest = json.loads((tuned / "manifest.json").read_text())
    assert manifest["data"] == {p: sha256_file(judge_data / f"{p}.jsonl") for p in ("train", "dev")}
    assert manifest["rows"]["train"] == len(
        list(read_rows(judge_data / "train.jsonl", TrainingRow))
    )
    assert manifest["base"] == "model"
    assert {"train_loss", "eval_loss"} <= manifest["metrics"].keys()
    assert {"torch", "transformers", "trl", "peft"} == manifest["versions"].keys()
    assert manifest["seeds"] == {"seed": 0, "data_seed": 0}
    assert manifest["hardware"]["device"]
    assert manifest["tokens_per_second"] > 0
    assert manifest["parameters"]["trainable"] > 0


def test_training_may_begin_with_an_adapter(
    tuned: Path, base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """Its weights are those of the adapter and what two steps add; another rank is refused."""
    from safetensors.torch import load_file

    adapter = str(tuned / "adapter")
    fine_tune(short(base, judge_data, tmp_path / "far", adapter=adapter))
    before, far = (
        load_file(folder / "adapter/adapter_model.safetensors")
        for folder in (tuned, tmp_path / "far")
    )
    step = 1e-2 * 2 * 1.2  # a rate, two steps, and what Adam may go beyond it
    assert all((before[name] - far[name]).abs().max() < step for name in far)
    assert any(not before[name].allclose(far[name], atol=1e-3) for name in far)
    with pytest.raises(SettingsError, match=r"lora\.r=8: .* has 4; set lora\.r=4"):
        fine_tune(short(base, judge_data, tmp_path / "other", adapter=adapter, r=8))
    with pytest.raises(EngineError, match="nowhere"):
        fine_tune(short(base, judge_data, tmp_path / "none", adapter=str(tmp_path / "nowhere")))


def test_the_last_layers_alone_and_in_bfloat16(
    base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """One of two layers is adapted, and the adapter has the given base name."""
    import torch
    from safetensors.torch import load_file

    last = {"layers_to_transform": [1], "save_dtype": "bfloat16", "base_name": "generator/Tiny"}
    fine_tune(short(base, judge_data, tmp_path / "one", **last))
    adapter = tmp_path / "one" / "adapter"
    weights = load_file(adapter / "adapter_model.safetensors")
    assert len(weights) == 2 * 7
    assert all(".layers.1." in name for name in weights)
    assert {value.dtype for value in weights.values()} == {torch.bfloat16}
    config = json.loads((adapter / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "generator/Tiny"
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert manifest["base"] == "generator/Tiny"
    weights_of_base = base / "model" / "model.safetensors"
    assert manifest["base_sha256"] == {weights_of_base.name: sha256_file(weights_of_base)}
    fine_tune(short(base, judge_data, tmp_path / "two", adapter=str(adapter), max_steps=1, **last))
    with pytest.raises(
        SettingsError, match=r"=None: .* has \[1\]; set lora.layers_to_transform=\[1\]"
    ):
        fine_tune(short(base, judge_data, tmp_path / "all", adapter=str(adapter)))


@pytest.mark.parametrize(
    "changes",
    [{"use_dora": True, "gradient_checkpointing": True, "optim": "adafactor"},
     {"use_rslora": True, "lora_dropout": 0.1, "target_modules": "q_proj,v_proj",
      "prompt": {"chain_format": "outcome"}},
     {"train_sampling_strategy": "random", "bf16": True, "attention": "sdpa"}],
    ids="-".join,
)  # fmt: skip
def test_every_option_runs(
    base: Path, judge_data: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Some of them train one step and write an adapter with its prompt settings.

    Packing, accumulation, evaluation and the verdict's weight run in tests of their own.
    """
    settings = short(base, judge_data, tmp_path, max_steps=1, **changes)
    fine_tune(settings)
    stored = prompt_settings_beside(str(tmp_path / "adapter"))
    assert stored == (settings.prompt or prompt_settings_of(judge_data))


def test_the_best_evaluated_step_becomes_the_adapter(
    base: Path, judge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not the last one, which is evaluated, too; each is saved, whatever ``save_steps``."""
    right = iter([2.0, 3.0, 1.0])
    made = "train.trainer.JudgeTrainer._dev_sums"
    monkeypatch.setattr(made, lambda *_: [1.0, 1.0, next(right), 4.0])
    manifest = fine_tune(
        short(
            base, judge_data, tmp_path, max_steps=5, eval_strategy="steps", eval_steps=2,
            save_steps=100, metric_for_best_model="verdict_accuracy",
        )
    )  # fmt: skip
    assert manifest["best"] == {"step": 4, "by": "eval_verdict_accuracy", "value": 0.75}
    assert next(right, None) is None
    adapter, best, last = (
        sha256_file(tmp_path / name / "adapter_model.safetensors")
        for name in ("adapter", "checkpoint-4", "checkpoint-5")
    )
    assert adapter == best != last
    card = (tmp_path / "adapter" / "README.md").read_text()
    assert "Step 4 of 5, the best by eval_verdict_accuracy" in card


def test_evaluation_leaves_training_as_it_was(base: Path, judge_data: Path, tmp_path: Path) -> None:
    """The weights are the same with and without it, dropout included."""
    for name in ("no", "steps"):
        given = {"eval_strategy": name, "eval_steps": 1, "lora_dropout": 0.1}
        fine_tune(short(base, judge_data, tmp_path / name, **given))
    last = Path("checkpoint-2") / "adapter_model.safetensors"
    assert sha256_file(tmp_path / "no" / last) == sha256_file(tmp_path / "steps" / last)


def test_a_folder_without_dev_rows_still_trains(
    base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """Evaluation is skipped, independently of ``eval_steps``."""
    write_rows(tmp_path / "train.jsonl", list(read_rows(judge_data / "train.jsonl", TrainingRow)))
    write_rows(tmp_path / "dev.jsonl", [])
    evaluates = {"eval_strategy": "steps", "eval_steps": 1}
    settings = short(base, tmp_path, tmp_path / "out", max_steps=1, prompt={}, **evaluates)
    assert "eval_loss" not in fine_tune(settings)["metrics"]


def test_missing_rows_are_an_error_before_anything_is_imported(
    judge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the packages nor the base is loaded."""
    monkeypatch.setattr("train.sft._set_up", lambda _: pytest.fail("the packages were loaded"))
    with pytest.raises(MissingError, match=r"manifest\.json: does not exist; run gradegpt data"):
        fine_tune(SFTSettings(name="x", data=str(tmp_path), model="nano"))
    shutil.copy(judge_data / "manifest.json", tmp_path)
    with pytest.raises(MissingError, match=r"train\.jsonl: no such file; run gradegpt data first"):
        fine_tune(SFTSettings(name="x", data=str(tmp_path), model="nano"))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [({"max_length": 3}, InputError, r"train\.jsonl: no row fits max_length=3; raise it or"),
     ({"report_to": "papyrus"}, MissingError, "report_to=papyrus: not installed, or unknown"),
     ({"lr_scheduler_type": "cosinus"}, SettingsError, "rejects a setting: cosinus is not"),
     ({"learnig_rate": 1}, SettingsError, "has no such option; did you mean 'learning_rate'"),
     ({"optim": "adamx"}, SettingsError, "transformers rejects a setting: adamx is not a valid")],
    ids=["too long", "reporter", "schedule", "misspelt", "optimizer"],
)  # fmt: skip
def test_what_cannot_be_trained_is_an_error_of_one_line(
    changes: dict[str, Any], error: type[Exception], message: str,
    base: Path, judge_data: Path, tmp_path: Path,
) -> None:  # fmt: skip
    """The error comes before the first step."""
    with pytest.raises(error, match=message):
        fine_tune(short(base, judge_data, tmp_path, **changes))


def test_the_rank_of_lora_is_called_r() -> None:
    """No name of its options is near."""
    with pytest.raises(SettingsError, match=r"lora.rank: .* no such option; did you mean 'r'\?"):
        check_options(SFTSettings(name="x", data="x", model="nano", lora={"rank": 8}))


def test_without_a_terminal_the_steps_are_plain_lines(
    base: Path, judge_data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A line with the loss for each logged step, no bar and no dict; TensorBoard's in ``logs``."""
    pytest.importorskip("tensorboard")
    fine_tune(short(base, judge_data, tmp_path, max_steps=2, report_to="tensorboard"))
    out, err = capfd.readouterr()
    assert out == ""
    said = ["step 1 of 2: loss", "step 2 of 2: loss", "step 2 of 2: dev loss, dev verdicts right"]
    assert [re.sub(r" [\d.]+(?=,|$)", "", line) for line in err.splitlines()] == said
    assert list((tmp_path / "logs").glob("events.out.tfevents.*"))


def test_the_card_says_what_it_is_and_how_to_use_it(tuned: Path) -> None:
    """It has base, data digest, numbers, settings and limits, and no local path."""
    manifest = json.loads((tuned / "manifest.json").read_text())
    text = (tuned / "adapter" / "README.md").read_text()
    assert text.startswith("---\nbase_model: model\nlibrary_name: peft\n")
    assert "gradegpt judge answers.jsonl -o judged.jsonl --judge model" in text
    assert manifest["data"]["train"] in text
    assert f"| eval_loss | {manifest['metrics']['eval_loss']} |" in text
    assert "| r | 4 |" in text
    assert "## Limits" in text
    assert str(tuned.parent) not in text


# --- the loss -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trainer(
    base: Path, judge_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The trainer of a run, with a weight that a test sets."""
    made = trainer_of(short(base, judge_data, tmp_path_factory.mktemp("trainer")))
    made.model.train()
    return made


def batch_of(trainer: Any) -> dict[str, Any]:
    return next(iter(trainer.get_train_dataloader()))


@pytest.mark.parametrize("total", [None, 7])
def test_weight_one_is_trls_own_loss(trainer: Any, total: int | None) -> None:
    """Loss and gradient are equal."""
    import torch
    from trl import SFTTrainer

    batch = batch_of(trainer)
    count = None if total is None else torch.tensor(total)
    trainer._verdict_weight = 1.0
    gradients, losses = [], []
    for compute in (trainer.compute_loss, super(type(trainer), trainer).compute_loss):
        trainer.model.zero_grad()
        loss = compute(trainer.model, dict(batch), num_items_in_batch=count)
        loss.backward()
        losses.append(loss.item())
        gradients.append([p.grad.clone() for p in trainer.model.parameters() if p.grad is not None])
    assert isinstance(trainer, SFTTrainer)
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert len(gradients[0]) == len(gradients[1]) > 0
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_the_weighted_loss_by_hand(trainer: Any, tokenizer: Any) -> None:
    """The sum of each token's loss, the verdict's times ``weight``, over the number of tokens."""
    import torch

    batch = batch_of(trainer)
    with torch.no_grad():
        logits = trainer.model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).logits
        losses = -logits[:, :-1].log_softmax(-1)
        tags, total, count = verdict_token_ids(tokenizer), 0.0, 0
        for row, labels in enumerate(batch["labels"].tolist()):
            for place, label in enumerate(labels[1:]):
                if label != -100:
                    total += losses[row, place, label].item() * (3.0 if label in tags else 1.0)
                    count += 1
        trainer._verdict_weight = 3.0
        found = trainer.compute_loss(trainer.model, dict(batch)).item()
    assert found == pytest.approx(total / count, rel=1e-4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"twin_weight": 0.2}, "twin_weight: needs the loss of whole rows; set chain_weight too"),
        ({"chain_weight": 0.3, "verdict_weight": 4}, "verdict_weight: has no meaning beside"),
        ({"packing": True, "share_prefix": True}, "packing: share_prefix packs rows already"),
        ({"gradient_accumulation_steps": 8}, "leave it out, and set rows_per_step"),
        ({"push_to_hub": "true"}, "push_to_hub: set by this trainer; leave it out"),
        ({"metric_for_best_model": "kappa"}, "kappa is not measured; use loss or verdict_accuracy"),
        ({"save_steps": "0"}, "save_steps: expected more than 0, got 0"),
        ({"learning_rate": "high"}, "learning_rate: expected a number, got 'high'"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(given: dict[str, Any], message: str) -> None:
    """The message names the one to change, before anything is loaded."""
    with pytest.raises(ValueError, match=message):
        settings_of(name="x", data="d", model="m", **given)


@pytest.mark.parametrize(("processes", "passes"), [(1, (8, 8)), (2, (8, 4)), (16, (4, 1))])
def test_a_step_has_as_many_rows_on_any_number_of_processes(
    processes: int, passes: tuple[int, int]
) -> None:
    """In passes of at most eight rows; 48 processes cannot share 64 rows equally."""
    values = {"rows_per_step": 64, "per_device_train_batch_size": 8, "num_train_epochs": 2}
    settings = settings_of(name="x", data="d", model="m", **values)
    assert settings.passes(processes) == passes
    assert settings.steps(640) == 20
    with pytest.raises(SettingsError, match="by 48 processes; set rows_per_step=48"):
        settings.passes(48)


@pytest.mark.parametrize("zero3", [False, True])
def test_an_adapter_to_continue_is_of_the_type_that_shards_need(
    tuned: Path, base: Path, judge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    zero3: bool,
) -> None:  # fmt: skip
    """In float32 on a bfloat16 base; under ZeRO-3, which gathers one type alone, in bfloat16."""
    import torch

    monkeypatch.setattr("train.loading.cpu_has_bf16", lambda: True)
    monkeypatch.setattr("transformers.integrations.is_deepspeed_zero3_enabled", lambda: zero3)
    settings = short(base, judge_data, tmp_path, adapter=str(tuned / "adapter"), bf16=True)
    model = sft._continued(load_base(settings)[1], settings)
    types = {p.dtype for p in model.parameters() if p.requires_grad}
    assert types == {torch.bfloat16 if zero3 else torch.float32}


def test_evaluation_is_not_weighted_and_knows_no_batches(
    trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures are the same for all weights, batch sizes and numbers of processes."""
    import torch

    total, count, verdicts = 0.0, 0, list[bool]()
    tags = trainer._verdict_ids.tolist()
    with torch.no_grad():
        for row in trainer.eval_dataset:
            ids, labels = torch.tensor([row["input_ids"]]), torch.tensor(row["labels"])[1:]
            losses = -trainer.model(ids).logits[0, :-1].log_softmax(-1)
            places = (labels != -100).nonzero().flatten()
            total += losses[places, labels[places]].sum().item()
            count += len(places)
            spots = [place for place in places.tolist() if labels[place].item() in tags]
            likelier = [tags[n] for n in losses[spots][:, tags].argmin(1).tolist()]
            verdicts += [a == b for a, b in zip(likelier, labels[spots].tolist(), strict=True)]
    try:
        for weight, size in ((1.0, 1), (9.0, 3)):
            trainer._verdict_weight = weight
            monkeypatch.setattr(trainer.args, "per_device_eval_batch_size", size)
            found = trainer.evaluate()
            assert found["eval_loss"] == pytest.approx(total / count, rel=1e-5)
            assert found["eval_verdict_accuracy"] == sum(verdicts) / len(verdicts)
    finally:
        trainer.model.train()


def test_the_loss_of_a_share_is_that_share_of_all_processes(
    trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count is over all processes and gradients are averaged, so each multiplies its loss."""
    import torch

    batch, count = batch_of(trainer), torch.tensor(50)
    alone = trainer.compute_loss(trainer.model, dict(batch), num_items_in_batch=count).item()
    monkeypatch.setattr(type(trainer.accelerator), "num_processes", 2)
    shared = trainer.compute_loss(trainer.model, dict(batch), num_items_in_batch=count).item()
    assert shared == pytest.approx(2 * alone)


def test_an_encoded_row_is_what_the_trainer_sees(
    trainer: Any, tokenizer: Any, judge_data: Path
) -> None:
    """TRL does not change the tokens of a row."""
    rows = [encode(tokenizer, row) for row in read_rows(judge_data / "train.jsonl", TrainingRow)]
    given = {tuple(row["input_ids"]) for row in rows}
    batch = batch_of(trainer)
    for ids, mask in zip(
        batch["input_ids"].tolist(), batch["attention_mask"].tolist(), strict=True
    ):
        assert tuple(i for i, m in zip(ids, mask, strict=True) if m) in given
