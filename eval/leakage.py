"""How much of a benchmark a model has memorised: ``gradegpt eval.protocol leakage``.

N-gram prediction accuracy (Xu et al. 2024, arXiv 2404.18824; OlympicArena, appendix E): question
and solution as one text, some starting points spread evenly over it, and at each the next n tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from pydantic import Field, computed_field

from gradegpt.core.schema import Item, Row
from gradegpt.tables.inputs import USUAL, Reading

from . import asking
from .asking import Reply, read_asked
from .figures import Figure, ProtocolSummary, grouped, mean
from .judging import tagged

T = TypeVar("T")

HAN: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"\s*(?:[{HAN}]|[^\W\d_{HAN}]+|\d+|[^\w\s]|_|$)")


class Continues(Protocol[T]):
    """A model that continues texts in its own tokens, such as ``LocalEngine``.

    ``limit``: the most tokens that it reads.
    """

    name: str

    @property
    def limit(self) -> int: ...  # noqa: D102

    def tokens(self, text: str) -> list[T]:
        """The tokens of a text."""
        ...

    def text(self, tokens: Sequence[T]) -> str:
        """The text of some tokens."""
        ...

    def continue_(self, prefixes: Sequence[Sequence[T]], n: int) -> Sequence[list[T]]:
        """The next ``n`` tokens of each prefix, greedily; fewer where the text ends."""
        ...


def words(text: str) -> list[str]:
    """Han characters, runs of letters, runs of digits and single signs, with preceding blanks.

    >>> words("设 x+2 = 12.")
    ['设', ' x', '+', '2', ' =', ' 12', '.']
    """
    return [word for word in _WORD.findall(text) if word.strip()]


LEAST: Final = 0.75
"""The similarity above which an n-gram counts as predicted (OlympicArena, appendix E)."""
_FIRST: Final = 2
"""Tokens before the first starting point, as a prediction needs a prefix (Xu et al.)."""


class Match(StrEnum):
    """How a prediction is compared: exactly, or by similarity of characters or of words."""

    EXACT = "exact"
    EDIT = "edit"
    ROUGE_L = "rouge_l"


class Gram(Row):
    """An n-gram: where it begins, in tokens, the text there, and what the model wrote.

    ``edit`` and ``rouge_l`` are similarities in [0, 1]; ``exact`` is by tokens or by text.
    """

    start: int
    wanted: str
    predicted: str
    exact: bool
    edit: float
    rouge_l: float

    def hit(self, kind: Match) -> bool:
        """Whether it counts as predicted."""
        return bool(getattr(self, kind.value) > LEAST)


def cut(item: Item, model: Continues[T]) -> list[T]:
    """The item's text in tokens, cut to the model's limit.

    The question after its context, and the solution, or else its steps or the answer, are joined by
    a blank, as the papers join them.
    """
    question = "\n".join(text.strip() for text in (item.context or "", item.question))
    answer = item.solution or "\n".join(item.steps) or "; ".join(item.reference)
    # One token fewer than the limit: a model may prepend a token of its own.
    return model.tokens(f"{question.strip()} {answer.strip()}")[: model.limit - 1]


def starting_points(length: int, k: int, n: int) -> list[int]:
    """``k`` positions from the third token to the last n-gram, evenly spaced; none if too short.

    >>> starting_points(31, 5, 5), starting_points(10, 5, 5)
    ([2, 8, 14, 20, 26], [])
    """
    room = length - n - _FIRST
    if room < k - 1:
        return []
    return [_FIRST + room * at // max(1, k - 1) for at in range(k)]


def gram(start: int, wanted: Sequence[T], predicted: Sequence[T], model: Continues[T]) -> Gram:
    """The n-gram with its similarities."""
    one, other = model.text(wanted), model.text(predicted)
    # An incomplete character is decoded as U+FFFD, whichever character it is part of.
    exact = [*wanted] == [*predicted] or (one == other and "\ufffd" not in one)
    return Gram(
        start=start, wanted=one, predicted=other, exact=exact,
        edit=edit_similarity(one, other), rouge_l=rouge_l(one, other),
    )  # fmt: skip


def edit_similarity(one: str, other: str) -> float:
    """1 less the Levenshtein distance over the longer length, in characters.

    >>> edit_similarity("kitten", "sitting")  # three edits of seven
    0.5714285714285714
    """
    above = list(range(len(other) + 1))
    for row, char in enumerate(one, 1):
        line = [row]
        for at, wanted in enumerate(other, 1):
            line.append(min(above[at] + 1, line[-1] + 1, above[at - 1] + (char != wanted)))
        above = line
    longest = max(len(one), len(other))
    return 1 - above[-1] / longest if longest else 1.0


def rouge_l(one: str, other: str) -> float:
    """ROUGE-L's F1: twice the longest common subsequence of words over all words (Lin 2004).

    Words in lower case, single Han characters, and signs, which formulas consist of.

    >>> rouge_l("police killed the gunman", "police kill the gunman")
    0.75
    """
    left, right = ([word.strip().casefold() for word in words(text)] for text in (one, other))
    if not left or not right:
        return float(left == right)
    return 2 * _common(left, right) / (len(left) + len(right))


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    above = [0] * (len(right) + 1)
    for word in left:
        line = [0]
        for at, other in enumerate(right):
            line.append(above[at] + 1 if word == other else max(above[at + 1], line[-1]))
        above = line
    return above[-1]


VERSION: Final = "1"
GRAMS: Final = 5
TOKENS: Final = 5
"""n-grams of an item, and their length (both papers)."""
_AT_ONCE: Final = 64
"""The items that the model continues at once."""


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

    def generate(self, prompts: Sequence[Sequence[Any]], *, max_new_tokens: int) -> list[Any]:
        """The texts of all prompts are continued in one call."""
        every = [prefix for prefixes in prompts for prefix in prefixes]
        replies = iter(self._model.continue_(every, max_new_tokens) if every else ())
        return [[next(replies) for _ in prefixes] for prefixes in prompts]


def leakage_protocol(
    path: Path, out: Path, model: Continues[Any], reading: Reading = USUAL
) -> asking.Protocol[MemorisedItem]:
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

    return asking.Protocol(
        source=path, out=out, version=f"leakage-{VERSION}", read=read, max_new_tokens=TOKENS,
        prompts=[
            [tokens[:start] for start in own]
            for tokens, own in zip(texts, starts, strict=True)
        ],
        summary=lambda rows: leakage_of(list(rows.values())), at_once=_AT_ONCE,
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
