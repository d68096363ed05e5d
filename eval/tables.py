"""Print the report on the terminal: a table per view, a row per group and judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gradegpt.judges.statistics import Share

from .console import bounds_of, decimal, percent, say, show, shown
from .evaluate import EvalReport
from .metrics import COLUMNS, JudgeMetrics, JudgePair
from .report.results import VIEWS
from .scores import GroupScore, ModelScores, NoAnswer

_COLUMNS: Final = ("decided", "right of these", "balanced", "κ", "majority")
_BOUNDS: Final = "bounds: of all rows, those without a verdict all wrong, and all right"
_SCORES: Final = (
    "balanced: the mean of the accuracies on correct and on other answers\n"
    "κ: Cohen's kappa of verdicts and labels; by chance alone it is 0\n"
    "majority: how often always giving the more frequent label is right"
)
_SAMPLES: Final = (
    "k: answers drawn from a question's rows, as if all were by one model; questions with fewer\n"
    "verdicts are left out, and no figure is shown where over 5 % of the rows have no verdict"
)
_INTERVALS: Final = "[95 %]: Wilson's, over questions, whose rows are not independent"


def print_report(report: EvalReport) -> None:
    """Print the scores of the judges, or of the model that answered, and the pairs of judges."""
    if report.judges:
        print_overall({judge.name: judge.overall for judge in report.judges})
        for view in VIEWS:
            metrics = {
                group: {judge.name: judge.views[view][group] for judge in report.judges}
                for group in report.judges[0].views[view]
            }
            if len(metrics) > 1:  # of one group it is the table above
                _print_view(f"by {view}", metrics)
    for name, found in report.scores.items():
        say(f"by the judge {name}:")
        print_scores(found)
    _print_pairs(report.pairs)


def print_overall(judges: Mapping[str, JudgeMetrics]) -> None:
    """Print a row for each judge, on all labelled rows."""
    _print_view("overall", {"all": judges})
    for name, metrics in judges.items():
        if metrics.bias is not None:
            say(f"{name}, {_bias(metrics, metrics.bias)}")
    some_open = any(metrics.coverage != 1 for metrics in judges.values())
    say(f"{_SCORES}\n{_INTERVALS}\n{_BOUNDS}" if some_open else f"{_SCORES}\n{_INTERVALS}")


def _bias(metrics: JudgeMetrics, bias: float) -> str:
    """The shares of right answers accepted and wrong ones rejected, kappa, the even threshold."""
    yes, no = percent(metrics.recall), percent((metrics.recall or 0) - bias)
    said = [f"of those it decides: accepts {yes} % of the right, rejects {no} % of the wrong"]
    if "kappa" in metrics.intervals:
        said.append(f"κ {COLUMNS['κ']._replace(ranged=True).of(metrics)} by resampling")
    if metrics.even is not None and bias:
        least = f'with a least probability of {metrics.even:.4g} for "correct"'
        said.append(f"{least}, both shares would be equal")
    return ";\n  ".join(said)


def _print_view(title: str, groups: Mapping[str, Mapping[str, JudgeMetrics]]) -> None:
    several = any(len(judges) > 1 for judges in groups.values())
    rows: list[tuple[str, ...] | None] = []
    for group, judges in groups.items():
        for place, (judge, scores) in enumerate(judges.items()):
            name = ("" if place else group, judge) if several else (group,)
            bounds = "–" if scores.coverage == 1 or not scores.bounds else bounds_of(scores.bounds)
            decided, right, *others = (COLUMNS[column].of(scores) for column in _COLUMNS)
            rows.append((*name, f"{scores.n_items:,}", decided, right, bounds, *others))
        rows += [None] if several else []
    names = ("rows", "decided", "right of these [95 %]", "bounds", *_COLUMNS[2:])
    if several:
        show(("", "judge", *names), rows, title)
    else:
        show(("", *names), rows, f"{title}, {next(iter(next(iter(groups.values()))))}")


def _print_pairs(pairs: Sequence[JudgePair]) -> None:
    if not pairs:
        return
    right = ("a right", "b right") if pairs[0].a_right is not None else ()
    rows = []
    for pair in pairs:
        counts = (f"{n:,}" for n in (pair.n_differ, pair.a_right, pair.b_right) if n is not None)
        agreement = (percent(pair.agreement), decimal(pair.kappa))
        rows.append((pair.a, pair.b, f"{pair.n_both:,}", *agreement, *counts))
    names = ("a", "b", "rows", "agree", "kappa", "differ", *right)
    show(names, rows, "pairs of judges, on the rows that both judged")
    if right:
        say("balanced accuracy over all rows, where no verdict counts as wrong:")
        for pair in pairs:
            say(f"  {pair.a}, {pair.b}: {pair.in_words}")


_NO_ANSWER: Final = {
    NoAnswer.TRUNCATED: "cut off, %", NoAnswer.REFUSAL: "refusal, %",
    NoAnswer.JSON_ERROR: "JSON error, %", NoAnswer.UNPARSABLE: "no readable answer, %",
}  # fmt: skip


def print_scores(found: ModelScores, by: str = "") -> None:
    """Print the tables of a command line; of the groups those of one tag, or all."""
    groups = [("all", found.overall)]
    tags = {by: found.tags[by]} if by in found.tags else found.tags
    groups += [(f"{t}: {v}", score) for t, vs in tags.items() for v, score in vs.items()]
    names = "rows", "questions", "judged correct, % [95 %]", "bounds, %", "of answers", "consensus"
    show(("", *names), [(name, *_accuracies(one)) for name, one in groups])
    say(f"{_INTERVALS}\n{_BOUNDS}" if found.overall.not_judged else _INTERVALS)
    rates = []
    for name, one in groups:
        counts = [one.no_answer.get(kind, 0) for kind in _NO_ANSWER]
        counts.append(sum(one.not_judged.values()))
        rates.append((name, *(f"{100 * n / one.n_rows:.2f} ({n:,})" if n else "–" for n in counts)))
    show(("", *_NO_ANSWER.values(), "no verdict, %"), rates)
    if samples := found.overall.samples:
        levels = [f"G-Pass {least}" for least in samples[0].g_pass]
        of = f" of {found.overall.n_questions:,}"
        rows = [
            (str(one.k), f"{one.pass_at_k.n_questions:,}{of}",
             *(_few(found.overall, s) for s in (one.pass_at_k, *one.g_pass.values(), one.mg_pass)))
            for one in samples
        ]  # fmt: skip
        show(("k", "questions", "pass@k", *levels, "mG-Pass"), rows)
        say(_SAMPLES)
    for tag, levels_of in found.ssr.items():
        shares = ", ".join(f"{alpha}: {percent(share)}" for alpha, share in levels_of.items())
        say(f"SSR of {tag}: % of its values with an accuracy above {shares}")


def _few(score: GroupScore, share: Share | None) -> str:
    return "–" if score.many_open else shown(share)


def _accuracies(score: GroupScore) -> Iterator[str]:
    shares = score.accuracy, score.accuracy_of_answers, score.consensus
    judged, *others = (_few(score, share) for share in shares)
    bounds = bounds_of(score.bounds) if score.not_judged else "–"
    yield from (f"{score.n_rows:,}", f"{score.n_questions:,}", judged, bounds, *others)
