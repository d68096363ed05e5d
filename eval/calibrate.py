"""Calibrate a model's judge: ``gradegpt eval.calibrate configs/eval/calibrate.yaml``.

Only rows that the rules leave open count: a cascade asks the model about those alone. For each
kind of answer, logistic regression combines the log odds of the model's tag with those of the
lexical judge. The abstention threshold is the least confidence from which the combination is better
than chance, with its whole interval, on rows that did not fit the weights; without such a
confidence the cascade abstains. The lexical judge is measured on the same rows, and its verdict is
used without asking the model where the model is no better.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, NamedTuple

import numpy as np
import typer
from pydantic import Field

from gradegpt.agreement import by_question, estimate, numbered, resampled, says_yes, score
from gradegpt.cli import run
from gradegpt.importers.labelled import Source, item_key
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.judges.calibration import (
    CALIBRATION_FILE,
    OTHER,
    Calibration,
    Weights,
    kind_of,
    lexical_odds,
    log_odds,
)
from gradegpt.judges.lexical import LexicalJudge
from gradegpt.records import write_json
from gradegpt.schema import Example, Judgement, Outcome
from gradegpt.settings import Settings, load_settings

from .console import empty_table, terminal
from .judging import (
    judge_items,
    progress_bar,
    read_sources,
    write_items,
)
from .settings import Name

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_CHANCE: Final = 0.5
_PARTS: Final = 5
"""Folds of the questions; the weights of each fold are fitted on the others."""


class CalibrationSettings(Settings):
    """Labelled rows that neither trained the model nor measure it, and the model.

    ``trained_on`` are rows that did train the model: they measure the lexical judge alone.
    ``levels`` are the confidences that are tried. A kind with fewer than ``least_rows`` rows is
    counted under ``other``. ``sample``, if not 0, draws at most so many open rows of each source. A
    judge's threshold is the lowest level from which it is better than chance and its balanced
    accuracy is at least ``least_accuracy``.
    """

    command: ClassVar[str] = "eval.calibrate"
    name: Name
    out: str = ""
    sources: tuple[Source, ...] = Field(min_length=1, examples=["[{path: graded.csv}]"])
    trained_on: tuple[Source, ...] = ()
    judge: JudgeSettings = JudgeSettings(kind="model")
    levels: tuple[float, ...] = (0.0, 0.9, 0.99, 0.999, 0.9999)
    sample: int = Field(default=0, ge=0)
    least_accuracy: float = Field(default=0.5, ge=0.5, le=1)
    least_rows: int = Field(default=20, ge=2)
    weigh: bool = True
    """Fit weights of the model's and the lexical judge's log odds; else use the model's alone."""
    draws: int = Field(default=2000, ge=100)
    seed: int = 0

    @property
    def folder(self) -> Path:
        """Where everything of this calibration is written."""
        return Path(self.out or f"runs/{self.name}")


class Finding(NamedTuple):
    """A kind of answer: its rows, and the confidence from which a judge is better than chance.

    ``kept`` of the rows are at or above it, with this balanced accuracy and its 95 % interval.
    """

    judge: str
    kind: str
    rows: int
    least_confidence: float | None
    kept: int
    balanced_accuracy: float | None
    interval: tuple[float, float] | None


def calibrate(settings: CalibrationSettings, *, overwrite: bool = False) -> list[Finding]:
    """Judge what the rules leave open, and write ``calibration.json``; the findings, kind by kind.

    Raises:
        InputError: a source without a labelled row.
        OutputError: the folder holds judgements of other rows or of another judge.

    """
    left = read_sources(
        settings.sources, left_open=True, sample=settings.sample, seed=settings.seed
    )
    items = write_items(left, settings.folder / "items.jsonl")
    with progress_bar("calibrating") as advance:
        judged = judge_items(
            "model", build_judge(settings.judge), items, settings.folder / "judgements.jsonl",
            overwrite=overwrite, advance=advance,
        )  # fmt: skip
    findings, calibration = _compared(left, judged.judgements, settings)
    write_json(settings.folder / CALIBRATION_FILE, calibration.model_dump(mode="json"))
    made = {
        "stage": "eval.calibrate",
        "settings": settings.model_dump(mode="json", exclude={"judge": {"api_key"}}),
        "judge": judged.fingerprint,
        "rows": {"left by the rules": len(left)},
        "findings": [finding._asdict() for finding in findings],
    }
    write_json(settings.folder / "manifest.json", made)
    return findings


def _compared(
    left: Sequence[Example], judged: Sequence[Judgement], settings: CalibrationSettings
) -> tuple[list[Finding], Calibration]:
    """Measure the lexical judge, then the model on the rows that the lexical judge leaves open.

    The lexical judge's verdict is used from the least confidence where the more expensive model is
    no better. Only a model that is better than chance on a kind of answer is compared with it: on
    few rows a model at chance can be better by luck.
    """
    more = [
        *left,
        *(read_sources(settings.trained_on, left_open=True) if settings.trained_on else ()),
    ]
    lexical = LexicalJudge().judge(more)
    of_lexical = [
        f for f in findings_of(more, lexical, settings, "lexical")
        if f.least_confidence is not None and f.kind != OTHER
    ]  # fmt: skip
    weights, judged = _weighed(left, judged, settings)
    rows = list(zip(left, judged, lexical[: len(left)], strict=True))
    above_chance = {
        f.kind for f in findings_of(left, judged, settings) if f.least_confidence is not None
    }
    better = [
        g
        for f in of_lexical
        if (g := _where_model_is_no_better(f, rows, settings, f.kind in above_chance))
    ]
    lexical_thresholds = {f.kind: f.least_confidence or 0.0 for f in better}
    first = Calibration(least_confidence={}, lexical=lexical_thresholds).of_lexical
    rest = [(e, m) for e, m, o in rows if first.applied(e, o).outcome is not Outcome.JUDGED]
    of_model = findings_of([e for e, _ in rest], [m for _, m in rest], settings, "model")
    least = {f.kind: f.least_confidence for f in of_model}
    return [*better, *of_model], Calibration(
        least_confidence=least, lexical=lexical_thresholds, weights=weights
    )


def _where_model_is_no_better(
    lexical: Finding,
    rows: Sequence[tuple[Example, Judgement, Judgement]],
    settings: CalibrationSettings,
    above_chance: bool,
) -> Finding | None:
    """The finding at the least confidence from which a model above chance is no better."""
    own = [
        (e, model, lexical_judgement)
        for e, model, lexical_judgement in rows
        if kind_of(e) == lexical.kind
    ]
    for level in sorted(settings.levels):
        if level < (lexical.least_confidence or 0.0):
            continue
        both = [(e, m, o) for e, m, o in own if o.verdict and _confidence(o) >= level]
        if above_chance and len(both) < settings.least_rows:
            return None
        examples = [e for e, _, _ in both]
        of_model, of_lexical = (
            score(by_question(examples, judged).sum(axis=0))["balanced_accuracy"]
            for judged in ([model for _, model, _ in both], [o for _, _, o in both])
        )
        if not above_chance or not of_model > of_lexical:
            found = _finding("lexical", lexical.kind, [(e, j) for e, _, j in own], settings, level)
            return found if found.least_confidence is not None else lexical
    return None


def _weighed(
    left: Sequence[Example], judged: Sequence[Judgement], settings: CalibrationSettings
) -> tuple[dict[str, Weights], list[Judgement]]:
    """The weights of each kind of answer, and judgements weighed by those of other folds."""
    if not settings.weigh:
        return {}, list(judged)
    has_confidence = [j.verdict is not None and j.confidence is not None for j in judged]
    odds = np.array([log_odds(j) for j in judged])
    words = np.array([lexical_odds(e) for e in left])
    table = np.stack([odds, words, np.ones(len(left))], axis=1)
    right = np.array([says_yes(e.verdict) for e in left])
    part = numbered(item_key(e) for e in left) % _PARTS
    weights: dict[str, Weights] = {}
    made = list(judged)
    for kind, rows in _by_kind(left, settings.least_rows).items():
        mine = np.array([n for n in rows if has_confidence[n]], dtype=np.int64)
        if min(right[mine].sum(), (~right[mine]).sum()) < settings.least_rows / 2:
            continue
        weights[kind] = fit_weights(table[mine], right[mine])
        for fold in range(_PARTS):
            held, rest = mine[part[mine] == fold], mine[part[mine] != fold]
            calibration = Calibration(
                least_confidence={}, weights={OTHER: fit_weights(table[rest], right[rest])}
            )
            for n in held:
                made[n] = calibration.weighed(left[n], judged[n])
    return weights, made


def fit_weights(table: np.ndarray, right: np.ndarray) -> Weights:
    """Logistic regression by Newton's method; both verdicts count the same.

    ``table`` ``[rows, 3]`` has the log odds of the model and of the words, and ones. A Gaussian
    prior of deviation 1 around the model's own odds regularises few rows (Platt, 1999).
    """
    prior = np.array([1.0, 0.0, 0.0])
    counts = np.where(right, right.sum(), (~right).sum())
    share = len(right) / 2 / np.maximum(counts, 1)
    w = prior.copy()
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(table @ w, -30, 30)))
        gradient = table.T @ (share * (p - right)) + (w - prior)
        curve = (table * (share * p * (1 - p))[:, None]).T @ table + np.eye(3)
        step = np.linalg.solve(curve, gradient)
        w = w - step
        if np.abs(step).max() < 1e-8:
            break
    model, lexical, bias = (round(float(x), 4) for x in w)
    return Weights(model=model, lexical=lexical, bias=bias)


def _by_kind(examples: Sequence[Example], least_rows: int) -> dict[str, list[int]]:
    """Rows by kind of answer; kinds with fewer than ``least_rows`` rows are merged as ``other``."""
    kinds: dict[str, list[int]] = {}
    for number, example in enumerate(examples):
        kinds.setdefault(kind_of(example), []).append(number)
    groups = {kind: rows for kind, rows in sorted(kinds.items()) if len(rows) >= least_rows}
    return groups | {OTHER: sorted(n for k, rows in kinds.items() if k not in groups for n in rows)}


def findings_of(
    examples: Sequence[Example],
    judgements: Sequence[Judgement],
    settings: CalibrationSettings,
    judge: str = "model",
) -> list[Finding]:
    """A finding for each kind of answer with enough rows, and one for the others together."""
    return [
        _finding(judge, kind, [(examples[n], judgements[n]) for n in rows], settings)
        for kind, rows in _by_kind(examples, settings.least_rows).items()
    ]


def _finding(
    judge: str,
    kind: str,
    rows: Sequence[tuple[Example, Judgement]],
    settings: CalibrationSettings,
    least: float = 0.0,
) -> Finding:
    for level in sorted(level for level in settings.levels if level >= least):
        kept = [(e, j) for e, j in rows if j.verdict is not None and _confidence(j) >= level]
        if len(kept) < settings.least_rows:
            break
        cells = by_question([e for e, _ in kept], [j for _, j in kept])
        drawn = score(resampled(cells, settings.draws, settings.seed))
        accuracy, low, high = estimate(drawn["balanced_accuracy"])
        if low > _CHANCE and accuracy >= settings.least_accuracy:
            return Finding(judge, kind, len(rows), level, len(kept), accuracy, (low, high))
    return Finding(judge, kind, len(rows), None, 0, None, None)


def _confidence(judgement: Judgement) -> float:
    return 1.0 if judgement.confidence is None else judgement.confidence


@app.command(epilog="Then: cp runs/<name>/calibration.json ADAPTER_FOLDER")
def main(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG.YAML",
            help="A settings file, or the name of a shipped one, such as calibrate.",
        ),
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Settings to change: name, out, sources=[{path: FILE}] (labelled answers), "
            "judge.adapter, levels (confidences to try), least_rows (of an answer type).",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace judgements of another judge or other rows.")
    ] = False,
) -> None:
    """Fit a judge's weights and thresholds by answer type; write calibration.json.

    For each answer type, fit the weights and the confidence above which a model is good enough to
    be used. With that file in the adapter's folder, a cascade gives no verdict below it, and uses
    the lexical judge where that is better. Use labelled answers that neither trained the model nor
    will measure it.
    """
    settings = load_settings(CalibrationSettings, config, overrides or ())
    table = empty_table()
    for name in ("judge", "kind of answer", "rows", "used from", "rows kept"):
        table.add_column(name, justify="left" if name in ("judge", "kind of answer") else "right")
    table.add_column("balanced accuracy", justify="right")
    for finding in calibrate(settings, overwrite=overwrite):
        table.add_row(
            finding.judge,
            finding.kind,
            f"{finding.rows:,}",
            "never" if finding.least_confidence is None else f"{finding.least_confidence:g}",
            f"{finding.kept:,}",
            _accuracy(finding),
        )
    terminal().print(table)
    typer.echo(f"wrote {settings.folder / CALIBRATION_FILE}; copy it beside the adapter")


def _accuracy(finding: Finding) -> str:
    if finding.balanced_accuracy is None or finding.interval is None:
        return "–"
    low, high = finding.interval
    return f"{100 * finding.balanced_accuracy:.1f} ({100 * low:.1f} to {100 * high:.1f})"


if __name__ == "__main__":
    run(app, name="gradegpt eval.calibrate")
