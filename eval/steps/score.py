"""Items -> a row of step scores each, by rules or by a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from eval.asking import Asked, ask_rows
from gradegpt.engines.base import Engine, Generation
from gradegpt.errors import EngineError, InputError
from gradegpt.judges.rules import VERSION as RULES
from gradegpt.records import read_objects, sha256_file, validate
from gradegpt.run import MANIFEST
from gradegpt.schema import Item, Message, Outcome
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

LABELS: Final = "step_labels"
"""What people said of each step of a response, 0 or 1: a list in an item's ``meta``."""


class RulesOnly:
    """An engine for what needs no model: it answers nothing, and is asked nothing."""

    name = "rules"

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """An empty reply to each prompt."""
        return [Generation("") for _ in prompts]


class NonEmpty:
    """An engine that is asked those prompts only that have messages; the others' reply is empty."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.name = engine, engine.name

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """The replies, in order."""
        asked = [prompt for prompt in prompts if prompt]
        limit = max_new_tokens
        replies = iter(self._engine.generate(asked, max_new_tokens=limit) if asked else ())
        return [next(replies) if prompt else Generation("") for prompt in prompts]


def read_items(path: Path) -> list[Item]:
    """The items of a file, which may have other columns too; one without an id has its line's.

    Raises:
        InputError: a row is no item, or its ``meta.step_labels`` are not one 0 or 1 for each step
            of its response; ``file:line: field`` leads. Or there is no row.

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
    *,
    max_new_tokens: int = 4096,
    at_once: int = 64,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Asked:
    """Write the step scores of each of the items of ``path`` to ``out``; without engine by rules.

    Items without steps or without a reference solution cost nothing, and are ``undecided``. A
    stopped run goes on as in ``ask_rows``.

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
        [() if engine is None else build_step_prompt(item) for item in items],
        scored, out, RulesOnly() if engine is None else NonEmpty(engine),
        row_type=StepScores, source=path, settings=settings(engine),
        max_new_tokens=max_new_tokens, at_once=at_once, overwrite=overwrite,
        on_progress=on_progress,
    )  # fmt: skip


def settings(engine: Engine | None) -> str:
    """What the scores depend on beside the items and the model."""
    return f"steps-{STEPS}|rules-{RULES}" if engine is None else f"steps-{STEPS}|chain-{CHAIN}"


def scored_before(path: Path, out: Path, engine: Engine | None = None) -> bool:
    """Whether ``out`` holds the scores of all items of ``path``, made in the same way."""
    manifest = out.with_name(out.name + MANIFEST)
    if not out.is_file() or not manifest.is_file():
        return False
    made: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    way = f"{engine.name if engine else RulesOnly.name}|{settings(engine)}|"
    same = str(made.get("made_from", "")).startswith(way)
    return same and made["input"]["sha256"] == sha256_file(path) and not made["failed"]
