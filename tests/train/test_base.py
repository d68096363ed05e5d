"""Pre-training on a tiny folder: batches, a model that loads, and a resumed run."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import train.base
from gradegpt.engines.files import prompt_settings_beside
from gradegpt.engines.local import LocalEngine
from gradegpt.errors import InputError
from gradegpt.fit import Budget
from gradegpt.records import read_objects, sha256_file, write_rows
from gradegpt.schema import Message
from train.base import pretrain
from train.batches import Row, batches, encode_pairs, read_pairs, stream, tensors
from train.settings import BaseSettings

Tiny = Callable[..., BaseSettings]


# --- batches --------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(60, 200), st.integers(0, 9))
@settings(deadline=None)
def test_a_pass_covers_each_row_once_within_the_limit(
    lengths: list[int], batch_tokens: int, seed: int
) -> None:
    """The limit includes padding; the same seed gives the same batches, and none is empty."""
    rows = [Row([n] * length, [1.0] * length, []) for n, length in enumerate(lengths)]
    made = [*batches(rows, batch_tokens, random.Random(seed))]
    assert sorted(row.ids[0] for batch in made for row in batch) == [*range(len(rows))]
    assert all(0 < max(len(r.ids) for r in batch) * len(batch) <= batch_tokens for batch in made)
    assert made == [*batches(rows, batch_tokens, random.Random(seed))]


def test_a_row_longer_than_a_batch_is_its_own_batch() -> None:
    """It is not lost."""
    rows = [Row([0] * 50, [1.0] * 50, []), Row([1] * 5, [1.0] * 5, [])]
    assert sorted(len(b) for b in batches(rows, 10, random.Random(0))) == [1, 1]


def test_every_pass_has_its_own_order(tmp_path: Path, tiny: Tiny) -> None:
    """The order depends on seed and pass, so a resumed run sees the same batches."""
    rows = [Row([n], [1.0], []) for n in range(64)]
    one, again, other = (
        [*stream(rows, tiny(tmp_path, tmp_path, batch_tokens=8, seed=seed, max_steps=16))]
        for seed in (0, 0, 1)
    )
    assert len(one) == 16
    assert one == again
    assert one[:8] != one[8:]
    assert one[:8] != other[:8]


def test_a_curriculum_holds_long_rows_back(tmp_path: Path, tiny: Tiny) -> None:
    """They follow after a stage's share of the steps; a stage without rows is an error."""
    rows = [Row([n] * n, [1.0] * n, []) for n in range(1, 200)]
    stages = [{"until": 0.25, "max_length": 64}, {"until": 0.5, "max_length": 128}]
    made = [*stream(rows, tiny(tmp_path, tmp_path, max_steps=40, curriculum=stages))]
    longest = [max(len(row.ids) for row in batch) for batch in made]
    assert max(longest[:10]) <= 64 < max(longest[10:20]) <= 128 < max(longest[20:])
    with pytest.raises(InputError, match="no row fits max_length=64"):
        [*stream(rows[100:], tiny(tmp_path, tmp_path, max_steps=40, curriculum=stages))]


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_packed_rows_do_not_see_each_other(tmp_path: Path, tiny: Tiny, attention: str) -> None:
    """Loss and verdicts are those of the same rows in separate sequences."""
    import torch

    torch.manual_seed(0)
    config = tiny(tmp_path, tmp_path)
    model = tiny_model(config, attention)
    rng = random.Random(0)
    rows = []
    for length in (30, 7, 12, 25, 3, 18):
        ids = [rng.randrange(500) for _ in range(length)]
        rows.append(Row(ids, [rng.random() for _ in ids], [length - 1]))
    apart, verdicts = train.base._loss(model, rows, config)
    packed, together = train.base._loss(model, rows, config.model_copy(update={"pack": True}))
    assert torch.allclose(apart, packed, atol=1e-5)
    assert sorted(verdicts.tolist()) == sorted(together.tolist())
    ids = tensors(rows, 0, pack=True, device=model.device).ids
    assert ids.numel() < tensors(rows, 0, pack=False, device=model.device).ids.numel()


def tiny_model(config: BaseSettings, attention: str) -> Any:
    """Random weights, large enough that another context changes the output."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    shape = Qwen3Config(
        vocab_size=512, hidden_size=config.hidden_size, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, head_dim=16, pad_token_id=0,
        initializer_range=0.5, attn_implementation=attention,
    )  # fmt: skip
    return Qwen3ForCausalLM(shape)


def test_the_verdict_tags_of_a_reply_weigh_most(tokenizer: Any, tmp_path: Path, tiny: Tiny) -> None:
    """A prompt has a low weight, a reply 1, each tag in it ``verdict_weight``."""
    reply = "1 | 2: <No>\n3 | 3: <Yes>"
    rows = [
        {"prompt": [{"role": "user", "content": "<Yes> or <No>?"}],
        "completion": [{"role": "assistant", "content": reply}]},
        {"text": "plain text"},
    ]  # fmt: skip
    write_rows(tmp_path / "train.jsonl", rows)
    pairs = read_pairs(tmp_path / "train.jsonl")
    asked = "<|im_start|>user\n<Yes> or <No>?<|im_end|>\n<|im_start|>assistant\n"
    assert pairs[0] == (asked, reply)
    prompt = len(tokenizer(asked, add_special_tokens=False)["input_ids"])
    chat, text = encode_pairs(pairs, tokenizer, tiny(tmp_path, tmp_path))
    assert tokenizer.decode(chat.ids) == f"{asked}{reply}<|im_end|>"
    assert chat.weights[:prompt] == [0.1] * prompt
    assert [tokenizer.decode([chat.ids[at]]) for at in chat.verdicts] == ["<No>", "<Yes>"]
    weights = [4.0 if at in chat.verdicts else 1.0 for at in range(prompt, len(chat.ids))]
    assert chat.weights[prompt:] == weights
    assert (set(text.weights), text.verdicts) == ({1.0}, [])
    assert encode_pairs(pairs, tokenizer, tiny(tmp_path, tmp_path, max_length=5)) == []


# --- the run --------------------------------------------------------------------------------------


def test_a_run_leaves_a_model_that_loads_anywhere(base: Path, base_data: Path) -> None:
    """The standard classes load it; there are prompt settings, a log and a manifest."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(base / "model")
    tokenizer = AutoTokenizer.from_pretrained(base / "model")
    assert type(model).__name__ == "Qwen3ForCausalLM"
    assert model.config.vocab_size >= len(tokenizer)
    assert model.config.eos_token_id == tokenizer.eos_token_id
    manifest = json.loads((base / "manifest.json").read_text())
    assert manifest["parameters"] == model.num_parameters()
    assert manifest["data"] == {p: sha256_file(base_data / f"{p}.jsonl") for p in ("train", "dev")}
    assert {"dev_loss", "dev_verdicts", "tokens"} <= manifest.keys()
    log = [row for _, row in read_objects(base / "log.jsonl")]
    assert [row["step"] for row in log] == [1, 2, 3, 4]
    assert ["dev_loss" in row for row in log] == [False, True, False, True]
    card = (base / "model" / "README.md").read_text()
    assert f"{manifest['parameters']:,} parameters" in card
    assert manifest["data"]["train"] in card
    prompt = prompt_settings_beside(str(base / "model"))
    assert prompt is not None
    assert prompt.budget == Budget(question=40, reference=30, response=60)


def test_the_base_answers_as_an_engine(base: Path) -> None:
    """Serving reads the folder that training writes."""
    engine = LocalEngine(str(base / "model"), threads=1, device="cpu")
    (made,) = engine.generate([(Message(role="user", content="Same?"),)], max_new_tokens=4)
    assert not isinstance(made, Exception)
    assert made.prompt_tokens > 0


def test_a_stopped_run_resumes_and_ends_in_the_same_weights(
    base_data: Path, tmp_path: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps, a crash and two more steps give bit for bit the weights of four steps."""
    import torch

    pretrain(tiny(base_data, tmp_path / "whole"))
    save = train.base._save

    def save_and_break(*arguments: Any) -> None:
        save(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train.base, "_save", save_and_break)
        with pytest.raises(KeyboardInterrupt):
            pretrain(tiny(base_data, tmp_path / "stopped"))
    assert not (tmp_path / "stopped" / "manifest.json").exists()
    pretrain(tiny(base_data, tmp_path / "stopped"))
    whole, stopped = (
        torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)
        for name in ("whole", "stopped")
    )
    assert (whole["step"], whole["tokens"]) == (stopped["step"], stopped["tokens"])
    assert whole["model"].keys() == stopped["model"].keys()
    for name, weight in whole["model"].items():
        assert torch.equal(weight, stopped["model"][name]), name
    saved = [tmp_path / name / "model" / "model.safetensors" for name in ("whole", "stopped")]
    assert sha256_file(saved[0]) == sha256_file(saved[1])
    log = [row["step"] for _, row in read_objects(tmp_path / "stopped" / "log.jsonl")]
    assert log == [1, 2, 3, 4]


def test_training_lowers_the_loss(base_data: Path, tmp_path: Path, tiny: Tiny) -> None:
    """Forty steps on sixty rows."""
    pretrain(tiny(base_data, tmp_path, max_steps=40, eval_every=100, save_every=100))
    losses = [row["loss"] for _, row in read_objects(tmp_path / "log.jsonl")]
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])


def test_a_folder_without_a_row_that_fits_is_an_error(
    base_data: Path, tmp_path: Path, tiny: Tiny
) -> None:
    """Before any step."""
    with pytest.raises(InputError, match="no row fits max_length=2; raise it"):
        pretrain(tiny(base_data, tmp_path, max_length=2))


def test_a_folder_without_dev_rows_still_trains(
    base_data: Path, tmp_path: Path, tiny: Tiny
) -> None:
    """A small set may have none; the loss is then None and not zero."""
    data = shutil.copytree(base_data, tmp_path / "data")
    (data / "dev.jsonl").write_text("")
    manifest = pretrain(tiny(data, tmp_path / "out", max_steps=2))
    assert (manifest["dev_loss"], manifest["dev_verdicts"]) == (None, None)
