"""The card's plots: PNG bytes that depend on the rows alone.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; lines also differ in
their dashes. Labels are ASCII, because a font for Chinese may be missing.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .collect import VERDICTS, ByVerdict, Facts
from .tables import (
    groups_of,
    languages_of,
    length_panels,
    longer_share,
    percent,
    types_of,
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Interval = tuple[str, Mapping[str, Any]]
"""A name, and ``balanced_accuracy``, ``low``, ``high``, ``n`` and ``n_correct``."""

COLOURS: Final = {"correct": "#0072B2", "incorrect": "#D55E00", "invalid": "#7F7F7F"}
_DASHES: Final = {"correct": "-", "incorrect": (0, (5, 1.5)), "invalid": (0, (1, 1.2))}
_LANGUAGES: Final = {"zh": "Chinese", "en": "English"}
_INK: Final = "#1b1f27"
_SOFT: Final = "#5d6675"
_LINE: Final = "#e1e5eb"
_WIDTH: Final = 9.0
_DPI: Final = 144
_MAX_BARS: Final = 30
_STYLE: Final = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": _INK,
    "text.parse_math": False,
    "xtick.color": _SOFT,
    "ytick.color": _INK,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "grid.color": _LINE,
    "legend.frameon": False,
    "figure.dpi": _DPI,
}


def draw(facts: Facts, probe: Sequence[Interval]) -> dict[str, bytes]:
    """File name -> PNG. A plot without data is left out."""
    import matplotlib as mpl
    from matplotlib import style

    # The defaults first, so that the user's matplotlibrc does not change the bytes.
    with style.context(["default", _STYLE]), mpl.rc_context({"backend": "agg"}):
        figures = {
            "balance.png": _balance(facts),
            "origins.png": _bars(facts.facets["origin"], "rows"),
            "patterns.png": _bars(facts.facets["pattern"], "rows"),
            "lengths.png": _lengths(facts),
            "positions.png": _positions(facts),
            "artifact_probe.png": _probe(
                [(name, s) for name, s in probe if s.get("low") is not None]
            ),
        }
        return {name: _png(figure) for name, figure in figures.items() if figure is not None}


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    # Without the version of matplotlib, so that equal plots of two versions have equal bytes.
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(_WIDTH, height), layout="constrained")


def _ascii(name: str) -> str:
    return words(name).encode("ascii", "replace").decode()


def _language(lang: str) -> str:
    return _LANGUAGES.get(lang, _ascii(lang))


def _balance(facts: Facts) -> Figure | None:
    import numpy as np

    kinds, languages = types_of(facts), languages_of(facts)
    columns = [(lang, verdict) for lang in languages for verdict in VERDICTS]
    cells = np.array([[facts.balance[kind][column] for column in columns] for kind in kinds])
    if not cells.size:
        return None
    figure = _figure(1.3 + 0.36 * len(kinds))
    axes = figure.add_subplot()
    shades = np.sqrt(cells)
    axes.imshow(shades, cmap="Blues", aspect="auto", vmin=0, vmax=1.15 * shades.max())
    for (row, column), n in np.ndenumerate(cells):
        dark = shades[row, column] > 0.7 * shades.max()
        colour = "white" if dark else _INK if n else "#a9b1bd"
        axes.text(column, row, f"{n:,}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xticks(range(len(columns)), [verdict for _, verdict in columns], color=_INK)
    axes.set_yticks(range(len(kinds)), [_ascii(kind) for kind in kinds])
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(kinds) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, which="both")
    axes.spines[:].set_visible(False)
    for place, lang in enumerate(languages):
        middle = len(VERDICTS) * place + (len(VERDICTS) - 1) / 2
        axes.text(
            middle, -1.35, f"{_language(lang)} question", ha="center", va="bottom", weight="bold"
        )
        if place:
            axes.axvline(len(VERDICTS) * place - 0.5, color="white", linewidth=8)
    return figure


def _bars(groups: ByVerdict, label: str) -> Figure | None:
    names = groups_of(groups)[:_MAX_BARS]
    if not names:
        return None
    figure = _figure(0.9 + 0.27 * len(names))
    axes = figure.add_subplot()
    left = [0] * len(names)
    for verdict in VERDICTS:
        values = [groups[name][verdict] for name in names]
        axes.barh(names, values, left=left, color=COLOURS[verdict], label=verdict, height=0.72)
        left = [sum(pair) for pair in zip(left, values, strict=True)]
    for place, total in enumerate(left):
        axes.text(
            total + 0.008 * max(left), place, f"{total:,}", va="center", color=_SOFT, fontsize=8.5
        )
    axes.set_yticks(range(len(names)), [_ascii(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.09 * max(left))
    axes.set_xlabel(label)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    figure.legend(loc="outside upper left", ncols=len(VERDICTS), handlelength=1.0)
    return figure


def _lengths(facts: Facts) -> Figure | None:
    panels = length_panels(facts)
    if not panels:
        return None
    origins = list(dict.fromkeys(origin for origin, _ in panels))
    languages = sorted({lang for _, lang in panels})
    figure = _figure(1.0 + 2.2 * len(languages))
    grid = figure.subplots(len(languages), len(origins), squeeze=False, sharex=True, sharey=True)
    for row, lang in enumerate(languages):
        for column, origin in enumerate(origins):
            axes, lengths = grid[row][column], facts.lengths.get((origin, lang), {})
            share = percent(longer_share(lengths))
            note = f"correct is\nlonger: {share}" if lengths else "no rows"
            # A logarithmic axis has no 0, the length of an empty response.
            shown = {verdict: [max(1, n) for n in values] for verdict, values in lengths.items()}
            _cumulative(axes, shown, f"{_ascii(origin)}, {_language(lang)}", note)
    grid[0][0].set_xscale("log")
    grid[0][0].xaxis.set_major_formatter("{x:,.0f}")
    _label_lines(figure, grid, "length of the response in characters")
    return figure


def _positions(facts: Facts) -> Figure | None:
    origins = [name for name in groups_of(facts.facets["origin"]) if facts.places.get(name)]
    if not origins:
        return None
    figure = _figure(3.2)
    grid = figure.subplots(1, len(origins), squeeze=False, sharey=True)
    for axes, origin in zip(grid[0], origins, strict=True):
        places = facts.places[origin]
        ends = [
            f"{percent(_at_the_end(places[v]), places=0)} of {v} end in it"
            for v in VERDICTS
            if places.get(v)
        ]
        _cumulative(axes, places, _ascii(origin), "\n".join(ends))
        axes.set_xlim(-0.02, 1.02)
    _label_lines(figure, grid, "place of the key sentence: 0 opens the response, 1 ends it")
    return figure


def _at_the_end(places: Sequence[float]) -> float:
    return sum(place == 1 for place in places) / len(places)


def _cumulative(axes: Axes, values: Mapping[str, Sequence[float]], title: str, note: str) -> None:
    axes.set_title(title)
    # Cumulative lines leave the upper left free.
    axes.text(0.04, 0.93, note, transform=axes.transAxes, va="top", color=_SOFT, fontsize=8.5)
    for verdict in VERDICTS:
        if values.get(verdict):
            axes.ecdf(
                values[verdict],
                color=COLOURS[verdict],
                linestyle=_DASHES[verdict],
                linewidth=1.8,
                label=verdict,
            )
    axes.set_ylim(0, 1.02)
    axes.grid()


def _label_lines(figure: Figure, grid: Any, label: str) -> None:
    figure.supxlabel(label, fontsize=10, color=_SOFT)
    figure.supylabel("share of the responses up to here", fontsize=10, color=_SOFT)
    lines = {
        text: handle
        for axes in grid.flat
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    shown = [verdict for verdict in VERDICTS if verdict in lines]
    figure.legend([lines[v] for v in shown], shown, loc="outside upper left", ncols=len(shown))


def _probe(scores: Sequence[Interval]) -> Figure | None:
    if not scores:
        return None
    figure = _figure(1.0 + 0.42 * len(scores))
    axes = figure.add_subplot()
    for place, (_, score) in enumerate(scores):
        low, value, high = (100 * score[key] for key in ("low", "balanced_accuracy", "high"))
        axes.plot([low, high], [place, place], color=COLOURS["correct"], linewidth=2.2)
        axes.plot([value], [place], "o", color=COLOURS["correct"], markersize=7)
        axes.annotate(
            f"{value:.1f}", (value, place), (0, 8), textcoords="offset points",
            ha="center", fontsize=9,
        )  # fmt: skip
        axes.axhline(place, color=_LINE, linewidth=0.8, zorder=0)
    axes.axvline(50, color=_SOFT, linestyle=(0, (4, 2)), linewidth=1.2)
    axes.text(50, -0.62, "guessing", ha="center", va="bottom", color=_SOFT, fontsize=9)
    axes.set_yticks(range(len(scores)), [_language(name) for name, _ in scores])
    axes.set_ylim(len(scores) - 0.5, -0.6)
    axes.xaxis.set_major_formatter("{x:.0f} %")
    axes.set_xlim(min(45, *(100 * s["low"] - 2 for _, s in scores)), 100)
    axes.set_xlabel("balanced accuracy of a classifier that sees the response alone")
    axes.spines["left"].set_visible(False)
    return figure
