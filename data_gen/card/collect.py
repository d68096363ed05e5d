"""Collect the counts and the example rows of the card in one pass over the rows."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from gradegpt.chain import parse_chain, parse_prompt
from gradegpt.errors import InputError
from gradegpt.records import dump, validate
from gradegpt.schema import Item, TrainingRow, Verdict

UNNAMED: Final = "not stated"
VERDICTS: Final = tuple(verdict.value for verdict in Verdict)
CROSS: Final = "across languages"
SHOWN: Final = (*VERDICTS, CROSS)
"""The kinds of example rows, in the order of the card."""
FACETS: Final = ("origin", "pattern", "labelled_by", "chain_format", "source", "languages")
_READABLE: Final = range(120, 700)
"""Preferred length of the response of an example row, in characters."""

ByVerdict = dict[str, Counter[str]]
"""Name of a group -> verdict -> rows."""


class Shown(NamedTuple):
    """An example row in full: prompt, completion and meta fields."""

    kind: str
    prompt: str
    completion: str
    meta: dict[str, str]


@dataclass
class Facts:
    """Counts of the rows.

    ``facets``: name of a meta field -> its values -> verdicts. ``balance``: answer type ->
    (language of the question, verdict). ``lengths`` in characters: (origin, language of the
    response) -> verdict. ``places``: origin -> verdict -> position of the key sentence, 0 at the
    start of the response and 1 at its end.
    """

    n: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    balance: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    facets: dict[str, ByVerdict] = field(
        default_factory=lambda: {name: defaultdict(Counter) for name in FACETS}
    )
    lengths: dict[tuple[str, str], dict[str, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    places: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    shown: dict[str, Shown] = field(default_factory=dict)


def collect(rows: Iterable[Mapping[str, Any]]) -> Facts:
    """Count the rows.

    Raises:
        InputError: a row is not a training row of this project; the message has its number.

    """
    facts = Facts()
    best: dict[str, tuple[object, ...]] = {}
    for number, value in enumerate(rows, start=1):
        row = validate(TrainingRow, value, f"row {number}")
        item = parse_prompt(row.prompt)
        if item is None or row.meta.get("verdict") not in VERDICTS or not row.completion:
            raise InputError(
                f"row {number}: not a training row of a judge; it needs a GradeGPT prompt, a "
                f"completion and meta.verdict, one of {', '.join(VERDICTS)}"
            )
        meta = {key: str(value) for key, value in row.meta.items() if value not in (None, "")}
        _count(facts, row, item, meta)
        _choose(facts, best, row, item, meta)
    return facts


def _count(facts: Facts, row: TrainingRow, item: Item, meta: dict[str, str]) -> None:
    def stated(name: str) -> str:
        return meta.get(name, UNNAMED)

    verdict, lang = stated("verdict"), stated("lang")
    facts.n += 1
    facts.verdicts[verdict] += 1
    facts.balance[stated("answer_type")][lang, verdict] += 1
    for name in FACETS[:-1]:
        facts.facets[name][stated(name)][verdict] += 1
    languages = f"{lang} question, {stated('response_lang')} response"
    facts.facets["languages"][languages][verdict] += 1
    origin = stated("origin")
    facts.lengths[origin, stated("response_lang")][verdict].append(len(item.response))
    place = _place(row, item.response)
    if place is not None:
        facts.places[origin][verdict].append(place)


def _place(row: TrainingRow, response: str) -> float | None:
    chain = parse_chain(row.completion[-1].content).chain
    quote = chain.key_sentence if chain else None
    start = response.rfind(quote) if quote else -1
    if not quote or start < 0:
        return None
    room = len(response) - len(quote)
    return start / room if room else 1.0


def _choose(
    facts: Facts,
    best: dict[str, tuple[object, ...]],
    row: TrainingRow,
    item: Item,
    meta: dict[str, str],
) -> None:
    """Keep the row if it is the best example so far: a readable length, then the lowest digest.

    The digest makes the choice independent of the order of the rows.
    """
    crossing = meta.get("lang", "") != meta.get("response_lang", meta.get("lang", ""))
    kind = CROSS if crossing else meta["verdict"]
    prompt, completion = row.prompt[-1].content, row.completion[-1].content
    rank = (
        len(item.response) not in _READABLE,
        len(prompt) > 4 * _READABLE.stop,
        meta.get("chain_format") != "cross_lingual",
        hashlib.sha256(dump(row).encode("utf-8", "surrogatepass")).digest(),
    )
    if kind not in best or rank < best[kind]:
        best[kind] = rank
        facts.shown[kind] = Shown(kind, prompt, completion, meta)
