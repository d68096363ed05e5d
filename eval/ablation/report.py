"""Judge with every run, and compare the arms, with intervals over questions and seeds.

A row without a verdict counts as wrong here: an arm must not gain by unparsed replies.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from gradegpt.core.records import read_rows, write_json, write_rows
from gradegpt.core.schema import ChainFormat, Example, Judgement, Row, TrainingRow
from gradegpt.judges.settings import JudgeSettings
from gradegpt.judges.statistics import (
    DRAWS,
    Cells,
    Interval,
    Values,
    by_question,
    estimate,
    resampled,
    score,
    share_interval,
    unjudged_as_wrong,
)

from ..evaluate import evaluate
from ..judging import read_sources
from ..report.content import parsed_rate
from ..settings import EvalSettings, RowsSettings
from .runs import UNTUNED, AblationSettings, TrainedRun, train_all

BUDGETS: Final = ("steps", "tokens")
SCORES: Final = ("accuracy", "balanced_accuracy")


class SeedScore(Row):
    """A score in [0, 1]: its mean over the seeds, each seed's, and its 95 % interval."""

    mean: float
    seeds: tuple[float, ...]
    interval: Interval


class Arm(Row):
    """One way of training, or none, with its scores.

    ``gain`` is the difference to the first arm of the same budget, empty for that arm.
    """

    name: str
    budget: str
    steps: int
    tokens: int
    parsed: float
    scores: dict[str, SeedScore]
    gain: dict[str, SeedScore]


def ablate(settings: AblationSettings, *, overwrite: bool = False, draws: int = DRAWS) -> list[Arm]:
    """Train, judge and compare; write ``ablation.json`` to the folder.

    Raises:
        MissingError, InputError: the rows or the labelled answers do not exist.
        OutputError: a run failed.

    """
    runs = train_all(settings)
    rows = {name: getattr(settings, name) for name in RowsSettings.model_fields}
    evaluation = EvalSettings(
        **rows
        | {"name": f"{settings.name}-eval", "out": str(settings.folder / "eval")}
        | {"judges": tuple(_judges(settings, runs)), "bootstrap": 0}
    )
    evaluate(evaluation, overwrite=overwrite)
    examples = read_sources(settings)
    folder = evaluation.folder / "judgements"
    judgements = {
        judge.label: list(read_rows(folder / f"{judge.label}.jsonl", Judgement))
        for judge in evaluation.judges
    }
    arms = [
        arm
        for budget in BUDGETS
        for arm in _arms(
            [r for r in runs if r.budget == budget], budget, examples, judgements, draws
        )
    ]
    values = {
        "settings": settings.model_dump(mode="json"),
        "rows": len(examples),
        "arms": [arm.model_dump(mode="json") for arm in arms],
    }
    write_json(settings.folder / "ablation.json", values)
    return arms


def _judges(settings: AblationSettings, runs: Sequence[TrainedRun]) -> Iterator[JudgeSettings]:
    common = {"kind": "model", "model": settings.model, **settings.judge}
    untuned = {"adapter": None, "constrained": False, "shots": _shots(settings)}
    yield JudgeSettings.of(**common | untuned, name=UNTUNED)
    for folder in dict.fromkeys(run.folder for run in runs):
        own = {"name": folder.name, "adapter": str(folder / "adapter")}
        yield JudgeSettings.of(**common | own)


def _shots(settings: AblationSettings) -> str | None:
    """Write correct and incorrect rows in turn, drawn from the other arms' training rows."""
    if not settings.shots:
        return None
    folder = settings.folder / "data" / ChainFormat.CROSS_LINGUAL.value
    rows = list(read_rows(folder / "train.jsonl", TrainingRow))
    random.Random(settings.seed).shuffle(rows)
    by_verdict = [
        [row for row in rows if (row.meta["verdict"] == "correct") is right][: settings.shots]
        for right in (True, False)
    ]
    taken = [row for pair in zip(*by_verdict, strict=False) for row in pair][: settings.shots]
    path = settings.folder / "shots.jsonl"
    write_rows(path, (row.model_dump(mode="json") for row in taken))
    return str(path)


def _arms(
    runs: Sequence[TrainedRun],
    budget: str,
    examples: Sequence[Example],
    judgements: Mapping[str, Sequence[Judgement]],
    draws: int,
) -> Iterator[Arm]:
    members: dict[str, list[str]] = {UNTUNED: [UNTUNED]}
    for run in runs:
        members.setdefault(run.chain_format.value, []).append(run.folder.name)
    cells = {
        arm: [unjudged_as_wrong(by_question(examples, judgements[n])) for n in names]
        for arm, names in members.items()
    }
    drawn = over_seeds(cells, draws=draws, seed=0)
    _, first, *later = members
    for arm, names in members.items():
        of = next((run for run in runs if run.chain_format.value == arm), None)
        yield Arm(
            name=arm,
            budget=budget,
            steps=of.steps if of else 0,
            tokens=of.tokens if of else 0,
            parsed=float(np.mean([parsed_rate(judgements[n]) or 0.0 for n in names])),
            scores={s: _rated(drawn[arm][s], cells[arm], s) for s in SCORES},
            gain={
                s: _gain(drawn[arm][s] - drawn[first][s], cells[arm], cells[first], s)
                for s in (SCORES if arm in later else ())
            },
        )


def over_seeds(
    arms: Mapping[str, Sequence[Cells]], *, draws: int, seed: int
) -> dict[str, dict[str, Values]]:
    """For every arm and score ``[draws + 1]``: the mean over seeds, first observed, then resampled.

    A draw takes questions and seeds with replacement, the same for every arm, so that differences
    between arms are paired.
    """
    rng = np.random.default_rng(seed)
    runs = np.stack([cells for seeds in arms.values() for cells in seeds], axis=1)
    drawn = score(resampled(runs, draws, rng))
    n_seeds = max(len(seeds) for seeds in arms.values())
    picked = rng.integers(n_seeds, size=(draws, n_seeds))
    picked = np.concatenate([np.arange(n_seeds)[None], picked])
    made: dict[str, dict[str, Values]] = {}
    first = 0
    for name, seeds in arms.items():
        places = first + picked % len(seeds)
        made[name] = {s: np.take_along_axis(drawn[s], places, axis=1).mean(axis=1) for s in SCORES}
        first += len(seeds)
    return made


def _rated(values: Values, cells: Sequence[Cells], name: str) -> SeedScore:
    """The limits of a share of none or all are those of the rarer label's questions."""
    labelled = (cells[0].sum(axis=2) > 0).sum(axis=0)
    n_questions = len(cells[0]) if name == "accuracy" else int(labelled.min())
    interval = share_interval(values, n_questions)
    return SeedScore(mean=float(values[0]), seeds=tuple(_each(cells, name)), interval=interval)


def _gain(values: Values, cells: Sequence[Cells], others: Sequence[Cells], name: str) -> SeedScore:
    mean, low, high = estimate(values)
    seeds = np.subtract(_each(cells, name), _each(others, name)).tolist()
    return SeedScore(mean=mean, seeds=tuple(seeds), interval=Interval(low=low, high=high))


def _each(cells: Sequence[Cells], name: str) -> list[float]:
    return [float(score(seed.sum(axis=0))[name]) for seed in cells]
