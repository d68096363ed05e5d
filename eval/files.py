"""A file of answers, labelled or not -> the settings of its evaluation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradegpt.columns import COMMAND_LINE, FIELDS
from gradegpt.errors import InputError
from gradegpt.importers.labelled import Source, read_examples
from gradegpt.inputs import CheckedInput
from gradegpt.settings import build_settings
from gradegpt.tables import form_of

from .settings import EvalSettings


def is_answers(path: str) -> bool:
    """Whether ``path`` is a table of answers, and no settings."""
    settings = Path(path).suffix.lower() in (".yaml", ".yml")
    return form_of(path) is not None or (Path(path).is_file() and not settings)


def label_of(answers: CheckedInput) -> str | None:
    """The column that holds the label; none where nobody graded.

    Raises:
        InputError: several columns may.

    """
    labels = answers.columns.labels
    if len(labels) > 1:
        ways = " or ".join(COMMAND_LINE.mapping("label", column) for column in labels)
        what = f"`label` may be any of {', '.join(labels)}; use {ways}"
        raise InputError(f"{answers.table.name}: {what}")
    return labels[0] if labels else None


def label_said(answers: CheckedInput) -> str:
    """Where the label is, and how many rows have none, in one line."""
    label = label_of(answers)
    if label is None:
        return "label: none, so the model that answered is scored; --map label=COLUMN names one"
    source = Source.model_validate(_source(answers, label))
    left = answers.rows - sum(1 for _ in read_examples(source))
    return f"label: {label}" + (f"; {left:,} rows without one are left out" if left else "")


def settings_of(
    answers: CheckedInput,
    judges: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    overrides: Sequence[str] = (),
) -> EvalSettings:
    """Labelled rows are a source with its columns named, others are answers; of the file's name.

    Args:
        answers: The file; its columns are recognised.
        judges: The settings of each judge.
        columns: The columns that were given, not recognised.
        overrides: Other settings, ``key=value``.

    """
    path, label = str(answers.path), label_of(answers)
    rows: dict[str, Any] = {"answers": [path], "columns": dict(columns)}
    if label is not None:
        rows = {"sources": [_source(answers, label)]}
    name = re.sub(r"[^\w .+-]", "-", answers.path.stem).lstrip(" .+-") or "answers"
    return build_settings(EvalSettings, {"name": name, **rows, "judges": judges}, path, overrides)


def _source(answers: CheckedInput, label: str) -> dict[str, Any]:
    """The file with its columns named: those of an item, and what goes with a label."""
    own = {field: answers.columns.fields.get(field, "") for field in FIELDS}
    beside = ("lang", "labelled_by", "source")
    others = {name: name if name in answers.columns.names else "" for name in beside}
    return {"path": str(answers.path), "fields": own | others | {"verdict": label}}
