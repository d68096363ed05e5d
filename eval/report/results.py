"""Judged rows, the input of the report: items, judgements, labels and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gradegpt.judges.calibration import type_of
from gradegpt.schema import Example, Item, Judgement, Verdict
from gradegpt.statistics import DRAWS

from ..judging import Judged
from ..scores import ModelScores
from ..settings import EvalSettings

Tags = Mapping[str, tuple[str, ...]]
VIEWS: Final = ("source", "language", "answer type")
"""The tags by which ``report.json`` breaks every judge's metrics down."""
_UNNAMED: Final = "not stated"


class JudgedRows(NamedTuple):
    """Rows with their judgements; ``items``, ``labels``, ``tags`` and judgements have one order.

    A row without a label has None. ``scores`` are those of the model that answered, by judge, where
    there are no labels.
    """

    name: str
    items: Sequence[Item]
    judges: Mapping[str, Sequence[Judgement]]
    labels: Sequence[Verdict | None]
    tags: Sequence[Tags]
    scores: Mapping[str, ModelScores] = {}
    bootstrap: int = DRAWS
    seed: int = 0

    @property
    def labelled(self) -> bool:
        """Whether any row has a label."""
        return any(label is not None for label in self.labels)


def of_run(settings: EvalSettings, rows: Sequence[Item], runs: Sequence[Judged]) -> JudgedRows:
    """The results of an evaluation's judges, on labelled rows or on answers."""
    return JudgedRows(
        name=settings.name,
        items=rows,
        judges={run.name: run.judgements for run in runs},
        labels=[row.verdict if isinstance(row, Example) else None for row in rows],
        tags=[tags_of(row, _stated(row)) for row in rows],
        bootstrap=settings.bootstrap,
        seed=settings.seed,
    )


def _stated(row: Item) -> dict[str, str]:
    if not isinstance(row, Example):
        return {}
    return {"source": row.source or _UNNAMED, "language": row.lang or _UNNAMED}


def tags_of(item: Item, stated: Mapping[str, str]) -> Tags:
    """The tags that group a row: the ``stated`` ones, its kind of answer and its own tags."""
    common = {**stated, "answer type": type_of(item).words}
    one = {tag: (value,) for tag, value in common.items() if value}
    own = {tag: (v,) if isinstance(v, str) else v for tag, v in item.tags.items()}
    return one | own
