"""Judged rows, the input of the page: items, judgements, labels and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradegpt.judges.calibration import type_of
from gradegpt.schema import Example, Item, Judgement, Verdict

from ..judging import Judged
from ..scores import Scores
from ..shares import DRAWS

Tags = Mapping[str, tuple[str, ...]]


class Results(NamedTuple):
    """Rows with their judgements; ``items``, ``labels``, ``tags`` and judgements have one order.

    A row without a label has None. ``scores`` are those of the model that answered, by judge, where
    there are no labels.
    """

    name: str
    items: Sequence[Item]
    judges: Mapping[str, Sequence[Judgement]]
    labels: Sequence[Verdict | None]
    tags: Sequence[Tags]
    scores: Mapping[str, Scores] = {}
    bootstrap: int = DRAWS
    seed: int = 0

    @property
    def labelled(self) -> bool:
        """Whether any row has a label."""
        return any(label is not None for label in self.labels)


def of_labelled(
    name: str, examples: Sequence[Example], runs: Sequence[Judged], *, bootstrap: int, seed: int
) -> Results:
    """The results of judges on labelled rows."""
    return Results(
        name=name,
        items=examples,
        judges={run.name: run.judgements for run in runs},
        labels=[example.verdict for example in examples],
        tags=[tags_of(e, {"source": e.source, "language": e.lang}) for e in examples],
        bootstrap=bootstrap,
        seed=seed,
    )


def of_answers(
    name: str,
    items: Sequence[Item],
    runs: Sequence[Judged],
    scores: Mapping[str, Scores],
    *,
    bootstrap: int,
    seed: int,
) -> Results:
    """The results of judges on answers without labels, with the scores of these answers."""
    return Results(
        name=name,
        items=items,
        judges={run.name: run.judgements for run in runs},
        labels=[None] * len(items),
        tags=[tags_of(item, {}) for item in items],
        scores=scores,
        bootstrap=bootstrap,
        seed=seed,
    )


def tags_of(item: Item, stated: Mapping[str, str]) -> Tags:
    """The tags that group a row: the ``stated`` ones, its kind of answer and its own tags."""
    common = {**stated, "answer type": type_of(item).words}
    one = {tag: (value,) for tag, value in common.items() if value}
    own = {tag: (v,) if isinstance(v, str) else v for tag, v in item.tags.items()}
    return one | own
