"""HELM: ``scenario_state.json``, with ``per_instance_stats.json`` beside it for the old scores.

Source of the format: stanford-crfm/helm, ``src/helm/benchmark/adaptation/scenario_state.py`` and
``request_state.py``, ``scenarios/scenario.py`` (``Instance``, ``Reference``) and
``metrics/metric.py`` (``PerInstanceStats``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from gradegpt.core.errors import InputError
from gradegpt.tables.importers.logs.contents import Contents, document
from gradegpt.tables.importers.logs.rows import LoggedFields, Read, Tool, each, with_options

_METRICS: Final = (
    "final_number_exact_match", "math_equiv_chain_of_thought", "math_equiv",
    "chain_of_thought_correctness", "quasi_exact_match", "exact_match", "f1_score",
)  # fmt: skip
"""The metrics of accuracy that HELM's scenarios use, the more specific ones first."""

InstanceKey = tuple[str, str, str]
Stats = dict[InstanceKey, tuple[str, float]]


def fits(file: Contents) -> bool:
    """Whether the file is the state of a scenario, or the statistics beside one."""
    stats = isinstance(file.value, list) and file.is_document("instance_id", "stats")
    return stats or file.is_document("adapter_spec", "request_states")


def read(path: Path) -> Iterator[Read]:
    """Every request; requests that rank options one by one are left out, as they have no text."""
    scenario, state = document(path), path
    if isinstance(scenario, list):
        state = path.with_name("scenario_state.json")
        if not state.is_file():
            how = "put scenario_state.json into the same folder"
            raise InputError(f"{path}: holds no responses; {how}")
        scenario = document(state)
    rows = ((f"{state}: request {n}", row) for n, row in enumerate(scenario["request_states"]))
    stats = _stats(state.with_name("per_instance_stats.json"))
    task = path.absolute().parent.name.split(":", 1)[0]
    yield from each(rows, partial(_read, stats), task)


def _read(stats: Stats, row: dict[str, Any], where: str, task: str) -> LoggedFields | str:
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


HELM: Final = Tool(
    "HELM", "JSON with adapter_spec and request_states (scenario_state.json)", fits, read
)
