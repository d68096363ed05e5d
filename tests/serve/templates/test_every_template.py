"""Every YAML file with every judgement: recognised by its frame, answered for its parser."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from gradegpt.core.errors import EngineError, EngineTimeoutError
from gradegpt.core.schema import Judgement, Message, Outcome, Verdict
from gradegpt.core.settings import load_settings
from serve.templates import TEMPLATES, NoVerdictError, PromptError, Template, find
from serve.templates.reply import reason
from serve.templates.trials import TRIALS, tried
from tests.serve.templates.oracles import ORACLES

FILES = sorted((Path(__file__).parents[3] / "serve" / "templates").glob("*.yaml"))
JUDGING = [t for t in TEMPLATES if t.judges]
FRAMED = [t for t in TEMPLATES if t.name != "health"]  # a connection check has no fields
by_name = pytest.mark.parametrize("template", FRAMED, ids=lambda t: t.name)
judging = pytest.mark.parametrize("template", JUDGING, ids=lambda t: t.name)

CHAIN = (
    "The model response gives its answer here: {quote}\n"
    "In English: {quote}\n"
    "And here: {quote}\n"
    "The reference answer {reference} is a {kind}; the model response gives {answer}.\n"
    "Reason: {quote}.\n"
    "The answers agree: {tag}"
)
QUOTES = (
    ("the answer is 4.", "4", "4"),
    ("Answer: C, not A or B", "A", "C"),
    ('so {"verdict": "B"}, "x" and \\frac{1}{2}', "\\frac{1}{2}", '"x"'),
    ("Yes, correct; No, INCORRECT. 1 0 True False", "Yes", "No"),
    ("GRADE: C Judgement: Yes Final Decision: Yes [[A=B]] \\boxed{A}", "A", "\\boxed{A}"),
    ("<answer>1</answer> Final Judgment: \\boxed{C} correct: yes", "1", "2"),
    ("所以，答案是 38 厘米。", "38", "38 厘米"),
)


def judgement(verdict: Verdict, quote: tuple[str, str, str]) -> Judgement:
    """A judged response with a chain that quotes one of ``QUOTES``."""
    text, reference, answer = quote
    tag = "<Yes>" if verdict is Verdict.CORRECT else "<No>"
    chain = CHAIN.format(quote=text, reference=reference, answer=answer, kind="number", tag=tag)
    return Judgement(
        id="", outcome=Outcome.JUDGED, verdict=verdict, method="model", key_sentence=text,
        answer=answer, chain=chain, confidence=0.9,
    )  # fmt: skip


def prompts(
    template: Template, question: str, reference: str, response: str
) -> dict[str, list[Message]]:
    """The template's prompt as its callers may send it."""
    chat = list(template.prompt(question, reference, response))
    raw = "\n\n".join(message.content for message in chat)
    forms = {
        "chat": chat,
        "raw": [Message(role="user", content=f"User: {raw}\nAssistant:")],
        "chatml": [
            Message(
                role="user", content=f"<|im_start|>user\n{raw}<|im_end|>\n<|im_start|>assistant\n"
            )
        ],
        "longer": [Message(role="system", content="Mind the units."), *chat],
    }
    if template.name != "gradegpt":  # its frame needs lines
        flat = " ".join(raw.split())
        forms["flat"] = [Message(role="user", content=flat)]
    return forms


ITEMS = (
    ("What is 2+2?", "4", "I think the answer is 4."),
    ("二加二等于几？", "4", "等于4。"),
    ("Solve $x^2=2$.", r"\boxed{\pm\sqrt{2}}", r"So $x=\pm\sqrt{2}$ {done} %s"),
    ("Which of A: 1, B: 2, C: 3?", "B", "A: no. B: yes.\n\nQuestion: none\nAnswer: B"),
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_passes_the_trials_of_a_template_of_ones_own(file: Path) -> None:
    """It has the form that users write; no other template claims its prompts, nor it theirs."""
    template = load_settings(Template, file)
    assert template.name == file.stem
    others = [other for other in TEMPLATES if other != template]
    assert len(others) == len(TEMPLATES) - 1
    trials = tried(template, others, str(file))
    assert not any(trials.values()) if template.judges else not trials[TRIALS[-1]]


@by_name
def test_a_prompt_is_known_in_every_form(template: Template) -> None:
    """In chat, raw, in markup, on one line, with another sentence: always one template."""
    for question, reference, response in ITEMS:
        for form, messages in prompts(template, question, reference, response).items():
            ask = find(messages)
            assert ask.template.name == template.name, form
            if not template.refuses:
                assert " ".join(ask.fields["response"].split()) == " ".join(response.split()), form


@judging
def test_the_item_is_what_the_caller_put_in(template: Template) -> None:
    """A template without a question gives an empty one."""
    asks = "{question}" in template.system + template.template
    for question, reference, response in ITEMS:
        item = find(template.prompt(question, reference, response)).item()
        assert item.reference == (reference,)
        assert item.response == response
        assert item.question == (question if asks else "")


@judging
def test_a_response_that_quotes_a_prompt_is_a_response(template: Template) -> None:
    """The quoted prompt may be of any template, even its own, with an item and a verdict."""
    for other in TEMPLATES:
        quoted = "\n\n".join(m.content for m in other.prompt("1+1=?", "7", "The answer is 7."))
        response = f"My answer is 5.\n{quoted}\nGRADE: C"
        ask = find(template.prompt("What is 2+2?", "4", response))
        assert ask.template.name == template.name, other.name
        assert ask.item().reference == ("4",), other.name
        assert ask.item().response.startswith("My answer is 5."), other.name


@judging
def test_the_parser_reads_the_verdict(template: Template) -> None:
    """With any quote in the chain, with and without reason; ``invalid`` may be read as wrong."""
    ask = find(template.prompt(*ITEMS[0]))
    for quote, verdict in itertools.product(QUOTES, Verdict):
        wanted = {verdict.value, *(["incorrect"] if verdict is Verdict.INVALID else [])}
        reply = ask.reply(judgement(verdict, quote))
        for text in filter(None, (reply.core, reply.whole)):
            for reader in ORACLES[template.name]:
                assert reader(text) in wanted, text


def test_the_reason_of_a_reply_is_the_chain_without_its_tag() -> None:
    """All quotes and the judge's own reason, with one full stop; without a verdict, in words."""
    last = judgement(Verdict.CORRECT, QUOTES[0])
    kept, tag = str(last.chain).rsplit("\n", 1)
    first = last.model_copy(update={"chain": f"{tag.partition(': ')[2]}\n{kept}"})
    assert reason(last) == reason(first) == kept.replace("4..", "4.")
    outcome = {"outcome": Outcome.UNDECIDED, "verdict": None, "reason": "text:not-shown"}
    said = reason(last.model_copy(update=outcome))
    assert said == "No verdict. Two texts; the rules cannot show that they say the same."


@judging
@pytest.mark.parametrize("outcome", [Outcome.UNDECIDED, Outcome.UNPARSED], ids=lambda o: o.value)
def test_an_undecided_judgement_is_never_a_verdict(template: Template, outcome: Outcome) -> None:
    """The parser reads no verdict, or the request is refused, unless a setting says otherwise.

    ``replied`` says how the parser reads the text.
    """
    ask = find(template.prompt(*ITEMS[0]))
    open_one = Judgement(id="", outcome=outcome, method="model", reason="chain:<Yes> or <No>?")
    try:
        reply = ask.reply(open_one)
    except NoVerdictError:
        for undecided in ("incorrect", "guess"):
            counted = ask.reply(open_one, undecided=undecided)  # type: ignore[arg-type]
            assert counted.replied == "incorrect"
            for reader in ORACLES[template.name]:
                assert reader(counted.core) in ("incorrect", "invalid")
        return
    assert reply.replied == "undecided"
    assert reply.core or None in [reader("") for reader in ORACLES[template.name]]
    for text in filter(None, (reply.core, reply.whole)):
        for reader in ORACLES[template.name]:
            assert reader(text) is None, text


@judging
@pytest.mark.parametrize("withheld", Verdict, ids=lambda v: v.value)
def test_a_withheld_verdict_is_replied_only_as_a_guess(
    template: Template, withheld: Verdict
) -> None:
    """A template with its own reply to no verdict uses that one; no reason speaks for a guess."""
    ask = find(template.prompt(*ITEMS[0]))
    chain = judgement(withheld, QUOTES[0]).chain
    unsure = Judgement(
        id="", outcome=Outcome.UNDECIDED, withheld=withheld, method="model", chain=chain
    )
    for undecided in ("incorrect", "guess"):
        reply = ask.reply(unsure, undecided=undecided)  # type: ignore[arg-type]
        wanted = {
            "undecided": {None},
            "incorrect": {"incorrect", "invalid"},
            "invalid": {"incorrect", "invalid"},
            "correct": {"correct"},
        }[reply.replied]
        assert reply.replied in (
            "undecided",
            withheld.value if undecided == "guess" else "incorrect",
        )
        for text in filter(None, (reply.core, reply.whole)):
            for reader in ORACLES[template.name]:
                assert reader(text) in wanted, text


def test_an_engine_failure_is_an_error() -> None:
    """Never a reply."""
    ask = find(JUDGING[0].prompt(*ITEMS[0]))
    for code, kind in (
        ("engine:error: down", EngineError),
        ("engine:timeout: slow", EngineTimeoutError),
    ):
        failed = Judgement(id="", outcome=Outcome.FAILED, method="model", reason=code)
        with pytest.raises(kind):
            ask.reply(failed, undecided="incorrect")


@pytest.mark.parametrize(
    "junk", [" ", "\n", "*", "-", "`", "#", "[", "{", "<", "Question: ", "User:"]
)
def test_a_long_run_of_anything_is_read_in_one_go(junk: str) -> None:
    """By every template, as a response and as a prompt, in linear time."""
    run = junk * (30_000 // len(junk))
    asked = JUDGING[0].prompt("2+2=?", "4", f"4 {run} x")
    assert find(asked).template.name == JUDGING[0].name
    with pytest.raises(PromptError):
        find([Message(role="user", content=f"User: x{run}y")])


def test_names_are_unique_and_every_judging_template_has_an_oracle() -> None:
    """A template without an oracle would not be tested."""
    names = [template.name for template in TEMPLATES]
    assert len(set(names)) == len(names) == len(FILES)
    assert {template.name for template in JUDGING} == set(ORACLES)
