"""Few-shot prompts: examples that a judge could have written, as many right as wrong."""

from __future__ import annotations

import itertools
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from gradegpt.chains.chain import PromptSettings, build_prompt, needs_gloss, render_chain
from gradegpt.chains.fit import Budget, estimate_tokens
from gradegpt.chains.grammar import accepts, chain_grammar
from gradegpt.chains.shots import MOST, example_turns, few_shot_prompt, worked_examples
from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import ChainFormat, Item, Verdict
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges import build
from gradegpt.judges.build import build_judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.settings import JudgeSettings

GOLDEN = Path(__file__).parents[1] / "golden"
ITEMS = {
    "en": Item(question="2+2=?", reference=("4",), response="Adding up. The answer is 4.<Yes>"),
    "zh": Item(question="2+2 等于几？", reference=("4",), response="所以答案是 4。"),
}
EN = ITEMS["en"]
FORMS = {
    "en": PromptSettings(chain_format=ChainFormat.JUDGE_OF_CHAIN, verdict="first"),
    "zh": PromptSettings(),
}


@pytest.mark.parametrize("lang", ITEMS)
def test_a_few_shot_prompt_is_the_golden_text(lang: str) -> None:
    """The examples are chat turns between the instructions and the judge's own prompt."""
    messages = few_shot_prompt(ITEMS[lang], FORMS[lang], 4)
    system, *turns, last = messages
    assert (system, last) == build_prompt(ITEMS[lang], FORMS[lang])
    assert [turn.role for turn in turns] == ["user", "assistant"] * 4
    assert few_shot_prompt(ITEMS[lang], FORMS[lang], 0) == (system, last)
    assert chain_grammar(messages) == chain_grammar((system, last))
    made = "".join(f"--- {m.role}\n{m.content}\n" for m in messages).encode()
    golden = GOLDEN / f"{lang}-4-shot.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(made)
    assert made == golden.read_bytes()


@pytest.mark.skipif(not find_spec("llguidance"), reason="needs llguidance")
@pytest.mark.parametrize("place", ["last", "first"])
@pytest.mark.parametrize("chain_format", ChainFormat)
def test_an_example_is_what_the_judge_may_write(chain_format: ChainFormat, place: str) -> None:
    """It is of the grammar, and the judge reads its verdict, its verbatim quote and its gloss."""
    form = PromptSettings.model_validate({"chain_format": chain_format, "verdict": place})
    for shot in worked_examples():
        reply = render_chain(shot.chain, chain_format, form.verdict)
        assert accepts(str(chain_grammar(build_prompt(shot.item, form))), reply)
        judge = ModelJudge(ScriptedEngine([reply]), form, explain=chain_format)
        (found,) = judge.judge([shot.item])
        tag = chain_format is ChainFormat.OUTCOME
        assert found.reason == ("model:tag" if tag else "model:chain")
        assert found.correct is (shot.chain.verdict is Verdict.CORRECT)


def test_the_examples_are_of_all_languages_and_both_verdicts() -> None:
    """Among the first four, as among all that a prompt may have."""

    def right(n: int) -> int:
        replies = example_turns(EN, PromptSettings(chain_format=ChainFormat.OUTCOME), n)[1::2]
        assert len(replies) == n
        return sum(reply.content == "<Yes>" for reply in replies)

    assert list(map(right, range(MOST + 1))) == [0, 1, 1, 2, 2, 3, 3]
    first = worked_examples()[:4]
    assert [s.chain.answer_type for s in first] == [
        "expression", "number", "multiple_choice", "text",
    ]  # fmt: skip
    shown = {(needs_gloss(s.item.question), needs_gloss(s.item.response)) for s in first}
    assert shown == {(False, True), (False, False), (True, True)}
    shown = {
        (needs_gloss(s.item.question), needs_gloss(s.item.response))
        for s in worked_examples()[:MOST]
    }
    assert shown == set(itertools.product((True, False), repeat=2))
    assert {s.chain.verdict for s in worked_examples()[:MOST]} == set(Verdict)


@pytest.mark.parametrize("shots", range(1, MOST + 1))
@pytest.mark.parametrize("own", worked_examples(), ids=lambda shot: shot.item.reference[0])
def test_an_items_own_question_is_never_an_example(own: object, shots: int) -> None:
    """Another of the same verdict takes its place, so the numbers stay."""
    item = own.item.model_copy(update={"question": f" {own.item.question}\n"})  # type: ignore[attr-defined]
    turns = example_turns(item, PromptSettings(chain_format=ChainFormat.OUTCOME), shots)
    assert all(item.question.strip() not in turn.content for turn in turns)
    verdicts = [turn.content for turn in turns[1::2]]
    assert len(verdicts) == shots
    assert verdicts.count("<Yes>") == (shots + 1) // 2


def test_examples_take_their_room_from_a_long_response() -> None:
    """But not from one of the usual length, nor from a small budget."""
    long = EN.model_copy(update={"response": "我再想一想。" * 2_000})

    def tokens(budget: Budget, shots: int) -> float:
        form = PromptSettings(budget=budget)
        messages = few_shot_prompt(long, form, shots)
        return sum(estimate_tokens(message.content) for message in messages)

    assert tokens(Budget(), 4) == pytest.approx(tokens(Budget(), 0), abs=200)
    small = Budget(question=150, reference=100, response=220)
    assert tokens(small, 4) > tokens(small, 0) + 700
    assert Budget(response=900).beside(800) == Budget(response=600)
    assert few_shot_prompt(EN, PromptSettings(), 4)[-1] == build_prompt(EN, PromptSettings())[-1]


def test_a_judge_shows_its_examples_and_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """With any engine; a calibration, which is of prompts without them, is not used."""
    engine = ScriptedEngine(["<No>"])
    monkeypatch.setattr(build, "_engine", lambda *_: engine)
    given = {"model": "gradegpt-1.5b", "chain_format": "outcome"}
    judge = build_judge(JudgeSettings.of(kind="model", **given, shots=4))
    assert judge.judge([EN])[0].correct is False
    assert len(engine.prompts[0]) == 10
    plain = build_judge(JudgeSettings.of(kind="model", **given))
    assert judge.fingerprint != plain.fingerprint
    assert plain.fingerprint == judge.fingerprint.replace("|4-shot", "")
    both = [build_judge(JudgeSettings.of(**given, shots=shots)) for shots in (0, 4)]
    measured = [one.stages[-1].calibration for one in both if isinstance(one, CascadeJudge)]
    assert measured[0] is not None
    assert measured[1] is None


@pytest.mark.parametrize(
    ("shots", "bound"),
    [(-1, "greater than or equal to 0"), (7, "less than or equal to 6"), ("few", "whole number")],
)
def test_another_number_is_refused_with_the_bound(shots: object, bound: str) -> None:
    """Nothing is taken for it."""
    with pytest.raises(SettingsError, match=f"shots: .*{bound}"):
        JudgeSettings.of(kind="model", model="m", shots=shots)


def test_an_encoder_reads_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads an item alone."""
    monkeypatch.setattr("gradegpt.engines.encoder.is_for_encoder", lambda _: True)
    settings = JudgeSettings.of(kind="model", model="m", adapter="a", shots=2)
    with pytest.raises(SettingsError, match="an encoder reads no examples; leave shots out"):
        build_judge(settings)
