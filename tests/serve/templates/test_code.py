"""What few templates do in code: items of other forms, refusals, and words of their own."""

from __future__ import annotations

import pytest

from gradegpt.core.schema import Judgement, Outcome, Verdict
from serve.templates import TEMPLATES, PromptError, Template, find

BY_NAME = {template.name: template for template in TEMPLATES}
REFUSED = [t for t in TEMPLATES if t.refuses and not t.judges]


@pytest.mark.parametrize(
    ("name", "written", "references"),
    [
        ("aa_lcr", "['Paris']", ("Paris",)),
        ("aa_lcr", '["Bob\'s"]', ("Bob's",)),
        ("aa_lcr", "[1, 2]", ("[1, 2]",)),
        ("aa_lcr", "['a', 'b']", ("['a', 'b']",)),
        ("aa_lcr", "Paris", ("Paris",)),
        ("verifiers_reference", "Rome\nRoma", ("Rome", "Roma")),
        ("verifiers_reference", "4", ("4",)),
        ("verifiers_reference", "First, x.\n\nThen y = 4.", ("First, x.\n\nThen y = 4.",)),
        ("verifiers_reference", f"{'a' * 101}\nb", (f"{'a' * 101}\nb",)),
        ("chem_exam_share", "A1: 4", ("A1: 4",)),
    ],
)
def test_the_references_of_a_written_answer(
    name: str, written: str, references: tuple[str, ...]
) -> None:
    """A list of one is that answer, of several unchanged, as it does not say whether all count.

    Acceptable answers are one a line; a text of several paragraphs, or with a long line, is one.
    """
    item = find(BY_NAME[name].prompt("Which?", written, "Roma")).item()
    assert item.reference == references
    assert item.needs is None


@pytest.mark.parametrize("template", REFUSED, ids=lambda t: t.name)
def test_a_refusal_names_the_template_and_what_to_do(template: Template) -> None:
    """There is no item and no verdict."""
    ask = find(template.prompt("2+2?", "4", "The answer is 4."))
    with pytest.raises(PromptError, match=rf"^{template.name}: .*(?:/v1/judge|use|judge both)"):
        ask.item()


@pytest.mark.parametrize(
    ("name", "fields", "complaint"),
    [
        ("open_instruct_factuality", ("{input}", "{label}", "{output}"), "single braces"),
        ("chem_exam_share", ("Q1: ?\nQ2: ?", "A1: 4\nA2: NaCl", "4"), "each sub-question sep"),
    ],
)
def test_a_prompt_without_one_item_is_refused(
    name: str, fields: tuple[str, str, str], complaint: str
) -> None:
    """A template that was never filled, and the share of several questions."""
    with pytest.raises(PromptError, match=rf"^{name}: .*{complaint}"):
        find(BY_NAME[name].prompt(*fields)).item()


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
    """It is one of CompassVerifier's three kinds; any other is incomplete."""
    invalid = Judgement(
        id="", outcome=Outcome.JUDGED, verdict=Verdict.INVALID, method="rules", reason=reason
    )
    prompt = BY_NAME["compassverifier_cot"].prompt("1+1=?", "2", "I cannot say.")
    assert find(prompt).reply(invalid).core == rf"Final Judgment: \boxed{{C}} - {kind}"
