"""OpenCompass: ``predictions/<model>/<dataset>.json``, with the scores of ``results/`` beside them.

Source of the format: open-compass/opencompass, ``opencompass/tasks/openicl_eval.py``
(``format_details``), ``opencompass/openicl/icl_evaluator/icl_base_evaluator.py`` (``evaluate``:
details by example, each field a list over replicas), ``opencompass/openicl/icl_inferencer``
(``origin_prompt``, ``prediction``, ``gold``) and ``opencompass/partitioners/num_worker.py`` (the
predictions of a divided data set in ``<dataset>_0.json``, ``<dataset>_1.json``).
The responses are in ``predictions/<model>/<dataset>.json``, the old scores in the file of the same
place under ``results/``, which has only what an evaluator extracted (``[4, '4']``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import InputError
from gradegpt.tables.importers.logs.reading import (
    Contents,
    LoggedFields,
    Read,
    Tool,
    document,
    each,
    listed,
)

_PREDICTIONS: Final = "predictions/*/*.json"
_SCORES: Final = ("cascade_correct", "correct", "is_correct", "accuracy")
_NO_RESULTS: Final = "there is no file of results/ beside predictions/"
_NO_DETAILS: Final = "the results have no details; evaluate with --dump-eval-details"
_NO_GRADE: Final = "the details hold no score, or a judge model's reply that is neither A nor B"
_DETAILS: Final = {"pred", "predictions", "prediction", "origin_prediction", "rule_evaluation"}
_GRADE: Final = re.compile(r"(?s)\W*([AB])(?:\W.*)?")
"""A judge model's reply to OpenCompass's prompts: A for correct, B for incorrect."""


class _Row(NamedTuple):
    """A prediction and its detail; why it has no score, if it has none."""

    number: int
    prediction: dict[str, Any]
    detail: dict[str, Any]
    why: str


def fits(file: Contents) -> bool:
    """Whether the file is predictions or results."""
    found = file.value if file.is_document() and isinstance(file.value, dict) else {}
    return bool(_is_predictions(found) or _details(found))


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run, with ``predictions/<model>/<dataset>.json``."""
    return next(folder.glob(_PREDICTIONS), None) is not None


def refuse_runs(folder: Path) -> None:
    """Raise ``InputError`` for a folder of runs, ``<run>/`` or ``<name>/<run>/``."""
    found = (file for depth in ("*", "*/*") for file in folder.glob(f"{depth}/{_PREDICTIONS}"))
    if run := next((file.parents[2] for file in found), None):
        what = "is not the folder of a run of OpenCompass, which has predictions/"
        raise InputError(f"{folder}: {what}; give one, such as {run}")


def read(path: Path) -> Iterator[Read]:
    """Every prediction, with the score of its detail where the results have details.

    Of the folder of a run all its predictions, with the model in the id, the task and the tags.

    Raises:
        InputError: the file holds results, or a judge model's replies.

    """
    if path.is_dir():
        for one in sorted(path.glob(_PREDICTIONS)):
            yield from (_by_model(row, one.parent.name) for row in read(one))
        return
    given = document(path)
    if not _is_predictions(given) or path.absolute().parent.parent.name == "results":
        where = "give the file of predictions/ or the folder of the run"
        raise InputError(f"{path}: holds no responses, but what was made of them; {where}")
    task, first, results = _place(path)
    details = _details(document(results)) if results else []
    why = _NO_GRADE if details else _NO_DETAILS if results else _NO_RESULTS
    numbered = (
        (f"{path}: {n}", _Row(n, row, _detail(details, n), why))
        for n, row in enumerate(given.values(), start=first)
    )
    yield from each(numbered, _read, task)


def _by_model(row: Read, model: str) -> Read:
    if isinstance(row, str):
        return row
    meta = {**row.meta, "task": f"{model}/{row.meta['task']}"}
    tags = {**row.tags, "model": (model,)}
    return row.model_copy(update={"id": f"{model}/{row.id}", "meta": meta, "tags": tags})


def _place(path: Path) -> tuple[str, int, Path | None]:
    """The data set, the number of the first prediction in it, and the results beside."""
    path = path.absolute()
    if (kind := path.parents[1]).name != "predictions":
        return path.stem, 0, None
    results = kind.with_name("results") / path.parent.name / path.name
    if results.is_file():
        return path.stem, 0, results
    name = path.stem.rpartition("_")[0]
    parts = [*takewhile(Path.is_file, (path.with_stem(f"{name}_{n}") for n in count()))]
    if path not in parts or not results.with_stem(name).is_file():
        return path.stem, 0, None
    before = parts[: parts.index(path)]
    return name, sum(len(document(part)) for part in before), results.with_stem(name)


def _detail(details: list[dict[str, Any]], n: int) -> dict[str, Any]:
    """The details of the n-th prediction; the replicas of a set follow one another."""
    if not details:
        return {}
    replica, at = divmod(n, len(details))
    if "example_abbr" not in details[at]:  # as format_details writes them, without replicas
        return details[at]
    return {name: _of(value, replica) for name, value in details[at].items()}


def _of(value: Any, replica: int) -> Any:
    """A detail's field for one replica, or the field itself where there are none."""
    many = isinstance(value, list) and replica < len(value)
    return value[replica] if many else value


def _is_predictions(value: dict[str, Any]) -> bool:
    first = next(iter(value.values()), None)
    return isinstance(first, dict) and "prediction" in first and next(iter(value)).isdigit()


def _details(results: dict[str, Any]) -> list[dict[str, Any]]:
    details = results.get("details")
    rows = list(details.values()) if isinstance(details, dict) else details or []
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return rows if rows and _DETAILS & rows[0].keys() else []


def _read(row: _Row, where: str, task: str) -> LoggedFields | str:
    prediction, detail = row.prediction, row.detail
    if any(key.startswith("label: ") for key in prediction):
        return "options ranked by perplexity: there is no text to grade"
    response = prediction.get("prediction")
    response = response[0] if isinstance(response, list) and len(response) == 1 else response
    metric, old = _old(detail)
    return {
        "name": row.number,
        "question": _question(prediction.get("origin_prompt")),
        "reference": prediction.get("gold") or listed(detail.get("references")),
        "response": response if isinstance(response, str) else None,
        "metric": metric,
        "old": old,
        "unscored": row.why if old is None else "",
    }


def _old(detail: dict[str, Any]) -> tuple[str, Any]:
    """The name and the value of the old score; the detail of a judge model is its reply."""
    metric = next((name for name in _SCORES if name in detail), "")
    reply = detail.get("prediction")
    grade = None if metric or not isinstance(reply, str) else _GRADE.fullmatch(reply)
    return ("judge", grade[1] == "A") if grade else (metric, detail.get(metric))


def _question(prompt: Any) -> str:
    """The prompt, or the last human turn of a chat."""
    if isinstance(prompt, str):
        return prompt
    turns = [t for t in prompt or () if isinstance(t, dict) and t.get("role") == "HUMAN"]
    return str(turns[-1].get("prompt", "")) if turns else ""


OPENCOMPASS: Final = Tool("OpenCompass", fits, read)
