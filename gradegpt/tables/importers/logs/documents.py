"""Tools whose log is one document: Inspect, HELM and simple-evals.

Sources of the formats:

* Inspect, UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` (``EvalLog``,
  ``EvalSample``) and ``log/_recorders/eval.py`` (the zip: ``header.json``, ``samples/*.json``).
  A ``.eval`` log is read by ``inspect_ai`` itself: current versions compress with Zstandard, which
  Python's own ``zipfile`` reads from 3.14 on. JSON needs no package.
* HELM, stanford-crfm/helm, ``src/helm/benchmark/adaptation/scenario_state.py`` and
  ``request_state.py``, ``scenarios/scenario.py`` (``Instance``, ``Reference``) and
  ``metrics/metric.py`` (``PerInstanceStats``): ``scenario_state.json``, with
  ``per_instance_stats.json`` beside it for the old scores.
* simple-evals, openai/simple-evals, ``common.py`` (``HTML_JINJA``, ``make_report``) and
  ``simple_evals.py``: ``<eval>_<model>_allresults.json``. Its ``convos`` hold neither reference nor
  score: these are only in the HTML of each example, whose texts are escaped, so no response can be
  read as markup.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gradegpt.core.errors import InputError, MissingError
from gradegpt.tables.importers.logs.reading import (
    Contents,
    LoggedFields,
    Read,
    Tool,
    document,
    each,
    question_and_context,
    references,
    text,
    with_options,
)

_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""The values of Inspect's own ``value_to_float``."""
_FIELDS: Final = {"id", "epoch", "input", "choices", "target", "output", "scores", "error"}


def _is_inspect(file: Contents) -> bool:
    if file.form == "zip":
        return not file.names.isdisjoint({"header.json", "_journal/start.json"})
    return file.is_document("eval", "status", "plan")


def _inspect(path: Path) -> Iterator[Read]:
    """Every sample; the old score is that of the first scorer."""
    if not zipfile.is_zipfile(path):
        log = document(path)
        task, samples = str(log["eval"].get("task", "")), log.get("samples") or []
    else:
        task, samples = _packed(path)
    rows = ((f"{path}: sample {n}", sample) for n, sample in enumerate(samples, start=1))
    yield from each(rows, _sample, task)


def _packed(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """The task and the samples of an ``.eval`` log.

    Raises:
        MissingError: ``inspect_ai``, which reads it, is not installed.

    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        how = "pip install inspect_ai, or write logs as JSON: --log-format json"
        raise MissingError(f"{path}: needs inspect_ai; {how}") from error
    try:
        log = read_eval_log(str(path))
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: inspect_ai cannot read it ({error})") from error
    samples = log.samples or []
    return log.eval.task, [s.model_dump(mode="json", include=_FIELDS) for s in samples]


def _sample(sample: dict[str, Any], where: str, task: str) -> LoggedFields | str:
    if sample.get("error"):
        return "the sample ended in an error"
    question, context = question_and_context(sample.get("input"))
    choices, epoch = sample.get("choices") or (), sample.get("epoch") or 1
    scores: dict[str, Any] = sample.get("scores") or {}
    metric = next(iter(scores), "")
    old = scores[metric].get("value") if scores else None
    output = sample.get("output") or {}
    written = output.get("choices") or []
    return {
        "name": f"{sample.get('id')}" + (f"/epoch{epoch}" if epoch > 1 else ""),
        "question": with_options(question, choices),
        "context": context,
        "reference": references(sample.get("target")),
        "response": text(written[0].get("message", {}).get("content"))
        if written
        else output.get("completion"),
        "metric": metric,
        "old": _GRADES.get(old, old) if isinstance(old, str) else old,
        "needs": "all" if choices else None,
    }


_METRICS: Final = (
    "final_number_exact_match", "math_equiv_chain_of_thought", "math_equiv",
    "chain_of_thought_correctness", "quasi_exact_match", "exact_match", "f1_score",
)  # fmt: skip
"""The metrics of accuracy that HELM's scenarios use, the more specific ones first."""

InstanceKey = tuple[str, str, str]
Stats = dict[InstanceKey, tuple[str, float]]


def _is_helm(file: Contents) -> bool:
    return file.is_document("adapter_spec", "request_states")


def _helm(path: Path) -> Iterator[Read]:
    """Every request; requests that rank options one by one are left out, as they have no text."""
    scenario = document(path)
    rows = ((f"{path}: request {n}", row) for n, row in enumerate(scenario["request_states"]))
    stats = _stats(path.with_name("per_instance_stats.json"))
    task = path.absolute().parent.name.split(":", 1)[0]
    yield from each(rows, partial(_request, stats), task)


def _request(stats: Stats, row: dict[str, Any], where: str, task: str) -> LoggedFields | str:
    if row.get("reference_index") is not None:
        return "options ranked one by one: there is no text to grade"
    instance, options = row["instance"], row.get("output_mapping") or {}
    right = [
        reference["output"]["text"]
        for reference in instance.get("references") or ()
        if "correct" in reference.get("tags", ())
    ]
    letters = [letter for letter, option in options.items() if option in right]
    key = _key(instance.get("id"), row, instance.get("perturbation"))
    metric, old = stats.get(key, ("", None))
    completions = (row.get("result") or {}).get("completions") or []
    return {
        "name": "/".join(part for part in key if part),
        "question": with_options(instance["input"].get("text", ""), list(options.values())),
        "reference": letters or right,
        "response": completions[0].get("text") if completions else None,
        "metric": metric,
        "old": old,
    }


def _key(name: Any, row: dict[str, Any], perturbation: Any) -> InstanceKey:
    trial = str(row.get("train_trial_index") or "")  # empty for the first, 0
    parts = ((perturbation or {}).get(part) for part in ("name", "seed"))
    return str(name), trial, "-".join(str(part) for part in parts if part is not None)


def _stats(path: Path) -> Stats:
    """The first metric of accuracy of each instance, as (name, mean).

    An instance has a row for each of the run's metric classes.
    """
    means: defaultdict[InstanceKey, dict[str, float]] = defaultdict(dict)
    for row in document(path) if path.is_file() else ():
        key = _key(row["instance_id"], row, row.get("perturbation"))
        named = ((s["name"]["name"], s) for s in row["stats"] if s.get("count"))
        means[key] |= {name: s["sum"] / s["count"] for name, s in named if name in _METRICS}
    return {
        key: min(of.items(), key=lambda m: _METRICS.index(m[0])) for key, of in means.items() if of
    }


_MESSAGE: Final = re.compile(r'(?s)<div class="message (\w+)">.*?<pre>(.*?)</pre>')
_FIELD: Final = r"(?s)<p>{}: (.*?)</p>"


def _is_simple_evals(file: Contents) -> bool:
    return file.is_document("score", "metrics", "htmls", "convos")


def _simple_evals(path: Path) -> Iterator[Read]:
    """Every example that was compared with a correct answer."""
    examples = enumerate(document(path)["htmls"])
    rows = ((f"{path}: example {n}", example or "") for n, example in examples)
    yield from each(rows, _example, path.stem)


def _example(example: str, where: str, task: str) -> LoggedFields:
    messages = [
        {"role": role, "content": html.unescape(text)} for role, text in _MESSAGE.findall(example)
    ]
    question, context = question_and_context(messages[:-1])
    last = messages[-1] if messages else {}
    return {
        "name": where.rsplit(" ", 1)[-1],
        "question": question,
        "context": context,
        "reference": _field("Correct Answer", example),
        "response": last["content"] if last.get("role") == "assistant" else None,
        "metric": "score",
        "old": _field("Score", example),
    }


def _field(name: str, example: str) -> str | None:
    found = re.search(_FIELD.format(name), example)
    return html.unescape(found.group(1)) if found else None


INSPECT: Final = Tool("Inspect", _is_inspect, _inspect)
HELM: Final = Tool("HELM", _is_helm, _helm)
SIMPLE_EVALS: Final = Tool("simple-evals", _is_simple_evals, _simple_evals)
