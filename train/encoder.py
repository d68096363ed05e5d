"""An encoder as a base: a head with two classes and a LoRA adapter, trained on the labels."""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peft import LoraConfig, get_peft_model
from torch.nn import Linear
from transformers import AutoTokenizer, Trainer

from gradegpt.chains.chain import YES
from gradegpt.core.errors import EngineError, SettingsError
from gradegpt.core.records import read_rows
from gradegpt.core.schema import TrainingRow
from gradegpt.core.shipped import base_of
from gradegpt.engines.encoder import encoded, heads, load_base
from gradegpt.engines.files import load_errors

from .settings import SFTSettings

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def load_encoder(settings: SFTSettings) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """The tokenizer and the encoder with a new head of two classes, in float32.

    Raises:
        SettingsError: a setting that is for language models is set.
        EngineError: the model does not load.

    """
    base = base_of(settings.model)
    for name in ("share_prefix", "qlora"):
        if getattr(settings, name):
            raise SettingsError(f"{name}: {base} is an encoder; set {name}=false")
    with load_errors(base):
        tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
        model = load_base(base)
    if tokenizer.pad_token_id is None:
        raise EngineError(f"{base}: its tokenizer has no pad token")
    return tokenizer, model


def encoder_rows(
    path: Path, tokenizer: PreTrainedTokenizerBase, limit: int
) -> Iterator[dict[str, Any]]:
    """``input_ids`` and the class of each row, 1 for correct; a long prompt is cut on the left."""
    for row in read_rows(path, TrainingRow):
        (ids,) = encoded(tokenizer, [row.prompt], limit)
        yield {"input_ids": ids, "labels": int(row.completion[-1].content.endswith(YES))}


class EncoderTrainer(Trainer):  # type: ignore[misc]  # transformers is not followed
    """``Trainer`` with an adapter, whose evaluation has ``verdict_accuracy``."""

    def __init__(self, adapter: LoraConfig | None, *, model: Any, **kwargs: Any) -> None:
        if adapter is not None:
            adapter.modules_to_save = [*heads(model)]
            parts = (n for n, part in model.named_modules() if isinstance(part, Linear))
            adapter.exclude_modules = {n for n in parts if n.startswith(heads(model))}
            model = get_peft_model(model, adapter)
        super().__init__(model=model, **kwargs, compute_metrics=_metrics)


def _metrics(made: Any) -> dict[str, float]:
    return {"verdict_accuracy": float((made.predictions.argmax(-1) == made.label_ids).mean())}
