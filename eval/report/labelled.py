"""The content of ``report.json`` for an evaluation on labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from gradegpt.agreement import says_yes
from gradegpt.fit import fit_middle, fit_response
from gradegpt.judges.calibration import type_of
from gradegpt.judges.model import NOT_VERBATIM
from gradegpt.schema import AnswerType, Example, Judgement, Outcome, Row, Verdict

from ..judging import Judged
from ..metrics import Metrics, Pair, compare_judges, measure
from ..reliability import Calibration, calibrations
from ..selective import RiskCoverage, risk_coverage
from ..settings import EvalSettings

UNNAMED: Final = "not stated"
NOT_JUDGED: Final = "not judged"
_DECIMALS: Final = 6
_SHOWN_TOKENS: Final = {"question": 150, "reference": 150, "response": 300}


class Disagreement(Row):
    """A row whose verdict differs from its label, two-way. Long texts are cut, with their end."""

    id: str
    source: str
    lang: str
    question: str
    reference: tuple[str, ...]
    response: str
    label: Verdict
    verdict: Verdict
    confidence: float | None
    method: str
    reason: str
    chain: str


class JudgeReport(Row):
    """One judge. ``views`` maps a view's name and a group's name to the metrics of that group.

    ``calibration`` maps a method, or ``all``, to its calibration, None where it is not calibrated.
    ``confusion`` maps a label to its rows by verdict, including ``not judged``. ``parsed_rate`` is
    the share of the model's texts with a verdict, ``quote_verbatim_rate`` the share of its key
    sentences that are in the response.
    """

    name: str
    fingerprint: str
    overall: Metrics
    calibration: dict[str, Calibration | None]
    risk_coverage: RiskCoverage | None
    views: dict[str, dict[str, Metrics]]
    confusion: dict[str, dict[str, int]]
    parsed_rate: float | None
    quote_verbatim_rate: float | None
    prompt_tokens: int
    completion_tokens: int
    n_disagreements: int
    disagreements: tuple[Disagreement, ...]


class Report(Row):
    """The whole evaluation."""

    name: str
    n_items: int
    labels: dict[str, int]
    bootstrap: int
    seed: int
    judges: tuple[JudgeReport, ...]
    pairs: tuple[Pair, ...]

    def rounded(self) -> Any:
        """The report as JSON values."""
        return rounded(self.model_dump(mode="json"))


def build_report(
    settings: EvalSettings, examples: Sequence[Example], runs: Sequence[Judged]
) -> Report:
    """Measure every judge on all rows and by group, and every pair of judges."""
    named = [(run.name, run.judgements) for run in runs]
    resampling = {"bootstrap": settings.bootstrap, "seed": settings.seed}
    return Report(
        name=settings.name,
        n_items=len(examples),
        labels={v.value: sum(e.verdict is v for e in examples) for v in Verdict},
        bootstrap=settings.bootstrap,
        seed=settings.seed,
        judges=tuple(_judge_report(settings, examples, run) for run in runs),
        pairs=tuple(
            compare_judges(examples, a, b, **resampling) for a, b in combinations(named, 2)
        ),
    )


def _judge_report(settings: EvalSettings, examples: Sequence[Example], run: Judged) -> JudgeReport:
    resampling = {"bootstrap": settings.bootstrap, "seed": settings.seed}

    def measured(rows: Sequence[int]) -> Metrics:
        return measure([examples[i] for i in rows], [run.judgements[i] for i in rows], **resampling)

    wrong = [
        (example, judgement)
        for example, judgement in zip(examples, run.judgements, strict=True)
        if judgement.verdict is not None
        and says_yes(judgement.verdict) is not says_yes(example.verdict)
    ]
    return JudgeReport(
        name=run.name,
        fingerprint=run.fingerprint,
        overall=measured(range(len(examples))),
        calibration=calibrations(examples, run.judgements, **resampling),
        risk_coverage=risk_coverage(examples, run.judgements, **resampling),
        views={
            view: {group: measured(rows) for group, rows in groups(examples, key)}
            for view, key in VIEWS.items()
        },
        confusion=confusion(examples, run.judgements),
        parsed_rate=parsed_rate(run.judgements),
        quote_verbatim_rate=quote_verbatim_rate(run.judgements),
        prompt_tokens=sum(j.prompt_tokens for j in run.judgements),
        completion_tokens=sum(j.completion_tokens for j in run.judgements),
        n_disagreements=len(wrong),
        disagreements=tuple(
            _disagreement(*wrong[i]) for i in spread(len(wrong), settings.disagreements)
        ),
    )


VIEWS: Final[dict[str, Callable[[Example], str]]] = {
    "source": lambda example: example.source or UNNAMED,
    "language": lambda example: example.lang or UNNAMED,
    "answer type": lambda example: type_of(example).words,
}
_TYPE_ORDER: Final = {kind.words: place for place, kind in enumerate(AnswerType)}


def groups(
    examples: Sequence[Example], key: Callable[[Example], str]
) -> Iterator[tuple[str, list[int]]]:
    """Group names and row numbers: answer types in their own order, others as they appear."""
    found: dict[str, list[int]] = {}
    for number, example in enumerate(examples):
        found.setdefault(key(example), []).append(number)
    yield from sorted(found.items(), key=lambda group: _TYPE_ORDER.get(group[0], 0))


def confusion(
    examples: Sequence[Example], judgements: Sequence[Judgement]
) -> dict[str, dict[str, int]]:
    """Label -> verdict -> rows, three-way, with a last column for what was not judged."""
    table = {label.value: dict.fromkeys([*Verdict, NOT_JUDGED], 0) for label in Verdict}
    for example, judgement in zip(examples, judgements, strict=True):
        table[example.verdict.value][judgement.verdict or NOT_JUDGED] += 1
    return {label: {str(k): n for k, n in row.items()} for label, row in table.items()}


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


def spread(n: int, most: int) -> list[int]:
    """At most ``most`` of ``range(n)``, evenly spaced, so that a long list shows every source.

    >>> spread(10, 4)
    [0, 2, 5, 7]
    """
    return [i * n // most for i in range(most)] if n > most else list(range(n))


def _disagreement(example: Example, judgement: Judgement) -> Disagreement:
    if judgement.verdict is None:
        raise ValueError(f"{judgement.id}: only a judged row can differ from its label")
    return Disagreement(
        id=example.id, source=example.source or UNNAMED, lang=example.lang,
        question=fit_middle(example.question, _SHOWN_TOKENS["question"]),
        reference=tuple(fit_response(r, _SHOWN_TOKENS["reference"]) for r in example.reference),
        response=fit_response(example.response, _SHOWN_TOKENS["response"]),
        label=example.verdict, verdict=judgement.verdict, confidence=judgement.confidence,
        method=judgement.method, reason=judgement.reason, chain=judgement.chain or "",
    )  # fmt: skip


def _share(holds: Iterator[bool]) -> float | None:
    values = list(holds)
    return sum(values) / len(values) if values else None


def rounded(value: Any) -> Any:
    """JSON values with floats to six decimals: the same bytes on every machine."""
    match value:
        case float():
            return round(value, _DECIMALS)
        case dict():
            return {key: rounded(inner) for key, inner in value.items()}
        case list():
            return [rounded(inner) for inner in value]
        case _:
            return value
