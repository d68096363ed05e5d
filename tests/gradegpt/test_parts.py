"""Sub-answers: their JSON list, a label for each, and the verdict on the whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradegpt.answers.json_list import Fault, json_answers
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.parts import PartsJudge, part_items
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.rules.profiles import labels
from serve.templates import TEMPLATES

SAYS = {
    "+": (Outcome.JUDGED, Verdict.CORRECT), "-": (Outcome.JUDGED, Verdict.INCORRECT),
    "0": (Outcome.JUDGED, Verdict.INVALID), "?": (Outcome.UNDECIDED, None),
    "!": (Outcome.FAILED, None), "~": (Outcome.UNPARSED, None),
}  # fmt: skip


class BySign:
    """A judge that reads its verdict from the first sign of a response."""

    name = fingerprint = "by-sign"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        self.items = list(items)
        return [
            Judgement(
                id=item.id, outcome=SAYS[item.response[0]][0], verdict=SAYS[item.response[0]][1],
                method="by-sign", reason="said:so", prompt_tokens=3, confidence=0.9,
            )
            for item in items
        ]  # fmt: skip


def listed(*answers: Any) -> str:
    """A response in the form of ATLAS's prompt E.1."""
    return f"So:\n```json\n{json.dumps({'answers': answers}, ensure_ascii=False)}\n```"


def item(response: str, *parts: str, **more: Any) -> Item:
    reference = more.pop("reference", "x")
    return Item(id="q", question=more.pop("question", "Both?"), reference=(reference,), parts=parts,
                response=response, **more)  # fmt: skip


def signed(signs: str, least: float = 1.0) -> Judgement:
    (found,) = PartsJudge(BySign(), least).judge(
        [item(listed(*(f"{sign}1" for sign in signs)), *"abcdef"[: len(signs)])]
    )
    return found


# --- the list -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (listed("3", "5 m"), ("3", "5 m")),
        ('Thus {"answers": ["3", "5 m"]}.', ("3", "5 m")),
        ('["3", "5 m"]', ("3", "5 m")),
        (listed(["3", "5 m"]), ("3", "5 m")),
        (listed(["3", "-3"], ["A", "C"]), ("3; -3", "AC")),
        (listed(1, True), ("1", "True")),
        (listed(None, " "), ("", "")),
        ('{"answers": [1.50, 6.02e23]}', ("1.50", "6.02e23")),
        (listed("draft", "1") + "\nNo, better:\n" + listed("3", "5 m"), ("3", "5 m")),
        (r'{"answers": ["\frac{1}{2}", "\alpha \times \\beta"]}',
         (r"\frac{1}{2}", r"\alpha \times \beta")),
        (r'{"answers": ["u=1\nu=2", "\u00b1 \"1\""]}', ("u=1\nu=2", '± "1"')),
    ],
)  # fmt: skip
def test_answers_of_a_list(text: str, answers: tuple[str, ...]) -> None:
    """The last list is used; numbers are kept as written; a backslash of LaTeX is kept."""
    assert json_answers(text, 2) == answers


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The answers are 3 and 5 m.", Fault.NO_JSON), ("", Fault.NO_JSON),
        ('```python\n["3", "5"]\n```', Fault.NO_JSON),
        ('```json\n{"answers": ["3", "5 m"', Fault.JSON_ERROR),
        ('```json\n{"answers": ["3" "5 m"]}\n```', Fault.JSON_ERROR),
        ('```json\n{"results": ["3", "5"]}\n```', Fault.JSON_ERROR),
        (listed({"x": "3"}, "5"), Fault.JSON_ERROR), ('{"answers": "3"}', Fault.JSON_ERROR),
        ('{"answers": [NaN, 1]}', Fault.JSON_ERROR), ("[" * 20_000, Fault.JSON_ERROR),
        (listed("3"), Fault.WRONG_COUNT), (listed("3", "5", "7"), Fault.WRONG_COUNT),
        (listed(), Fault.WRONG_COUNT),
    ],
)  # fmt: skip
def test_a_missing_list_is_a_fault(text: str, fault: Fault) -> None:
    """No JSON, broken JSON and another count are different faults; nothing else is read."""
    assert json_answers(text, 2) is fault


@given(st.lists(st.text(), min_size=2, max_size=5))
def test_every_list_of_texts_is_read_back(texts: list[str]) -> None:
    """Any texts are read back, except for LaTeX's escapes and outer blanks."""
    plain = [text.replace("\\", "/") for text in texts]
    plain = [text.replace("\b", "").replace("\f", "") for text in plain]
    plain = [text.replace("\n", " ").replace("\r", " ").replace("\t", " ") for text in plain]
    assert json_answers(listed(*plain), len(plain)) == tuple(text.strip() for text in plain)


# --- the parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signs", "least", "verdict", "reason"),
    [
        ("++", 1.0, "+", "parts:A,A"), ("+-", 1.0, "-", "parts:A,B"),
        ("+0", 1.0, "-", "parts:A,C"), ("00", 1.0, "0", "parts:C,C:so"),
        ("+?", 1.0, "?", "parts:A,?"), ("-?", 1.0, "-", "parts:B,?"),
        ("+!", 1.0, "!", "parts:A,?"), ("~?", 1.0, "~", "parts:?,?"), ("?~!", 1.0, "!", None),
        ("++-", 0.6, "+", "parts:A,A,B"), ("+--", 0.6, "-", "parts:A,B,B"),
        ("+-?", 0.6, "?", "parts:A,B,?"), ("++?", 0.6, "+", "parts:A,A,?"),
        ("-+-+-+", 0.5, "+", None), ("++-", 2 / 3, "+", None),
    ],
)  # fmt: skip
def test_the_verdict_on_the_whole(
    signs: str, least: float, verdict: str, reason: str | None
) -> None:
    """It is undecided only where the undecided parts matter, and invalid where all are C."""
    found = signed(signs, least)
    assert (found.outcome, found.verdict) == SAYS[verdict]
    assert reason in (None, found.reason)
    assert found.prompt_tokens == 3 * len(signs)


def test_an_explanation_for_each_part() -> None:
    """ATLAS, case 5.3: 1.6×10² N for 159.4 N is 0.376 % off, within E.2's ±0.1; case 5.2's is no.

    |160 - 159.4| / 159.4 = 0.6 / 159.4 = 0.00376.
    """
    made = item(
        listed(r"1.6\times 10^{2}\text{N}", "no", None), "F=159.4 N", "yes", "42",
        tolerance="atlas", question="Find (1) the force, (2) whether it sinks, (3) the number.",
    )  # fmt: skip
    (found,) = PartsJudge(RuleJudge()).judge([made])
    assert found.verdict is Verdict.INCORRECT
    first, second, third = (found.chain or "").split("\n")
    assert first == "(1) A: equation:equal-within-tolerance"
    assert second == "(2) B: true_false:opposite"
    assert third == "(3) C: no-answer"
    assert labels(found.reason) == ("A", "B", "C")
    assert found.answer == r"(1) 1.6\times 10^{2}\text{N}; (2) no; (3) "
    assert found.answer_type is AnswerType.MULTI_PART


def test_each_part_has_its_own_question() -> None:
    """The text before the first mark is in each; without marks each has the whole question."""
    made = item(listed("3", "5"), "3", "5", question="A ball falls. (1) Find v. (2) Find t.",
                context="g = 10", tolerance="exact")  # fmt: skip
    one, two = part_items(made, ("3", "5"))
    assert (one.question, two.question) == ("A ball falls.\nFind v.", "A ball falls.\nFind t.")
    assert (one.id, two.reference, two.response) == ("q(1)", ("5",), "5")
    assert (two.context, two.tolerance, two.parts) == ("g = 10", "exact", ())
    unmarked = made.model_copy(update={"question": "Find v and t."})
    assert [one.question for one in part_items(unmarked, ("3", "5"))] == ["Find v and t."] * 2


def test_an_item_without_parts_has_one() -> None:
    """Its accepted references are alternatives: the list of a single answer (ATLAS, E.1)."""
    made = item(listed("0.5"), reference="1/2")
    several = made.model_copy(update={"reference": ("7", "1/2")})
    for one in (made, several):
        (found,) = PartsJudge(RuleJudge()).judge([one])
        assert (found.verdict, found.reason, found.answer) == (Verdict.CORRECT, "parts:A", "0.5")


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("", "response:empty"), ("I cannot answer this question.", "response:refusal"),
        ("It is 3 and 5.", "response:no-json"), (listed("3", "5", "7"), "response:wrong-count"),
        ('```json\n{"answers": ["3" "5"]}\n```', "response:json-error"),
        ('```json\n{"answers": ["3", "5', "response:cut-off"),
        ("So it is. " + "Wait, let me think. " * 20, "response:loop"),
    ],
)  # fmt: skip
def test_a_response_without_such_a_list(response: str, reason: str) -> None:
    """It is invalid, with the reason; the judge is not called."""
    judge = BySign()
    (found,) = PartsJudge(judge).judge([item(response, "3", "5")])
    assert (found.verdict, found.reason) == (Verdict.INVALID, reason)
    assert not hasattr(judge, "items")


def test_blank_answers_and_references() -> None:
    """A blank answer is C without a judge; a blank reference leaves the item undecided."""
    judge = BySign()
    (found,) = PartsJudge(judge).judge([item(listed("", "+1"), "3", "5")])
    assert (found.reason, [i.id for i in judge.items]) == ("parts:C,A", ["q(2)"])
    (found,) = PartsJudge(judge).judge([item(listed("", None), "3", "5")])
    assert (found.verdict, found.reason) == (Verdict.INVALID, "parts:C,C:no-answer")
    (found,) = PartsJudge(judge).judge([item(listed("+1", "+1"), "3", " ")])
    assert (found.outcome, found.reason) == (Outcome.UNDECIDED, "parts:empty-reference")


def test_the_server_returns_a_label_for_each_part() -> None:
    """In the form that OpenCompass's ATLAS evaluator reads."""
    atlas = next(template for template in TEMPLATES if template.name == "atlas")
    reply = atlas.write(signed("+-"), {})
    assert reply is not None
    made = json.loads(reply.core.removeprefix("```json").removesuffix("```"))
    assert [one["label"] for one in made["judgements"]] == ["A", "B"]


# --- from settings and the command line -----------------------------------------------------------


def test_from_settings() -> None:
    """A cascade judges every part; the share is part of the fingerprint."""
    settings = JudgeSettings.of(kind="parts", judges=[{"kind": "rules"}], least=0.5)
    judge = build_judge(settings)
    (found,) = judge.judge([item(listed("3", "6"), "3", "5")])
    assert (found.verdict, found.reason) == (Verdict.CORRECT, "parts:A,B")
    assert judge.fingerprint.startswith("parts-2(0.5|cascade(rules-")
    assert settings.label == "parts"


def test_parts_are_judged_as_by_the_profile_of_atlas() -> None:
    """A relative error of 0.1 is accepted (prompt E.2); a part without an answer is not right."""
    both = {"reference": "(1) 10; (2) 5"}
    near, short = (item(listed(*said), "10", "5", **both) for said in (("10.5", "5"), ("10",)))
    found = PartsJudge(RuleJudge()).judge([near, short])
    assert [one.verdict for one in found] == [Verdict.CORRECT, Verdict.INCORRECT]
    assert [one.reason for one in found] == ["parts:A,A", "parts:A,C"]
    profile = ProfileJudge("atlas").judge([near, short])
    assert [one.verdict for one in profile] == [Verdict.CORRECT, Verdict.INCORRECT]
    (exact,) = PartsJudge(RuleJudge()).judge([near.model_copy(update={"tolerance": "exact"})])
    assert exact.reason == "parts:B,A"
