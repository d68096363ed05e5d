"""How the commands of this stage print: plain tables, 100 columns where there is no terminal."""

from __future__ import annotations

from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table

WIDTH: Final = 100


def terminal() -> Console:
    """The terminal; what goes to a file or a pipe has 100 columns."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def empty_table(title: str = "") -> Table:
    """A table without columns yet."""
    return Table(
        title=title or None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold",
        padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip


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
