"""Measure what a judge's verdicts are worth: ``gradegpt eval.calibrate calibrate-1.5b``.

The labelled rows must be of other questions than those that made the judge and those that will
measure it. For the rules logistic regression weighs the signs of a reading. Every other judge is
asked what the judges before it leave unsure, and for each kind of answer logistic regression weighs
its log odds and theirs. A kind on which this predicts the labels no better than without the judge,
on questions that did not fit the weights, is left out: there the judge is not asked.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from pydantic import AfterValidator, Field
from scipy.optimize import minimize
from scipy.special import expit

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import whole_file, write_json
from gradegpt.core.schema import Example, Judgement
from gradegpt.core.settings import load_settings
from gradegpt.core.shipped import found
from gradegpt.judges.base import judge_each
from gradegpt.judges.build import STOP_CONFIDENCE, build_judge
from gradegpt.judges.calibration import (
    BASE,
    CALIBRATION_FILE,
    OTHER,
    Calibration,
    Evidence,
    Weights,
    chance_of_right,
    kind_of,
    log_odds,
    rule_of,
)
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.settings import (
    AnyJudge,
    CascadeJudgeSettings,
    ModelJudgeSettings,
    RuleJudgeSettings,
)
from gradegpt.judges.statistics import Values, numbered, says_yes
from gradegpt.rules.reading import read_item, signs_of
from gradegpt.tables.importers.labelled import ids_in, item_key

from .console import percent, show
from .judging import judge_items, read_sources, write_items
from .settings import RowsSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_PARTS: Final = 5
"""Folds of the questions; the weights of each fold are fitted on the others."""
_SURE: Final = 1.645
"""The number of standard errors by which a judge must improve the log loss of a kind."""
_DIGITS: Final = 3
"""Decimals of weights and of probabilities in the evidence."""


class CalibrationSettings(RowsSettings):
    """Labelled rows that neither made the judge nor measure it, the judge, and those before it.

    A judge other than the rules is asked about rows whose confidence after the judges before it is
    below ``STOP_CONFIDENCE``. A kind of answer with fewer than ``least_rows`` rows is counted under
    ``other``. ``unconfirmed`` is a file of ``id | reason``, drawn rows that are left out, as a
    reader did not confirm their labels.
    """

    command: ClassVar[str] = "eval.calibrate"
    judge: AnyJudge = ModelJudgeSettings()
    after: tuple[AnyJudge, ...] = (RuleJudgeSettings(),)
    """The judges before it in the cascade, in order; none for the rules."""
    least_rows: int = Field(default=40, ge=10)
    unconfirmed: Annotated[str, AfterValidator(found)] | None = None


class KindGain(NamedTuple):
    """A group of rows: how many, how many of the judge's verdicts were right, and the decision.

    ``gain`` is by how much the judge lowers the log loss of a row, with its standard error.
    """

    group: str
    rows: int
    right: int
    gain: float | None
    error: float | None
    used: bool


def calibrate(
    settings: CalibrationSettings, *, overwrite: bool = False
) -> tuple[Calibration, list[KindGain]]:
    """Judge the labelled rows and write ``calibration.json``; the calibration and what it rests on.

    Raises:
        InputError: a source without a labelled row, or none that the rules decide.
        OutputError: the folder holds judgements of other rows or of another judge.
        SettingsError: a judge that cannot be calibrated.

    """
    if settings.judge.kind not in ("rules", "model"):
        raise SettingsError(
            f"judge.kind: {settings.judge.kind!r} cannot be calibrated; calibrate the judges of a "
            "cascade one by one: rules, model"
        )
    measure = _of_rules if settings.judge.kind == "rules" else _of_later
    calibration, findings = measure(settings, overwrite)
    with whole_file(settings.folder / CALIBRATION_FILE) as file:
        file.write(calibration.model_dump_json(exclude_defaults=True) + "\n")
    made = {
        "stage": "eval.calibrate",
        "settings": settings.model_dump(mode="json"),
        "judge": calibration.judge,
        "seconds_per_item": calibration.seconds,
        "findings": [finding._asdict() for finding in findings],
    }
    write_json(settings.folder / "manifest.json", made)
    return calibration, findings


def _rows(settings: CalibrationSettings) -> list[Example]:
    unconfirmed = ids_in(settings.unconfirmed, "unconfirmed")
    return [row for row in read_sources(settings) if row.id not in unconfirmed]


def _of_rules(settings: CalibrationSettings, overwrite: bool) -> tuple[Calibration, list[KindGain]]:
    """The weights of the signs of a reading: logistic regression around the share of right ones."""
    rows = _rows(settings)
    judgements, fingerprint, seconds = _asked(settings, rows, overwrite)
    verdicts = {n: j.verdict for n, j in enumerate(judgements) if j.verdict is not None}
    if not verdicts:
        raise InputError(f"the rules decide none of the {len(rows):,} rows; give others")
    given = {n: signs_of(read_item(rows[n]), verdict) for n, verdict in verdicts.items()}
    right = np.array([says_yes(v) is says_yes(rows[n].verdict) for n, v in verdicts.items()])
    totals = Counter(sign for signs in given.values() for sign in signs)
    names = [sign for sign, count in totals.items() if count >= settings.least_rows]
    base = math.log((right.sum() + 0.5) / ((~right).sum() + 0.5))
    table = np.array(
        [[base, *(name in signs for name in names)] for signs in given.values()], float
    )
    weights = fit(table, right)
    signs = {BASE: base * weights[0]} | dict(zip(names, weights[1:], strict=True))
    rounded = {name: round(float(weight), _DIGITS) for name, weight in signs.items()}
    rules = {n: rule_of(verdict, judgements[n].reason) for n, verdict in verdicts.items()}
    seen = dict(Counter(rules.values()).most_common())
    calibration = Calibration(judge=fingerprint, signs=rounded, seen=seen)
    trails: list[tuple[float | None, ...]] = [(None,)] * len(rows)
    for n, own in given.items():
        made = judgements[n].model_copy(
            update={"confidence": calibration.confidence_of(own, rules[n])}
        )
        trails[n] = (chance_of_right(made),)
    findings = [
        KindGain(name, totals[name], int(right[table[:, n] > 0].sum()), None, None, used=True)
        for n, name in enumerate(names, start=1)
    ]
    update = {"evidence": evidence_of(rows, trails), "seconds": seconds}
    return calibration.model_copy(update=update), sorted(findings, key=lambda f: -f.rows)


def _of_later(settings: CalibrationSettings, overwrite: bool) -> tuple[Calibration, list[KindGain]]:
    every = _rows(settings)
    before, trails = _before(settings, every)
    left = [n for n, j in enumerate(before) if (j.confidence or 0) < STOP_CONFIDENCE]
    rows = [every[n] for n in left]
    judgements, fingerprint, seconds = _asked(settings, rows, overwrite)
    odds = [
        (log_odds(chance_of_right(j, raw=True)), log_odds(chance_of_right(before[n])), 1.0)
        for n, j in zip(left, judgements, strict=True)
    ]
    scored = np.array([j.score is not None and j.verdict is not None for j in judgements])
    weights, chance, findings = _fitted(rows, np.array(odds), scored, settings)
    for n, p in zip(left, chance, strict=True):
        trails[n] = (*trails[n][:-1], None if math.isnan(p) else float(p))
    calibration = Calibration(
        judge=fingerprint, after=tuple(one.kind for one in settings.after),
        asked_below=STOP_CONFIDENCE, weights=weights, seconds=seconds,
        evidence=evidence_of(every, trails),
    )  # fmt: skip
    return calibration, findings


def _before(
    settings: CalibrationSettings, rows: Sequence[Example]
) -> tuple[list[Judgement], list[tuple[float | None, ...]]]:
    """What the judges before make of the rows, and trails with the probabilities by each.

    The last of a trail is for the judge to calibrate. A verdict is repeated by the judges after it
    until one is asked.
    """
    made: list[Judgement] = []
    trails: list[tuple[float | None, ...]] = [()] * len(rows)
    for n in range(1, len(settings.after) + 1):
        judge = build_judge(CascadeJudgeSettings(judges=settings.after[:n], min_confidence=0))
        assert isinstance(judge, CascadeJudge)
        made = judge_each(judge, rows)
        trails = [
            (*t, chance_of_right(j) if j.verdict else None)
            for t, j in zip(trails, made, strict=True)
        ]
    return made, [(*trail, None) for trail in trails]


def _asked(
    settings: CalibrationSettings, rows: Sequence[Example], overwrite: bool
) -> tuple[Sequence[Judgement], str, float | None]:
    """The judgements, the judge's name in a calibration, and the seconds of an item if measured."""
    items = write_items(rows, settings.folder / "items.jsonl")
    judge = build_judge(settings.judge)
    started = time.perf_counter()
    path = settings.folder / "judgements.jsonl"
    judged = judge_items(settings.judge.label, judge, items, path, overwrite=overwrite)
    took = (time.perf_counter() - started) / max(1, len(rows))
    return judged.judgements, judged.fingerprint, None if judged.reused else round(took, 6)


def _fitted(
    rows: Sequence[Example],
    table: Values,
    scored: NDArray[np.bool_],
    settings: CalibrationSettings,
) -> tuple[dict[str, Weights], Values, list[KindGain]]:
    """The weights by kind, and each row's probability by the weights of other folds.

    NaN where the judge is not used.
    """
    right = np.array([says_yes(e.verdict) for e in rows])
    questions = numbered(item_key(e) for e in rows)
    chance = np.full(len(rows), np.nan)
    weights: dict[str, Weights] = {}
    findings = []
    for kind, places in _by_kind(rows, settings.least_rows).items():
        mine = np.array([n for n in places if scored[n]], dtype=np.int64)
        if not len(mine):
            continue
        agrees = int(((table[mine, 0] > 0) == right[mine]).sum())
        if min(right[mine].sum(), (~right[mine]).sum()) < settings.least_rows / 4:
            findings.append(KindGain(kind, len(mine), agrees, None, None, used=False))
            continue
        with_judge = _held_out(table[mine], right[mine], questions[mine])
        without = _held_out(table[mine][:, 1:], right[mine], questions[mine])
        gain, error = _gain(with_judge, without, right[mine], questions[mine])
        used = gain > _SURE * error
        findings.append(KindGain(kind, len(mine), agrees, gain, error, used=used))
        if used:
            own, before, bias = (round(float(x), _DIGITS) for x in fit(table[mine], right[mine]))
            most = float(np.maximum(with_judge, 1 - with_judge).max())
            weights[kind] = Weights(
                own=own, before=before, bias=bias, most=math.ceil(most * 10**_DIGITS) / 10**_DIGITS
            )
            chance[mine] = with_judge
    return weights, chance, findings


def _held_out(table: Values, right: NDArray[np.bool_], questions: NDArray[np.int64]) -> Values:
    """Each row's probability by the weights fitted on other questions."""
    chance = np.empty(len(right))
    for fold in range(_PARTS):
        held = questions % _PARTS == fold
        w = fit(table[~held], right[~held])
        chance[held] = expit(np.clip(table[held] @ w, -12, 12))
    return chance


def _gain(
    with_judge: Values, without: Values, right: NDArray[np.bool_], questions: NDArray[np.int64]
) -> tuple[float, float]:
    """By how much the log loss of a row falls, and the standard error over questions."""
    loss = [-np.log(np.where(right, p, 1 - p)) for p in (without, with_judge)]
    difference = loss[0] - loss[1]
    _, place = np.unique(questions, return_inverse=True)
    totals = np.bincount(place, difference - difference.mean())
    return float(difference.mean()), float(np.sqrt((totals**2).sum()) / len(right))


def fit(table: Values, right: NDArray[np.bool_]) -> Values:
    """Logistic regression of ``right`` on ``table`` ``[rows, columns]``.

    A Gaussian prior of deviation 1 around weight 1 of the first column and 0 of the others
    regularises few rows.
    """
    prior: Values = np.eye(table.shape[1])[0]
    sign = np.where(right, 1.0, -1.0)

    def loss(w: Values) -> tuple[float, Values]:
        margin = sign * (table @ w)
        total = np.logaddexp(0, -margin).sum() + ((w - prior) ** 2).sum() / 2
        gradient = -table.T @ (sign * expit(-margin)) + (w - prior)
        return float(total), gradient

    weights: Values = minimize(loss, prior, jac=True, method="BFGS").x
    return weights


def _by_kind(examples: Sequence[Example], least_rows: int) -> dict[str, list[int]]:
    """Rows by kind of answer; kinds with fewer than ``least_rows`` rows are merged as ``other``."""
    kinds: dict[str, list[int]] = {}
    for number, example in enumerate(examples):
        kinds.setdefault(kind_of(example), []).append(number)
    groups = {kind: rows for kind, rows in sorted(kinds.items()) if len(rows) >= least_rows}
    return groups | {OTHER: sorted(n for k, rows in kinds.items() if k not in groups for n in rows)}


def evidence_of(
    rows: Sequence[Example], trails: Sequence[tuple[float | None, ...]]
) -> tuple[Evidence, ...]:
    """The rows as evidence, equal ones counted.

    Of the answers to one question the first alone: a limit on the error needs independent rows.
    """
    first: dict[tuple[str, str, str], tuple[Example, tuple[float | None, ...]]] = {}
    for example, trail in zip(rows, trails, strict=True):
        first.setdefault((example.source, kind_of(example), item_key(example)), (example, trail))
    counted = Counter(
        (source, kind, says_yes(example.verdict), tuple(p and round(p, _DIGITS) for p in trail))
        for (source, kind, _), (example, trail) in first.items()
    )
    return tuple(
        Evidence(source=source, kind=kind, right=right, trail=trail, rows=n)
        for (source, kind, right, trail), n in sorted(counted.items(), key=repr)
    )


@app.command(
    epilog="With a file of yours: gradegpt eval.calibrate calibrate-1.5b 'judge={kind: model, "
    "model: FOLDER}' 'sources=[{path: graded.csv}]' sample=0 name=mine. "
    "Then: cp runs/mine/calibration.json FOLDER"
)
def main(
    config: Annotated[Path, options.config("calibrate-1.5b")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "name, out, sources=[{path: FILE}] (labelled answers), "
            "judge.adapter, sample (the most rows of a source), least_rows (of an answer type)."
        ),
    ] = None,
    output: options.Folder = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Measure what a judge's verdicts are worth on labelled answers; write calibration.json.

    With that file in the adapter's folder a cascade has measured confidences: it asks the model
    about the answer types that it improves, lets it overturn earlier verdicts, withholds what is
    too uncertain, and can promise an error (--max-error). Use labelled answers of other questions
    than those that trained the model and those that will measure it.
    """
    settings = load_settings(CalibrationSettings, config, options.with_folder(output, overrides))
    calibration, findings = calibrate(settings, overwrite=overwrite)
    rows = [
        (f.group, f"{f.rows:,}", percent(f.right / f.rows if f.rows else None),
         "–" if f.gain is None else f"{f.gain:.3f} ± {f.error:.3f}", "yes" if f.used else "no")
        for f in findings
    ]  # fmt: skip
    show(("group", "rows", "right", "log loss falls by", "used"), rows)
    if calibration.seconds is not None:
        typer.echo(f"{calibration.seconds:.4f} seconds an item")
    typer.echo(f"wrote {settings.folder / CALIBRATION_FILE}; copy it beside the adapter")


if __name__ == "__main__":
    run(app, name="gradegpt eval.calibrate")
