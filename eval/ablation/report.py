"""Judge with every run, compare the arms, write table, plot and numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from gradegpt.agreement import Cells, by_question, score, unjudged_as_wrong
from gradegpt.judges.build import JudgeSettings
from gradegpt.records import read_rows, write_json, write_rows
from gradegpt.schema import ChainFormat, Example, Judgement, TrainingRow

from ..evaluate import evaluate
from ..judging import read_sources
from ..report.labelled import parsed_rate
from ..settings import EvalSettings
from .plot import draw
from .runs import Run, exported, train_all
from .scores import SCORES, Arm, over_seeds, rated, summarised
from .settings import UNTUNED, AblationSettings

BUDGETS: Final = ("steps", "tokens")


def ablate(settings: AblationSettings, *, overwrite: bool = False) -> list[Arm]:
    """Train, judge and compare; write ``ablation.json`` and ``ablation.png`` to the folder.

    Raises:
        MissingError, InputError: the rows or the labelled answers do not exist.
        OutputError: a run failed.

    """
    runs = train_all(settings)
    chosen: dict[str, Any] = settings.model_dump(include={"left_open", "sample", "seed"})
    evaluation = EvalSettings(
        name=f"{settings.name}-eval",
        out=str(settings.folder / "eval"),
        sources=settings.sources,
        judges=tuple(_judges(settings, runs)),
        bootstrap=0,
        **chosen,
    )
    evaluate(evaluation, overwrite=overwrite)
    examples = read_sources(settings.sources, **chosen)
    judgements = {
        judge.label: list(
            read_rows(evaluation.folder / "judgements" / f"{judge.label}.jsonl", Judgement)
        )
        for judge in evaluation.judges
    }
    arms = [
        arm for budget in BUDGETS for arm in _arms(settings, runs, budget, examples, judgements)
    ]
    values = {
        "settings": settings.model_dump(mode="json"),
        "rows": len(examples),
        "arms": [arm.model_dump(mode="json") for arm in arms],
    }
    write_json(settings.folder / "ablation.json", values)
    (settings.folder / "ablation.png").write_bytes(draw(arms))
    return arms


def _judges(settings: AblationSettings, runs: Sequence[Run]) -> Iterator[JudgeSettings]:
    common: dict[str, Any] = {
        "kind": "model", "max_new_tokens": settings.max_new_tokens,
        "batch_size": settings.batch_size, "threads": settings.threads,
    }  # fmt: skip

    def weights(adapter: Path | None) -> dict[str, Any]:
        if settings.fast:
            return {"model": exported(settings, adapter), "adapter": None, "threads": None}
        return {"model": settings.model, "adapter": str(adapter) if adapter else None}

    shots = _shots(settings)
    yield JudgeSettings(name=UNTUNED, constrained=False, shots=shots, **(common | weights(None)))
    for folder in dict.fromkeys(run.folder for run in runs):
        yield JudgeSettings(name=folder.name, **(common | weights(folder / "adapter")))


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
    settings: AblationSettings,
    runs: Sequence[Run],
    budget: str,
    examples: Sequence[Example],
    judgements: Mapping[str, Sequence[Judgement]],
) -> Iterator[Arm]:
    members: dict[str, list[str]] = {UNTUNED: [UNTUNED]}
    own = [run for run in runs if run.budget == budget]
    for run in own:
        members.setdefault(run.chain_format.value, []).append(run.folder.name)
    cells = {
        arm: [unjudged_as_wrong(by_question(examples, judgements[n])) for n in names]
        for arm, names in members.items()
    }
    drawn = over_seeds(cells, draws=settings.bootstrap, seed=settings.seed)
    tuned = [arm for arm in members if arm != UNTUNED]
    for arm, names in members.items():
        of = next((run for run in own if run.chain_format.value == arm), None)
        against = tuned[0] if tuned and arm in tuned[1:] else None
        yield Arm(
            name=arm,
            budget=budget,
            steps=of.steps if of else 0,
            tokens=of.tokens if of else 0,
            parsed=float(np.mean([parsed_rate(judgements[n]) or 0.0 for n in names])),
            scores={
                s: rated(drawn[arm][s], _each(cells[arm], s), cells[arm][0], s) for s in SCORES
            },
            by_source=_by_source(examples, [judgements[n] for n in names]),
            gain={
                s: summarised(
                    drawn[arm][s] - drawn[against][s],
                    np.subtract(_each(cells[arm], s), _each(cells[against], s)).tolist(),
                )
                for s in (SCORES if against else ())
                if against
            },
        )


def _each(cells: Sequence[Cells], name: str) -> list[float]:
    return [float(score(seed.sum(axis=0))[name]) for seed in cells]


def _by_source(
    examples: Sequence[Example], judgements: Sequence[Sequence[Judgement]]
) -> dict[str, float]:
    made = {}
    for source in dict.fromkeys(example.source for example in examples):
        rows = [n for n, example in enumerate(examples) if example.source == source]
        here = [examples[n] for n in rows]
        cells = [unjudged_as_wrong(by_question(here, [one[n] for n in rows])) for one in judgements]
        made[source] = float(np.mean(_each(cells, "balanced_accuracy")))
    return made


def plot_path(settings: AblationSettings) -> Path:
    """The path of the plot."""
    return settings.folder / "ablation.png"
