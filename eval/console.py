"""How the commands of this stage print: one form of table, 100 columns without a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradegpt.judges.statistics import Interval, Share

WIDTH: Final = 100
_NUMERIC: Final = re.compile(r"(?:[+−-]?[\d(].*|–|)")


def terminal() -> Console:
    """The terminal; what goes to a file or a pipe has 100 columns."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def show(
    names: Sequence[str], rows: Iterable[Sequence[str] | None], title: str | None = None
) -> None:
    """Print a table, with numbers on the right; a row that is None is a line between sections.

    A column of dashes, a score that is defined for no row, is left out; so is a table of these.
    """
    cells = list(rows)
    defined = [n for n in range(len(names)) if any(row and row[n] != "–" for row in cells)]
    if cells and defined == [0]:
        return
    names = [names[place] for place in defined]
    cells = [row and [row[place] for place in defined] for row in cells]
    table = Table(
        title=title and escape(title), box=box.SIMPLE_HEAD, title_justify="left",
        title_style="bold", padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    for place, name in enumerate(names):
        # A name is not broken; the headings of numbers are.
        own = [row[place] for row in cells if row is not None]
        numeric, widest = all(map(_NUMERIC.fullmatch, own)), max(map(len, own), default=0)
        table.add_column(
            escape(name), justify="right" if numeric and cells else "left", overflow="fold",
            min_width=widest if numeric else None, no_wrap=not numeric and widest <= 24,
        )  # fmt: skip
    for row in cells:
        if row is None:
            table.add_section()
        else:
            table.add_row(*map(escape, row))
    terminal().print(table)


def say(text: str) -> None:
    """Print a line of text as it is."""
    terminal().print(text, highlight=False, markup=False, soft_wrap=True)


def percent(share: float | None) -> str:
    """A share in percent with one decimal, or a dash where it is not defined."""
    return "–" if share is None else f"{100 * share:.1f}"


def decimal(value: float | None) -> str:
    """A number with two decimals, or a dash where it is not defined."""
    return "–" if value is None else f"{value:.2f}"


def signed(share: float | None) -> str:
    """A difference of shares in percentage points with its sign, or a dash.

    >>> signed(0.052), signed(-0.1)
    ('+5.2', '-10.0')
    """
    return "–" if share is None else f"{100 * share:+.1f}"


def limits(interval: Interval | None) -> str:
    """An interval in whole percents, which leave room for the names."""
    return f" [{100 * interval.low:.0f}, {100 * interval.high:.0f}]" if interval else ""


def shown(share: Share | None) -> str:
    """A share in percent with its interval, or a dash."""
    if share is None:
        return "–"
    low, high = (round(100 * end) for end in (share.interval.low, share.interval.high))
    return f"{percent(share.value)} [{low},{high}]"


def bounds_of(interval: Interval) -> str:
    """The bounds of a score that rows without a verdict leave open, in percent."""
    return f"{percent(interval.low)} to {percent(interval.high)}"
