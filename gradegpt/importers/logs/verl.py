"""verl: rollouts and validation generations, ``<step>.jsonl`` of ``trainer.rollout_data_dir``.

Source of the format: volcengine/verl, ``verl/trainer/ppo/ray_trainer.py``
(``_dump_generations``): ``input``, ``output``, ``gts``, ``score``, ``step`` and all other values
that the reward function returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gradegpt.importers.logs.contents import Contents
from gradegpt.importers.logs.rows import Read, each, lines, logged_item

SHAPE: Final = "lines with input, output, score and step"
_MARKED: Final = re.compile(
    r"(?s)(?:<\|im_start\|>user\n|<\|start_header_id\|>user<\|end_header_id\|>\n*)"
    r"(.*?)(?:<\|im_end\|>|<\|eot_id\|>)"
)
_UNMARKED: Final = (
    # ChatML and Gemma
    re.compile(
        r"(?s)(?:^|.*?\n)user\n(.*)\n(?:assistant|model)\s*(?:<think>\s*(?:</think>\s*)?)?$"
    ),
    # Llama 3, whose turns end in a token alone
    re.compile(r"(?s).*?user\n\n(.*)assistant\n\n$"),
)
"""A prompt without special tokens, which ``input`` leaves out: only the roles' names remain."""


def fits(file: Contents) -> bool:
    """Whether the first line is a generation that verl wrote."""
    return file.form == "lines" and {"input", "output", "score", "step"} <= file.names


def read(path: Path) -> Iterator[Read]:
    """Every generation; its old score is the reward."""
    yield from each(lines(path), partial(_read, task=path.stem))


def _read(row: dict[str, Any], where: str, task: str) -> Read:
    return logged_item(
        where,
        name=f"step{row['step']}/{where.rsplit(':', 1)[-1]}",
        task=str(row.get("data_source") or task),
        question=user_turn(row["input"]),
        reference=row.get("gts"),
        response=row["output"],
        metric="score",
        old=row["score"],
    )


def user_turn(prompt: str) -> str:
    r"""The last user turn in a prompt of a chat template, or the prompt where there is none.

    >>> user_turn("system\nBe brief.\nuser\nWhat is 2+2?\nassistant\n<think>\n\n</think>\n\n")
    'What is 2+2?'
    >>> user_turn("system\n\nBe brief.user\n\nWhat is 2+2?assistant\n\n")
    'What is 2+2?'
    """
    if turns := _MARKED.findall(prompt):
        return str(turns[-1]).strip()
    unmarked = next((found for form in _UNMARKED if (found := form.match(prompt))), None)
    return unmarked.group(1).strip() if unmarked else prompt
