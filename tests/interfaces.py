"""vLLM and Ray Serve as ``scripts/interfaces.py`` recorded them, and a vLLM that writes a script.

What the stub's classes and functions accept is what the record says: an argument that vLLM does not
have is a ``TypeError``.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import pytest

RECORD: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "interfaces.json").read_text(encoding="utf-8")
)
Reply = Callable[[str], dict[str, float] | Exception]
"""A prompt's text to the texts that may come next, with the probability of each of its tokens."""


def parameters(name: str) -> list[str]:
    """The names that a class, function or set of values has in the record."""
    found: list[str] = RECORD["interfaces"][name]["parameters"]
    return [parameter.rstrip("=") for parameter in found if parameter != "*"]


def signature(name: str, *, optional: bool = False) -> inspect.Signature:
    """The recorded signature; ``optional`` makes the fields of a typed dict optional."""
    kind, made = inspect.Parameter.POSITIONAL_OR_KEYWORD, list[inspect.Parameter]()
    for parameter in RECORD["interfaces"][name]["parameters"]:
        if parameter == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        has_default = optional or parameter.endswith("=")
        default = None if has_default else inspect.Parameter.empty
        made.append(inspect.Parameter(parameter.rstrip("="), kind, default=default))
    return inspect.Signature(sorted(made, key=lambda p: (p.kind, p.default is None)))


def record_of(name: str, *, optional: bool = False) -> Callable[..., SimpleNamespace]:
    """A class of vLLM's that only keeps what it was made of."""
    accepted = signature(name, optional=optional)

    def make(*args: Any, **kwargs: Any) -> SimpleNamespace:
        bound = accepted.bind(*args, **kwargs)
        bound.apply_defaults()
        return SimpleNamespace(**bound.arguments, given=frozenset(kwargs))

    return make


class StubVLLM:
    """The modules of vLLM that the engine imports; ``reply`` says what the model writes.

    Of the texts that it returns, likeliest first, the first that the request's grammar allows is
    written, by llguidance, as vLLM does with the backend ``guidance``.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tokenizer: Any, reply: Reply) -> None:
        self.tokenizer, self.reply = tokenizer, reply
        self.arguments = SimpleNamespace()
        self.requests: list[SimpleNamespace] = []
        self.shut_down = False
        error = type("VLLMError", (Exception,), {})
        dead = type("EngineDeadError", (error,), {})
        self.errors = SimpleNamespace(VLLMError=error, EngineDeadError=dead)
        kinds = SimpleNamespace(**{name: name for name in parameters("RequestOutputKind")})
        modules: dict[str, dict[str, Any]] = {
            "vllm": {"AsyncEngineArgs": record_of("AsyncEngineArgs"), "AsyncLLMEngine": self},
            "vllm.config": {"StructuredOutputsConfig": record_of("StructuredOutputsConfig")},
            "vllm.exceptions": {"VLLMError": error},
            "vllm.inputs": {"TokensPrompt": record_of("TokensPrompt", optional=True)},
            "vllm.lora": {},
            "vllm.lora.request": {"LoRARequest": record_of("LoRARequest")},
            "vllm.sampling_params": {
                "RequestOutputKind": kinds,
                "SamplingParams": record_of("SamplingParams"),
                "StructuredOutputsParams": record_of("StructuredOutputsParams"),
            },
            "vllm.v1": {},
            "vllm.v1.engine": {},
            "vllm.v1.engine.exceptions": {"EngineDeadError": dead},
        }
        for name, values in modules.items():
            module = ModuleType(name)
            vars(module).update(values, __path__=[])
            monkeypatch.setitem(sys.modules, name, module)

    def from_engine_args(self, *args: Any, **kwargs: Any) -> StubVLLM:
        """The engine: this object."""
        bound = signature("AsyncLLM.from_engine_args").bind(*args, **kwargs)
        self.arguments = bound.arguments["engine_args"]
        return self

    def shutdown(self, *args: Any, **kwargs: Any) -> None:
        """Note that the engine was ended."""
        signature("AsyncLLM.shutdown").bind(*args, **kwargs)
        self.shut_down = True

    async def generate(self, *args: Any, **kwargs: Any) -> AsyncIterator[SimpleNamespace]:
        """Write the whole reply."""
        bound = signature("AsyncLLM.generate").bind(*args, **kwargs)
        bound.apply_defaults()
        request = SimpleNamespace(**bound.arguments)
        self.requests.append(request)
        await asyncio.sleep(0)
        prompt_ids = request.prompt.prompt_token_ids
        written = self.reply(self.tokenizer.decode(prompt_ids))
        if isinstance(written, Exception):
            raise written
        yield _output(self, prompt_ids, request.sampling_params, written)


def accepts(grammar: str, text: str) -> bool:
    """Whether llguidance accepts the text by the grammar."""
    import llguidance

    given = llguidance.grammar_from("grammar", grammar)  # as vLLM reads it
    held = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), given)
    assert not held.get_error()
    tokens = [*text.encode()]
    return bool(held.try_consume_tokens(tokens) == len(tokens) and held.is_accepting())


def _output(
    stub: StubVLLM, prompt_ids: list[int], params: Any, replies: dict[str, float]
) -> SimpleNamespace:
    def tokens(text: str) -> list[int]:
        return list(stub.tokenizer(text, add_special_tokens=False)["input_ids"])

    def listed(chances: dict[int, float]) -> dict[int, SimpleNamespace]:
        return {
            token: record_of("Logprob")(math.log(p), decoded_token=stub.tokenizer.decode([token]))
            for token, p in chances.items()
        }

    structured = params.structured_outputs
    text = next(t for t in replies if structured is None or accepts(structured.grammar, t))
    ids = [*tokens(text), params.stop_token_ids[0]][: params.max_tokens]
    first = {tokens(other)[0]: p for other, p in replies.items()}
    steps = [listed(first if params.logprobs > 1 else {ids[0]: replies[text]})]
    steps += [listed({token: replies[text]}) for token in ids[1:]]
    ended = ids[-1] in params.stop_token_ids
    made = record_of("CompletionOutput")(
        index=0, text=stub.tokenizer.decode(ids[:-1] if ended else ids), token_ids=ids,
        cumulative_logprob=None, logprobs=steps, finish_reason="stop" if ended else "length",
    )  # fmt: skip
    return record_of("RequestOutput.__init__")(
        request_id="0", prompt=None, prompt_token_ids=prompt_ids, prompt_logprobs=None,
        outputs=[made], finished=True,
    )  # fmt: skip
