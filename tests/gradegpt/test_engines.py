"""Engines: answers in order, a failure affects one prompt, padding changes nothing."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gradegpt.chains.chain import PromptSettings, build_prompt, parse_prompt
from gradegpt.chains.grammar import chain_grammar
from gradegpt.core.errors import (
    EngineError,
    EngineTimeoutError,
    InputError,
    MissingError,
    SettingsError,
)
from gradegpt.core.schema import ChainFormat, Item, Message, Outcome
from gradegpt.core.shipped import NANO, base_of
from gradegpt.engines.base import Generation, TagProbability, TokenLogprob
from gradegpt.engines.chat import render_chat
from gradegpt.engines.client import RequestSettings
from gradegpt.engines.constraint import NAME, Constraints
from gradegpt.engines.files import PROMPT_FILE, prompt_settings_beside
from gradegpt.engines.local import LocalEngine
from gradegpt.engines.openai_api import SUSPEND_S, TAG_TOKENS, OpenAIEngine
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.build import build_judge
from gradegpt.judges.model import EMPTY, ModelJudge
from gradegpt.judges.settings import JudgeSettings
from tests.tiny import TEXTS, random_model

Handler = Callable[[httpx2.Request], httpx2.Response]


def chat(*words: str) -> list[tuple[Message, ...]]:
    """One prompt for each word."""
    return [(Message(role="user", content=word),) for word in words]


# --- scripted -------------------------------------------------------------------------------------


def test_a_scripted_engine_returns_its_replies() -> None:
    """In order or by a function; without a reply left it fails."""
    engine = ScriptedEngine(["one two three", EngineError("gone")])
    first, second, third = engine.generate(chat("a", "b", "c"), max_new_tokens=2)
    assert first == Generation("one two", completion_tokens=2)
    assert isinstance(second, EngineError)
    assert isinstance(third, EngineError)
    assert "no reply left" in str(third)
    echo = ScriptedEngine(lambda messages: messages[-1].content)
    assert [g.text for g in echo.generate(chat("x", "y"), max_new_tokens=9)] == ["x", "y"]  # type: ignore[union-attr]


# --- OpenAI-compatible ----------------------------------------------------------------------------


def remote(handler: Handler, **options: Any) -> OpenAIEngine:
    client = httpx2.Client(transport=httpx2.MockTransport(handler))
    return OpenAIEngine("http://server/v1", "m", api_key="sk-1", http_client=client, **options)


def completion(text: str | None = "<Yes>", **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], **fields}


def recording(seen: list[dict[str, Any]], reply: Any = None) -> Handler:
    """A server that answers every request, whose bodies are kept in ``seen``."""

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        return httpx2.Response(200, json=reply or completion())

    return handler


def test_a_request_is_what_every_server_understands() -> None:
    """Greedy, limited, with probabilities; the key is in the header."""
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=completion())

    remote(handler).generate(chat("hi"), max_new_tokens=7)
    assert str(seen[0].url) == "http://server/v1/chat/completions"
    assert seen[0].headers["authorization"] == "Bearer sk-1"
    assert json.loads(seen[0].content) == {
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 7,
        "temperature": 0.0,
        "logprobs": True,
    }  # fmt: skip


def test_a_model_that_thinks_has_tokens_for_it() -> None:
    """On top of the limit, under the server's name for it; further fields replace ours."""
    seen: list[dict[str, Any]] = []
    wanted = RequestSettings.model_validate({
        "max_tokens_name": "max_completion_tokens", "thinking_tokens": "4096",
        "extra_body": {"temperature": "1", "reasoning_effort": "low"},
    })  # fmt: skip
    engine = remote(recording(seen), request=wanted)
    engine.generate(chat("hi"), max_new_tokens=7)
    assert seen[0]["max_completion_tokens"] == 4103
    assert (seen[0]["temperature"], seen[0]["reasoning_effort"]) == (1, "low")
    assert "max_tokens" not in seen[0]
    assert engine.tag_probabilities(chat("hi")) == [None]
    assert len(seen) == 1
    assert engine.name != remote(recording(seen)).name


def test_a_field_that_a_model_refuses_is_left_out() -> None:
    """By null; without log-probabilities no tag is asked for. A control token is never sent."""
    seen: list[dict[str, Any]] = []
    fields = dict.fromkeys(("temperature", "logprobs", "max_tokens"), "null")
    wanted = RequestSettings.model_validate({"extra_body": fields | {"seed": "7"}})
    engine = remote(recording(seen), request=wanted, control=re.compile("<<go>>"))
    engine.generate(chat("a <<go>>"), max_new_tokens=7)
    said = [{"role": "user", "content": "a ＜<go>>"}]
    assert seen == [{"model": "m", "messages": said, "seed": 7}]
    assert engine.tag_probabilities(chat("hi")) == [None]
    assert len(seen) == 1


@pytest.mark.parametrize("cut_off", [False, True])
def test_an_empty_reply_is_no_verdict(cut_off: bool) -> None:
    """A model whose thoughts spent all its tokens writes none: unparsed, with the reason."""
    body = completion("")
    body["choices"][0]["finish_reason"] = "length" if cut_off else "stop"
    judge = ModelJudge(remote(lambda _: httpx2.Response(200, json=body)))
    (found,) = judge.judge([Item(reference=("4",), response="4")])
    assert (found.outcome, found.reason) == (Outcome.UNPARSED, EMPTY[cut_off])


def test_a_server_constrains_chains_where_it_is_asked_to() -> None:
    """By vLLM's ``structured_outputs``; other conversations are sent as they are."""
    seen: list[dict[str, Any]] = []
    item = Item(question="1+1?", reference="2", response="It is 2.")
    prompt = build_prompt(item, PromptSettings())
    engine = remote(recording(seen), structured_outputs=True, concurrency=1)
    engine.generate([prompt, *chat("hi")], max_new_tokens=7)
    assert seen[0]["structured_outputs"] == {"grammar": chain_grammar(prompt)}
    assert "structured_outputs" not in seen[1]
    assert engine.name != remote(recording(seen)).name


def test_a_reply_becomes_a_generation() -> None:
    """With text, usage and the probability of each token, where the server returns them."""
    body = completion(usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7})
    body["choices"][0]["logprobs"] = {
        "content": [{"token": "<Yes>", "logprob": -0.25, "bytes": None, "top_logprobs": []}]
    }
    found = remote(lambda _: httpx2.Response(200, json=body)).generate(chat("hi"), max_new_tokens=7)
    assert found == [Generation("<Yes>", 5, 2, (TokenLogprob("<Yes>", -0.25),))]
    engine = remote(lambda _: httpx2.Response(200, json=completion(None)))
    assert engine.generate(chat("hi"), max_new_tokens=7) == [Generation("")]


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (httpx2.Response(401, json={"error": {"message": "bad key"}}), "HTTP 401: .*bad key"),
        (httpx2.Response(404, json={"detail": "no model m"}), "HTTP 404: "),
        (httpx2.Response(500, text="<html>oops</html>"), "HTTP 500: "),
        (httpx2.Response(200, html="<html>a login page</html>"),
        "not a chat completion .* is base_url right"),
        (httpx2.Response(200, content=b"{", headers={"content-type": "application/json"}),
         "not a chat completion .* is base_url right"),
        (httpx2.Response(200, json={}), "not a chat completion .*choices"),
        (httpx2.Response(200, json={"choices": []}), "not a chat completion .*choices"),
        (httpx2.Response(200, json={"choices": [{}]}), "not a chat completion .*message"),
        (httpx2.Response(200, json=[1]), "not a chat completion"),
        (httpx2.Response(200, json={"choices": [{"message": {"content": ["<Yes>"]}}]}),
        "not a chat .*content"),
    ],
    ids=["401", "404", "500", "web page", "torn", "empty", "no choice", "no message", "list",
    "parts"],
)  # fmt: skip
def test_a_reply_that_is_not_a_completion_is_an_error_in_its_place(
    response: httpx2.Response, message: str
) -> None:
    """It is returned and not raised, and starts with the engine's name."""
    (error,) = remote(lambda _: response, max_retries=0).generate(chat("hi"), max_new_tokens=7)
    assert isinstance(error, EngineError)
    assert not isinstance(error, EngineTimeoutError)
    assert re.match(f"openai:m@http://server/v1: {message}", str(error))


def test_a_busy_server_is_asked_again() -> None:
    """After 429 and 503, at most ``max_retries`` times, after the server's ``retry-after-ms``."""
    statuses = [429, 503, 200]

    def handler(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(statuses.pop(0), json=completion(), headers={"retry-after-ms": "1"})

    assert remote(handler, max_retries=2).generate(chat("hi"), max_new_tokens=7) == [
        Generation("<Yes>")
    ]
    statuses[:] = [429]
    (error,) = remote(handler, max_retries=0).generate(chat("hi"), max_new_tokens=7)
    assert isinstance(error, EngineError)
    assert "HTTP 429" in str(error)


@pytest.mark.parametrize(
    ("cause", "kind", "message"),
    [
        (httpx2.ReadTimeout("slow"), EngineTimeoutError, "no answer in time; raise timeout_s"),
        (httpx2.ConnectError("refused"), EngineError, ": Connection error; is the server running?"),
    ],
)
def test_a_server_that_does_not_answer(
    cause: Exception, kind: type[EngineError], message: str
) -> None:
    """A timeout and a refused connection are different errors; other prompts are answered."""

    def handler(request: httpx2.Request) -> httpx2.Response:
        if b"bad" in request.content:
            raise cause
        return httpx2.Response(200, json=completion())

    bad, good = remote(handler, max_retries=0).generate(chat("bad", "good"), max_new_tokens=7)
    assert type(bad) is kind
    assert message in str(bad)
    assert good == Generation("<Yes>")


# --- several servers ------------------------------------------------------------------------------


class Fleet:
    """Servers a, b, c: the failing ones, and the requests to each."""

    def __init__(self) -> None:
        self.down: dict[str, int] = {}
        """By host the status of its replies, or 0 where the connection is refused."""
        self.bad: frozenset[str] = frozenset()
        """Prompts for which every server answers 500."""
        self.asked: list[str] = []
        self.checked: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        listing = request.url.path.endswith("/models")
        (self.checked if listing else self.asked).append(host)
        if self.down.get(host) == 0:
            raise httpx2.ConnectError("refused")
        if host in self.down:
            return httpx2.Response(self.down[host], text="overloaded")
        if listing:
            return httpx2.Response(200, json={"object": "list", "data": []})
        word = json.loads(request.content)["messages"][0]["content"]
        return httpx2.Response(500 if word in self.bad else 200, json=completion(f"{host}:{word}"))


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


def of(fleet: Fleet, *hosts: str, **options: Any) -> OpenAIEngine:
    client = httpx2.Client(transport=httpx2.MockTransport(fleet))
    urls = ",".join(f"http://{host}/v1" for host in hosts)
    return OpenAIEngine(urls, "m", http_client=client, max_retries=0, concurrency=1, **options)


def test_prompts_go_to_every_server_in_turn(fleet: Fleet) -> None:
    """The answers are in order; the name does not depend on the order of the URLs."""
    engine = of(fleet, "a", "b", "c")
    words = [f"w{n}" for n in range(9)]
    made = _texts(engine.generate(chat(*words), max_new_tokens=7))
    assert [text.partition(":")[2] for text in made] == words
    assert sorted(fleet.asked) == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert engine.name == of(fleet, "c", "b", "a").name
    listed = OpenAIEngine(["http://a/v1", "http://b/v1/", " http://c/v1", "http://a/v1"], "m")
    assert listed.name == engine.name
    with pytest.raises(SettingsError, match="base_url: is empty"):
        OpenAIEngine(" , ", "m")


@pytest.mark.parametrize("status", [0, 500, 503])
def test_the_prompts_of_a_server_that_is_down_go_to_another(fleet: Fleet, status: int) -> None:
    """The server is then suspended."""
    fleet.down = {"a": status}
    engine = of(fleet, "a", "b")
    for round_ in range(3):
        made = _texts(engine.generate(chat("x", "y"), max_new_tokens=7))
        assert made == ["b:x", "b:y"]
        assert fleet.asked.count("a") == 1, round_
    assert fleet.checked == []


def test_a_suspended_server_is_used_again_once_it_answers(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ``SUSPEND_S`` its list of models is requested; without an answer it stays suspended."""
    clock = [0.0]
    monkeypatch.setattr("gradegpt.engines.openai_api.time.monotonic", lambda: clock[0])
    fleet.down = {"a": 0}
    engine = of(fleet, "a", "b")
    engine.generate(chat(*"1234"), max_new_tokens=7)
    clock[0] = SUSPEND_S + 1
    engine.generate(chat(*"1234"), max_new_tokens=7)
    assert (fleet.checked, fleet.asked.count("a")) == (["a"], 1)
    fleet.down = {}
    engine.generate(chat(*"1234"), max_new_tokens=7)
    assert fleet.asked.count("a") == 1
    clock[0] = 2 * SUSPEND_S + 2
    engine.generate(chat(*"1234"), max_new_tokens=7)
    assert (fleet.checked, fleet.asked.count("a")) == (["a", "a"], 3)


def test_when_all_are_down_the_error_names_each(fleet: Fleet) -> None:
    """With each server's last error; a server that is up again is used."""
    fleet.down = {"a": 0, "b": 503}
    engine = of(fleet, "a", "b")
    for error in engine.generate(chat("x", "y"), max_new_tokens=7):
        assert isinstance(error, EngineError)
        assert "no server answered: openai:m@http://a/v1: Connection error" in str(error)
        assert "openai:m@http://b/v1: HTTP 503" in str(error)
    fleet.down = {"a": 0}
    assert _texts(engine.generate(chat("x"), max_new_tokens=7)) == ["b:x"]


def test_one_bad_prompt_does_not_disable_the_servers(fleet: Fleet) -> None:
    """They answer the next prompt; a refused request suspends no server."""
    fleet.bad = frozenset({"bad"})
    engine = of(fleet, "a", "b")
    made = engine.generate(chat("bad", "good", "bad", "good"), max_new_tokens=7)
    assert [type(m) for m in made] == [EngineError, Generation] * 2
    fleet.down = {"a": 404, "b": 404}
    made = engine.generate(chat("x", "y"), max_new_tokens=7)
    assert all("HTTP 404" in str(m) for m in made)
    fleet.down = {}
    assert len(_texts(engine.generate(chat("x", "y"), max_new_tokens=7))) == 2


def test_the_settings_take_several_urls() -> None:
    """As a list, or with commas between them."""
    urls = ["http://a/v1", "http://b/v1"]
    made = [
        build_judge(JudgeSettings.of(kind="model", model="m", base_url=given))
        for given in (urls, ",".join(urls))
    ]
    assert made[0].fingerprint == made[1].fingerprint
    assert "openai:m@http://a/v1,http://b/v1" in made[0].fingerprint


# --- the tag of an OpenAI-compatible server -------------------------------------------------------


def steps(*tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    """A completion of these tokens, each with the probabilities of its alternatives."""
    content = [
        {
            "token": token,
            "logprob": math.log(options[token]),
            "top_logprobs": [
                {"token": name, "logprob": math.log(p)} for name, p in options.items()
            ],
        }
        for token, options in tokens
    ]
    body = completion("".join(token for token, _ in tokens), usage={
        "prompt_tokens": 9, "completion_tokens": len(tokens)})  # fmt: skip
    body["choices"][0]["logprobs"] = {"content": content}
    return body


@pytest.mark.parametrize(
    ("tokens", "yes"),
    [
        ([("<Yes>", {"<Yes>": 0.6, "<No>": 0.2, "The": 0.2})], 0.75),
        ([("<No>", {"<Yes>": 0.1, "<No>": 0.4})], 0.2),
        ([("<", {"<": 0.9}), ("Yes", {"Yes": 0.6, "No": 0.3}), (">", {">": 1.0})], 2 / 3),
        ([(" <", {" <": 0.9}), ("No", {"Yes": 0.25, "No": 0.75})], 0.25),
        ([("\n", {"\n": 0.9}), ("<Y", {"<Y": 0.5, "<N": 0.5}), ("es>", {"es>": 1.0})], 0.5),
        ([("<Yes>", {"<Yes>": 0.99, "The": 0.01})], None),
        ([("The", {"The": 0.9, "<Yes>": 0.05, "<No>": 0.05})], None),
        ([("Yes", {"Yes": 0.9, "No": 0.1})], None),
        ([("<", {"<": 1.0}), ("Maybe", {"Maybe": 0.8, "Yes": 0.1, "No": 0.1})], None),
    ],
    ids=["one token", "no", "three tokens", "blank", "split", "one unseen", "prose", "no bracket",
    "another tag"],
)  # fmt: skip
def test_a_tags_probability_is_read_from_the_listed_alternatives(
    tokens: list[tuple[str, dict[str, float]]], yes: float | None
) -> None:
    """For any tokenization of the tag; None for any other reply."""
    seen: list[dict[str, Any]] = []
    (found,) = remote(recording(seen, steps(*tokens))).tag_probabilities(chat("hi"))
    assert (seen[0]["max_tokens"], seen[0]["top_logprobs"]) == (TAG_TOKENS, 20)
    if yes is None:
        assert found is None
    else:
        assert isinstance(found, TagProbability)
        assert found.yes == pytest.approx(yes)
        assert found[1:] == (9, len(tokens))


def test_a_server_without_top_logprobs_is_asked_for_them_once() -> None:
    """The result is None, also where the request is refused; other failures are errors."""
    seen: list[dict[str, Any]] = []
    engine = remote(recording(seen))
    assert engine.tag_probabilities(chat("a")) == [None]
    assert engine.tag_probabilities(chat("b", "c")) == [None, None]
    assert len(seen) == 1
    refusing = remote(lambda _: httpx2.Response(400, json={"error": {"message": "no logprobs"}}))
    assert refusing.tag_probabilities(chat("a")) == [None]
    (error,) = remote(lambda _: httpx2.Response(401)).tag_probabilities(chat("a"))
    assert isinstance(error, EngineError)


# --- local ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    return random_model(tmp_path_factory.mktemp("tiny"), max_position_embeddings=256)


def _texts(results: Sequence[Generation | EngineError]) -> list[str]:
    assert all(isinstance(r, Generation) for r in results)
    return [r.text for r in results if isinstance(r, Generation)]


def test_batches_and_padding_change_no_text(folder: Path) -> None:
    """Batches of one, three or all prompts give the same texts, in order."""
    engine, made = LocalEngine(str(folder), device="cpu"), []
    for engine.batch_size in (1, 3, 32):
        made.append(_texts(engine.generate(chat(*TEXTS), max_new_tokens=8)))
    assert made[0] == made[1] == made[2]
    assert len({*made[0]}) > 1


def test_a_text_is_continued_as_plain_text(folder: Path) -> None:
    """Greedily and without a template; the other rows of a batch change nothing."""
    torch = pytest.importorskip("torch")
    engine = LocalEngine(str(folder), batch_size=3, device="cpu", constrained=False)
    texts = ["2+2", "The answer is", "设 x 为一个数，求它的平方。", "a"]
    rows = [engine.tokens(text) for text in texts]
    assert [engine.text(row) for row in rows] == texts
    made = engine.continue_(rows, 4)
    assert made == [engine.continue_([row], 4)[0] for row in rows]
    for row, continuation in zip(rows, made, strict=True):
        with torch.inference_mode():
            scores = engine._model(torch.tensor([row + continuation])).logits[0]
        best = scores[len(row) - 1 : -1].argmax(dim=-1).tolist()
        assert continuation == best
    assert engine.continue_([], 4) == []
    assert engine.limit == 256


def test_rows_that_are_continued_in_a_second_round_are_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts, tokens and probabilities equal those of one round, also of constrained prompts."""
    item = Item(reference=("3",), response="One. The answer is 3.")
    prompts = [*chat(*TEXTS), build_prompt(item, PromptSettings())]
    engine = LocalEngine(str(folder), batch_size=2, device="cpu")
    whole = engine.generate(prompts, max_new_tokens=12)
    monkeypatch.setattr("gradegpt.engines.local.FIRST_TOKENS", 5)
    parts = engine.generate(prompts, max_new_tokens=12)
    assert _texts(parts) == _texts(whole)
    for one, other in zip(parts, whole, strict=True):
        assert isinstance(one, Generation)
        assert isinstance(other, Generation)
        assert [t.text for t in one.tokens] == [t.text for t in other.tokens]
        logprobs = [t.logprob for t in other.tokens]
        assert [t.logprob for t in one.tokens] == pytest.approx(logprobs, abs=1e-3)


def test_the_tag_of_a_judge_is_the_one_that_it_would_generate() -> None:
    """It has a probability, and counts as one token."""
    built_in = {"kind": "model", "model": base_of(NANO)}
    settings = JudgeSettings.of(**built_in, chain_format=ChainFormat.OUTCOME)
    judge = build_judge(settings)
    assert isinstance(judge, ModelJudge)
    items = [
        Item(reference=("4",), question="2+2=?", response="The answer is 4."),
        Item(reference=("4",), question="2+2=?", response="I add them. The answer is 17."),
        Item(reference=("B",), response="因此答案是 D。"),
    ]
    engine = judge.engine
    assert isinstance(engine, LocalEngine)
    written = engine.generate(
        [build_prompt(item, judge.prompt) for item in items], max_new_tokens=9
    )
    for generation, judgement in zip(written, judge.judge(items), strict=True):
        assert isinstance(generation, Generation)
        assert (judgement.chain, judgement.completion_tokens) == (generation.text, 1)
        assert judgement.prompt_tokens == generation.prompt_tokens
        assert judgement.score is not None
        assert judgement.score >= math.exp(generation.tokens[0].logprob) - 1e-3


def test_a_judge_reads_rare_characters_within_its_budgets() -> None:
    """They are counted by its own tokenizer, which needs three tokens for each of them."""
    judge = build_judge(JudgeSettings.of(kind="model", model=base_of(NANO)))
    assert isinstance(judge, ModelJudge)
    engine, budget = judge.engine, judge.prompt.budget
    assert isinstance(engine, LocalEngine)
    rare = "".join(chr(0x3400 + number) for number in range(4_000))
    item = Item(question=rare, reference=(rare,), response=rare)
    shown = parse_prompt(build_prompt(item, judge.prompt, engine.count_tokens))
    assert shown is not None
    assert engine.count_tokens(rare) > 2 * len(rare)
    assert engine.count_tokens(shown.question) <= budget.question
    assert engine.count_tokens(shown.accepted[0]) <= budget.reference
    assert engine.count_tokens(shown.response) <= budget.response
    assert judge.judge([item])[0].prompt_tokens < 512


def test_a_random_model_writes_chains_under_the_grammar(folder: Path) -> None:
    """They parse and quote verbatim; where the constraint is switched off, they are noise."""
    items = [
        Item(question="2+2=?", reference=("4",), response="I add them.\nThe answer is 4."),
        Item(question="选哪个？", reference=("B",), response="因此答案是 B。\n选 B。"),
    ]
    form = PromptSettings(chain_format=ChainFormat.JUDGE_OF_CHAIN)
    held = LocalEngine(str(folder), device="cpu")
    free = LocalEngine(str(folder), device="cpu", constrained=False)
    found = [ModelJudge(engine, form, max_new_tokens=400).judge(items) for engine in (held, free)]
    assert [j.outcome for j in found[0]] == [Outcome.JUDGED] * 2
    assert [j.outcome for j in found[1]] == [Outcome.UNPARSED] * 2
    assert held.name == free.name + NAME
    broken = Constraints(held._tokenizer.backend_tokenizer, [0])
    broken._tokenizer = type("Unread", (), {"to_str": lambda _: "{}"})()
    free_constraint = broken.of(build_prompt(items[0], form))  # llguidance does not read it
    assert (free_constraint.allowed(), free_constraint.forced()) == (None, [])


def test_a_generation_counts_its_tokens_and_their_probabilities(folder: Path) -> None:
    """The prompt without padding, the reply without its end token, log-probabilities per token."""
    import torch

    engine = LocalEngine(str(folder), batch_size=2, device="cpu")
    short, long = engine.generate(chat(TEXTS[1], TEXTS[2]), max_new_tokens=6)
    assert isinstance(short, Generation)
    assert isinstance(long, Generation)
    assert 0 < short.prompt_tokens < long.prompt_tokens
    assert short.completion_tokens == len(short.tokens) <= 6
    text = render_chat(engine._tokenizer, chat(TEXTS[1])[0])
    ids = engine._tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
    assert ids.shape[1] == short.prompt_tokens
    with torch.inference_mode():
        best = engine._model(ids).logits[0, -1].log_softmax(-1).max().item()
    assert short.tokens[0].logprob == pytest.approx(best, abs=1e-3)


def test_the_name_identifies_the_weights(folder: Path, tmp_path: Path) -> None:
    """A moved model has the same name, a model with other weights another."""
    moved = shutil.copytree(folder, tmp_path / folder.name)
    first = LocalEngine(str(folder), device="cpu").name
    assert LocalEngine(str(moved), device="cpu").name == first
    weights = moved / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert LocalEngine(str(moved), device="cpu").name != first


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "runs/x/model"])
def test_a_folder_that_is_not_there_is_named(name: str) -> None:
    """Before any package is loaded, and without a request to the hub."""
    with pytest.raises(
        MissingError, match=rf"^{name}: no such model folder; give a folder or a hub"
    ):
        LocalEngine(name)
    with pytest.raises(MissingError, match=rf"^{name}: no such adapter folder"):
        LocalEngine("org/model", name)


def test_a_folder_without_a_model_is_an_engine_error(folder: Path, tmp_path: Path) -> None:
    """An empty folder or damaged weights: the error has one line."""
    with pytest.raises(MissingError, match=r"contains no model \(config\.json is missing\)"):
        LocalEngine(str(tmp_path))
    with pytest.raises(MissingError, match=r"contains no adapter \(adapter_config\.json is miss"):
        LocalEngine(str(folder), str(tmp_path))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "begun.json").write_text("{}")
    with pytest.raises(MissingError, match="finetune has not finished this judge; give its comm"):
        LocalEngine(str(tmp_path))
    torn = shutil.copytree(folder, tmp_path / "torn")
    (torn / "model.safetensors").write_bytes(b"\x00" * 64)
    with pytest.raises(EngineError, match="does not load: ") as caught:
        LocalEngine(str(torn))
    assert "\n" not in str(caught.value)


def test_a_model_that_the_hub_does_not_have_is_an_error_after_one_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loading itself would ask for each of its files several times, with pauses."""
    from huggingface_hub.errors import HTTPError

    asked = []

    def fail(url: str) -> None:
        asked.append(url)
        raise HTTPError("no network")

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", fail)
    says = r"^nosuch: not a folder, not a shipped judge \(.*\), and not found on the Hugging"
    with pytest.raises(MissingError, match=says):
        LocalEngine("nosuch")
    assert len(asked) == 1


@pytest.mark.parametrize("url", ["localhost:8000/v1", "http://a/v1,b/v1"])
def test_a_url_without_its_scheme_is_an_error(url: str) -> None:
    """Before any request."""
    with pytest.raises(SettingsError, match=r"base_url: .*: must start with http:// or https://"):
        OpenAIEngine(url, "m")


def test_prompt_settings_are_read_from_the_folder_of_the_weights(tmp_path: Path) -> None:
    """None where there is no file; the error of an invalid file names it."""
    assert prompt_settings_beside(None) is None
    assert prompt_settings_beside(str(tmp_path)) is None
    settings = PromptSettings(chain_format=ChainFormat.OUTCOME)
    (tmp_path / PROMPT_FILE).write_text(settings.model_dump_json())
    assert prompt_settings_beside(str(tmp_path)) == settings
    (tmp_path / PROMPT_FILE).write_text('{"format": "outcome"}')
    with pytest.raises(InputError, match=r"gradegpt\.json: format: unknown field"):
        prompt_settings_beside(str(tmp_path))
