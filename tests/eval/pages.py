"""Results for the tests of the page: three rows with every field of a row."""

from __future__ import annotations

from collections.abc import Sequence

from eval.report.results import JudgedRows, tags_of
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Verdict

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)"> <!-- So it is 4.'

R, W, N = Verdict.CORRECT, Verdict.INCORRECT, Verdict.INVALID
"""Right, wrong, and no answer."""


def judged(
    item: str, verdict: Verdict | None, *, confidence: float | None = None, quote: str = ""
) -> Judgement:
    """A judgement with that verdict, or an undecided one."""
    return Judgement(
        id=item,
        outcome=Outcome.JUDGED if verdict else Outcome.UNDECIDED,
        verdict=verdict,
        confidence=confidence,
        method="test",
        reason="number:equal" if verdict is R else "number:different" if verdict else "open",
        key_sentence=quote or None,
        answer="4" if verdict else None,
        chain="The answers agree: <Yes>" if verdict is R else None,
    )


def items(n: int = 3) -> list[Item]:
    """Rows of three subjects; the first response is hostile, the second has a long question."""
    rows = [
        Item(
            id=f"r{k}", question=f"{k}: 2 + 2 = ?", reference=("4",), response=f"It is {k}.",
            answer_type=AnswerType.NUMBER, tags={"subject": "abc"[k % 3]},
        )
        for k in range(n)
    ]  # fmt: skip
    return [rows[0].model_copy(update={"response": HOSTILE}), *rows[1:]]


def results(
    n: int = 3, *, labels: Sequence[Verdict | None] = (), second: bool = True, name: str = "a <b>"
) -> JudgedRows:
    """Two judges, or one; the second differs on the first row and leaves the last one open."""
    rows = items(n)
    first = [judged(i.id, R, confidence=0.9, quote="So it is  4.") for i in rows]
    other = [judged(i.id, W if k == 0 else R, confidence=0.3) for k, i in enumerate(rows)]
    other[-1] = judged(rows[-1].id, None)
    return JudgedRows(
        name=name,
        items=rows,
        judges={"rules": first, "other, too": other} if second else {"rules": first},
        labels=labels or [None] * n,
        tags=[tags_of(item, {"language": "en"}) for item in rows],
        bootstrap=50,
    )
