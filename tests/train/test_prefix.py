"""Shared prefixes: computed once, with the same results."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.train.options import trainer_of, two_steps
from train.rows import IGNORED

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)


def row(prompt: list[int], chain: list[int]) -> dict[str, list[int]]:
    return {"input_ids": prompt + chain, "labels": [IGNORED] * len(prompt) + chain}


# --- the lines ------------------------------------------------------------------------------------


def test_lines_by_hand() -> None:
    """Rows are sorted by tokens; the token that predicts the first supervised one is not shared."""
    from train.prefix import in_lines, lines

    rows = [row([1, 2, 3, 4], [8, 9]), row([5, 6], [8]), row([1, 2, 3, 7], [8])]
    batch = in_lines([*rows, rows[0]], 9)
    assert batch["input_ids"].tolist() == [[1, 2, 3, 4, 8, 9, 4, 8, 9, 1, 2, 3, 7, 8, 5, 6, 8]]
    assert batch["position_ids"].tolist() == [[0, 1, 2, 3, 4, 5, 3, 4, 5, *range(5), 0, 1, 2]]
    assert batch["attention_mask"].tolist() == [[2, 2, 2, *[1] * 14]]
    assert batch["spans"].tolist() == [[0, 0, 6, 0], [0, 6, 9, 3], [1, 9, 14, 0], [1, 14, 17, 0]]
    first, second = lines(batch)
    assert first["labels"].tolist() == [[*[IGNORED] * 4, 8, 9, IGNORED, 8, 9]]
    ((alone, six, none), (path, own, mask)) = first["paths"]
    assert (alone.tolist(), six, none) == ([0, 1, 2, 3, 4, 5], 6, None)
    assert (path.tolist(), own) == ([0, 1, 2, 6, 7, 8], 3)
    assert mask.int().tolist() == [[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]
    assert [path.tolist() for path, *_ in second["paths"]] == [[0, 1, 2, 3, 4], [5, 6, 7]]


_ROWS = st.lists(
    st.builds(
        row,
        st.lists(st.integers(1, 2), min_size=1, max_size=9),
        st.lists(st.integers(1, 2), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=12,
)


@given(_ROWS, st.integers(1, 30))
def test_a_path_spells_its_row_and_every_label_is_kept(
    rows: list[dict[str, Any]], limit: int
) -> None:
    """Only a single long row may exceed ``limit`` tokens."""
    from train.prefix import in_lines, lay, lines

    order = [place.row for line in lay(rows, limit) for place in line]
    assert sorted(order) == [*range(len(rows))]
    batch = in_lines(rows, limit)
    made = [(line, *path) for line in lines(batch) for path in line["paths"]]
    for number, (line, path, own, _) in zip(order, made, strict=True):
        assert line["input_ids"][0, path].tolist() == rows[number]["input_ids"]
        assert line["labels"][0, path[-own:]].tolist() == rows[number]["labels"][-own:]
        assert all(label == IGNORED for label in rows[number]["labels"][: 1 - own or None])
        assert all(a < b for a, b in pairwise(path.tolist()))
        assert line["input_ids"].shape[1] <= limit or len(line["paths"]) == 1
    assert batch["attention_mask"].sum() == sum(len(r["input_ids"]) for r in rows)


# --- the model ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trainer(base: Path, judge_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A trainer that shares prefixes, in training mode."""
    out = tmp_path_factory.mktemp("prefix")
    made = trainer_of(two_steps(base, judge_data, out, share_prefix=True))
    made.model.train()
    return made


def test_the_loss_and_gradient_of_a_batch_are_those_of_its_rows(trainer: Any) -> None:
    """They equal the sum over rows in fp32; the verdict has weight 3 in both."""
    import torch

    from train.prefix import lines, prefix_attention

    rows = [{k: r[k] for k in ("input_ids", "labels")} for r in [*trainer.train_dataset][:8]]
    count = torch.tensor(sum(label != IGNORED for r in rows for label in r["labels"]))
    batch = trainer._lines(rows)
    assert batch["input_ids"].numel() < sum(len(r["input_ids"]) for r in rows), "nothing shared"
    assert batch["spans"][-1, 0] > 0, "one line only"

    def measured(parts: list[Any]) -> tuple[float, list[Any]]:
        trainer.model.zero_grad()
        total = 0.0
        for part in parts:
            loss = trainer.compute_loss(trainer.model, part, num_items_in_batch=count)
            loss.backward()
            total += loss.item()
        return total, [p.grad.clone() for p in trainer.model.parameters() if p.requires_grad]

    with prefix_attention(trainer.model.config):
        shared, gradients = measured([*lines(batch)])
    alone, others = measured([trainer.data_collator([r]) for r in rows])
    assert shared == pytest.approx(alone, abs=1e-5)
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", ["share_prefix", "packing", ""])
def test_the_loss_of_whole_rows_and_twins_by_hand(
    base: Path, judge_data: Path, tmp_path: Path, layout: str
) -> None:
    """Each verdict, 0.3 of the mean of its chain, and 0.2 of what a pair lacks to its margin."""
    import torch

    from train.prefix import lines, prefix_attention

    weights = {"verdict_weight": 1, "chain_weight": 0.3, "twin_weight": 0.2, "twin_margin": 9}
    share, chosen = layout == "share_prefix", {layout: True} if layout else {}
    settings = two_steps(base, judge_data, tmp_path, **chosen, **weights)
    trainer = trainer_of(settings)
    trainer.model.train()
    yes, no = trainer._verdict_ids.tolist()
    rows = [dict(row) for row in trainer.train_dataset][:12]
    places = [row["weights"].index(1) for row in rows]
    right = [row["labels"][place] == yes for row, place in zip(rows, places, strict=True)]
    order = sorted(range(len(rows)), key=lambda n: rows[n]["input_ids"])  # twins share a prompt
    pair = next((a, b) for a, b in pairwise(order) if right[a] != right[b])
    pair = pair if right[pair[0]] else pair[::-1]
    for one in pair:
        rows[one]["twins"][places[one]] = 2**47
    total, values = 0.0, []
    with torch.no_grad():
        for row, place in zip(rows, places, strict=True):
            logits = trainer.model(torch.tensor([row["input_ids"]])).logits[0]
            at = [n for n, label in enumerate(row["labels"]) if label != IGNORED]
            losses = {n: -logits[n - 1].log_softmax(-1)[row["labels"][n]].item() for n in at}
            total += losses.pop(place) + 0.3 * sum(losses.values()) / len(losses)
            values.append((logits[place - 1][yes] - logits[place - 1][no]).item())
    total += 0.2 * max(0, 9 - (values[pair[0]] - values[pair[1]]))
    collate = trainer.get_train_dataloader().collate_fn
    batch = collate(rows)
    count = trainer._get_num_items_in_batch([batch], "cpu")
    assert count == len(rows)
    with torch.no_grad(), prefix_attention(trainer.model.config) if share else torch.no_grad():
        parts = [*lines(batch)] if share else [batch]
        found = sum(trainer.compute_loss(trainer.model, p, num_items_in_batch=count) for p in parts)
    assert found.item() == pytest.approx(total / len(rows), rel=1e-4)


def test_twins_stay_in_one_line() -> None:
    """A line ends before the first of them where they do not fit behind it together."""
    from train.prefix import lay

    rows = [row([1, 2, 3], [8]), row([4, 5, 6], [8]), row([4, 5, 7], [8])]
    alone = [[place.row for place in line] for line in lay(rows, 9)]
    twins = [r | {"twins": [0, 0, 0, number]} for r, number in zip(rows, (0, 7, 7), strict=True)]
    together = [[place.row for place in line] for line in lay(twins, 9)]
    assert (alone, together) == ([[0, 1], [2]], [[0], [1, 2]])


def test_sharing_and_packing_take_the_same_steps(
    base: Path, judge_data: Path, tmp_path: Path
) -> None:
    """Runs with and without them end in the same weights and count the same tokens."""
    from safetensors.torch import load_file

    made, tokens = [], []
    for number, changes in enumerate(({}, {"share_prefix": True}, {"packing": True})):
        out = tmp_path / str(number)
        trainer = trainer_of(two_steps(base, judge_data, out, **changes))
        trainer.train()
        tokens.append(trainer.state.num_input_tokens_seen)
        trainer.model.save_pretrained(out / "adapter")
        made.append(load_file(out / "adapter" / "adapter_model.safetensors"))
    assert tokens == tokens[:1] * 3
    for other in made[1:]:
        for name, weights in made[0].items():
            assert (weights - other[name]).abs().max().item() < 1e-4, name


def test_a_base_in_bf16_trains_as_in_float32_but_for_rounding(
    base: Path, judge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss agrees within 1 %, gradients in direction; the adapter stays in float32."""
    import torch

    made = []
    for bf16 in (True, False):
        monkeypatch.setattr("train.loading.cpu_has_bf16", lambda: True)
        changes = {"share_prefix": True, "bf16": bf16, "r": 8}
        trainer = trainer_of(two_steps(base, judge_data, tmp_path / str(bf16), **changes))
        base_weight = trainer.model.get_base_model().get_input_embeddings().weight
        assert base_weight.dtype == (torch.bfloat16 if bf16 else torch.float32)
        trained = [p for p in trainer.model.parameters() if p.requires_grad]
        assert {p.dtype for p in trained} == {torch.float32}
        batch = trainer._lines([*trainer.train_dataset][:8])
        count = (batch["labels"] != IGNORED).sum()
        loss = trainer.training_step(trainer.model, batch, count).item()
        made.append((loss, torch.cat([p.grad.flatten() for p in trained])))
    (loss, gradient), (exact, wanted) = made
    assert loss == pytest.approx(exact, rel=0.01)
    assert torch.cosine_similarity(gradient, wanted, 0) > 0.99
