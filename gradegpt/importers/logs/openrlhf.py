"""OpenRLHF: generations with their reward, as ``openrlhf.cli.batch_inference`` writes them.

Source of the format: OpenRLHF/OpenRLHF, ``openrlhf/cli/batch_inference.py`` (``input``, ``output``,
``reward``; in releases before 0.9.8) and ``openrlhf/datasets/prompts_dataset.py`` (the column
``label``, which ``--data.label_key`` names). Batch inference itself writes no label; a row without
one is left out. With a chat template its outputs end in the template's end of turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gradegpt.importers.logs.contents import Contents
from gradegpt.importers.logs.rows import Read, each, lines, logged_item
from gradegpt.importers.logs.verl import user_turn

SHAPE: Final = "lines with input or prompt, output or response, and reward, but no score"
_END: Final = re.compile(r"(?:<\|im_end\|>|<\|eot_id\|>|<\|endoftext\|>|<end_of_turn>|</s>)\s*$")
_PROMPTS, _RESPONSES = ("input", "prompt"), ("output", "response")


def fits(file: Contents) -> bool:
    """Whether the first line is a generation with a reward."""
    named = file.names
    both = not named.isdisjoint(_PROMPTS) and not named.isdisjoint(_RESPONSES)
    return file.form == "lines" and both and "reward" in named and "score" not in named


def read(path: Path) -> Iterator[Read]:
    """Every generation; its old score is the reward."""
    yield from each(lines(path), partial(_read, task=path.stem))


def _read(row: dict[str, Any], where: str, task: str) -> Read:
    response = _first(row, _RESPONSES)
    return logged_item(
        where,
        name=where.rsplit(":", 1)[-1],
        task=str(row.get("datasource") or task),
        question=user_turn(_first(row, _PROMPTS) or ""),
        reference=row.get("label"),
        response=response and _END.sub("", response),
        metric="reward",
        old=row["reward"],
    )


def _first(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((row[name] for name in names if isinstance(row.get(name), str)), None)
