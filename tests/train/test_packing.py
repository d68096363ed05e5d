"""Packing: rows in one line do not see each other; only the layout changes."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.train.options import QUICK, settings_of
from train import sft
from train.checkpoints import Plan
from train.loading import load_base
from train.rows import IGNORED, pack, row_order
from train.settings import SFTSettings

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)


def packed(base: Path, data: Path, out: Path, **changes: Any) -> SFTSettings:
    values = {
        "name": "packed", "data": str(data), "model": str(base / "model"), "out": str(out),
        "max_steps": 2, "per_device_train_batch_size": 6, "r": 4, "learning_rate": 1e-2,
        "verdict_weight": 3, "max_length": 1200, "layout": "packed",
    }  # fmt: skip
    return settings_of(**(QUICK | values | changes))


def trainer_of(settings: SFTSettings) -> Any:
    tokenizer, model = load_base(settings)
    parts = {
        part: sft._dataset(Path(settings.data) / f"{part}.jsonl", tokenizer, settings)
        for part in ("train", "dev")
    }
    made = sft._trainer(settings, tokenizer, model, parts, Plan({}, 2))
    # A fresh adapter changes nothing; drawn weights show whether its gradient is right too.
    import torch

    torch.manual_seed(0)
    for name, parameter in made.model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return made


# --- the lines ------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(10, 120))
def test_every_row_is_in_one_line_and_no_line_is_too_long(lengths: list[int], limit: int) -> None:
    """A row longer than the limit has its own line."""
    lines = pack(lengths, limit)
    assert sorted(row for line in lines for row in line) == [*range(len(lengths))]
    assert all(sum(lengths[row] for row in line) <= limit or len(line) == 1 for line in lines)


def test_lines_by_hand() -> None:
    """Longest first, each into the first line that has room."""
    assert pack([3, 7, 5, 2, 4], 10) == [[1, 0], [2, 4], [3]]


def test_positions_restart_with_each_row() -> None:
    """Padding continues the last row's positions, so a line of one row needs no mask."""
    from train.trainer import PackingCollator

    rows = [{"input_ids": [n] * size, "labels": [IGNORED] + [n] * (size - 1)}
            for n, size in ((1, 3), (2, 2), (3, 4))]  # fmt: skip
    made = {k: v.tolist() for k, v in PackingCollator(0, 5)(rows).items()}
    assert made["input_ids"] == [[3, 3, 3, 3, 0], [1, 1, 1, 2, 2]]
    assert made["labels"] == [[-100, 3, 3, 3, -100], [-100, 1, 1, -100, 2]]
    assert made["position_ids"] == [[0, 1, 2, 3, 4], [0, 1, 2, 0, 1]]
    flat = {k: v.tolist() for k, v in PackingCollator(0, 5, one_line=True)(rows).items()}
    assert flat["input_ids"] == [[1, 1, 1, 2, 2, 3, 3, 3, 3]]
    assert flat["position_ids"] == [[0, 1, 2, 0, 1, 0, 1, 2, 3]]


# --- the model ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["eager", "sdpa"])
def trainer(
    request: pytest.FixtureRequest,
    base: Path,
    judge_data: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    """A packing trainer in training mode."""
    settings = packed(
        base,
        judge_data,
        tmp_path_factory.mktemp("packed"),
        model_init_kwargs={"attn_implementation": request.param},
    )
    made = trainer_of(settings)
    assert made.model.config._attn_implementation == request.param
    made.model.train()
    return made


@pytest.fixture
def rows(trainer: Any) -> list[dict[str, list[int]]]:
    """Six rows of different lengths."""
    found = sorted(trainer.train_dataset, key=lambda row: len(row["input_ids"]))
    return [
        {k: row[k] for k in ("input_ids", "labels")} for row in found[:: max(1, len(found) // 6)]
    ][:6]


@pytest.mark.parametrize("one_line", [False, True])
def test_packed_rows_have_the_logits_of_the_rows_alone(
    trainer: Any, rows: list[dict[str, list[int]]], one_line: bool
) -> None:
    """They agree to 1e-5 in fp32, in training mode, without an attention mask."""
    import torch

    from train.trainer import PackingCollator

    batch = PackingCollator(0, 1200, one_line=one_line)(rows)
    assert batch["input_ids"].shape[0] < len(rows)
    order = [[*range(len(rows))]] if one_line else pack([len(r["input_ids"]) for r in rows], 1200)
    with torch.no_grad():
        packed = trainer.model(
            input_ids=batch["input_ids"], position_ids=batch["position_ids"], use_cache=False
        ).logits
        for line, numbers in enumerate(order):
            start = 0
            for number in numbers:
                ids = torch.tensor([rows[number]["input_ids"]])
                alone = trainer.model(input_ids=ids, use_cache=False).logits[0]
                end = start + ids.shape[1]
                torch.testing.assert_close(packed[line, start:end], alone, rtol=1e-5, atol=1e-5)
                start = end


def test_the_loss_and_gradient_of_a_batch_are_those_of_its_rows(
    trainer: Any, rows: list[dict[str, list[int]]]
) -> None:
    """Packed, padded, and summed row by row; the verdict has weight 3 in each."""
    import torch

    count = torch.tensor(sum(label != IGNORED for row in rows for label in row["labels"]))
    batches = {
        "packed": [trainer._layout(rows)],
        "padded": [trainer.data_collator(rows)],
        "alone": [trainer.data_collator([row]) for row in rows],
    }
    losses, gradients = {}, {}
    for name, parts in batches.items():
        trainer.model.zero_grad()
        total = 0.0
        for part in parts:
            loss = trainer.compute_loss(trainer.model, part, num_items_in_batch=count)
            loss.backward()
            total += loss.item()
        losses[name] = total
        gradients[name] = [p.grad.clone() for p in trainer.model.parameters() if p.requires_grad]
    assert losses["packed"] == pytest.approx(losses["alone"], abs=1e-5)
    assert losses["padded"] == pytest.approx(losses["alone"], abs=1e-5)
    for one, other in zip(gradients["packed"], gradients["alone"], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_the_first_row_does_not_change_the_second(trainer: Any) -> None:
    """The logits are equal bit for bit, as the shapes are the same."""
    import torch

    def logits_of_second(start: list[int]) -> Any:
        rows = [{"input_ids": ids, "labels": ids} for ids in (start, [*range(40, 60)])]
        batch = trainer._layout(rows)
        batch.pop("labels")
        with torch.no_grad():
            return trainer.model(**batch, use_cache=False).logits[0, 20:]

    assert torch.equal(logits_of_second([30] * 20), logits_of_second([*range(5, 25)]))


def test_packing_takes_the_same_steps(base: Path, judge_data: Path, tmp_path: Path) -> None:
    """Runs with and without packing end in the same weights."""
    from safetensors.torch import load_file

    made = []
    for layout in ("packed", "padded"):
        sft.fine_tune(packed(base, judge_data, tmp_path / layout, layout=layout))
        made.append(load_file(tmp_path / layout / "adapter" / "adapter_model.safetensors"))
    for name, weights in made[0].items():
        assert (weights - made[1][name]).abs().max().item() < 1e-4, name


# --- the order ------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=90),
    st.integers(1, 16),
    st.booleans(),
    st.integers(0, 3),
)
def test_a_pass_meets_every_row_and_fills_its_last_step(
    lengths: list[int], step_rows: int, grouped: bool, seed: int
) -> None:
    """Rows occur once, or twice to fill the last step; the same generator gives the same pass."""
    order = row_order(lengths, step_rows, random.Random(seed), grouped=grouped)
    times = Counter(order)
    assert len(order) == -(-len(lengths) // step_rows) * step_rows
    assert sorted(times) == [*range(len(lengths))]
    assert max(times.values()) - min(times.values()) <= 1
    assert order == row_order(lengths, step_rows, random.Random(seed), grouped=grouped)


def test_grouped_steps_hold_rows_of_similar_length_the_longest_first() -> None:
    """Little is padded, and a lack of memory appears in the first step."""
    rng = random.Random(0)
    lengths = [rng.randint(10, 500) for _ in range(3200)]
    order = row_order(lengths, 16, rng, grouped=True)
    steps = [[lengths[row] for row in order[n : n + 16]] for n in range(0, len(order), 16)]
    assert max(steps[0]) == max(lengths)
    padded = sum(max(step) * len(step) for step in steps)
    assert padded < 1.05 * sum(lengths)
    assert [max(step) for step in steps] != sorted((max(step) for step in steps), reverse=True)
