"""The plot of an ablation: a panel per budget, and per arm a line with its interval and seeds."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gradegpt.errors import MissingError

from .scores import Arm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOUR: Final = "#0072B2"
_SOFT: Final = "#7F7F7F"
_STYLE: Final = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
}


def draw(arms: Sequence[Arm]) -> bytes:
    """PNG bytes: balanced accuracy of every arm, at equal steps and at equal tokens.

    Raises:
        MissingError: matplotlib is not installed.

    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingError("the plot needs: pip install 'gradegpt[data]'") from error
    budgets = list(dict.fromkeys(arm.budget for arm in arms))
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):
        figure = Figure(figsize=(9, 1.2 + 0.5 * len(arms) / len(budgets)), layout="constrained")
        panels = figure.subplots(1, len(budgets), sharex=True, sharey=True, squeeze=False)[0]
        for axes, budget in zip(panels, budgets, strict=True):
            _panel(axes, [arm for arm in arms if arm.budget == budget])
            axes.set_title(f"equal {budget}")
        panels[0].invert_yaxis()
        figure.supxlabel("balanced accuracy; unparsed replies count as wrong", fontsize=9)
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=144, metadata={"Software": None})
    return out.getvalue()


def _panel(axes: Axes, arms: Sequence[Arm]) -> None:
    axes.axvline(0.5, color=_SOFT, linewidth=0.8, linestyle=":")
    for place, arm in enumerate(arms):
        score = arm.scores["balanced_accuracy"]
        axes.plot([score.interval.low, score.interval.high], [place, place], color=_COLOUR, lw=2)
        axes.plot(score.seeds, [place] * len(score.seeds), "|", color=_SOFT, markersize=9)
        axes.plot(score.mean, place, "o", color=_COLOUR)
        axes.annotate(
            f"{100 * score.mean:.1f}",
            (score.mean, place),
            textcoords="offset points",
            xytext=(0, 6),
            ha="center",
            fontsize=8.5,
        )
    axes.set_yticks(range(len(arms)), [arm.name.replace("_", " ") for arm in arms])
    axes.set_ylim(-0.7, len(arms) - 0.4)
