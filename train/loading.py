"""Load any chat model as a base: its tokenizer and weights, checked before training starts."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.chain import YES
from gradegpt.core.errors import EngineError, MissingError, SettingsError
from gradegpt.core.machine import cpu_has_bf16
from gradegpt.core.mistakes import suggest
from gradegpt.core.shipped import base_of
from gradegpt.engines.chat import end_token_id
from gradegpt.engines.files import check_weights, load_errors

from .settings import SFTSettings

if TYPE_CHECKING:
    import torch
    from transformers import (
        BitsAndBytesConfig,
        PreTrainedConfig,
        PreTrainedModel,
        PreTrainedTokenizerBase,
    )

PADS: Final = ("<|endoftext|>", "<|finetune_right_pad_id|>", "<pad>", "<|pad|>", "[PAD]")
"""Tokens that tokenizers have and chats do not use, in order of preference."""
EAGER_LENGTH: Final = 1024
"""The longest rows, in tokens, for which a CPU trains with eager attention. It is faster than sdpa
for a few hundred tokens, but stores a score per pair of tokens: 16 rows of 2,048 take 16 GB."""


def load_base(settings: SFTSettings) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """The tokenizer and the model that ``settings`` name, checked for training.

    Raises:
        MissingError: the folder, or a package that the settings need, is missing.
        SettingsError: ``lora`` names layers that the model does not have, or ``sft.bf16`` is
            set and the GPU does not support it.
        EngineError: the model does not load completely, or is no chat model.

    """
    import torch
    from accelerate import PartialState

    # Joins the processes of a launch, so that each loads onto its own GPU, and so that FSDP reads
    # the weights in one process only. On a CPU they join only with cpu=True.
    PartialState(cpu=not torch.cuda.is_available())
    base = base_of(settings.model)
    config = config_of(base)
    tokenizer = load_tokenizer(base)
    model = _load_model(base, config, settings)
    _check_vocabulary(base, tokenizer, model)
    check_target_modules(model, settings.lora["target_modules"])
    chosen, n = settings.lora.get("layers_to_transform"), config.get_text_config().num_hidden_layers
    if isinstance(chosen, list) and {*chosen} - {*range(n)}:
        raise SettingsError(f"lora.layers_to_transform={chosen}: {base} has layers 0 to {n - 1}")
    return tokenizer, model


@cache
def config_of(base: str) -> PreTrainedConfig:
    """The configuration of a base.

    Raises:
        MissingError: there is no model.
        EngineError: its configuration does not load.

    """
    check_weights(base)
    from transformers import AutoConfig

    with load_errors(base):
        return AutoConfig.from_pretrained(base, trust_remote_code=False)


def is_encoder(base: str) -> bool:
    """Whether a base reads in both directions: one such as ModernBERT, mmBERT or XLM-R.

    Raises:
        MissingError, EngineError: as ``config_of``.

    """
    from transformers.models.auto import modeling_auto as known

    config, kind = config_of(base), type(config_of(base))
    is_masked = (config.architectures or [""])[0].endswith("ForMaskedLM")
    causal = kind in known.MODEL_FOR_CAUSAL_LM_MAPPING and not is_masked
    return kind in known.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING and not causal


def load_tokenizer(base: str) -> PreTrainedTokenizerBase:
    """The tokenizer of a chat model, with a pad token.

    Raises:
        EngineError: it does not load, or has no chat template or no end token.

    """
    from transformers import AutoTokenizer

    with load_errors(base):
        tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
    # Without its files transformers makes a tokenizer without vocabulary: any text has no tokens.
    if set(tokenizer(YES, add_special_tokens=False)["input_ids"]) <= {tokenizer.unk_token_id}:
        raise EngineError(f"{base}: its tokenizer has no vocabulary; add its tokenizer.json")
    choose_pad_token(tokenizer)
    return tokenizer


def choose_pad_token(tokenizer: PreTrainedTokenizerBase) -> None:
    """Pad with a token other than the end token, where there is one.

    Training masks padding by position, so even the end token could pad and still be learnt as the
    end of a chain; but other programs use the saved tokenizer and mask by id.
    """
    end, vocabulary = end_token_id(tokenizer), tokenizer.get_vocab()
    if tokenizer.pad_token_id not in (None, end):
        return
    names = (*PADS, tokenizer.unk_token, tokenizer.eos_token)
    free = (name for name in names if vocabulary.get(name, end) != end)
    tokenizer.pad_token = next(free, tokenizer.convert_ids_to_tokens(end))


def check_target_modules(model: PreTrainedModel, target_modules: str | list[str]) -> None:
    """Check that each name is a layer of the model; PEFT requires only one of them to be.

    Raises:
        SettingsError: a name is no layer.

    """
    if target_modules == "all-linear":
        return
    names = [name for name, _ in model.named_modules()]
    given = target_modules.split(",") if isinstance(target_modules, str) else target_modules
    for target in given:
        if not any(f".{name}".endswith(f".{target}") for name in names if target):
            known = linear_names(model)
            raise SettingsError(
                f"lora.target_modules: no layer of {type(model).__name__} has the name {target!r}"
                f"{suggest(target, known)}; give names separated by commas, or all-linear"
            )


def linear_names(model: PreTrainedModel) -> list[str]:
    """The names of the model's linear layers without the head: down_proj, gate_proj, ..."""
    from torch.nn import Linear

    head = model.get_output_embeddings()
    parts = ((name, part) for name, part in model.named_modules() if part is not head)
    return sorted({name.rpartition(".")[2] for name, part in parts if isinstance(part, Linear)})


def _load_model(base: str, config: PreTrainedConfig, settings: SFTSettings) -> PreTrainedModel:
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING as CAUSAL

    if type(config) not in CAUSAL:
        raise EngineError(
            f"{base}: {config.model_type} is no causal language model; "
            "use one such as Qwen/Qwen3-0.6B"
        )
    chosen = {
        "dtype": compute_type(settings),
        "quantization_config": _quantization(settings) if settings.qlora else None,
        "attn_implementation": settings.attention or _attention(settings, CAUSAL[type(config)]),
    }
    with load_errors(base):
        model, info = AutoModelForCausalLM.from_pretrained(
            base,
            **chosen,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # reported below, by name
            output_loading_info=True,
        )
    # transformers initialises missing tensors at random, with a warning only.
    if lost := sorted([*info["missing_keys"], *(key[0] for key in info["mismatched_keys"])]):
        raise EngineError(
            f"{base}: its weights do not fit its config.json: {len(lost)} tensors are missing or "
            f"have another size, such as {lost[0]}; download the model again"
        )
    return model


def compute_type(settings: SFTSettings) -> torch.dtype:
    """The type in which a base is loaded and computes on this machine.

    Raises:
        SettingsError: the GPU does not compute in bfloat16.

    """
    import torch

    if not torch.cuda.is_available():
        return torch.bfloat16 if settings.sft["bf16"] and cpu_has_bf16() else torch.float32
    if not settings.sft["bf16"]:
        return torch.float32
    if not torch.cuda.is_bf16_supported(including_emulation=False):
        raise SettingsError("sft.bf16: this GPU does not compute in bfloat16; set sft.bf16=false")
    return torch.bfloat16


def _attention(settings: SFTSettings, architecture: Any) -> str | None:
    """The attention's name in transformers; None chooses sdpa, or eager if sdpa is unsupported."""
    import torch

    if not torch.cuda.is_available():
        # Shared prefixes are computed by sdpa, from which eager differs in bfloat16.
        eager = settings.sft["max_length"] <= EAGER_LENGTH and not settings.share_prefix
        return "eager" if eager else None
    usable = find_spec("flash_attn") is not None and architecture._supports_flash_attn
    return "flash_attention_2" if usable and settings.sft["bf16"] else None


def _quantization(settings: SFTSettings) -> BitsAndBytesConfig:
    """QLoRA's 4-bit nf4 with double quantization (arXiv 2305.14314, sections 3 and 4)."""
    from transformers import BitsAndBytesConfig

    if find_spec("bitsandbytes") is None:
        raise MissingError(
            "qlora: bitsandbytes is not installed; pip install bitsandbytes, or set qlora=false"
        )
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=compute_type(settings),
    )


def _check_vocabulary(
    base: str, tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel
) -> None:
    # From the config rather than the weights: under ZeRO-3 a process holds none of them.
    rows = int(model.config.get_text_config().vocab_size)
    last = max(tokenizer.get_vocab().values())
    if last >= rows:
        raise EngineError(
            f"{base}: its tokenizer has ids up to {last}, but its embedding has {rows} rows; "
            "use tokenizer and weights of the same model"
        )
