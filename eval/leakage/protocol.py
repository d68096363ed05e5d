"""How much of a benchmark a model has memorised: ``gradegpt eval.protocol leakage``.

N-gram prediction accuracy (Xu et al. 2024, arXiv 2404.18824; OlympicArena, appendix E).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import Field, computed_field

from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Row
from gradegpt.tables.inputs import USUAL, Reading

from ..asking import Protocol, Reply, read_asked
from ..figures import Figure, ProtocolSummary, grouped, mean
from ..judging import tagged
from .grams import Continues, Gram, Match, cut, gram, starting_points

VERSION: Final = "1"
GRAMS: Final = 5
TOKENS: Final = 5
"""n-grams of an item, and their length (both papers)."""
LOCAL_ITEMS: Final = 64
"""The items that a local model continues at once."""


class MemorisedItem(Row):
    """An item and its n-grams; none where it is too short."""

    id: str
    tags: dict[str, str | tuple[str, ...]] = Field(default={})
    n_tokens: int
    grams: tuple[Gram, ...] = ()

    def leaked_by(self, kind: Match) -> bool:
        """Whether every one of its n-grams counts as predicted."""
        return bool(self.grams) and all(one.hit(kind) for one in self.grams)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def leaked(self) -> bool:
        """OlympicArena counts the union of what the kinds detect."""
        return any(map(self.leaked_by, Match))


class Continuing:
    """An engine whose prompts are lists of texts in tokens, and its replies the next tokens."""

    def __init__(self, model: Continues[Any]) -> None:
        self.name, self._model = model.name, model

    def generate(
        self, prompts: Sequence[Sequence[Any]], *, max_new_tokens: int
    ) -> list[Any | EngineError]:
        """The texts of all prompts are continued in one call; a prompt fails with one of them."""
        every = [prefix for prefixes in prompts for prefix in prefixes]
        replies = iter(self._model.continue_(every, max_new_tokens) if every else ())
        found = [[next(replies) for _ in prefixes] for prefixes in prompts]
        return [next((r for r in own if isinstance(r, EngineError)), own) for own in found]


def leakage_protocol(
    path: Path,
    out: Path,
    model: Continues[Any],
    *,
    at_once: int = 1,
    reading: Reading = USUAL,
) -> Protocol[MemorisedItem]:
    """The n-grams of every item of ``path``, and which of them the model predicts.

    Raises:
        InputError: the items cannot be used.

    """
    items = [one.item for one in read_asked(path, "question", reading=reading)]
    texts = [cut(item, model) for item in items]
    starts = [starting_points(len(tokens), GRAMS, TOKENS) for tokens in texts]

    def read(number: int, reply: Reply) -> MemorisedItem:
        item, tokens = items[number], texts[number]
        pairs = zip(starts[number], reply.reply, strict=True)
        grams = tuple(
            gram(at, tokens[at : at + TOKENS], said[:TOKENS], model) for at, said in pairs
        )
        return MemorisedItem(id=item.id, tags=item.tags, n_tokens=len(tokens), grams=grams)

    return Protocol(
        source=path, out=out, version=f"leakage-{VERSION}", read=read, max_new_tokens=TOKENS,
        prompts=[
            [tokens[:start] for start in own]
            for tokens, own in zip(texts, starts, strict=True)
        ],
        summary=lambda rows: leakage_of(list(rows.values())), at_once=at_once,
    )  # fmt: skip


def leakage_of(rows: Sequence[MemorisedItem]) -> ProtocolSummary:
    """The share of n-grams that are predicted, by kind, and of items that any kind detects."""
    measured = [row for row in rows if row.grams]
    figures = {"all": _figures(measured)} | {
        name: _figures(own) for name, own in grouped(tagged(measured, lambda row: row.tags))
    }
    counts: dict[str, Any] = {"items": len(rows), "too short": len(rows) - len(measured)}
    counts["leaked, all n-grams predicted"] = sum(row.leaked for row in measured)
    counts |= {
        f"leaked by {kind.value}": sum(r.leaked_by(kind) for r in measured) for kind in Match
    }
    return ProtocolSummary(figures=figures, counts=counts)


def _figures(rows: Sequence[MemorisedItem]) -> dict[str, Figure | None]:
    figures = {
        kind.value: mean((row.id, float(one.hit(kind))) for row in rows for one in row.grams)
        for kind in Match
    }
    return figures | {"leaked": mean((row.id, float(row.leaked)) for row in rows)}
