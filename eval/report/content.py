"""The content of ``report.json``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gradegpt.core.schema import Judgement, Outcome, Row, Verdict
from gradegpt.judges.model import NOT_VERBATIM

from ..judging import Judged
from ..metrics import JudgeMetrics, JudgePair
from ..panel import Panel
from ..reliability import Reliability
from ..scores import ModelScores
from ..selective import RiskCoverage
from .numbers import Numbers
from .results import VIEWS, JudgedRows

_DECIMALS: Final = 6


class MeasuredJudge(Row):
    """One judge on labelled rows. ``views`` maps a view's and a group's name to its metrics.

    ``calibration`` maps a method, or ``all``, to its calibration, None where it is not calibrated.
    ``confusion`` maps a label to its rows by verdict, or by outcome where there is none.
    ``parsed_rate`` is the share of the model's texts with a verdict, ``quote_verbatim_rate`` the
    share of its key sentences that are in the response.
    """

    name: str
    fingerprint: str
    overall: JudgeMetrics
    calibration: dict[str, Reliability | None]
    risk_coverage: RiskCoverage | None
    views: dict[str, dict[str, JudgeMetrics]]
    confusion: dict[str, dict[str, int]]
    parsed_rate: float | None
    quote_verbatim_rate: float | None
    prompt_tokens: int
    completion_tokens: int


class EvalReport(Row):
    """The whole evaluation: ``judges`` on rows with labels, or else ``scores`` of the model."""

    name: str
    n_items: int
    labels: dict[str, int]
    bootstrap: int
    seed: int
    judges: tuple[MeasuredJudge, ...]
    scores: dict[str, ModelScores]
    pairs: tuple[JudgePair, ...]
    panel: Panel | None

    def rounded(self) -> Any:
        """The report as JSON values."""
        return _rounded(self.model_dump(mode="json"))


def report_of(
    results: JudgedRows,
    found: Numbers,
    runs: Sequence[Judged],
    panel: Panel | None = None,
) -> EvalReport:
    """The report of judges on rows that all have a label, or none."""
    return EvalReport(
        name=results.name,
        n_items=len(results.items),
        labels={v.value: sum(label is v for label in results.labels) for v in Verdict},
        bootstrap=results.bootstrap,
        seed=results.seed,
        judges=tuple(_measured(found, run) for run in runs if results.labelled),
        scores=dict(results.scores),
        pairs=tuple(found.pairs),
        panel=panel,
    )


def _measured(found: Numbers, run: Judged) -> MeasuredJudge:
    views = {
        view: {
            name: group.metrics
            for name, by_judge in found.tags[view].items()
            if (group := by_judge[run.name]).metrics
        }
        for view in VIEWS
    }
    return MeasuredJudge(
        name=run.name,
        fingerprint=run.fingerprint,
        overall=found.measured[run.name],
        calibration=found.calibration[run.name],
        risk_coverage=found.risk[run.name],
        views=views,
        confusion=found.confusion[run.name],
        parsed_rate=parsed_rate(run.judgements),
        quote_verbatim_rate=quote_verbatim_rate(run.judgements),
        prompt_tokens=sum(j.prompt_tokens for j in run.judgements),
        completion_tokens=sum(j.completion_tokens for j in run.judgements),
    )


def parsed_rate(judgements: Sequence[Judgement]) -> float | None:
    """The share of the model's texts that have a verdict; a failed request wrote no text."""
    written = [j for j in judgements if j.method == "model" and j.outcome is not Outcome.FAILED]
    return _share(j.outcome is not Outcome.UNPARSED for j in written)


def quote_verbatim_rate(judgements: Sequence[Judgement]) -> float | None:
    """The share of the model's key sentences that are in the response verbatim.

    A quote that is not makes a judgement ``unparsed``.
    """
    return _share(
        j.key_sentence is not None
        for j in judgements
        if j.method == "model" and (j.key_sentence is not None or j.reason == NOT_VERBATIM)
    )


def _share(holds: Iterable[bool]) -> float | None:
    values = list(holds)
    return sum(values) / len(values) if values else None


def _rounded(value: Any) -> Any:
    """JSON values with floats to six decimals: the same bytes on every machine."""
    match value:
        case float():
            return round(value, _DECIMALS)
        case dict():
            return {key: _rounded(inner) for key, inner in value.items()}
        case list():
            return [_rounded(inner) for inner in value]
        case _:
            return value
