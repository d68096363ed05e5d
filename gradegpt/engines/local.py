"""A local transformers model as an engine, with an optional LoRA adapter."""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chain import YES, PromptSettings
from gradegpt.engines.base import Generation, Token
from gradegpt.errors import EngineError, MissingError
from gradegpt.guide import VERSION as GUIDE_VERSION
from gradegpt.guide import ChainGuide, guide_for
from gradegpt.records import validate
from gradegpt.schema import Message

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

PROMPT_FILE: Final = "gradegpt.json"
"""Beside the weights: the prompt settings that they were trained with."""
_DECIDING: Final = ("*.safetensors", "*.bin", "tokenizer.json", "*config.json", "*.jinja")
_END_BYTES: Final = 2**20
FIRST_TOKENS: Final = 96
"""Most chains are shorter; see ``LocalEngine.generate``."""


class LocalEngine:
    """Batched greedy generation with ``transformers``.

    Args:
        model: a folder or hub name of a causal language model.
        adapter: a folder or hub name of a LoRA adapter for it, or none.
        batch_size: prompts a forward pass; prompts are sorted by length so that little is padded.
        threads: intra-op CPU threads; small matrices run faster on one than on two.
        device: ``cpu``, ``cuda``, ``cuda:1`` ...; none takes a GPU where there is one.
        guided: chains quote only what the response says and do not loop, see ``gradegpt.guide``;
            without effect where the tokenizer is not byte-level.

    Raises:
        MissingError: the packages or the model are not there.
        EngineError: the files are there but do not load.

    """

    def __init__(
        self,
        model: str,
        adapter: str | None = None,
        *,
        batch_size: int = 32,
        threads: int | None = None,
        device: str | None = None,
        guided: bool = True,
    ) -> None:
        self.name = "local:" + "+".join(_stamped(folder) for folder in (model, adapter) if folder)
        self.batch_size = batch_size
        self._threads = threads
        self._torch, self._model, self._tokenizer = _load(model, adapter, device)
        self._ends = end_token_ids(self._tokenizer)
        self._bytes = token_bytes(self._tokenizer) if guided else []
        self.name += f"+guide-{GUIDE_VERSION}" if self._bytes else ""

    @classmethod
    def of(
        cls, model: Any, tokenizer: PreTrainedTokenizerBase, *, batch_size: int = 32
    ) -> LocalEngine:
        """An engine on a model that is loaded already, such as one in training."""
        import torch
        from transformers import GenerationConfig

        engine = cls.__new__(cls)
        engine.name, engine.batch_size, engine._threads = "local:loaded", batch_size, None
        engine._torch, engine._model, engine._tokenizer = torch, model, tokenizer
        engine._ends, engine._bytes = end_token_ids(tokenizer), token_bytes(tokenizer)
        model.generation_config = GenerationConfig()  # as in _load
        return engine

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue all prompts greedily, in batches of similar length, and answer in order.

        A batch runs until its last row ends, so after ``FIRST_TOKENS`` tokens the few rows that are
        still being written leave their batches and go on together.
        """
        texts = [render_chat(self._tokenizer, prompt) for prompt in prompts]
        encoded = self._tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        jobs = [
            _Job(ids, guide_for(prompt) if self._bytes else None)
            for ids, prompt in zip(encoded, prompts, strict=True)
        ]
        before = self._torch.get_num_threads()
        if self._threads:
            self._torch.set_num_threads(self._threads)
        try:
            for limit in (min(FIRST_TOKENS, max_new_tokens), max_new_tokens):
                left = [job for job in jobs if not job.ended and len(job.made) < limit]
                left.sort(key=lambda job: len(job.prompt))
                for start in range(0, len(left), self.batch_size):
                    self._continue(left[start : start + self.batch_size], limit)
        finally:
            self._torch.set_num_threads(before)
        return [self._generation(job) for job in jobs]

    def _continue(self, jobs: list[_Job], limit: int) -> None:
        """Write on in all ``jobs`` of a batch, up to ``limit`` tokens each."""
        torch, tokenizer = self._torch, self._tokenizer
        rows = [job.prompt + job.made for job in jobs]
        width = max(map(len, rows))
        pads = [[0] * (width - len(row)) for row in rows]
        ids = [[tokenizer.pad_token_id] * len(p) + row for p, row in zip(pads, rows, strict=True)]
        mask = [p + [1] * len(row) for p, row in zip(pads, rows, strict=True)]
        recorder = _LogprobRecorder()
        guiding = [_Guiding([job.guide for job in jobs], self._bytes, self._ends)]
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=torch.tensor(ids, device=self._model.device),
                attention_mask=torch.tensor(mask, device=self._model.device),
                max_new_tokens=limit - len(jobs[0].made),
                do_sample=False,
                logits_processor=[*(guiding if self._bytes else ()), recorder],
                pad_token_id=tokenizer.pad_token_id,
                eos_token_id=[*self._ends],
            )
        new = output[:, width:].tolist()
        logprobs = torch.stack(recorder.steps, dim=1).tolist()
        for job, ids, values in zip(jobs, new, logprobs, strict=True):
            end = next((n for n, token in enumerate(ids) if token in self._ends), len(ids))
            job.ended = end < len(ids)
            job.made += ids[:end]
            job.logprobs += values[:end]
            if job.guide is not None and not job.ended:
                job.guide.write(self._bytes[job.made[-1]])  # the guiding saw all but the last

    def _generation(self, job: _Job) -> Generation:
        pieces = self._tokenizer.convert_ids_to_tokens(job.made)
        return Generation(
            text=self._tokenizer.decode(job.made, skip_special_tokens=True),
            prompt_tokens=len(job.prompt),
            completion_tokens=len(job.made),
            tokens=tuple(Token(p, lp) for p, lp in zip(pieces, job.logprobs, strict=True)),
        )


@dataclass
class _Job:
    """One prompt being continued: what is written of it so far, and whether it ended."""

    prompt: list[int]
    guide: ChainGuide | None
    made: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False


class _Guiding:
    """A logits processor that rules out what the guides do not allow, best tokens first."""

    def __init__(
        self, guides: list[ChainGuide | None], token_bytes: list[bytes], ends: Sequence[int]
    ) -> None:
        self._guides, self._bytes, self._ends = guides, token_bytes, ends
        self._started = False

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if self._started:
            for row, token in enumerate(input_ids[:, -1].tolist()):
                self._note(row, token)
        self._started = True
        best = scores.argmax(dim=-1).tolist()
        for row, guide in enumerate(self._guides):
            if guide is not None and not self._allows(guide, best[row]):
                ranked = scores[row].argsort(descending=True).tolist()
                found = next((n for n, t in enumerate(ranked) if self._allows(guide, t)), 0)
                scores[row, ranked[:found]] = -float("inf")
        return scores

    def _note(self, row: int, token: int) -> None:
        guide = self._guides[row]
        if token in self._ends:
            self._guides[row] = None  # the rest of the row is padding
        elif guide is not None and token < len(self._bytes):
            guide.write(self._bytes[token])

    def _allows(self, guide: ChainGuide, token: int) -> bool:
        if token >= len(self._bytes):
            return False  # a row of the embedding that no token has
        return guide.may_end() if token in self._ends else guide.allows(self._bytes[token])


def token_bytes(tokenizer: PreTrainedTokenizerBase) -> list[bytes]:
    """The bytes that each token of a byte-level tokenizer writes; empty for another tokenizer."""
    backend = json.loads(tokenizer.backend_tokenizer.to_str())
    decoder = backend.get("decoder") or {}
    kinds = {d.get("type") for d in (decoder, *decoder.get("decoders", ()))}
    if kinds != {"ByteLevel"}:
        return []
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [b for b in range(256) if b not in plain]
    byte_of = {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(moved)}
    made = []
    for token in tokenizer.convert_ids_to_tokens(range(len(tokenizer))):
        known = all(char in byte_of for char in token)
        made.append(bytes(byte_of[c] for c in token) if known else token.encode())
    return made


class _LogprobRecorder:
    """A logits processor that changes nothing and keeps each step's largest log-probability.

    Generation is greedy, so that is the chosen token's.
    """

    def __init__(self) -> None:
        self.steps: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        self.steps.append(scores.max(dim=-1).values - scores.logsumexp(dim=-1))
        return scores


def render_chat(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """The prompt text by the model's own chat template, thinking off where it knows the switch.

    Where a template refuses the system turn (Gemma 2) or drops it, the user's turn opens with it.

    Raises:
        EngineError: there is no template, or it takes no such conversation.

    """
    from jinja2 import TemplateError

    chat = [m.model_dump() for m in messages]
    if len(chat) > 1 and chat[0]["role"] == "system":
        system = chat[0]["content"].strip()
        try:
            text = _apply_template(tokenizer, chat)
        except TemplateError:
            text = ""
        if system in text:
            return text
        chat = [chat[1] | {"content": f"{system}\n\n{chat[1]['content']}"}, *chat[2:]]
    try:
        return _apply_template(tokenizer, chat)
    except TemplateError as error:
        roles = ", ".join(m["role"] for m in chat)
        raise EngineError(
            f"{tokenizer.name_or_path}: its chat template takes no conversation of {roles}: {error}"
        ) from error


def _apply_template(
    tokenizer: PreTrainedTokenizerBase, chat: list[dict[str, str]], *, reply_follows: bool = True
) -> str:
    if tokenizer.chat_template is None:
        raise EngineError(
            f"{tokenizer.name_or_path}: its tokenizer has no chat template; "
            "take the model's chat or instruct version"
        )
    return str(
        tokenizer.apply_chat_template(
            chat,
            tokenize=False,
            add_generation_prompt=reply_follows,
            enable_thinking=False,
            # Llama 3.2's template prints the day it is, which is not the day it was trained; this
            # is the date that Llama 3.1's names whatever the day.
            date_string="26 Jul 2024",
        )
    )


def end_token_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The token that closes an assistant's turn: what follows a reply in the chat template.

    It may differ from ``eos_token``: Gemma ends a turn with ``<end_of_turn>``, a text with
    ``<eos>``. A template that closes turns with no special token leaves it to ``eos_token``.

    Raises:
        EngineError: there is no template, or neither token.

    """
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": YES}]
    tail = _apply_template(tokenizer, chat, reply_follows=False).rpartition(YES)[2].lstrip()
    ids = tokenizer(tail, add_special_tokens=False)["input_ids"] if tail else []
    special = tokenizer.added_tokens_decoder
    if ids and ids[0] in special and special[ids[0]].special:
        return int(ids[0])
    if tokenizer.eos_token_id is None:
        raise EngineError(
            f"{tokenizer.name_or_path}: no token ends a reply, neither in its chat template nor "
            "as eos_token; take the model's chat or instruct version"
        )
    return int(tokenizer.eos_token_id)


def end_token_ids(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """What ends a generation: ``end_token_id`` first, and ``eos_token`` where that is another."""
    ends = (end_token_id(tokenizer), tokenizer.eos_token_id)
    return tuple(dict.fromkeys(token for token in ends if token is not None))


def _stamped(folder: str) -> str:
    """The folder's last name and a digest of what decides its output.

    Trained anew it is another judge, moved it is not. Of each file its size and both ends, 1 MiB
    each: training changes every weight, and a large model is not read twice. A hub name stays as
    it is.
    """
    files = sorted({path for pattern in _DECIDING for path in Path(folder).glob(pattern)})
    if not files:
        return folder
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_END_BYTES))
            file.seek(max(0, size - _END_BYTES))
            digest.update(file.read())
    return f"{Path(folder).resolve().name}@{digest.hexdigest()[:12]}"


def quiet_start() -> None:
    """Silence what third parties say while a model loads and that nobody here can act on."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    # transformers 5 warns of its own field, which TRL 1.16 and PEFT 0.21 still use.
    warnings.filterwarnings("ignore", ".*gradient_checkpointing` is deprecated", FutureWarning)


def _load(model: str, adapter: str | None, device: str | None) -> tuple[Any, Any, Any]:
    for name, what in ((model, "model"), (adapter or "", "adapter")):
        is_path = name.startswith((".", "/")) or name.count("/") > 1
        if is_path and not Path(name).is_dir():
            raise MissingError(
                f"{name}: no such {what} folder; "
                "give a folder or a hub name such as Qwen/Qwen3-0.6B"
            )
    try:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
    except ImportError as error:
        raise MissingError("the local engine needs: pip install 'gradegpt[local]'") from error
    quiet_start()
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, padding_side="left")
        loaded = AutoModelForCausalLM.from_pretrained(model, dtype=dtype)
        if adapter:
            from peft import PeftModel

            loaded = PeftModel.from_pretrained(loaded, adapter).merge_and_unload()
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise EngineError(f"{model}: does not load: {str(error).splitlines()[0]}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    # A model's own sampling settings reach greedy search too: Qwen2.5's repetition penalty would
    # keep a judge from quoting.
    loaded.generation_config = GenerationConfig()
    return torch, loaded.to(device).eval(), tokenizer


def prompt_settings_beside(folder: str | None) -> PromptSettings | None:
    """The prompt settings stored with the weights in ``folder``, or none where there are none."""
    path = Path(folder or "") / PROMPT_FILE
    if not folder or not path.is_file():
        return None
    return validate(PromptSettings, json.loads(path.read_text(encoding="utf-8")), str(path))
