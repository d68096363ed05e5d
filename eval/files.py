"""The settings of an evaluation from a file of answers, labelled or not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradegpt.importers.labelled import label_of, read_examples, source_of
from gradegpt.inputs import CheckedInput
from gradegpt.settings import build_settings
from gradegpt.tables import form_of

from .settings import EvalSettings


def is_answers(path: str) -> bool:
    """Whether ``path`` is a table of answers and not a settings file."""
    settings = Path(path).suffix.lower() in (".yaml", ".yml")
    return form_of(path) is not None or (Path(path).is_file() and not settings)


def label_message(answers: CheckedInput) -> str:
    """One line that names the column of the label and counts the rows without one."""
    label = label_of(answers)
    if label is None:
        return (
            "no label column, so this scores the model that answered; to measure the judge, name "
            "it: --map label=COLUMN"
        )
    source = source_of(answers, label)
    left = answers.rows - sum(1 for _ in read_examples(source))
    return f"label: {label}" + (f"; {left:,} rows without one are left out" if left else "")


def settings_of(
    answers: CheckedInput,
    judges: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    overrides: Sequence[str] = (),
) -> EvalSettings:
    """The settings of a run named as the file: a labelled source, or answers without labels.

    Args:
        answers: The file, with its recognised columns.
        judges: The settings of each judge.
        columns: The columns that the caller named.
        overrides: Other settings, ``key=value``.

    """
    path, label = str(answers.path), label_of(answers)
    rows: dict[str, Any] = {"answers": [path], "columns": dict(columns)}
    if label is not None:
        rows = {"sources": [source_of(answers, label)]}
    name = re.sub(r"[^\w .+-]", "-", answers.path.stem).lstrip(" .+-") or "answers"
    return build_settings(EvalSettings, {"name": name, **rows, "judges": judges}, path, overrides)
