"""The report of a benchmark's answers without labels: scores by judge, and where judges differ.

What is measured is the model that answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from gradegpt.fit import fit_middle, fit_response
from gradegpt.schema import Item, Outcome, Row, Verdict

from ..judging import Judged
from ..metrics import Pair, compare_judges
from ..scores import Scores, scores
from ..settings import EvalSettings
from .labelled import rounded, spread

_SHOWN_TOKENS: Final = {"question": 150, "reference": 150, "response": 300}


class AnswerJudgement(Row):
    """The judgement of one answer by one judge."""

    judge: str
    outcome: Outcome
    verdict: Verdict | None
    reason: str
    key_sentence: str
    answer: str


class Answered(Row):
    """An answer with all its judgements; long texts are cut, a response keeps its end."""

    id: str
    question: str
    reference: tuple[str, ...]
    response: str
    said: tuple[AnswerJudgement, ...]
    differ: bool


class AnswersReport(Row):
    """A whole benchmark: scores by judge, the agreement of the judges, and some of the answers."""

    name: str
    n_items: int
    fingerprints: dict[str, str]
    scores: dict[str, Scores]
    pairs: tuple[Pair, ...]
    n_listed: int
    answers: tuple[Answered, ...]

    def rounded(self) -> Any:
        """The report as JSON values."""
        return rounded(self.model_dump(mode="json"))


def answers_report(
    settings: EvalSettings, items: Sequence[Item], runs: Sequence[Judged]
) -> AnswersReport:
    """Score the answers by every judge; list those on which judges differ, then the wrong ones."""
    listed = _rows_to_list(runs)
    chosen = [listed[n] for n in spread(len(listed), settings.disagreements)]
    return AnswersReport(
        name=settings.name,
        n_items=len(items),
        fingerprints={run.name: run.fingerprint for run in runs},
        scores={
            run.name: scores(items, run.judgements, ks=settings.ks, seed=settings.seed)
            for run in runs
        },
        pairs=tuple(
            compare_judges(None, (a.name, a.judgements), (b.name, b.judgements))
            for a, b in combinations(runs, 2)
        ),
        n_listed=len(listed),
        answers=tuple(_answered(items[n], n, runs) for n in chosen),
    )


def _verdicts(runs: Sequence[Judged], row: int) -> set[bool]:
    given = (run.judgements[row].verdict for run in runs)
    return {verdict is Verdict.CORRECT for verdict in given if verdict is not None}


def _rows_to_list(runs: Sequence[Judged]) -> list[int]:
    """The rows on which judges differ, then those judged wrong, then those without a verdict."""
    by_row = [_verdicts(runs, row) for row in range(len(runs[0].judgements))]
    kinds = ({True, False}, {False}, set[bool]())
    return [row for kind in kinds for row, verdicts in enumerate(by_row) if verdicts == kind]


def _answered(item: Item, row: int, runs: Sequence[Judged]) -> Answered:
    return Answered(
        id=item.id,
        question=fit_middle(item.question, _SHOWN_TOKENS["question"]),
        reference=tuple(fit_response(r, _SHOWN_TOKENS["reference"]) for r in item.reference),
        response=fit_response(item.response, _SHOWN_TOKENS["response"]),
        said=tuple(
            AnswerJudgement(
                judge=run.name, outcome=j.outcome, verdict=j.verdict, reason=j.reason,
                key_sentence=j.key_sentence or "", answer=j.answer or "",
            )
            for run in runs
            for j in (run.judgements[row],)
        ),
        differ=len(_verdicts(runs, row)) > 1,
    )  # fmt: skip
