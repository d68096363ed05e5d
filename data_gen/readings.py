"""Readings: what a careful teacher wrote about an answer without seeing its label.

``readings/readings.jsonl.gz`` are those that the project ships, of rows of public sets
(``readings/README.md``); a run with a teacher writes its own, of the same type. They have no text
of a set: a row is known by the digest of its question and response, a quote by its place.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from gradegpt.chains.chain import Chain
from gradegpt.chains.quote import where_quoted
from gradegpt.core.errors import MissingError
from gradegpt.core.records import validate, write_rows
from gradegpt.core.schema import Item, Row, Verdict

SHIPPED: Final = Path(__file__).parent / "readings" / "readings.jsonl.gz"
BY_RULES: Final = "rules+"
"""What ``by`` begins with where the rules read and a teacher gave the English alone."""


class Reading(Row):
    """A reader's verdict on a response, and why; ``sha`` says of which question and response.

    ``verdict`` is none where two careful readers could disagree. ``spans`` are the places of the
    quotes in the response, ``[start, end)`` in characters; a reading without them says that the
    response gives no answer. ``glosses`` are as many, empty where a quote has no Chinese. ``set``
    and ``id`` are the row's names at its source, ``by`` the reader.
    """

    set: str = ""
    id: str = ""
    sha: str
    verdict: Verdict | None
    spans: tuple[tuple[int, int], ...] = ()
    glosses: tuple[str, ...] = ()
    answer: str = ""
    why: str = ""
    by: str = ""

    @property
    def confirms(self) -> bool:
        """Whether the verdict is a reader's own, beside that of the rules."""
        return not self.by.startswith(BY_RULES)

    def chain(self, response: str) -> Chain:
        """The chain about the response, without its reference; ``invalid`` where nothing is quoted.

        Raises:
            ValueError: the reader was unsure.

        """
        if self.verdict is None:
            raise ValueError(f"{self.id}: verdict: missing; the reader was unsure")
        return Chain(
            verdict=self.verdict,
            quotes=tuple(response[start:end] for start, end in self.spans),
            glosses=self.glosses,
            answer=self.answer or None,
            why=self.why,
        )


def digest_of(item: Item) -> str:
    """The digest of a row: 16 hexadecimal digits of the SHA-256 of question, NUL and response."""
    return hashlib.sha256(f"{item.question}\0{item.response}".encode()).hexdigest()[:16]


def reading_of(chain: Chain, item: Item, source: str, by: str) -> Reading:
    """A teacher's chain about an item as a reading."""
    places = [where_quoted((quote,), item.response) for quote in chain.quotes]
    return Reading(
        set=source, id=item.id, sha=digest_of(item), verdict=chain.verdict, by=by,
        spans=tuple(place for place in places if place), glosses=chain.glosses,
        answer=chain.answer or "", why=chain.why,
    )  # fmt: skip


@cache
def read_readings(paths: tuple[str, ...] = ()) -> Mapping[str, Reading]:
    """The shipped readings, and those of further files, by the digests of their rows.

    Raises:
        MissingError: there is no such file.
        InputError: a row is no reading.

    """
    found: dict[str, Reading] = {}
    for path in (SHIPPED, *map(Path, paths)):
        try:
            data = path.read_bytes()
        except OSError as error:
            raise MissingError(f"{path}: readings: {error.strerror}") from error
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        for number, line in enumerate(text.rstrip("\n").split("\n"), start=1):
            reading = validate(Reading, json.loads(line), f"{path}:{number}")
            found[reading.sha] = reading
    return found


def write_readings(path: Path, readings: Iterable[Reading]) -> None:
    """Write readings as lines of JSON, without empty fields."""
    rows = (reading.model_dump(mode="json", exclude_defaults=True) for reading in readings)
    write_rows(path, rows)
