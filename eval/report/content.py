"""The content of ``report.json``: of labelled rows, and of answers without labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gradegpt.core.schema import Judgement, Outcome, Row, Verdict
from gradegpt.judges.model import NOT_VERBATIM
from gradegpt.judges.statistics import says_yes

from ..consistency import Consistency
from ..judging import Judged
from ..metrics import JudgeMetrics, JudgePair
from ..panel import Panel
from ..reliability import Reliability
from ..scores import ModelScores
from ..selective import RiskCoverage
from .numbers import Numbers
from .results import VIEWS, JudgedRows

NOT_JUDGED: Final = "not judged"
_DECIMALS: Final = 6


class _Rounded(Row):
    def rounded(self) -> Any:
        """The report as JSON values."""
        return _rounded(self.model_dump(mode="json"))


class MeasuredJudge(Row):
    """One judge. ``views`` maps a view's name and a group's name to the metrics of that group.

    ``calibration`` maps a method, or ``all``, to its calibration, None where it is not calibrated.
    ``confusion`` maps a label to its rows by verdict, including ``not judged``. ``parsed_rate`` is
    the share of the model's texts with a verdict, ``quote_verbatim_rate`` the share of its key
    sentences that are in the response. ``n_disagreements`` verdicts differ from the label, two-way.
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
    n_disagreements: int


class EvalReport(_Rounded):
    """The whole evaluation on labelled rows."""

    name: str
    n_items: int
    labels: dict[str, int]
    bootstrap: int
    seed: int
    judges: tuple[MeasuredJudge, ...]
    pairs: tuple[JudgePair, ...]
    panel: Panel | None = None
    changes: tuple[Consistency, ...] = ()


class AnswersReport(_Rounded):
    """A whole benchmark, whose model is measured: scores by judge, the agreement of the judges."""

    name: str
    n_items: int
    fingerprints: dict[str, str]
    scores: dict[str, ModelScores]
    pairs: tuple[JudgePair, ...]
    changes: tuple[Consistency, ...] = ()


def labelled_report(
    results: JudgedRows,
    found: Numbers,
    runs: Sequence[Judged],
    changes: Sequence[Consistency] = (),
    panel: Panel | None = None,
) -> EvalReport:
    """The report of judges on rows that all have a label."""
    return EvalReport(
        name=results.name,
        n_items=len(results.items),
        labels={v.value: sum(label is v for label in results.labels) for v in Verdict},
        bootstrap=results.bootstrap,
        seed=results.seed,
        judges=tuple(_measured(results, found, run) for run in runs),
        pairs=tuple(one.pair for one in found.pairs),
        panel=panel,
        changes=tuple(changes),
    )


def answers_report(
    results: JudgedRows, found: Numbers, runs: Sequence[Judged], changes: Sequence[Consistency] = ()
) -> AnswersReport:
    """The report of a model's answers."""
    return AnswersReport(
        name=results.name,
        n_items=len(results.items),
        fingerprints={run.name: run.fingerprint for run in runs},
        scores=dict(results.scores),
        pairs=tuple(one.pair for one in found.pairs),
        changes=tuple(changes),
    )


def _measured(results: JudgedRows, found: Numbers, run: Judged) -> MeasuredJudge:
    pairs = list(zip(results.labels, run.judgements, strict=True))
    return MeasuredJudge(
        name=run.name,
        fingerprint=run.fingerprint,
        overall=found.measured[run.name],
        calibration=found.calibration[run.name],
        risk_coverage=found.risk[run.name],
        views={view: _view(found.tags[view], run.name) for view in VIEWS},
        confusion=_confusion(pairs),
        parsed_rate=parsed_rate(run.judgements),
        quote_verbatim_rate=quote_verbatim_rate(run.judgements),
        prompt_tokens=sum(j.prompt_tokens for j in run.judgements),
        completion_tokens=sum(j.completion_tokens for j in run.judgements),
        n_disagreements=sum(
            j.verdict is not None and says_yes(j.verdict) is not says_yes(label)
            for label, j in pairs
        ),
    )


def _view(groups: Mapping[str, Mapping[str, Any]], judge: str) -> dict[str, JudgeMetrics]:
    return {name: by_judge[judge].metrics for name, by_judge in groups.items()}


def _confusion(pairs: Sequence[tuple[Verdict | None, Judgement]]) -> dict[str, dict[str, int]]:
    """Label -> verdict -> rows, three-way, with a last column for what was not judged."""
    table = {label.value: dict.fromkeys([*map(str, Verdict), NOT_JUDGED], 0) for label in Verdict}
    for label, judgement in pairs:
        if label is not None:
            table[label.value][str(judgement.verdict or NOT_JUDGED)] += 1
    return table


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


def _share(holds: Iterator[bool]) -> float | None:
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
