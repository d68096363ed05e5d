"""What came out of a fine-tuning, in words: from the reports that its steps wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_LARGER: Final = "a larger base (--base), or a judge that reads already (--from gradegpt-1.5b)"


def judges_of(report: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The figures of each judge over all test rows, by its name."""
    return {judge["name"]: judge["overall"] for judge in report["judges"]}


def start_of(report: Mapping[str, Any]) -> str:
    """The judge that training began from: ``before`` where it began from an adapter."""
    return "before" if "before" in judges_of(report) else "untrained"


def gain_of(report: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """By how much the tuned judge's balanced accuracy is above the start's, with its interval."""
    wanted = {"a": start_of(report), "b": "tuned"}
    pair = next(p for p in report["pairs"] if {k: p[k] for k in wanted} == wanted)
    found: Mapping[str, Any] | None = pair["difference"]
    return found


def is_better(report: Mapping[str, Any]) -> bool:
    """Whether the interval of the gain is above 0."""
    gain = gain_of(report)
    return gain is not None and gain["interval"]["low"] > 0


def conclusion(report: Mapping[str, Any], manifest: Mapping[str, Any], out: str) -> Iterator[str]:
    """The last lines of the command: figures, gain, attacks, and how to use the judge."""
    judges = judges_of(report)
    tuned = judges["tuned"]
    yield (
        f"{tuned['n_items']} held-out answers to {tuned['n_questions']} questions; balanced "
        "accuracy over all of them, no verdict counted as wrong (95 % interval), kappa, AUC:"
    )
    yield f"  {'the more frequent label':24} 50.0"
    for name, figures in judges.items():
        yield f"  {name:24} {_figures(figures)}"
    yield from _gain(report, manifest)
    yield from _attacks(manifest["attacks"])
    yield from _use(judges, manifest, out)


def _figures(of: Mapping[str, Any]) -> str:
    limits = of["intervals"]
    text = f"{_percent(of['balanced_accuracy_all'])}{_range(limits.get('balanced_accuracy_all'))}"
    text += "" if of["kappa"] is None else f", kappa {of['kappa']:.2f}"
    text += "" if of["auc"] is None else f", AUC {of['auc']:.2f}"
    if of["n_judged"] < of["n_items"]:
        right = f", {_percent(of['accuracy'])} % of them right" if of["n_judged"] else ""
        text += f"; decides {of['n_judged']} of {of['n_items']}{right}"
    return text


def _gain(report: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[str]:
    gain, start = gain_of(report), start_of(report)
    named = "the judge it began from" if start == "before" else "the untrained base"
    if gain is None:
        yield "The gain cannot be measured on so few questions; label more, or give --test."
        return
    limits = gain["interval"]
    points = f"{100 * gain['value']:+.1f} points{_range(limits)}"
    if limits["low"] > 0:
        yield f"The tuned judge is better than {named}: {points} of balanced accuracy."
        return
    yield f"It is not shown that the tuned judge is better than {named}: {points}."
    half = (manifest["half"] or {}).get("balanced_accuracy_all")
    whole = judges_of(report)["tuned"]["balanced_accuracy_all"]
    if half is None or whole is None:
        return
    learnt = f"With half of the questions it reaches {_percent(half)}, with all {_percent(whole)}"
    helps = whole - half > 0.01
    advice = (
        "more labels are likely to help" if helps else f"more labels alone may not; try {_LARGER}"
    )
    yield f"{learnt}: {advice}."


def _attacks(attacks: Mapping[str, Any]) -> Iterator[str]:
    for name, rate in attacks.items():
        said = f"Of {rate['n']} attacks, {name} calls {rate['accepted']} correct"
        yield f"{said} ({100 * rate['rate']:.1f} %; at most {100 * rate['high']:.1f}; bound 1 %)."
        if rate["exceeds"]:
            yield f"  ABOVE THE BOUND: {rate['exceeds']}. Do not expose it to answers that try."


def _use(
    judges: Mapping[str, Mapping[str, Any]], manifest: Mapping[str, Any], out: str
) -> Iterator[str]:
    option, setting = "", ""
    if manifest["judge"] == "model":
        option, setting = " --judge model", " judge.kind=model"
        yield "Use the model alone: on your labels, rules and cascade add nothing, or contradict."
    else:
        cascade = judges["cascade"]
        yield (
            f"The cascade of rules and this judge decides {cascade['n_judged']} of "
            f"{cascade['n_items']}, {_percent(cascade['accuracy'])} % of them right."
        )
    yield f"  gradegpt judge answers.csv -o judged.csv --model {out}{option}"
    yield f"  gradegpt serve {out}{setting}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _range(limits: Mapping[str, Any] | None) -> str:
    return "" if limits is None else f" ({100 * limits['low']:.1f} to {100 * limits['high']:.1f})"
