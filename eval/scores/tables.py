"""Print scores on the terminal, in tables of at most 100 columns."""

from __future__ import annotations

from typing import Final

from ..console import percent, say, show, shown
from . import GroupScore, ModelScores
from .rates import NoAnswer

_NO_ANSWER: Final = {
    NoAnswer.TRUNCATED: "cut off, %", NoAnswer.REFUSAL: "refusal, %",
    NoAnswer.JSON_ERROR: "JSON error, %", NoAnswer.UNPARSABLE: "unparsable, %",
}  # fmt: skip


def print_scores(found: ModelScores) -> None:
    """Print the tables of a command line."""
    groups = [("all", found.overall)]
    groups += [(f"{t}: {v}", score) for t, vs in found.tags.items() for v, score in vs.items()]
    accuracies = ("accuracy, %", "of answers, %", "consensus, %")
    show(("", "rows", "questions", *accuracies), [(name, *_cells(one)) for name, one in groups])
    rates = [(name, *_rates(one)) for name, one in groups]
    show(("", *_NO_ANSWER.values(), "no verdict, %"), rates)
    if samples := found.overall.samples:
        levels = [f"G-Pass {least}" for least in samples[0].g_pass]
        rows = [
            (str(one.k), f"{one.pass_at_k.n_questions:,}",
             *map(shown, (one.pass_at_k, *one.g_pass.values(), one.mg_pass)))
            for one in samples
        ]  # fmt: skip
        show(("k", "n", "pass@k", *levels, "mG-Pass"), rows)
    for tag, levels_of in found.ssr.items():
        shares = "  ".join(f"@{alpha}: {percent(share)}" for alpha, share in levels_of.items())
        say(f"SSR of {tag}, %  {shares}")


def _cells(score: GroupScore) -> list[str]:
    shares = (score.accuracy, score.accuracy_of_answers, score.consensus)
    return [f"{score.n_rows:,}", f"{score.n_questions:,}", *map(shown, shares)]


def _rates(score: GroupScore) -> list[str]:
    """The percent of the rows, with their number."""
    counts = [getattr(score.rates, kind).n for kind in _NO_ANSWER]
    counts.append(sum(score.not_judged.values()))
    return [f"{100 * n / score.n_rows:.2f} ({n:,})" if n else "–" for n in counts]
