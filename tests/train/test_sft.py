"""LoRA fine-tuning on a tiny base: what is written, what is weighted, and a judge that loads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegpt.chain import NO, YES, PromptSettings
from gradegpt.engines.local import LocalEngine, prompt_settings_beside
from gradegpt.errors import EngineError, InputError
from gradegpt.judges import ModelJudge
from gradegpt.records import read_rows, sha256_file, write_rows
from gradegpt.schema import Item, TrainingRow
from train.base import pretrain
from train.rows import encode, encode_file, prompt_settings_of, verdict_token_ids
from train.settings import BaseSettings, SFTSettings
from train.sft import fine_tune
from train.tokenizer import END

# PEFT and TRL use transformers' old names for it, whatever we pass.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)

ITEM = Item(question="2+2=?", reference=("4",), response="The answer is 4.")


def short(base: Path, data: Path, out: Path, **changes: Any) -> SFTSettings:
    """Two steps that report to nobody."""
    values = {
        "name": "short", "data": str(data), "model": str(base / "model"), "out": str(out),
        "max_steps": 2, "batch_size": 4,
        "eval_batch_size": 4, "lora_rank": 4, "learning_rate": 1e-2, "bf16": False, "threads": 1,
        "eval_steps": 0,
        "save_steps": 1, "logging_steps": 1, "report_to": "none",
    }  # fmt: skip
    return SFTSettings.model_validate(values | changes)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, base: Path, judge_data: Path) -> Path:
    """A run of two steps: its output folder."""
    out = tmp_path_factory.mktemp("tuned")
    fine_tune(short(base, judge_data, out))
    return out


def test_a_run_leaves_adapter_prompt_and_manifest(
    tuned: Path, base: Path, judge_data: Path
) -> None:
    """With the digests of what it was made from; the prompt settings are those of the rows."""
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


def test_the_adapter_loads_by_peft_and_changes_the_base(tuned: Path, base: Path) -> None:
    """Every linear layer has one; two steps at this rate have moved it."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(base / "model", dtype=torch.float32)
    adapted = PeftModel.from_pretrained(
        AutoModelForCausalLM.from_pretrained(base / "model", dtype=torch.float32), tuned / "adapter"
    )
    ids = torch.arange(20).unsqueeze(0)
    with torch.inference_mode():
        assert not torch.allclose(plain(ids).logits, adapted(ids).logits)
    changed = [n for n, p in adapted.named_parameters() if "lora_B" in n and p.abs().sum() > 0]
    assert len(changed) == 2 * 7


def test_the_tuned_judge_judges(tuned: Path, base: Path) -> None:
    """Its text may be nonsense after two steps; then it is unparsed and no verdict."""
    engine = LocalEngine(str(base / "model"), str(tuned / "adapter"), threads=1, device="cpu")
    judge = ModelJudge(engine, prompt_settings_beside(str(tuned / "adapter")), max_new_tokens=8)
    (judgement,) = judge.judge([ITEM])
    assert judgement.prompt_tokens > 0
    assert (judgement.verdict is None) == (judgement.outcome != "judged")
    assert "adapter@" in judge.fingerprint


def test_a_finished_run_goes_on_from_its_last_checkpoint(
    base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """With more steps, the second command makes the missing ones alone."""
    fine_tune(short(base, judge_data, tmp_path))
    state = json.loads((tmp_path / "checkpoint-2" / "trainer_state.json").read_text())
    fine_tune(short(base, judge_data, tmp_path, max_steps=3))
    longer = json.loads((tmp_path / "checkpoint-3" / "trainer_state.json").read_text())
    assert longer["log_history"][:2] == state["log_history"][:2]
    assert longer["global_step"] == 3


def test_the_same_settings_give_the_same_adapter(
    tuned: Path, base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """Byte for byte; another seed gives another."""
    name = Path("adapter") / "adapter_model.safetensors"
    fine_tune(short(base, judge_data, tmp_path / "same"))
    fine_tune(short(base, judge_data, tmp_path / "other", seed=1))
    assert sha256_file(tmp_path / "same" / name) == sha256_file(tuned / name)
    assert sha256_file(tmp_path / "other" / name) != sha256_file(tuned / name)


@pytest.mark.parametrize(
    "changes",
    [{"use_dora": True}, {"use_rslora": True, "lora_dropout": 0.1},
     {"target_modules": "q_proj,v_proj"},
     {"gradient_checkpointing": True}, {"gradient_accumulation": 2}, {"eval_steps": 1},
     {"bf16": True},
     {"verdict_weight": 4}, {"prompt": {"chain_format": "outcome"}}],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_every_option_runs(
    base: Path, judge_data: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    """One step each, to an adapter with its prompt settings."""
    settings = short(base, judge_data, tmp_path, max_steps=1, **changes)
    fine_tune(settings)
    stored = prompt_settings_beside(str(tmp_path / "adapter"))
    assert stored == (settings.prompt or prompt_settings_of(judge_data))


def test_a_folder_without_dev_rows_still_trains(
    base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """Evaluation is left out, whatever ``eval_steps`` says."""
    write_rows(tmp_path / "train.jsonl", list(read_rows(judge_data / "train.jsonl", TrainingRow)))
    write_rows(tmp_path / "dev.jsonl", [])
    settings = short(base, tmp_path, tmp_path / "out", eval_steps=1, prompt={})
    assert "eval_loss" not in fine_tune(settings)["metrics"]


def test_what_cannot_be_trained_is_told_in_one_line(
    base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """Rows that do not fit, a base that does not load, a base without a chat template."""
    with pytest.raises(InputError, match=r"train\.jsonl: no row fits max_length=3; raise it or"):
        fine_tune(short(base, judge_data, tmp_path, max_length=3))
    with pytest.raises(EngineError, match="does not load: "):
        fine_tune(short(base, judge_data, tmp_path, model=str(tmp_path)))
    bare = shutil.copytree(base / "model", tmp_path / "bare" / "model")
    (bare / "chat_template.jinja").unlink()
    with pytest.raises(
        EngineError, match="its tokenizer has no chat template; take the model's chat"
    ):
        fine_tune(short(bare.parent, judge_data, tmp_path))


# --- the loss -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trainer(
    base: Path, judge_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The trainer of a run, with a weight that a test sets."""
    from datasets import Dataset

    from train import sft
    from train.trainer import JudgeTrainer

    settings = short(base, judge_data, tmp_path_factory.mktemp("trainer"))
    tokenizer, model = sft._load(str(base / "model"), settings)
    rows = list(encode_file(judge_data / "train.jsonl", tokenizer, settings.max_length))
    made = JudgeTrainer(
        model=model,
        args=sft._arguments(settings, Path(settings.folder), evaluate=False),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=sft._lora(settings),
        verdict_ids=verdict_token_ids(tokenizer),
        verdict_weight=1.0,
    )
    made.model.train()
    return made


def batch_of(trainer: Any) -> dict[str, Any]:
    return next(iter(trainer.get_train_dataloader()))


def test_the_labels_are_the_chain_and_its_end(trainer: Any, tokenizer: Any) -> None:
    """After TRL's own collator: every other position is ignored."""
    batch = batch_of(trainer)
    for labels in batch["labels"].tolist():
        text = tokenizer.decode([i for i in labels if i != -100])
        assert text.endswith((f"{YES}{END}", f"{NO}{END}"))
        assert text.startswith("The model response gives")
        assert text.count(END) == 1


@pytest.mark.parametrize("total", [None, 7])
def test_weight_one_is_trls_own_loss(trainer: Any, total: int | None) -> None:
    """And its gradient."""
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
    """Each token's loss once, the verdict's ``weight`` times, over the number of tokens."""
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


def test_evaluation_is_not_weighted(trainer: Any) -> None:
    """So that losses of different weights can be compared."""
    import torch

    batch = batch_of(trainer)
    trainer.model.eval()
    try:
        with torch.no_grad():
            seen = []
            for weight in (1.0, 9.0):
                trainer._verdict_weight = weight
                seen.append(trainer.compute_loss(trainer.model, dict(batch)).item())
    finally:
        trainer.model.train()
    assert seen[0] == seen[1]


def test_an_encoded_row_is_what_the_trainer_sees(
    trainer: Any, tokenizer: Any, judge_data: Path
) -> None:
    """TRL adds, cuts and reorders nothing within a row."""
    rows = [encode(tokenizer, row) for row in read_rows(judge_data / "train.jsonl", TrainingRow)]
    given = {tuple(row["input_ids"]) for row in rows}
    batch = batch_of(trainer)
    for ids, mask in zip(
        batch["input_ids"].tolist(), batch["attention_mask"].tolist(), strict=True
    ):
        assert tuple(i for i, m in zip(ids, mask, strict=True) if m) in given


# --- qlora ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_qlora_trains_on_a_four_bit_base(
    base_data: Path, judge_data: Path, tmp_path: Path, tiny: Callable[..., BaseSettings]
) -> None:
    """Two steps on a CPU; the adapter fits the base as it was."""
    pytest.importorskip("bitsandbytes")
    # bitsandbytes' CPU kernel works in blocks of 64: every layer's width must be a multiple.
    wide = {"hidden_size": 64, "intermediate_size": 128, "head_dim": 32}
    pretrain(tiny(base_data, tmp_path / "base", max_steps=1, **wide))
    manifest = fine_tune(short(tmp_path / "base", judge_data, tmp_path / "out", qlora=True))
    assert manifest["settings"]["qlora"] is True
    assert {"train_loss", "eval_loss"} <= manifest["metrics"].keys()
    model, adapter = tmp_path / "base" / "model", tmp_path / "out" / "adapter"
    engine = LocalEngine(str(model), str(adapter), threads=1, device="cpu")
    (judgement,) = ModelJudge(engine, PromptSettings(), max_new_tokens=4).judge([ITEM])
    assert judgement.outcome != "failed"
