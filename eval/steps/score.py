"""Score the steps of each item, by rules or by a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Unpack

from gradegpt.engines.base import Engine
from gradegpt.errors import InputError
from gradegpt.judges.rules import VERSION as RULES
from gradegpt.records import read_objects, sha256_file, validate
from gradegpt.run import MANIFEST
from gradegpt.schema import Item, Outcome
from gradegpt.steps import (
    StepScores,
    build_step_prompt,
    not_judged,
    read_step_reply,
    response_steps,
    score_by_rules,
)
from gradegpt.steps.chain import METHOD as MODEL
from gradegpt.steps.chain import VERSION as CHAIN
from gradegpt.steps.rules import VERSION as STEPS

from ..asking import Asked, AskOptions, ask_rows

LABELS: Final = "step_labels"
"""The key of ``meta`` with the human labels of each step of a response: a list of 0 and 1."""


def read_items(path: Path) -> list[Item]:
    """The items of a file, which may have other columns; an item without id has its line number.

    Raises:
        InputError: a row is not an item, its ``meta.step_labels`` are not one 0 or 1 for each step
            of its response, or there is no row; with ``file:line: field``.

    """
    items = []
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        known = {name: value for name, value in row.items() if name in Item.model_fields}
        item = validate(Item, known, where)
        _check_labels(item, where)
        items.append(item if item.id else item.model_copy(update={"id": str(number)}))
    if not items:
        raise InputError(f"{path}: no rows; every line holds one item as a JSON object")
    return items


def _check_labels(item: Item, where: str) -> None:
    labels: Any = item.meta.get(LABELS)
    if labels is None:
        return
    where = f"{where}: meta.{LABELS}"
    if not isinstance(labels, list) or any(label not in (0, 1) for label in labels):
        raise InputError(f"{where}: {labels!r}; give a list of 0 and 1, one for each step")
    steps = response_steps(item)
    if len(labels) != len(steps):
        raise InputError(
            f"{where}: {len(labels)} labels for {len(steps)} steps; label the steps as "
            "gradegpt.steps.split_steps cuts the response, or mark them with <STEP1>…</STEP1>"
        )


def score_steps(
    path: Path,
    items: Sequence[Item],
    out: Path,
    engine: Engine | None = None,
    **options: Unpack[AskOptions],
) -> Asked:
    """Write the step scores of the items of ``path`` to ``out``; without engine by rules.

    Items without steps or without a reference solution are ``undecided`` and not asked about. A
    stopped run resumes as in ``ask_rows``.

    Raises:
        OutputError, EngineError: as ``ask_rows``.

    """

    def scored(n: int, reply: str | None) -> StepScores:
        item = items[n]
        if engine is None:
            return score_by_rules(item)
        if reply is None:
            why, steps = "engine:error", len(response_steps(item))
            return not_judged(item, MODEL, Outcome.FAILED, why, n_steps=steps)
        return read_step_reply(item, reply)

    return ask_rows(
        ["" if engine is None else build_step_prompt(item) or "" for item in items],
        scored, out, engine, row_type=StepScores, source=path, settings=settings(engine), **options,
    )  # fmt: skip


def settings(engine: Engine | None) -> str:
    """The versions that the scores depend on besides the items and the model."""
    return f"steps-{STEPS}|rules-{RULES}" if engine is None else f"steps-{STEPS}|chain-{CHAIN}"


def scored_before(path: Path, out: Path, engine: Engine | None = None) -> bool:
    """Whether ``out`` holds the scores of all items of ``path``, made in the same way."""
    manifest = out.with_name(out.name + MANIFEST)
    if not out.is_file() or not manifest.is_file():
        return False
    made: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    way = f"{engine.name if engine else 'none'}|{settings(engine)}|"
    same = str(made.get("made_from", "")).startswith(way)
    return same and made["input"]["sha256"] == sha256_file(path) and not made["failed"]
