"""OpenCompass: ``predictions/<model>/<dataset>.json`` and ``results/<model>/<dataset>.json``.

Source of the format: open-compass/opencompass, ``opencompass/tasks/openicl_eval.py``
(``format_details``), ``opencompass/openicl/icl_evaluator/icl_base_evaluator.py`` (``evaluate``:
details by example, each field a list over replicas) and
``opencompass/openicl/icl_inferencer`` (``origin_prompt``, ``prediction``, ``gold``).
The responses are in the predictions and the old scores in the results; for either file the other
is looked for in the same run's folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gradegpt.importers.logs.contents import Contents, document
from gradegpt.importers.logs.rows import LeftOut, Read, each, logged_item

SHAPE: Final = 'JSON {"0": {origin_prompt, prediction}}, or with details of predictions'
_SCORES: Final = ("correct", "is_correct", "cascade_correct")
_REFERENCES: Final = ("references", "answer", "gold", "ref")


def fits(file: Contents) -> bool:
    """Whether the file is predictions or results."""
    if file.form not in ("json", "lines") or not isinstance(file.value, dict):
        return False
    return _is_predictions(file.value) or _details(file.value) != []


def read(path: Path) -> Iterator[Read]:
    """Every prediction, with the score of its detail where the results have details."""
    given, beside = document(path), _beside(path)
    other = document(beside) if beside else {}
    predictions, results = (given, other) if _is_predictions(given) else (other, given)
    details, task = _details(results), path.stem
    rows = predictions or {str(n): {} for n in range(len(details))}
    pairs = (
        (f"{path}: {key}", (row, _detail(details, n), f"{task}/{key}"))
        for n, (key, row) in enumerate(rows.items())
    )
    yield from each(pairs, _read)


def _detail(details: list[dict[str, Any]], n: int) -> dict[str, Any]:
    """The details of the n-th prediction; the replicas of a set follow one another."""
    if not details:
        return {}
    replica, at = divmod(n, len(details))
    return {name: _of(value, replica) for name, value in details[at].items()}


def _is_predictions(value: dict[str, Any]) -> bool:
    first = next(iter(value.values()), None)
    return isinstance(first, dict) and "prediction" in first and next(iter(value)).isdigit()


def _details(results: dict[str, Any]) -> list[dict[str, Any]]:
    details = results.get("details")
    rows = list(details.values()) if isinstance(details, dict) else details or []
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    known = {"pred", "predictions", "prediction", "origin_prediction"}
    return rows if rows and known & rows[0].keys() else []


def _beside(path: Path) -> Path | None:
    """The same dataset's file of the other kind: ``predictions`` for ``results`` and back."""
    other = {"predictions": "results", "results": "predictions"}
    folder = path.absolute().parents
    if len(folder) < 2 or folder[1].name not in other:
        return None
    found = folder[1].parent / other[folder[1].name] / folder[0].name / path.name
    return found if found.is_file() else None


def _of(value: Any, replica: int) -> Any:
    """A detail's field for one replica, or the field itself where there are none."""
    many = isinstance(value, list) and replica < len(value)
    return value[replica] if many else value


def _read(parts: tuple[dict[str, Any], dict[str, Any], str], where: str) -> Read:
    row, detail, name = parts
    if any(key.startswith("label: ") for key in row):
        return LeftOut(where, "options ranked by perplexity: there is no text to grade")
    response = row.get("prediction", detail.get("origin_prediction", detail.get("pred")))
    response = response[0] if isinstance(response, list) and len(response) == 1 else response
    metric = next((name for name in _SCORES if name in detail), "")
    gold = row.get("gold") or next((detail[r] for r in _REFERENCES if detail.get(r)), None)
    return logged_item(
        where,
        name=name,
        task=name.rsplit("/", 1)[0],
        question=_question(row.get("origin_prompt", detail.get("prompt"))),
        reference=gold,
        response=response if isinstance(response, str) else None,
        metric=metric,
        old=detail.get(metric),
    )


def _question(prompt: Any) -> str:
    """The prompt, or the last human turn of a chat."""
    if isinstance(prompt, str):
        return prompt
    turns = [t for t in prompt or () if isinstance(t, dict) and t.get("role") == "HUMAN"]
    return str(turns[-1].get("prompt", "")) if turns else ""
