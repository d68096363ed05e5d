"""VLMEvalKit: tables of predictions and of scored predictions, TSV, CSV or XLSX.

Source of the format: open-compass/VLMEvalKit, ``vlmeval/dataset/image_mcq.py``,
``image_vqa.py``, ``vlmeval/dataset/utils/multiple_choice.py`` and ``vqa_eval.py``: ``index``,
``question``, ``answer`` (or several, as the text of a list), ``prediction``, a column for each
option, and ``hit``, ``score`` or ``eval_score``.
Images are not read: a judge compares the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from gradegpt.answers.options import LETTERS
from gradegpt.importers.logs.contents import Contents, table
from gradegpt.importers.logs.rows import Read, each, listed, logged_item, with_options

SHAPE: Final = "a table with index, question, answer and prediction"
_SCORES: Final = ("hit", "score", "eval_score", "match")
_EMPTY: Final = ("", "nan")


def fits(file: Contents) -> bool:
    """Whether the columns are those of a table of predictions."""
    return file.form == "table" and {"index", "question", "answer", "prediction"} <= file.names


def read(path: Path) -> Iterator[Read]:
    """Every row, with its options below the question."""
    yield from each(table(path), partial(_read, task=path.stem))


def _read(row: dict[str, str], where: str, task: str) -> Read:
    metric = next((name for name in _SCORES if name in row), "")
    options = [row[letter] for letter in LETTERS if row.get(letter, "") not in _EMPTY]
    hint, answer = row.get("hint", ""), row["answer"]
    return logged_item(
        where,
        name=row["index"],
        task=task,
        question=with_options(row["question"], options),
        context=None if hint in _EMPTY else hint,
        reference=None if answer in _EMPTY else listed(answer),
        response=row["prediction"],
        metric=metric,
        old=row.get(metric),
    )
