"""vLLM in this process: a model on one GPU or several, with an optional LoRA adapter."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.chain import NO, YES
from gradegpt.chains.grammar import VERSION as GRAMMAR_VERSION
from gradegpt.chains.grammar import chain_grammar
from gradegpt.core.errors import EngineError, MissingError
from gradegpt.core.records import parse_json
from gradegpt.core.schema import Message
from gradegpt.core.shipped import ADAPTER_CONFIG
from gradegpt.engines.base import Generation, TagProbability, TagTokens, TokenLogprob
from gradegpt.engines.chat import end_token_ids, render_chat
from gradegpt.engines.files import check_weights, name_with_digest

if TYPE_CHECKING:
    from vllm import AsyncLLMEngine, SamplingParams, TokensPrompt
    from vllm.logprobs import Logprob
    from vllm.lora.request import LoRARequest
    from vllm.outputs import CompletionOutput, RequestOutput

_TOP: Final = 20
"""The most probabilities of a token that vLLM returns by default."""

_Sampling = Callable[[Sequence[Message]], "SamplingParams"]


class VLLMEngine:
    """Greedy generation with ``vllm.AsyncLLMEngine``, which batches all prompts by itself.

    The synchronous ``vllm.LLM`` refuses ``data_parallel_size`` above 1 in one process; the
    asynchronous engine, on which ``vllm serve`` is built, takes it. Prefixes that prompts share are
    computed once. Chains are constrained by ``chains.grammar`` with the backend ``guidance``.

    Greedy texts of vLLM may differ in rare tokens with what else is in a batch, as sums are then
    computed in another order.

    Args:
        model: a folder or hub name of a causal language model.
        adapter: a folder or hub name of a LoRA adapter for it, or none.
        tensor_parallel: GPUs over which the weights of one copy are divided.
        data_parallel: copies of the model, each on GPUs of its own; vLLM divides the prompts.
        constrained: whether chains are constrained.

    Raises:
        MissingError: the package or the model is not there.
        EngineError: the files are there but vLLM does not start with them.

    """

    def __init__(
        self,
        model: str,
        adapter: str | None = None,
        *,
        tensor_parallel: int = 1,
        data_parallel: int = 1,
        constrained: bool = True,
    ) -> None:
        folders = (folder for folder in (model, adapter) if folder)
        self.name = "vllm:" + "+".join(map(name_with_digest, folders))
        self.name += f"+constrained-{GRAMMAR_VERSION}" if constrained else ""
        self._constrained = constrained
        self._tokenizer = _tokenizer(model, adapter)
        sizes = {"tensor_parallel_size": tensor_parallel, "data_parallel_size": data_parallel}
        self._engine, self._lora = _start(model, adapter, sizes)
        self._ends = end_token_ids(self._tokenizer)
        self._ids = count()
        # One thread prepares prompts while the loop sends those that are ready.
        self._preparing = ThreadPoolExecutor(max_workers=1)
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="vllm", daemon=True).start()
        weakref.finalize(self, self._engine.shutdown)

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue all prompts at once; a prompt that vLLM rejects is an error in its place."""
        outputs = self._complete(prompts, partial(self._for_chain, max_new_tokens))
        return [o if isinstance(o, EngineError) else self._generation(o) for o in outputs]

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """The tags' probability after each prompt: one token where a tag is one token."""
        tags = TagTokens(*self._tokenizer([YES, NO], add_special_tokens=False)["input_ids"])
        outputs = self._complete(prompts, lambda _: self._greedy(tags.shared + 1, logprobs=_TOP))
        return [o if isinstance(o, EngineError) else _tag(o, tags) for o in outputs]

    def count_tokens(self, text: str) -> int:
        """The text's length in the model's own tokens."""
        return len(self._encoded(text))

    def _encoded(self, text: str) -> list[int]:
        # Not verbose: a text that is longer than the model's context is expected here.
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _for_chain(self, max_tokens: int, prompt: Sequence[Message]) -> SamplingParams:
        from vllm.sampling_params import StructuredOutputsParams

        grammar = chain_grammar(prompt) if self._constrained else None
        structured = None if grammar is None else StructuredOutputsParams(grammar=grammar)
        return self._greedy(max_tokens, logprobs=1, structured_outputs=structured)

    def _greedy(self, max_tokens: int, **options: Any) -> SamplingParams:
        from vllm.sampling_params import RequestOutputKind, SamplingParams

        return SamplingParams(
            temperature=0.0,
            max_tokens=max_tokens,
            stop_token_ids=[*self._ends],
            output_kind=RequestOutputKind.FINAL_ONLY,
            **options,
        )

    def _complete(
        self, prompts: Sequence[Sequence[Message]], sampling: _Sampling
    ) -> list[RequestOutput | EngineError]:
        async def all_of_them() -> list[RequestOutput | EngineError]:
            return await asyncio.gather(*(self._ask(prompt, sampling) for prompt in prompts))

        return asyncio.run_coroutine_threadsafe(all_of_them(), self._loop).result()

    async def _ask(
        self, prompt: Sequence[Message], sampling: _Sampling
    ) -> RequestOutput | EngineError:
        from vllm.exceptions import VLLMError
        from vllm.inputs import TokensPrompt
        from vllm.v1.engine.exceptions import EngineDeadError

        def prepared() -> tuple[TokensPrompt, SamplingParams]:
            ids = self._encoded(render_chat(self._tokenizer, prompt))
            return TokensPrompt(prompt_token_ids=ids), sampling(prompt)

        tokens, params = await self._loop.run_in_executor(self._preparing, prepared)
        request = str(next(self._ids))
        answers = self._engine.generate(tokens, params, request, lora_request=self._lora)
        try:
            return [answer async for answer in answers][-1]
        except EngineDeadError as error:
            raise EngineError(f"{self.name}: vLLM has ended; its own messages say why") from error
        except (VLLMError, ValueError) as error:
            return EngineError(f"{self.name}: {_first_line(error)}")

    def _generation(self, output: RequestOutput) -> Generation:
        made = output.outputs[0]
        steps = [step[token] for token, step in _steps(made) if token not in self._ends]
        tokens = tuple(TokenLogprob(step.decoded_token or "", step.logprob) for step in steps)
        read, cut_off = len(output.prompt_token_ids or ()), made.finish_reason == "length"
        return Generation(made.text, read, len(made.token_ids), tokens, cut_off)


def _steps(made: CompletionOutput) -> list[tuple[int, dict[int, Logprob]]]:
    """Each token that was written, and the probabilities in its place."""
    return list(zip(made.token_ids, made.logprobs or (), strict=True))


def _tag(output: RequestOutput, tags: TagTokens) -> TagProbability | None:
    """The tags' probability; None where something else was written, or a tag is not listed."""
    steps = _steps(output.outputs[0])[: tags.shared + 1]
    listed = {token: one.logprob for token, one in steps[-1][1].items()} if steps else {}
    deciding = {tags.yes[tags.shared], tags.no[tags.shared]}
    if len(steps) <= tags.shared or not deciding <= listed.keys():
        return None
    yes = tags.read([token for token, _ in steps], listed)
    counts = len(output.prompt_token_ids or ()), len(steps)
    return None if yes is None else TagProbability(yes, *counts)


def _tokenizer(model: str, adapter: str | None) -> Any:
    check_weights(model, adapter)
    try:
        import vllm  # noqa: F401
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingError("the vllm engine needs: pip install 'gradegpt[vllm]'") from error
    try:
        return AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError, KeyError) as error:
        raise EngineError(f"{model}: does not load: {_first_line(error)}") from error


def _start(
    model: str, adapter: str | None, sizes: dict[str, int]
) -> tuple[AsyncLLMEngine, LoRARequest | None]:
    """The engine, and what names its adapter in a request."""
    from vllm import AsyncEngineArgs, AsyncLLMEngine
    from vllm.config import StructuredOutputsConfig
    from vllm.exceptions import VLLMError
    from vllm.lora.request import LoRARequest

    lora = {"enable_lora": True, "max_lora_rank": _rank(adapter)} if adapter else {}
    try:
        arguments = AsyncEngineArgs(
            model=model,
            enable_prefix_caching=True,
            structured_outputs_config=StructuredOutputsConfig(backend="guidance"),
            disable_log_stats=True,
            **sizes,
            **lora,
        )
        engine = AsyncLLMEngine.from_engine_args(arguments)
    except (OSError, ValueError, RuntimeError, KeyError, VLLMError) as error:
        raise EngineError(f"{model}: vLLM does not start: {_first_line(error)}") from error
    named = (
        LoRARequest(lora_name=Path(adapter).name, lora_int_id=1, lora_path=adapter)
        if adapter
        else None
    )
    return engine, named


def _rank(adapter: str) -> int:
    """The adapter's rank, rounded up to a power of two, for which vLLM has kernels (to 512)."""
    path = Path(adapter, ADAPTER_CONFIG)
    if not path.is_file():
        from huggingface_hub import hf_hub_download

        path = Path(hf_hub_download(adapter, ADAPTER_CONFIG))
    config = parse_json(path.read_bytes())
    rank = max([config.get("r", 0), *(config.get("rank_pattern") or {}).values()])
    return int(max(8, 1 << (rank - 1).bit_length()))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
