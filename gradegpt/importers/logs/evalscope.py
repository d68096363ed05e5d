"""evalscope 1.x: ``reviews/<model>/<benchmark>_<subset>.jsonl``.

Source of the format: modelscope/evalscope, ``evalscope/api/evaluator/cache.py``
(``ReviewResult``, ``ModelResult``) and ``evalscope/api/metric/scorer.py`` (``SampleScore``).
``predictions/...`` of the same name holds no reference; for such a file the reviews are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gradegpt.errors import InputError
from gradegpt.importers.logs.contents import Contents
from gradegpt.importers.logs.rows import (
    Read,
    each,
    lines,
    logged_item,
    question_and_context,
    references,
    text,
)

SHAPE: Final = "lines with index and sample_score (reviews) or model_output (predictions)"


def fits(file: Contents) -> bool:
    """Whether the first line is a review or a prediction."""
    scored = not file.names.isdisjoint({"sample_score", "model_output"})
    return file.form == "lines" and "index" in file.names and scored


def read(path: Path) -> Iterator[Read]:
    """Every review; the old score is the benchmark's main one.

    Raises:
        InputError: a file of predictions without its reviews.

    """
    _, first = next(lines(path))
    reviews = path if "sample_score" in first else _reviews(path)
    yield from each(lines(reviews), partial(_read, task=path.stem))


def _reviews(predictions: Path) -> Path:
    folder = predictions.absolute().parents
    if len(folder) > 1 and folder[1].name == "predictions":
        reviews = folder[1].parent / "reviews" / folder[0].name / predictions.name
        if reviews.is_file():
            return reviews
    what = "predictions hold no reference; give the file of the same name under reviews/"
    raise InputError(f"{predictions}: {what}")


def _read(row: dict[str, Any], where: str, task: str) -> Read:
    messages = row.get("messages") or []
    question, context = question_and_context(messages or row.get("input"))
    given = row["sample_score"].get("score") or {}
    values = given.get("value") or {}
    main = str(given.get("main_score_name"))
    metric = main if main in values else next(iter(values), "")
    accepted = references(row.get("target"))
    letters = all(len(answer) == 1 and answer.isalpha() for answer in accepted)
    return logged_item(
        where,
        name=f"{task}/{row['index']}",
        task=task,
        question=question,
        context=context,
        reference=accepted,
        response=_response(given, messages),
        metric=metric,
        old=values.get(metric),
        needs="all" if letters else None,  # several options of one question are needed together
    )


def _response(given: dict[str, Any], messages: list[dict[str, Any]]) -> str | None:
    if isinstance(prediction := given.get("prediction"), str):
        return prediction
    last = messages[-1] if messages else {}
    return text(last.get("content")) if last.get("role") == "assistant" else None
