"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl``, written with ``--log_samples``.

Source of the format: EleutherAI/lm-evaluation-harness, ``lm_eval/evaluator.py`` (the fields of a
sample) and ``lm_eval/loggers/evaluation_tracker.py`` (the files). A document has a line for each
filter; its metrics are columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gradegpt.importers.logs.contents import Contents
from gradegpt.importers.logs.rows import LeftOut, Read, each, lines, logged_item, text, with_options

SHAPE: Final = "lines with doc, target, resps and filtered_resps"
_NAMED: Final = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+$")
_QUESTIONS: Final = ("question", "problem", "query", "Question", "Problem", "input", "prompt")
_CONTEXTS: Final = ("context", "passage", "support")
_METRICS: Final = ("exact_match", "acc", "em", "f1")
"""The metrics of versions that do not list theirs."""


def fits(file: Contents) -> bool:
    """Whether the first line is a sample of the harness."""
    return file.form == "lines" and {"doc", "target", "resps", "filtered_resps"} <= file.names


def read(path: Path) -> Iterator[Read]:
    """Every sample; options ranked by log-likelihood are left out, as they have no text."""
    named = _NAMED.fullmatch(path.stem)
    task = named.group(1) if named else path.stem
    yield from each(lines(path), partial(_read, task=task))


def _read(row: dict[str, Any], where: str, task: str) -> Read:
    response = _response(row)
    if response is None:
        return LeftOut(where, "options ranked by log-likelihood: there is no text to grade")
    filtered = str(row.get("filter") or "none")
    metric = next((name for name in row.get("metrics") or _METRICS if name in row), "")
    own = "" if filtered == "none" else f",{filtered}"
    doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
    return logged_item(
        where,
        name=f"{task}/{row.get('doc_id', where)}{own}",
        task=task + own,
        question=_question(row, doc),
        context=next((doc[c] for c in _CONTEXTS if isinstance(doc.get(c), str)), None),
        reference=row["target"],
        response=response,
        metric=metric,
        old=row.get(metric),
    )


def _response(row: dict[str, Any]) -> str | None:
    """The generated text where there is one; of several, the filter's result."""
    first = (row.get("resps") or [None])[0]
    texts = first if isinstance(first, list) else [first]
    scored = texts if len(texts) == 1 else row.get("filtered_resps") or [None]
    return scored[0] if isinstance(scored[0], str) else None


def _question(row: dict[str, Any], doc: dict[str, Any]) -> str:
    """The document's own question with its options, else the prompt with its examples."""
    question = next((doc[q] for q in _QUESTIONS if isinstance(doc.get(q), str)), None)
    if question is None:
        return _prompt(row.get("arguments"))
    choices = doc.get("choices")
    return with_options(question, list(map(str, choices)) if isinstance(choices, list) else ())


def _prompt(arguments: Any) -> str:
    calls = list(arguments.values()) if isinstance(arguments, dict) else arguments or [None]
    call = calls[0]
    first = list(call.values()) if isinstance(call, dict) else call or [""]
    return text(first[0])
