"""A local transformers model as an engine, with an optional LoRA adapter."""

from __future__ import annotations

import copy
import itertools
import logging
import math
import operator
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.chain import NO, YES
from gradegpt.core.errors import EngineError, needs
from gradegpt.core.machine import cpu_has_bf16
from gradegpt.core.schema import Message
from gradegpt.core.shipped import ADAPTER_CONFIG
from gradegpt.engines.base import Generation, TagProbability, TokenLogprob
from gradegpt.engines.chat import clock, end_token_ids, render_chat
from gradegpt.engines.constraint import NAME, Constraint, Constraints
from gradegpt.engines.files import CONFIG, check_weights, load_errors, name_with_digest

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PreTrainedTokenizerBase

FIRST_TOKENS: Final = 96
"""Most chains are shorter; see ``LocalEngine.generate``."""

SMALL: Final = 2**24
"""Parameters up to which a model's matrices fit a core's cache. On a CPU a few rows per pass are
then faster than many, which wait for the longest (docs/experiments/030-engines-side-by-side.md)."""
SMALL_ROWS: Final = 4

BATCH_TOKENS: Final = 2**14
"""The most tokens of a batch with its padding, unless one row is longer. In a model of 1.5B the
widest layer's activations then take 0.3 GB each in bfloat16."""


MANY: Final = 8
"""Prompts from which tokens that only they begin with are read once, by a pass of their own."""
SHARED_TOKENS: Final = 16
"""The least number of such tokens."""


class LocalEngine:
    """Batched greedy generation with ``transformers``.

    Computed in bfloat16 on a GPU, and on a CPU that multiplies in it; in float32 on another CPU,
    and for a small model on any. The name says so, since verdicts differ on a few close items.

    Args:
        model: a folder or hub name of a causal language model.
        adapter: a folder or hub name of a LoRA adapter for it, or none.
        batch_size: prompts per forward pass, fewer for a small model on a CPU; prompts are sorted
            by length so that little is padded.
        device: ``cpu``, ``cuda``, ``cuda:1`` ... None: a GPU where there is one.
        constrained: whether chains are held to their grammar (``gradegpt.chains.grammar``).

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
        device: str | None = None,
        constrained: bool = True,
    ) -> None:
        folders = (folder for folder in (model, adapter) if folder)
        self.name = "local:" + "+".join(map(name_with_digest, folders))
        self.batch_size = batch_size
        self._take(_load(model, adapter, device), constrained=constrained)
        if self._model.device.type == "cpu" and self._model.num_parameters() <= SMALL:
            self.batch_size = min(batch_size, SMALL_ROWS)
        self.name += clock(self._tokenizer)
        self.name += NAME if constrained else ""
        self.name += "+bf16" if self._model.dtype == self._torch.bfloat16 else ""

    @classmethod
    def of(
        cls, model: Any, tokenizer: PreTrainedTokenizerBase, *, batch_size: int = 32
    ) -> LocalEngine:
        """An engine for a model that is already loaded, such as one in training."""
        import torch
        from transformers import GenerationConfig

        engine = cls.__new__(cls)
        engine.name, engine.batch_size = "local:loaded", batch_size
        model.generation_config = GenerationConfig()  # as in _load
        engine._take((torch, model, tokenizer), constrained=True)
        return engine

    def _take(self, loaded: tuple[Any, Any, Any], *, constrained: bool) -> None:
        self._torch, self._model, self._tokenizer = loaded
        self._ends = end_token_ids(self._tokenizer)
        # Of a prompt only the last position is kept: a view of several rows, which torch 2.13 in
        # bfloat16 on a CPU multiplies without its fast kernels: minutes for 40 rows.
        self._model.get_output_embeddings().register_forward_pre_hook(
            lambda _, inputs: tuple(one.contiguous() for one in inputs)
        )
        backend = self._tokenizer.backend_tokenizer
        self._constraints = Constraints(backend, self._ends) if constrained else None

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue all prompts greedily, in batches of similar length, and answer in order."""
        held = (self._constraints.of(p) if self._constraints else Constraint() for p in prompts)
        jobs = self._run(list(map(_Job, self._encoded(prompts), held)), max_new_tokens)
        return [self._generation(job) for job in jobs]

    def _run(self, jobs: list[_Job], max_new_tokens: int) -> list[_Job]:
        """Continue all ``jobs``.

        A batch runs until its last row ends, so after ``FIRST_TOKENS`` tokens the few rows that
        have not ended leave their batches and are continued together.
        """
        for limit in (min(FIRST_TOKENS, max_new_tokens), max_new_tokens):
            left = [job for job in jobs if not job.ended and len(job.made) < limit]
            for batch in self._batches([job.prompt for job in left]):
                self._continue([left[n] for n in batch], limit)
        return jobs

    def _encoded(self, prompts: Sequence[Sequence[Message]]) -> list[list[int]]:
        texts = [render_chat(self._tokenizer, prompt) for prompt in prompts]
        made = self._tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        return list(made)

    def count_tokens(self, text: str) -> int:
        """The text's length in the model's own tokens."""
        return len(self.tokens(text))

    def tokens(self, text: str) -> list[int]:
        """The text as the model's tokens, no special ones added."""
        # Not verbose: a text that is longer than the model's context is expected here.
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def text(self, tokens: Sequence[int]) -> str:
        """The text that tokens spell, without special ones."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    @property
    def limit(self) -> int:
        """The most tokens that the model reads, by its configuration."""
        return int(getattr(self._model.config, "max_position_embeddings", None) or sys.maxsize)

    def continue_(self, prefixes: Sequence[Sequence[int]], n: int) -> list[list[int]]:
        """The next ``n`` tokens of each prefix, greedily: plain text, no template, no constraint.

        There are fewer where the model ends the text.
        """
        begin = [t for t in self._tokenizer("")["input_ids"] if t == self._tokenizer.bos_token_id]
        jobs = [_Job([*begin, *prefix], Constraint()) for prefix in prefixes]
        return [job.made for job in self._run(jobs, n)]

    def _batches(self, rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """The indices of the rows in batches of similar length."""
        batch: list[int] = []
        for at in sorted(range(len(rows)), key=lambda at: len(rows[at])):
            tokens = len(rows[at]) * (len(batch) + 1)  # the last row is the longest
            if batch and (len(batch) == self.batch_size or tokens > BATCH_TOKENS):
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """The tags' probability after each prompt, in one pass for a batch.

        The tokens that all prompts begin with, such as the instructions, are read once, and those
        of a question with ``MANY`` responses or more. Those that both tags begin with are appended.
        A constrained model can write nothing but a tag; another has a probability only where it
        would write these tokens and a tag.
        """
        tags = TagTokens(*self._tokenizer([YES, NO], add_special_tokens=False)["input_ids"])
        rows = self._encoded(prompts)
        found: list[TagProbability | EngineError | None] = [None] * len(rows)
        with self._torch.inference_mode():
            for group in _by_prefix(rows):
                own = [rows[n] for n in group]
                prefix = self._read_prefix(own)
                for batch in self._batches(own):
                    probabilities = self._read_tags([own[n] for n in batch], tags, prefix)
                    for n, yes in zip(batch, probabilities, strict=True):
                        if yes is not None:
                            found[group[n]] = TagProbability(yes, len(own[n]), tags.shared + 1)
        return found

    def _read_prefix(self, rows: Sequence[list[int]]) -> DynamicCache | None:
        """The keys and values of the tokens that all rows begin with, less the last of a row.

        None where there are no such tokens, and where keys and values of all tokens are not all
        that the model remembers, as with a sliding window or a recurrent state.
        """
        from transformers.cache_utils import DynamicCache, DynamicLayer

        if len(rows) < 2:
            return None
        length = min(_common(min(rows), max(rows)), min(map(len, rows)) - 1)
        cache = DynamicCache(config=self._model.config)
        if not length or any(type(layer) is not DynamicLayer for layer in cache.layers):
            return None
        self._last_logits([rows[0][:length]], 1, cache=cache)
        return cache if cache.get_seq_length() == length else None

    def _read_tags(
        self, rows: Sequence[list[int]], tags: TagTokens, prefix: DynamicCache | None
    ) -> list[float | None]:
        """P(Yes) of each row, from the first token in which the tags differ."""
        at, cache = tags.shared, copy.deepcopy(prefix)
        if cache is not None:
            cache.batch_repeat_interleave(len(rows))
        past = 0 if cache is None else cache.get_seq_length()
        unread = [row[past:] + tags.yes[:at] for row in rows]
        exact = [tags.yes[at], tags.no[at]]
        logits = self._last_logits(unread, at + 1, exact, cache)
        written = [tags.yes] * len(rows) if self._constraints else logits.argmax(-1).tolist()
        return list(map(tags.read, written, logits[:, -1].cpu()))

    def _last_logits(
        self,
        rows: Sequence[list[int]],
        last: int,
        exact: Sequence[int] = (),
        cache: DynamicCache | None = None,
    ) -> torch.Tensor:
        """The logits of the last tokens of each row, ``[row, last, vocabulary]``.

        Rows are padded on the right. Attention is causal, so no mask is needed.
        """
        torch, device = self._torch, self._model.device
        ids = torch.nn.utils.rnn.pad_sequence(list(map(torch.tensor, rows)), batch_first=True)
        ends = torch.tensor([[len(row)] for row in rows])
        places = torch.arange(ids.shape[1])
        keep = (places < ends) & (places >= ends - last)
        with _head_on(self._model.get_output_embeddings(), keep.to(device), exact):
            # Transformers 5.24 renamed the argument, and 5.40 drops the old name.
            renamed = "cache" in signature(self._model.forward).parameters
            past = {} if cache is None else {"cache" if renamed else "past_key_values": cache}
            logits = self._model(
                input_ids=ids.to(device), use_cache=cache is not None, **past
            ).logits
        return logits.unflatten(0, (len(rows), last))

    def _continue(self, jobs: list[_Job], limit: int) -> None:
        """Continue all ``jobs`` of a batch, padded on the left, up to ``limit`` tokens each."""
        torch, pad = self._torch, self._tokenizer.pad_token_id
        rows = [job.prompt + job.made for job in jobs]
        width = max(map(len, rows))
        ids = torch.tensor([[pad] * (width - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        with torch.inference_mode():
            self._model.generate(
                input_ids=ids.to(self._model.device),
                attention_mask=mask.to(self._model.device),
                do_sample=False,
                pad_token_id=pad,
                eos_token_id=[*self._ends],
                max_new_tokens=limit - len(jobs[0].made),
                logits_processor=[_Greedy(jobs, self._ends)],
            )

    def _generation(self, job: _Job) -> Generation:
        # An id without a token is converted to None.
        pieces = [p or "" for p in self._tokenizer.convert_ids_to_tokens(job.made)]
        text = self._tokenizer.decode(job.made, skip_special_tokens=True)
        tokens = tuple(map(TokenLogprob, pieces, job.logprobs))
        return Generation(text, len(job.prompt), len(job.made), tokens)


class TagTokens:
    """The two verdict tags as token ids, and their probability from a model's logits."""

    def __init__(self, yes: Sequence[int], no: Sequence[int]) -> None:
        self.yes, self.no = list(yes), list(no)
        self.shared = _common(yes, no)
        """The number of tokens that both begin with: ``<`` is one for most tokenizers."""

    def read(self, written: Sequence[int], scores: torch.Tensor) -> float | None:
        """P(Yes) / (P(Yes) + P(No)), where ``written`` begins as one of the tags does.

        ``scores`` are the logits of the first token in which the tags differ. None where something
        else was written.
        """
        begun = [*written[: self.shared + 1]]
        if begun not in (self.yes[: self.shared + 1], self.no[: self.shared + 1]):
            return None
        yes, no = (float(scores[tag[self.shared]]) for tag in (self.yes, self.no))
        return 1 / (1 + math.exp(no - yes)) if yes >= no else 1 - 1 / (1 + math.exp(yes - no))


def _common(some: Sequence[int], others: Sequence[int]) -> int:
    """The length of the prefix that both have in common."""
    return sum(1 for _ in itertools.takewhile(bool, map(operator.eq, some, others)))


def _by_prefix(rows: Sequence[list[int]]) -> Iterator[list[int]]:
    """The indices of the rows: those of each question with many, and then all others together."""
    order = sorted(range(len(rows)), key=rows.__getitem__)
    least = _common(min(rows), max(rows)) + SHARED_TOKENS if rows else 0
    groups = [order[:1]]
    for before, at in itertools.pairwise(order):
        if _common(rows[before], rows[at]) < least:
            groups.append([])
        groups[-1].append(at)
    yield from (group for group in groups if len(group) >= MANY)
    yield [at for group in groups if len(group) < MANY for at in group]


@dataclass
class _Job:
    """One prompt that is being continued: its tokens so far, and whether it ended."""

    prompt: list[int]
    constraint: Constraint
    made: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False

    def constrain(self, scores: torch.Tensor) -> None:
        """Exclude the tokens that the constraint does not allow next."""
        import torch

        if forced := self.constraint.forced():
            scores.fill_(-float("inf"))[forced[0]] = 0.0
        elif (allowed := self.constraint.allowed()) is not None:
            mask = torch.frombuffer(bytearray(allowed), dtype=torch.uint8).to(scores.device)
            scores[: len(mask)].masked_fill_(mask[: len(scores)] == 0, -float("inf"))
            scores[len(mask) :] = -float("inf")  # embedding rows without a token

    def write(self, token: int, logprob: float) -> None:
        """Record that ``token`` was written."""
        self.made.append(token)
        self.logprobs.append(logprob)
        self.constraint.write(token)


class _Greedy:
    """A logits processor that constrains each row, and records its likeliest token.

    Generation is greedy, so that is the token which is chosen.
    """

    def __init__(self, jobs: Sequence[_Job], ends: Sequence[int]) -> None:
        self._jobs, self._ends = jobs, ends

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for job, row in zip(self._jobs, scores, strict=True):
            if not job.ended:
                job.constrain(row)
        logprobs = scores.max(dim=-1).values - scores.logsumexp(dim=-1)
        chosen = zip(self._jobs, scores.argmax(dim=-1).tolist(), logprobs.tolist(), strict=True)
        for job, token, logprob in chosen:
            job.ended = job.ended or token in self._ends
            if not job.ended:
                job.write(token, logprob)
        return scores


@contextmanager
def _head_on(head: Any, keep: torch.Tensor, exact: Sequence[int]) -> Iterator[None]:
    """Run the output head on the kept positions ``[row, length]`` only: logits ``[n, vocabulary]``.

    Those of the ``exact`` tokens are computed in float32: bfloat16 would round a logit of 20 to a
    multiple of 1/8, and so change a probability by up to 0.03. Hooks rather than a call of the
    backbone, as the model's own forward scales or caps the logits where a model does so.
    """
    from torch.nn import Linear
    from torch.nn.functional import linear

    def logits(_: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
        found, tokens = output.float(), list(exact)
        if type(head) is Linear:
            bias = None if head.bias is None else head.bias[tokens].float()
            found[:, tokens] = linear(inputs[0].float(), head.weight[tokens].float(), bias)
        return found

    handles = (
        head.register_forward_pre_hook(lambda _, inputs: (inputs[0][keep],)),
        head.register_forward_hook(logits),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def quiet_start() -> None:
    """Silence messages of other libraries at loading that a user can do nothing about."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    # transformers 5 warns about a field of its own, which TRL 1.16 and PEFT 0.21 still use.
    warnings.filterwarnings("ignore", ".*gradient_checkpointing` is deprecated", FutureWarning)


def _load(model: str, adapter: str | None, device: str | None) -> tuple[Any, Any, Any]:
    check_weights(model, adapter, (CONFIG, ADAPTER_CONFIG))
    with needs("the local engine", "gradegpt[local]"):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
    quiet_start()
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    on_cpu = torch.device(device).type == "cpu"
    able = cpu_has_bf16() if on_cpu else torch.cuda.is_bf16_supported()
    dtype = torch.bfloat16 if able else torch.float32
    with load_errors(model):
        tokenizer = AutoTokenizer.from_pretrained(model, padding_side="left")
        loaded = AutoModelForCausalLM.from_pretrained(model, dtype=dtype)
        if on_cpu and loaded.num_parameters() <= SMALL:
            loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
        if adapter:
            from peft import PeftModel

            loaded = PeftModel.from_pretrained(loaded, adapter).merge_and_unload()
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    # A model's own sampling settings also affect greedy search: Qwen2.5's repetition penalty would
    # prevent a judge from quoting.
    loaded.generation_config = GenerationConfig()
    return torch, loaded.to(device).eval(), tokenizer
