"""What a section of the card is made of; both templates show these and nothing else."""

from __future__ import annotations

from gradegpt.schema import Row


class Table(Row):
    """A title, a head, and rows whose first cell names them. A wide one takes the page."""

    title: str = ""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    wide: bool = False


class Figure(Row):
    """A plot, by its file name, and what it shows."""

    name: str
    caption: str


class Code(Row):
    """Lines to copy."""

    language: str
    text: str


class Section(Row):
    """A part of the card. ``shown`` asks for the example rows."""

    title: str
    text: tuple[str, ...] = ()
    code: tuple[Code, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    shown: bool = False
