"""Inspect: ``.eval`` logs and their JSON form.

Source of the format: UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` (``EvalLog``,
``EvalSample``) and ``log/_recorders/eval.py`` (the zip: ``header.json``, ``samples/*.json``).
A ``.eval`` log is read by ``inspect_ai`` itself where it is installed: current versions
compress with Zstandard, which Python's own ``zipfile`` reads from 3.14 on. Without the package the
zip is read directly, which older logs allow. JSON needs no package.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.records import parse_json
from gradegpt.tables.importers.logs.contents import Contents, document
from gradegpt.tables.importers.logs.rows import (
    LoggedFields,
    Read,
    Tool,
    each,
    question_and_context,
    references,
    text,
    with_options,
)

_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""The values of Inspect's own ``value_to_float``."""
_FIELDS: Final = {"id", "epoch", "input", "choices", "target", "output", "scores", "error"}


def fits(file: Contents) -> bool:
    """Whether the file is a log of Inspect."""
    if file.form == "zip":
        return not file.names.isdisjoint({"header.json", "_journal/start.json"})
    return file.is_document("eval", "status", "plan")


def read(path: Path) -> Iterator[Read]:
    """Every sample; the old score is that of the first scorer."""
    if not zipfile.is_zipfile(path):
        log = document(path)
        task, samples = str(log["eval"].get("task", "")), log.get("samples") or []
    else:
        task, samples = by_package(path) if find_spec("inspect_ai") else by_zip(path)
    rows = ((f"{path}: sample {n}", sample) for n, sample in enumerate(samples, start=1))
    yield from each(rows, _read, task)


def by_package(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """The task and the samples of an ``.eval`` log, read by ``inspect_ai``."""
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path))
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: inspect_ai cannot read it ({error})") from error
    samples = log.samples or []
    return log.eval.task, [s.model_dump(mode="json", include=_FIELDS) for s in samples]


def by_zip(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """The same, from the zip itself.

    Raises:
        MissingError: it is compressed in a way that this Python cannot read.

    """
    with zipfile.ZipFile(path) as log:
        names = log.namelist()
        head = "header.json" if "header.json" in names else "_journal/start.json"
        samples = [n for n in names if n.startswith("samples/") and n.endswith(".json")]
        try:
            task = parse_json(log.read(head))["eval"].get("task", "")
            return str(task), [parse_json(log.read(name)) for name in samples]
        except NotImplementedError as error:
            what = "its compression is unknown to Python's zipfile; pip install inspect_ai"
            raise MissingError(f"{path}: {what}") from error
        except (ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: the log is damaged ({error})") from error


def _read(sample: dict[str, Any], where: str, task: str) -> LoggedFields | str:
    if sample.get("error"):
        return "the sample ended in an error"
    question, context = question_and_context(sample.get("input"))
    choices, epoch = sample.get("choices") or (), sample.get("epoch") or 1
    scores: dict[str, Any] = sample.get("scores") or {}
    metric = next(iter(scores), "")
    old = scores[metric].get("value") if scores else None
    return {
        "name": f"{sample.get('id')}" + (f"/epoch{epoch}" if epoch > 1 else ""),
        "question": with_options(question, choices),
        "context": context,
        "reference": references(sample.get("target")),
        "response": _completion(sample.get("output") or {}),
        "metric": metric,
        "old": _GRADES.get(old, old) if isinstance(old, str) else old,
        "needs": "all" if choices else None,
    }


def _completion(output: dict[str, Any]) -> str | None:
    choices = output.get("choices") or []
    if choices:
        return text(choices[0].get("message", {}).get("content"))
    return output.get("completion")


INSPECT: Final = Tool(
    "Inspect",
    "a zip with header.json or _journal/start.json, or JSON with eval, status and plan",
    fits,
    read,
)
