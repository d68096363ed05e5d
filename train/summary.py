"""What came out of a fine-tuning, in words: from the reports that its steps wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gradegpt.judges.certificate import LEAST_LABELS

Report = Mapping[str, Any]
_OPTIONS: Final = {
    "cascade": ("", ""),
    "cascade-all": (" --min-confidence 0", " judge.min_confidence=0"),
    "tuned": (" --judge model", " judge.kind=model"),
}
"""The options of ``judge`` and ``serve`` for a measured judge."""
_TUNED: Final = "tuned, the model alone,"
_STARTS: Final = {
    "before": "before, the model it began from", "untrained": "untrained, its base alone",
    "rules": "the rules",
}  # fmt: skip
SHEET: Final = "to_label.csv"
"""The answers for a person to label, in the judge's folder."""
_EVEN: Final = 0.08
"""The largest difference between the accepted right and the rejected wrong that is not said."""
ATTACKS: Final = 10
"""The most attacks of each pattern that are tried."""


def gain_of(report: Report) -> tuple[str, Report | None]:
    """The judge that training began from, and by how much balanced accuracy is above its.

    That is ``before`` where training went on from an adapter, and the rules where nothing judged
    before, as with an encoder. None where it cannot be measured.
    """
    names = {judge["name"] for judge in report["judges"]}
    start = next(name for name in _STARTS if name in names)
    pair = next(p for p in report["pairs"] if (p["a"], p["b"]) == (start, "tuned"))
    return start, pair["difference"]


def is_worse(report: Report) -> bool:
    """Whether the interval of the gain is below 0."""
    _, gain = gain_of(report)
    return gain is not None and gain["interval"]["high"] < 0


def conclusion(report: Report | None, manifest: Report, out: str) -> Iterator[str]:
    """The last lines of the command: figures, gain, attacks, and how to use the judge."""
    if report is None:
        yield from _not_measured(manifest, out)
        return
    judges = {judge["name"]: judge["overall"] for judge in report["judges"]}
    tuned = judges["tuned"]
    yield (
        f"{tuned['n_items']} held-out answers to {tuned['n_questions']} questions; balanced "
        "accuracy over all of them, no verdict counted as wrong (95 % interval), AUC; decided:"
    )
    yield f"  {'the more frequent label':24} 50.0"
    for name, figures in judges.items():
        yield f"  {name:24} {_figures(figures)}"
    yield from _bias(tuned)
    yield from _gain(report)
    yield from _attacks(manifest)
    if not is_worse(report):
        yield from _use(judges, manifest, out)


def _not_measured(manifest: Report, out: str) -> Iterator[str]:
    """What a judge is whose labels are all a teacher's."""
    rows = manifest["data"]["counts"]["sheet"]
    teacher = manifest["options"]["teacher"] or "a teacher"
    yield (
        f"NOTHING WAS MEASURED: every label is one of {teacher}'s, and the confidences say how "
        f"often the judge agrees with {teacher}, not with people."
    )
    yield f"Label the {rows} answers of {out}/{SHEET} (column label: correct or incorrect), then:"
    yield f"  gradegpt eval {out}/{SHEET} --model {out}"
    yield from _attacks(manifest)
    judge, serve = _OPTIONS[manifest["use"]]
    yield f"  gradegpt judge answers.csv -o judged.csv --model {out}{judge}"
    yield f"  gradegpt serve {out}{serve}"


def _attacks(manifest: Report) -> Iterator[str]:
    yield f"Attacks, at most {ATTACKS} of each pattern:"
    for name, rate in manifest["attacks"].items():
        share = f"{100 * rate['rate']:.1f} %; at most {100 * rate['high']:.1f}; bound 1 %"
        yield f"  {name} calls {rate['accepted']} of {rate['n']} correct ({share})."
        if rate["exceeds"]:
            yield f"    ABOVE THE BOUND: {rate['exceeds']}."
            yield f"    Do not expose {name} to answers that try to deceive it."


def _figures(of: Report) -> str:
    text = _percent(of["balanced_accuracy_all"])
    text += _range(of["intervals"].get("balanced_accuracy_all"))
    there = "" if of["n_judged"] == of["n_items"] else f" on the {of['n_judged']} decided"
    text += "" if of["auc"] is None else f", AUC {of['auc']:.2f}{there}"
    return f"{text}; {_decides(of)}"


def _decides(of: Report) -> str:
    said = f"decides {of['n_judged']} of {of['n_items']}"
    if of["n_judged"]:
        said += f", balanced accuracy there {_percent(of['balanced_accuracy'])}"
        said += _range(of["intervals"].get("balanced_accuracy"))
        said += ", kappa –" if of["kappa"] is None else f", kappa {of['kappa']:.2f}"
    return said


def _bias(of: Report) -> Iterator[str]:
    """By how much a judge accepts or rejects too easily, and the threshold that mends it."""
    if of["bias"] is None or abs(of["bias"]) <= _EVEN:
        return
    accepted, rejected = _percent(of["recall"]), _percent(of["recall"] - of["bias"])
    easily = "accepts" if of["bias"] > 0 else "rejects"
    even = f"{of['even'] or 1:.4g}"  # at 1 a judge would accept nothing
    at = "" if even == "1" else f"; with the threshold {even} these are equal"
    shares = f"{accepted} % of the right accepted, {rejected} % of the wrong rejected"
    yield f"It {easily} too easily: {shares}{at}."


def _gain(report: Report) -> Iterator[str]:
    start, gain = gain_of(report)
    named = _STARTS[start]
    if gain is None:
        yield "The gain cannot be measured on so few questions; label more, or give --test."
        return
    points = f"{100 * gain['value']:+.1f} points{_range(gain['interval'])} of balanced accuracy"
    if gain["interval"]["low"] > 0:
        yield f"{_TUNED} is better than {named}: {points}."
        return
    if is_worse(report):
        yield f"{_TUNED} is WORSE than {named}: {points}. Keep that one."
    else:
        yield f"It is not shown that {_TUNED} is better than {named}: {points}."
    yield "Label more, or try a larger --base or --from gradegpt-1.5b."


def _use(judges: Report, manifest: Report, out: str) -> Iterator[str]:
    """The judge to use and the commands for it; a gate needs the labels of a certificate."""
    use, figures = manifest["use"], judges[manifest["use"]]
    judge, serve = _OPTIONS[use]
    left = figures["n_items"] - figures["n_judged"]
    least = figures["intervals"].get("kappa", {}).get("low", figures["kappa"])
    if least is None or least <= 0:
        yield f"DO NOT USE IT YET: {use} ({manifest['why']}) {_decides(figures)}:"
        yield "  it is not shown to agree with the labels more often than by chance. Label more"
        yield "  answers, above all of the rarer label, and give the command with another -o."
        return
    yield f"Use {use} ({manifest['why']}): it {_decides(figures)}."
    if manifest["attacks"].get(use, {}).get("exceeds"):
        yield "  It is above the bound of attacks: only where nobody tries to deceive it."
    if use == "cascade" and left:
        yield f"  The {left} left open for you to look at count as wrong in its balanced accuracy."
        every = _decides(judges["cascade-all"])
        yield f"  If every answer needs a verdict: cascade-all (--min-confidence 0); it {every}."
    yield f"  gradegpt judge answers.csv -o judged.csv --model {out}{judge}"
    yield f"  gradegpt serve {out}{serve}"
    if figures["n_items"] >= LEAST_LABELS:
        held_out = f"{out}/work/data/examples/test.jsonl"
        yield f"  gradegpt eval {held_out} --model {out}{judge} --certify 0.9"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _range(limits: Report | None) -> str:
    return "" if limits is None else f" ({100 * limits['low']:.1f} to {100 * limits['high']:.1f})"
