"""A part on its way through the stages of a judge; what is settled travels without its texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from gradegpt.cluster.parts import Part
from gradegpt.columns import Columns
from gradegpt.errors import EngineError, InputError
from gradegpt.inputs import items_of
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.run import check_answered
from gradegpt.schema import Item, Judgement
from gradegpt.tables import Form


class Job(NamedTuple):
    """What every task of a run is given.

    ``fingerprints`` are those of the judge's stages, the first ``free`` of which ask no model.
    ``names`` are the columns that are added, ``types`` the Arrow types of all columns.
    """

    settings: JudgeSettings
    fingerprints: tuple[str, ...]
    free: int
    columns: Columns
    skip_bad: bool
    folder: str
    form: Form
    names: Mapping[str, str]
    types: Mapping[str, Any]


class Given(NamedTuple):
    """A part to judge, its number, and the number of its items when it was checked."""

    number: int
    part: Part
    rows: int


class State(NamedTuple):
    """A part between two stages: its judgements, and the items that a later stage is asked about.

    Both are by the place of the item in the part.
    """

    given: Given
    judgements: dict[int, Judgement]
    open: dict[int, Item]


class Probe(NamedTuple):
    """The fingerprint of a judge and of its stages, and how many come before the first model."""

    fingerprint: str
    stages: tuple[str, ...]
    free: int


def probe(settings: JudgeSettings) -> Probe:
    """Load the judge on a node, so that what is missing is known before anything is judged."""
    judge, cascade = build_judge(settings), stages_of(settings)
    stages_of.cache_clear()  # this process may not be one that judges with the model
    stages = tuple(stage.judge.fingerprint for stage in cascade.stages)
    free = len(stages) if settings.asks_no_model else cascade.first_model
    return Probe(judge.fingerprint, stages, free)


@cache
def stages_of(settings: JudgeSettings) -> CascadeJudge:
    """The judge as stages, loaded once in a process; any other judge than a cascade is one stage.

    Rules run in a child of this process, which stays: a pair that kills or blocks it is undecided,
    as in a local run. It is one child, as Ray has a process for every core.
    """
    # Programs are timed: more of them than cores would be too slow.
    one = settings.model_copy(update={"threads": 1}) if settings.kind == "code" else settings
    judge = build_judge(one)
    if not isinstance(judge, CascadeJudge):
        alone = judge.isolated() if isinstance(judge, ParallelJudge) else judge
        return CascadeJudge([alone])
    first = judge.stages[0]
    if isinstance(first.judge, RuleJudge):
        first = first._replace(judge=ParallelJudge(first.judge).isolated())
    return CascadeJudge([first, *judge.stages[1:]], judge.policy)


def begun(job: Job, given: Given) -> State:
    """A part after the stages that ask no model."""
    found = items_of(given.part, job.columns, skip_bad=job.skip_bad)
    items = dict(enumerate(item for _, item in found))
    if len(items) != given.rows:
        what = "has changed since it was checked; run the command again when it is complete"
        raise InputError(f"{given.part.name}: {what}")
    state = State(given, {}, items)
    for stage in range(job.free):
        state = advanced(job, stage, state)
    return state


def advanced(job: Job, stage: int, state: State) -> State:
    """A part after one more stage.

    Items are judged in the batches of a local run, because the last digits of a model's confidence
    depend on the other rows of a batch.

    Raises:
        EngineError: the engine is down, or this node has another judge than the others.

    """
    judge, size = _loaded(job, stage), job.settings.rows_at_a_time
    made, left = dict(state.judgements), dict[int, Item]()
    batches: dict[int, list[int]] = {}
    for place in state.open:
        batches.setdefault(place // size, []).append(place)
    for places in batches.values():
        items = [state.open[place] for place in places]
        before = [made[place] for place in places] if stage else None
        judged = judge.ask(stage, items, before)
        check_answered(judged)
        for place, item, judgement in zip(places, items, judged, strict=True):
            if judge.is_open(item, judgement, stage + 1):
                made[place], left[place] = judgement, item
            else:
                made[place] = judge.given(item, judgement)
    return State(state.given, made, left)


def _loaded(job: Job, stage: int) -> CascadeJudge:
    judge = stages_of(job.settings)
    _check(job.settings, stage, job.fingerprints[stage])
    return judge


@cache
def _check(settings: JudgeSettings, stage: int, wanted: str) -> None:
    own = stages_of(settings).stages[stage].judge.fingerprint
    if own != wanted:
        raise EngineError(
            f"a node has another judge than the others ({own} instead of {wanted}); install the "
            "same version of gradegpt, and the same models, on every node"
        )
