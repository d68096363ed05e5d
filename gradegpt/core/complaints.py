"""Complaints about the rows of a table; equal complaints are counted together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from typing_extensions import override

_SHOWN: Final = 20


class Complaint(NamedTuple):
    """An error in a row, and what to do about it; ``field`` is empty for the whole row."""

    field: str
    what: str
    advice: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.field}: {self.what}{self.advice}" if self.field else self.what + self.advice


class Complaints:
    """The complaints about a table; equal ones are kept once, with their number of rows."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rows = Counter[Complaint]()
        self._first: dict[Complaint, str] = {}
        self.rows = 0

    def add(self, where: str, found: Iterable[Complaint]) -> None:
        """Record the complaints about the row at ``where``."""
        self.rows += 1
        for complaint in found:
            self._rows[complaint] += 1
            self._first.setdefault(complaint, where)

    def merge(self, later: Complaints) -> None:
        """Add the complaints about rows that follow."""
        self.rows += later.rows
        self._rows += later._rows
        self._first = later._first | self._first

    def listed(self, then: str = "nothing was judged") -> str:
        """The distinct complaints, twenty at most, one per line."""
        lines = [self._line(*counted) for counted in islice(self._rows.items(), _SHOWN)]
        if len(lines) == 1:
            return lines[0]
        more = len(self._rows) - len(lines)
        rest = [f"... and {more:,} more"] if more else []
        head = f"{self._name}: {self._rows.total():,} complaints, {then}"
        return "\n  ".join([head, *lines, *rest])

    def _line(self, complaint: Complaint, rows: int) -> str:
        field, what, advice = complaint
        first = self._first[complaint]
        if rows == 1:
            return f"{first}: {complaint}"
        which = f"`{field}`: " if field else ""
        return f"{self._name}: {which}{what} in {rows:,} rows{advice} (first: {first})"
