"""The engine with vLLM, which is a stub here with the interface that vLLM has."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gradegpt.chains.chain import NO, YES, PromptSettings, build_prompt
from gradegpt.core.errors import EngineError, MissingError, SettingsError
from gradegpt.core.schema import ChainFormat, Item, Message, Outcome, Verdict
from gradegpt.core.shipped import NANO, base_of
from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.vllm import VLLMEngine
from gradegpt.judges.build import build_judge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.settings import JudgeSettings
from tests.interfaces import Reply, StubVLLM, parameters, record_of

ITEM = Item(id="a", question="1+1?", reference="2", response="Let me see. The answer is 2.")
CHAIN = (
    "The model response gives its answer here: The answer is 2.\n"
    "The reference answer 2 is a number; the model response gives 2.\nThe answers agree: <Yes>"
)
INVENTED = CHAIN.replace("here: The answer is 2.", "here: It is 2.")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(base_of(NANO))


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> StubVLLM:
    return StubVLLM(monkeypatch, tokenizer, lambda _: {CHAIN: 0.9})


def engine(vllm: StubVLLM, reply: Reply | None = None, **options: Any) -> VLLMEngine:
    vllm.reply = reply or vllm.reply
    return VLLMEngine(base_of(NANO), **options)


def chat(*words: str) -> list[tuple[Message, ...]]:
    return [(Message(role="user", content=word),) for word in words]


def test_a_chain_becomes_a_judgement_with_the_probability_of_its_tag(vllm: StubVLLM) -> None:
    """The token that ends the reply is no part of it."""
    (found,) = ModelJudge(engine(vllm)).judge([ITEM])
    assert (found.verdict, found.key_sentence) == (Verdict.CORRECT, "The answer is 2.")
    assert found.score == pytest.approx(0.9)
    assert found.prompt_tokens > 100 > found.completion_tokens > 30


def test_the_chain_is_constrained_unless_it_is_switched_off(vllm: StubVLLM) -> None:
    """An invented quote is not written; without the constraint it is, and has no verdict."""
    both: Reply = lambda _: {INVENTED: 0.9, CHAIN: 0.1}  # noqa: E731
    free = engine(vllm, both, constrained=False)
    constrained = engine(vllm, both)
    assert ModelJudge(constrained).judge([ITEM])[0].outcome is Outcome.JUDGED
    assert ModelJudge(free).judge([ITEM])[0].outcome is Outcome.UNPARSED
    assert constrained.name != free.name
    assert vllm.arguments.structured_outputs_config.backend == "guidance"
    assert "guidance" in parameters("StructuredOutputsBackend")


def test_replies_are_in_order_and_limited(vllm: StubVLLM) -> None:
    """Of several threads, too; a reply that the limit ended says so."""

    def echo(prompt: str) -> dict[str, float]:
        return {prompt[prompt.index("w") :].split("<")[0].strip(): 0.5}

    built = engine(vllm, echo)
    prompts = chat(*(f"w{n}" for n in range(20)))

    def texts(limit: int) -> list[Any]:
        return [g.text for g in built.generate(prompts, max_new_tokens=limit)]  # type: ignore[union-attr]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(texts, [9, 9]))
    assert found == [[f"w{n}" for n in range(20)]] * 2
    (cut,) = built.generate(chat("word for word for word"), max_new_tokens=2)
    assert isinstance(cut, Generation)
    assert (cut.cut_off, cut.completion_tokens) == (True, 2)
    assert len({request.request_id for request in vllm.requests}) == 41


def test_a_prompt_that_vllm_rejects_affects_no_other(vllm: StubVLLM) -> None:
    """Such as one that is longer than the model's context."""
    long = vllm.errors.VLLMError("the prompt has 9000 tokens\nand more")
    built = engine(vllm, lambda prompt: long if "long" in prompt else {"fine": 0.5})
    first, second = built.generate(chat("long", "short"), max_new_tokens=9)
    assert str(first) == f"{built.name}: the prompt has 9000 tokens"
    assert isinstance(second, Generation)


def test_a_dead_engine_raises(vllm: StubVLLM) -> None:
    """Every later prompt would fail as well."""
    built = engine(vllm, lambda _: vllm.errors.EngineDeadError("zmq"))
    with pytest.raises(EngineError, match="vLLM has ended"):
        built.generate(chat("a", "b"), max_new_tokens=9)


def test_the_probability_of_the_tag_needs_one_token(vllm: StubVLLM) -> None:
    """It is relative to both tags; where one is not listed, or none was written, it is None."""

    def reply(prompt: str) -> dict[str, float]:
        if "both" in prompt:
            return {YES: 0.6, NO: 0.2}
        return {NO: 0.9} if "one" in prompt else {"Well": 0.9, YES: 0.05, NO: 0.04}

    both, one, none = engine(vllm, reply).tag_probabilities(chat("both", "one", "none"))
    assert isinstance(both, TagProbability)
    assert (both.yes, both.completion_tokens) == (pytest.approx(0.75), 1)
    assert (one, none) == (None, None)
    assert {request.sampling_params.max_tokens for request in vllm.requests} == {1}


def test_the_outcome_format_is_judged_by_its_tag(vllm: StubVLLM) -> None:
    """No chain is generated; the score is the probability among the two tags."""
    prompt = PromptSettings(chain_format=ChainFormat.OUTCOME)
    (found,) = ModelJudge(engine(vllm, lambda _: {NO: 0.3, YES: 0.1}), prompt).judge([ITEM])
    assert (found.verdict, found.score) == (Verdict.INCORRECT, pytest.approx(0.75))


def test_prompts_are_those_of_the_local_engine(vllm: StubVLLM, tokenizer: Any) -> None:
    """By the same chat template, and greedily."""
    from gradegpt.engines.chat import render_chat

    prompt = build_prompt(ITEM, PromptSettings())
    engine(vllm).generate([prompt], max_new_tokens=7)
    (request,) = vllm.requests
    assert tokenizer.decode(request.prompt.prompt_token_ids) == render_chat(tokenizer, prompt)
    params = request.sampling_params
    assert (params.temperature, params.max_tokens, params.output_kind) == (0.0, 7, "FINAL_ONLY")
    assert tokenizer.convert_tokens_to_ids("<|im_end|>") in params.stop_token_ids


def test_an_adapter_is_asked_by_its_name(vllm: StubVLLM, tmp_path: Path) -> None:
    """The engine is started with the smallest of its ranks that holds the adapter."""
    (tmp_path / "adapter_config.json").write_text('{"r": 48}', encoding="utf-8")
    (tmp_path / "adapter_model.safetensors").touch()
    built = engine(vllm, lambda _: {"yes": 0.5}, adapter=str(tmp_path))
    built.generate(chat("hi"), max_new_tokens=9)
    named = vllm.requests[-1].lora_request
    assert (named.lora_name, named.lora_path) == (tmp_path.name, str(tmp_path))
    assert vllm.arguments.enable_lora
    assert str(vllm.arguments.max_lora_rank) in parameters("MaxLoRARanks")
    engine(vllm)
    assert not vllm.arguments.enable_lora


def test_several_gpus_are_used_as_the_settings_say(vllm: StubVLLM) -> None:
    """By tensor and by data parallelism; prefixes are cached."""
    given = {
        "kind": "model", "model": base_of(NANO), "engine": "vllm", "tensor_parallel": "2",
        "data_parallel": "4",
    }  # fmt: skip
    settings = JudgeSettings.of(**given)
    assert (settings.takes_several, settings.rows_at_a_time) == (True, 4096)
    (found,) = build_judge(settings).judge([ITEM])
    assert found.verdict is Verdict.CORRECT
    arguments = vllm.arguments
    assert (arguments.tensor_parallel_size, arguments.data_parallel_size) == (2, 4)
    assert arguments.enable_prefix_caching is True


@pytest.mark.parametrize("error", [ValueError("no GPU\nhere"), RuntimeError("no GPU")])
def test_an_engine_that_does_not_start_says_why(
    vllm: StubVLLM, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """In one line, with the first of vLLM's."""

    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(vllm, "from_engine_args", fail)
    with pytest.raises(EngineError, match=r"vLLM does not start: no GPU$"):
        engine(vllm)


def test_an_argument_that_vllm_does_not_have_fails() -> None:
    """So a test of the engine fails when vLLM's interface and the record of it change."""
    with pytest.raises(TypeError, match="no_such"):
        record_of("SamplingParams")(no_such=1)


def test_without_vllm_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is the command that installs it."""
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingError, match=r"pip install 'gradegpt\[vllm\]'"):
        VLLMEngine(base_of(NANO))


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    """Before vLLM is imported, which takes long; so is a missing adapter."""
    with pytest.raises(MissingError, match="contains no model"):
        VLLMEngine(str(tmp_path))
    shutil.copytree(base_of(NANO), tmp_path / "m")
    with pytest.raises(MissingError, match="no such adapter folder"):
        VLLMEngine(str(tmp_path / "m"), str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "vllm", "base_url": "http://a/v1", "model": "m"}, "leave it out with base_url"),
        ({"tensor_parallel": 2}, "tensor_parallel: only for engine 'vllm'"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    options: dict[str, Any], message: str
) -> None:
    """Nothing is ignored silently."""
    with pytest.raises(SettingsError, match=message):
        build_judge(JudgeSettings.of(**{"kind": "model", "model": base_of(NANO), **options}))
