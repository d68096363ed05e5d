"""Model judge and cascade: text becomes a judgement, and a failure never a verdict."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest

from gradegpt.chains.chain import NO_KEY, PromptSettings, build_prompt
from gradegpt.chains.fit import Budget
from gradegpt.core.errors import EngineError, EngineTimeoutError
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Judgement, Message, Outcome, Verdict
from gradegpt.engines.base import Engine, Generation, TagProbability, TokenLogprob
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.model import NOT_QUOTED, NOT_VERBATIM, ModelJudge, tag_probability
from gradegpt.judges.rules import RuleJudge

ITEM = Item(id="i", question="2+2=?", reference=("4",), response="Adding up. The answer is 4.")
CHAIN = (
    "The model response gives its answer here: The answer is 4.\n"
    "The reference answer 4 is a number; the model response gives 4.\n"
    "Reason: both are 4.\n"
    "The answers agree: <Yes>"
)
FIRST = f"<Yes>\n{CHAIN.removesuffix(chr(10) + 'The answers agree: <Yes>')}"
OUTCOME = PromptSettings(chain_format=ChainFormat.OUTCOME)
PLAIN = ChainFormat.JUDGE_OF_CHAIN
TAG_FIRST = PromptSettings(chain_format=PLAIN, verdict="first")


class Fixed:
    """An engine that returns these generations."""

    name = "fixed"

    def __init__(self, *generations: Generation | EngineError) -> None:
        self.generations = list(generations)

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        assert len(prompts) == len(self.generations)
        self.limit = max_new_tokens
        return self.generations


def judged(engine: Engine) -> Judgement:
    return ModelJudge(engine).judge([ITEM])[0]


def spelled(
    *probabilities: float, pieces: Sequence[str] = ("agree: ", "<", "Yes", ">")
) -> Generation:
    """A chain whose pieces have these probabilities."""
    logprobs = [math.log(p) for p in probabilities]
    tokens = tuple(TokenLogprob(t, lp) for t, lp in zip(pieces, logprobs, strict=True))
    return Generation(CHAIN, prompt_tokens=50, completion_tokens=30, tokens=tokens)


# --- the model judge ------------------------------------------------------------------------------


def test_a_chain_becomes_a_judgement() -> None:
    """With every part of the chain and the cost; the score is that of the tag."""
    assert judged(Fixed(spelled(0.1, 0.9, 0.8, 1.0))) == Judgement(
        id="i", outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, score=0.9 * 0.8,
        method="model",
        reason="model:chain", key_sentence="The answer is 4.", answer="4",
        span=(ITEM.response.index("The answer is 4."), len(ITEM.response)),
        answer_type=AnswerType.NUMBER, why="both are 4",
        chain=CHAIN, prompt_tokens=50, completion_tokens=30,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("<Yes>", Verdict.CORRECT),
        ("<No>", Verdict.INCORRECT),
        ("The model response gives no answer that can be graded.\nThe answers agree: <No>",
        Verdict.INVALID),
        ("Is it <Yes>? No: <No>", Verdict.INCORRECT),
        (f"<think>\n{CHAIN}\n</think>\n<No>", Verdict.INCORRECT),
    ],
    ids=["yes", "no", "nothing to grade", "last tag", "thoughts"],
)  # fmt: skip
def test_the_verdict_is_the_one_of_the_chain(text: str, verdict: Verdict) -> None:
    """Also where only the tag was written; without token probabilities there is no score."""
    judgement = judged(Fixed(Generation(text)))
    assert (judgement.outcome, judgement.verdict) == (Outcome.JUDGED, verdict)
    assert judgement.score is None
    assert judgement.reason == ("model:tag" if text in ("<Yes>", "<No>") else "model:chain")


@pytest.mark.parametrize("text", ["", "Yes", "<Maybe>", "<Yes> or <No>", "The answers agree: <Ye"])
def test_text_without_a_verdict_is_unparsed(text: str) -> None:
    """There is no default verdict; the text is kept."""
    judgement = judged(Fixed(Generation(text, prompt_tokens=7, completion_tokens=3)))
    assert (judgement.outcome, judgement.verdict) == (Outcome.UNPARSED, None)
    assert judgement.reason.startswith("chain:")
    assert (judgement.chain, judgement.prompt_tokens, judgement.completion_tokens) == (text, 7, 3)


@pytest.mark.parametrize(
    ("old", "new", "flaw"),
    [
        ("here: The answer", "here: The final answer", NOT_VERBATIM),
        ("4.\nThe", "4.\nAnd here: It is 9.\nThe", NOT_VERBATIM),
        ("4.\nThe", "4.<Yes>|", NOT_VERBATIM),  # cut off behind a quoted tag
        ("gives 4", "gives 5", NOT_QUOTED),
    ],
)
def test_a_chain_with_a_flaw_has_a_verdict_only_where_that_came_first(
    old: str, new: str, flaw: str
) -> None:
    """A verdict that rests on it is not given; one before it stays, without the chain."""
    item = ITEM.model_copy(update={"response": f"{ITEM.response}<Yes>"})
    for prompt, text in itertools.product((None, TAG_FIRST), (CHAIN, FIRST)):
        tag, whole = Generation("<Yes>"), text.replace(old, new).partition("|")[0]
        judge = ModelJudge(Fixed(tag, Generation(whole)), prompt, explain=PLAIN)
        alone, found = judge.judge([item] * 2)
        if prompt and text == FIRST:
            assert found == alone
        else:
            assert (found.outcome, found.reason, found.chain) == ("unparsed", flaw, whole)


def test_a_gloss_that_does_not_match_its_quote_is_left_out() -> None:
    """The verdict is kept, the reason says it; the same gloss may match another quote."""
    gloss, other = "In English: So choose B\n", "And here: 选C\n"
    chain = CHAIN.replace("The answer is 4.\n", f"选B\n{gloss}{other}{gloss}")
    chain = chain.replace("gives 4", "gives B")
    item = ITEM.model_copy(update={"response": "选B，不，选C"})
    (judgement,) = ModelJudge(Fixed(Generation(chain))).judge([item])
    assert (judgement.verdict, judgement.reason) == ("correct", "model:gloss-left-out")
    assert judgement.chain == chain.replace(other + gloss, other)


class Tagging(Fixed):
    """An engine that also returns the probabilities of tags."""

    name = "tagging"

    def __init__(
        self,
        tags: list[TagProbability | EngineError | None],
        *generations: Generation | EngineError,
    ) -> None:
        super().__init__(*generations)
        self.tags = tags

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        assert len(prompts) == len(self.tags)
        return self.tags


def test_in_the_outcome_format_a_tag_is_not_generated() -> None:
    """The likelier tag with its probability; a prompt without one is generated."""
    engine = Tagging(
        [TagProbability(0.75, 50), None, TagProbability(0.1, 60, 2), EngineTimeoutError("slow")],
        Generation("<Yes>"),
    )
    judge = ModelJudge(engine, OUTCOME)
    yes, written, no, failed = judge.judge([ITEM] * 4)
    assert (yes.verdict, yes.chain, yes.prompt_tokens, yes.completion_tokens) == (
        "correct", "<Yes>", 50, 1,
    )  # fmt: skip
    assert yes.score == pytest.approx(0.75)
    assert (no.verdict, no.chain, no.completion_tokens) == ("incorrect", "<No>", 2)
    assert no.score == pytest.approx(0.9)
    assert (written.verdict, written.score) == ("correct", None)
    assert (failed.outcome, failed.reason) == ("failed", "engine:timeout: slow")


@pytest.mark.parametrize(
    ("yes", "chain", "verdict", "explained"),
    [
        (0.9, CHAIN, Verdict.CORRECT, True),
        (0.2, CHAIN, Verdict.INCORRECT, True),
        (0.2, "The answers agree.", Verdict.INCORRECT, False),
        (0.2, CHAIN.replace("The answer is 4.", "It is 9."), Verdict.INCORRECT, False),
        (0.9, EngineError("gone"), Verdict.CORRECT, False),
        (0.9, f"{NO_KEY}\n<No>", Verdict.CORRECT, False),
        (0.2, f"{NO_KEY}\n<Yes>", Verdict.INCORRECT, True),
    ],
    ids=[
        "the same tag",
        "another tag",
        "no tag",
        "an invented quote",
        "a failure",
        "no answer for a right one",
        "no answer for a wrong one",
    ],
)
def test_a_chain_explains_the_verdict_of_the_tag(
    yes: float, chain: str | EngineError, verdict: Verdict, explained: bool
) -> None:
    """The tag decides; a chain ends in its verdict, and one that cannot be read is no loss."""
    written = chain if isinstance(chain, EngineError) else Generation(chain, 30, 40)
    engine = Tagging([TagProbability(yes, 20)], written)
    judge = ModelJudge(engine, OUTCOME, explain=PLAIN)
    (found,) = judge.judge([ITEM])
    tag = "<Yes>" if verdict is Verdict.CORRECT else "<No>"
    kept = str(chain) if tag in str(chain) else str(chain).replace("Reason: both are 4.\n", "")
    assert (found.verdict, found.score) == (verdict, pytest.approx(max(yes, 1 - yes)))
    assert found.chain == (f"{kept[: kept.rindex('<')]}{tag}" if explained else tag)
    assert found.why == ("both are 4" if explained and yes == 0.9 else None)
    assert (found.prompt_tokens, found.completion_tokens) == ((50, 41) if explained else (20, 1))
    assert judge.fingerprint != ModelJudge(engine, OUTCOME).fingerprint


def test_a_chain_besides_a_tag_is_asked_for_with_its_tag_last() -> None:
    """So that it does not depend on a tag that is not the verdict."""
    engine = ScriptedEngine(["<Yes>", CHAIN])
    first = OUTCOME.model_copy(update={"verdict": "first"})
    assert ModelJudge(engine, first, explain=PLAIN).judge([ITEM])[0].chain == CHAIN
    assert engine.prompts[1] == build_prompt(ITEM, PromptSettings(chain_format=PLAIN))


def test_a_verdict_that_comes_first_is_read_alone() -> None:
    """Its probability, or a tag and no room for a chain, of which what was written is left out."""
    engine = Tagging([TagProbability(0.75, 50), None], Generation(FIRST[:30], cut_off=True))
    read, written = ModelJudge(engine, TAG_FIRST).judge([ITEM] * 2)
    assert engine.limit == 8
    assert (read.score, written.score) == (pytest.approx(0.75), None)
    for found in (read, written):
        assert (found.verdict, found.reason, found.chain) == ("correct", "model:tag", "<Yes>")


def test_a_verdict_that_comes_first_is_explained_by_the_chain_behind_it() -> None:
    """With the score of the first tag; no tag behind it, and no other sign, counts."""
    pieces = ["<", "Yes", ">", FIRST[5:-1], " > 3."]
    tokens = spelled(0.9, 0.8, 1.0, 0.1, 0.2, pieces=pieces).tokens
    engine = Tagging([TagProbability(0.99)] * 3, Generation(f"{FIRST[:-1]} > 3.", tokens=tokens))
    (found,) = ModelJudge(engine, TAG_FIRST, explain=PLAIN).judge([ITEM])
    assert engine.limit == 256
    assert (found.verdict, found.reason, found.answer) == ("correct", "model:chain", "4")
    assert (found.key_sentence, found.why) == ("The answer is 4.", "both are 4 > 3")
    assert found.score == pytest.approx(0.9 * 0.8)


@pytest.mark.parametrize(
    ("odds", "kept"),
    [
        ((9, 9, 9, 9, 9), "qrg"),  # the response, its quote, its reason, the gloss both ways
        ((9, 7, 9, 9, 9), ""),
        ((3, 9, 9, 9, 9), "qrg"),
        ((9, 9, 1, 9, 9), "qg"),
        ((9, 9, 9, 9, 1), "qr"),
        ((9, 9, 9, 1, 9), "qr"),
        ((9, 9, 1, 1, 1), "q"),
        ((9, 9, 9, 9), "qrg"),  # a server that lists no tag for one of them
    ],
)
@pytest.mark.parametrize("right", [True, False])
def test_a_chain_is_left_without_what_its_own_judge_does_not_confirm(
    right: bool, odds: Sequence[float], kept: str
) -> None:
    """Its verdict stays. The quote and the reason have to bring it, a gloss to say its quote."""
    verdict, sign = ("<Yes>", 1) if right else ("<No>", -1)
    lines = FIRST.replace("<Yes>", verdict).replace("The answer is 4.", "得4").split("\n")
    lines.insert(2, "In English: makes 4")
    item = ITEM.model_copy(update={"response": "加起来，得4"})
    tags = [TagProbability(1 / (1 + math.exp(-o * (sign if n < 3 else 1))), 50)
            for n, o in enumerate(odds)]  # fmt: skip
    engine = Tagging([*tags, None][:5], Generation("\n".join(lines), 60, 40))
    judge = ModelJudge(engine, TAG_FIRST, explain=ChainFormat.CROSS_LINGUAL)
    (found,) = judge.judge([item])
    assert found.verdict == ("correct" if right else "incorrect")
    shown = {"q": found.key_sentence, "r": found.why, "g": "In English" in (found.chain or "")}
    assert "".join(name for name, part in shown.items() if part) == kept
    assert found.prompt_tokens == (310 if len(odds) == 5 else 60)
    assert judge.fingerprint.endswith("|confirmed")


def test_each_item_gets_its_own_prompt_and_judgement() -> None:
    """In order; a failure affects one item; prompts are those of ``build_prompt``."""
    engine = ScriptedEngine(["<Yes>", EngineError("gone"), "<No>"])
    items = [ITEM.model_copy(update={"id": name}) for name in "abc"]
    judgements = ModelJudge(engine, OUTCOME).judge(items)
    assert [(j.id, j.outcome.value) for j in judgements] == [
        ("a", "judged"), ("b", "failed"), ("c", "judged"),
    ]  # fmt: skip
    assert engine.prompts == [build_prompt(ITEM, OUTCOME)] * 3
    assert ModelJudge(engine, OUTCOME).judge([]) == []


class Counting(ScriptedEngine):
    """An engine with a tokenizer of bytes."""

    def count_tokens(self, text: str) -> int:
        return len(text.encode())


def test_prompts_are_fitted_by_the_count_of_an_engine_that_counts() -> None:
    """For any other engine they are fitted by the estimate."""
    prompt = PromptSettings(budget=Budget(response=30))
    long = ITEM.model_copy(update={"response": "㐀" * 30})
    counting, other = Counting(["<Yes>"]), ScriptedEngine(["<Yes>"])
    for engine in (counting, other):
        ModelJudge(engine, prompt).judge([long])
    assert counting.prompts == [build_prompt(long, prompt, counting.count_tokens)]
    assert other.prompts == [build_prompt(long, prompt)] != counting.prompts


def test_different_judges_have_different_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    """By engine, prompt, limits and the version of the fitting: a resumed run must not mix them."""
    engine = ScriptedEngine([])
    prints = {
        ModelJudge(engine).fingerprint,
        ModelJudge(engine, max_new_tokens=9).fingerprint,
        ModelJudge(engine, OUTCOME).fingerprint,
        ModelJudge(engine, PromptSettings(verdict="first"), explain=PLAIN).fingerprint,
        ModelJudge(Fixed()).fingerprint,
        ModelJudge(Counting([])).fingerprint,
        ModelJudge(Tagging([]), OUTCOME).fingerprint,
        RuleJudge().fingerprint,
        CascadeJudge([RuleJudge(), ModelJudge(engine)]).fingerprint,
    }
    assert len(prints) == 9
    assert ModelJudge(ScriptedEngine([]), explain=PLAIN).fingerprint in prints
    assert ModelJudge(Tagging([])).fingerprint.replace("tagging", "fixed") in prints
    assert '"verdict"' not in ModelJudge(engine).fingerprint  # caches from before stay valid
    monkeypatch.setattr("gradegpt.judges.model.FIT_VERSION", "other")
    assert ModelJudge(engine).fingerprint not in prints


# --- confidence by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "probabilities", "expected"),
    [
        (["agree: ", "<Yes>"], [0.1, 0.9], 0.9),
        (["agree: ", "<", "Yes", ">"], [0.1, 0.5, 0.8, 0.9], 0.5 * 0.8 * 0.9),
        (["<", "Yes", ">", ".", "\n"], [0.5, 0.8, 0.9, 0.1, 0.1], 0.5 * 0.8 * 0.9),
        (["<Yes>", " or ", "<No>"], [0.9, 0.5, 0.25], 0.25),
        (["<|im_end|>"], [0.5], None),
        (["<Yes>"], [1.000001], 1.0),  # some servers return log-probabilities above zero
        (["no", "tag"], [0.5, 0.5], None),
    ],
)
def test_the_probability_of_the_tag(
    pieces: list[str], probabilities: list[float], expected: float | None
) -> None:
    """The product over the tokens of the last tag; tokens before and after it are ignored."""
    tokens = [TokenLogprob(t, math.log(p)) for t, p in zip(pieces, probabilities, strict=True)]
    found = tag_probability(tokens)
    assert found == (None if expected is None else pytest.approx(expected))


# --- the cascade ----------------------------------------------------------------------------------
