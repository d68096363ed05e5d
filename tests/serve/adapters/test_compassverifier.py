"""CompassVerifier's third grade says why nothing could be graded."""

from __future__ import annotations

import pytest

from gradegpt.schema import Judgement, Outcome, Verdict
from serve.adapters import ADAPTERS, find

COT = next(a for a in ADAPTERS if a.name == "compassverifier_cot")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("response:loop", "REPETITIVE"),
        ("response:refusal", "REFUSAL"),
        ("response:cut-off", "INCOMPLETE"),
        ("response:empty", "INCOMPLETE"),
        ("", "INCOMPLETE"),
    ],
)
def test_an_invalid_response_has_its_kind(reason: str, kind: str) -> None:
    """It is one of the prompt's three kinds; any other is incomplete."""
    invalid = Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.INVALID, method="rules", reason=reason
    )
    reply = find(COT.prompt("1+1=?", "2", "I cannot say.")).reply(invalid)
    assert reply.core == rf"Final Judgment: \boxed{{C}} - {kind}"
