"""An encoder with a classification head as an engine: P(correct) from one pass, and no text."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.core.errors import EngineError, needs
from gradegpt.core.schema import Message
from gradegpt.core.shipped import ADAPTER_CONFIG
from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.files import check_weights, load_errors, name_with_digest
from gradegpt.engines.local import quiet_start

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TASK: Final = "SEQ_CLS"
"""PEFT's name of the task for which an encoder's adapter is trained."""
LONGEST: Final = 1024
"""The most tokens that are read; prompts are fitted to fewer (``PromptSettings.budget``)."""


def is_for_encoder(adapter: str | None) -> bool:
    """Whether the adapter in a folder is one for an encoder."""
    config = Path(adapter or "") / ADAPTER_CONFIG
    return config.is_file() and json.loads(config.read_bytes()).get("task_type") == TASK


def encoded(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Sequence[Message]], limit: int
) -> list[list[int]]:
    """The last message of each prompt as tokens, cut on the left: an answer stands at the end."""
    tokenizer.truncation_side = "left"
    texts = [prompt[-1].content for prompt in prompts]
    made = tokenizer(texts, truncation=True, max_length=limit) if texts else {"input_ids": []}
    return list(made["input_ids"])


def longest(config: Any, tokenizer: PreTrainedTokenizerBase) -> int:
    """The most tokens that the encoder reads."""
    # RoBERTa numbers its positions from the padding's id on, and its tokenizer knows by how much.
    return int(min(config.max_position_embeddings, tokenizer.model_max_length, LONGEST))


def load_base(model: str) -> Any:
    """An encoder with a head of two classes, for an adapter that has the head.

    Raises:
        ValueError: its files lack other weights than the head's.

    """
    from transformers import AutoModelForSequenceClassification

    quiet_start()
    for name in ("modeling_utils", "distributed.tensor_parallel"):  # a missing head is expected
        logging.getLogger(f"transformers.{name}").setLevel(logging.ERROR)
    loaded, info = AutoModelForSequenceClassification.from_pretrained(
        model, num_labels=2, trust_remote_code=False, output_loading_info=True
    )
    if lost := [name for name in info["missing_keys"] if not name.startswith(heads(loaded))]:
        raise ValueError(f"its files have no {lost[0]}")
    return loaded


def heads(model: Any) -> tuple[str, ...]:
    """The modules behind the encoder, which are trained whole and saved with its adapter."""
    pooler = f"{model.base_model_prefix}.pooler"
    own = [name for name, part in model.named_children() if [*part.parameters()]]
    behind = [name for name in own if name != model.base_model_prefix]
    return (*behind, *(name for name, _ in model.named_modules() if name == pooler))


class EncoderEngine:
    """``AutoModelForSequenceClassification`` with a LoRA adapter and its head, in float32.

    A judge of this kind gives the verdict and its probability; it writes no chain.

    Args:
        model: a folder or hub name of an encoder.
        adapter: the folder that ``gradegpt finetune`` wrote.
        batch_size: prompts per forward pass.

    Raises:
        MissingError: the packages or the model are not there.
        EngineError: the files are there but do not load.

    """

    def __init__(self, model: str, adapter: str, *, batch_size: int = 32) -> None:
        check_weights(model, adapter)
        with needs("an encoder", "gradegpt[local]"):
            import torch
            from peft import PeftModel
            from transformers import AutoTokenizer
        self.name = "encoder:" + "+".join(map(name_with_digest, (model, adapter)))
        self.batch_size, self._torch = batch_size, torch
        with load_errors(model):
            self._tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
            base = load_base(model)
            loaded = PeftModel.from_pretrained(base, adapter).merge_and_unload()
        self._model = loaded.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """An error for each prompt: an encoder writes nothing."""
        told = "an encoder gives a verdict and writes no chain; ask for chain_format=outcome"
        return [EngineError(f"{self.name}: {told}") for _ in prompts]

    def count_tokens(self, text: str) -> int:
        """The text's length in the encoder's tokens."""
        return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """P(correct) of each prompt, in batches of similar length."""
        limit = longest(self._model.config, self._tokenizer)
        rows = encoded(self._tokenizer, prompts, limit)
        order = sorted(range(len(rows)), key=lambda n: len(rows[n]))
        found: list[TagProbability | EngineError | None] = [None] * len(rows)
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            padded = self._tokenizer.pad(
                {"input_ids": [rows[n] for n in batch]}, return_tensors="pt"
            ).to(self._model.device)
            with self._torch.inference_mode():
                right = self._model(**padded).logits.float().softmax(-1)[:, 1].tolist()
            for n, yes in zip(batch, right, strict=True):
                found[n] = TagProbability(yes, len(rows[n]), 0)
        return found
