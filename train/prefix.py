"""Compute a common prefix of rows once in training: the same loss for fewer tokens.

The rows of a batch, sorted by their tokens, are packed into lines. A row adds to its line only the
tokens that it does not share with the row before it, and attends to its own tokens only, including
the shared ones. No row sees another, so loss and gradients are those of separate rows; and nothing
is padded. Each line runs forward and backward separately, so memory depends on its length.
"""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby, pairwise, takewhile
from typing import Any, Final, NamedTuple

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from gradegpt.core.errors import SettingsError

from .rows import IGNORED

_ATTENTION: Final = "gradegpt_prefix"


class Place(NamedTuple):
    """The number of a row, and how many tokens it shares with the row before it in its line."""

    row: int
    shared: int


def lay(rows: Sequence[dict[str, Any]], limit: int) -> list[list[Place]]:
    """Pack rows into lines of at most ``limit`` new tokens; a longer row has its own line.

    Twins are in one line where they fit.
    """
    lines: list[list[Place]] = []
    room, before = 0, None
    order = sorted(range(len(rows)), key=lambda n: rows[n]["input_ids"])
    for _, twins in groupby(order, key=lambda n: max(rows[n].get("twins", (0,))) or ~n):
        numbers = [*twins]
        pairs = pairwise(rows[number] for number in numbers)
        behind = sum(len(row["input_ids"]) - _shared(one, row) for one, row in pairs)
        for number in numbers:
            row = rows[number]
            shared = _shared(before, row) if before else 0
            if len(row["input_ids"]) - shared + behind > room or not lines:
                lines.append([])
                room, shared = limit, 0
            lines[-1].append(Place(number, shared))
            room -= len(row["input_ids"]) - shared
            before, behind = row, 0
    return lines


def _shared(before: dict[str, Any], row: dict[str, Any]) -> int:
    """The length of the common prefix, before the token that predicts the first supervised one."""
    pairs = zip(before["input_ids"], row["input_ids"], strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    prompt = next((n for n, label in enumerate(row["labels"]) if label != IGNORED), common + 1)
    return max(0, min(common, prompt - 1))


def in_lines(rows: Sequence[dict[str, Any]], limit: int) -> dict[str, torch.Tensor]:
    """The lines of a batch one after another, ``[1, tokens]``, with the ``spans [rows, 4]``.

    A span describes a row: its line, where its own tokens begin and end, and how many it shares.
    ``attention_mask`` counts the rows that use a token: its sum is that of padded rows.
    """
    parts = rows[0].keys()  # besides ids and labels a row may have weights and twins
    made: dict[str, list[Any]] = {name: [] for name in (*parts, "position_ids")}
    spans: list[tuple[int, int, int, int]] = []
    uses: list[int] = []
    for number, line in enumerate(lay(rows, limit)):
        path: list[int] = []
        for place in line:
            size = len(rows[place.row]["input_ids"])
            begin, own = len(uses), size - place.shared
            for name in parts:
                made[name] += rows[place.row][name][place.shared :]
            made["position_ids"] += range(place.shared, size)
            uses += [0] * own
            path = [*path[: place.shared], *range(begin, begin + own)]
            for at in path:
                uses[at] += 1
            spans.append((number, begin, begin + own, place.shared))
    table = {name: torch.tensor([values]) for name, values in made.items()}
    return table | {"attention_mask": torch.tensor([uses]), "spans": torch.tensor(spans)}


def lines(batch: dict[str, torch.Tensor]) -> Iterator[dict[str, Any]]:
    """The inputs of the model, line by line.

    ``paths`` has for each row the positions of its tokens, the number of its own tokens, and the
    mask between the two; a row without shared tokens needs no mask.
    """
    spans = batch["spans"].tolist()
    for number in range(spans[-1][0] + 1):
        rows = [span[1:] for span in spans if span[0] == number]
        first, last = rows[0][0], rows[-1][1]
        path, paths = torch.arange(0), []
        for begin, end, shared in rows:
            path = torch.cat([path[:shared], torch.arange(begin - first, end - first)])
            own, size = end - begin, len(path)
            mask = torch.ones(own, size, dtype=torch.bool).tril(shared) if shared else None
            paths.append((path, own, mask))
        names = batch.keys() - {"spans", "attention_mask"}
        yield {name: batch[name][:, first:last] for name in names} | {"paths": paths}


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    *,
    paths: list[tuple[torch.Tensor, int, torch.Tensor | None]],
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Attention row by row: queries of a row's own tokens, keys and values of all its tokens."""
    if others.get("softcap") is not None or others.get("s_aux") is not None:
        raise SettingsError(
            "share_prefix: does not support capped scores or attention sinks; "
            "set share_prefix=false"
        )
    if sliding_window and any(len(path) > sliding_window for path, *_ in paths):
        raise SettingsError(
            f"share_prefix: set sft.max_length to at most {sliding_window}, the model's sliding "
            "window"
        )
    groups = query.shape[1] // key.shape[1]
    begin, made = 0, []
    for path, own, mask in paths:
        keys, values = (
            part.index_select(2, path).repeat_interleave(groups, 1) for part in (key, value)
        )
        made.append(
            scaled_dot_product_attention(
                query[:, :, begin : begin + own],
                keys,
                values,
                attn_mask=mask,
                is_causal=mask is None,
                dropout_p=dropout,
                scale=scaling,
            )
        )
        begin += own
    return torch.cat(made, 2).transpose(1, 2), None


AttentionInterface.register(_ATTENTION, _attend)


def prefix_attention(config: Any) -> AbstractContextManager[None]:
    """Let the model of ``config`` accept ``paths``; no mask function is registered, so no mask."""
    return attention(config, _ATTENTION)


@contextmanager
def attention(config: Any, name: str) -> Iterator[None]:
    """Let the model of ``config`` use the attention of that name in transformers."""
    before = config._attn_implementation
    config._attn_implementation = name
    try:
        yield
    finally:
        config._attn_implementation = before
