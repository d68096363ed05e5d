"""The elements of a section of the card, which both templates show."""

from __future__ import annotations

from gradegpt.schema import Row


class Table(Row):
    """A table with a title, a header, and rows named by their first cell; ``wide``: full width."""

    title: str = ""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    wide: bool = False


class Figure(Row):
    """A plot by its file name, with its caption."""

    name: str
    caption: str


class Code(Row):
    """A code block."""

    language: str
    text: str


class Section(Row):
    """A section of the card; ``shown`` adds the example rows."""

    title: str
    text: tuple[str, ...] = ()
    code: tuple[Code, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    shown: bool = False
