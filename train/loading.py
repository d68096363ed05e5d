"""Any chat model as a base: its tokenizer and its weights, checked before a step is trained."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chain import YES
from gradegpt.engines.chat import end_token_id
from gradegpt.errors import EngineError, MissingError, SettingsError
from gradegpt.settings import suggest
from gradegpt.shipped import base_of

from .settings import SFTSettings

if TYPE_CHECKING:
    import torch
    from transformers import BitsAndBytesConfig, PreTrainedModel, PreTrainedTokenizerBase

PADS: Final = ("<|endoftext|>", "<|finetune_right_pad_id|>", "<pad>", "<|pad|>", "[PAD]")
"""Tokens that tokenizers have and chats do not use, in the order of preference."""
EAGER_LENGTH: Final = 1024
"""Tokens up to which eager attention is trained with on a CPU. It is faster than sdpa for rows of a
few hundred, but keeps a score for each pair of tokens: 16 rows of 2,048 take 16 GB."""


def load_base(settings: SFTSettings) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """The tokenizer and the model that ``settings`` name, fit to be trained on.

    Raises:
        MissingError: the folder, or a package that the settings ask for, is not there.
        SettingsError: ``target_modules`` names a layer that the model does not have, or ``bf16`` is
            on and the GPU has none.
        EngineError: it does not load whole, or is no chat model.

    """
    import torch
    from accelerate import PartialState

    # Joins the other processes of a launch, so that each loads onto its own GPU; FSDP reads the
    # weights in one process only if they are joined by now. Unasked it joins none on a CPU.
    PartialState(cpu=not torch.cuda.is_available())
    base = base_of(settings.model)
    if base.startswith((".", "/")) and not Path(base).is_dir():
        raise MissingError(
            f"{base}: no such model folder; give a folder or a hub name such as Qwen/Qwen3-0.6B"
        )
    tokenizer = load_tokenizer(base)
    model = _load_model(base, settings)
    _check_vocabulary(base, tokenizer, model)
    check_target_modules(model, settings.target_modules)
    return tokenizer, model


def load_tokenizer(base: str) -> PreTrainedTokenizerBase:
    """The tokenizer of a chat model, with a pad token.

    Raises:
        EngineError: it does not load, or has no chat template or nothing that ends a reply.

    """
    from transformers import AutoTokenizer

    with told(base):
        tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
    # Without its files transformers makes a tokenizer of no words, which reads any text as nothing.
    if set(tokenizer(YES, add_special_tokens=False)["input_ids"]) <= {tokenizer.unk_token_id}:
        raise EngineError(f"{base}: its tokenizer has no vocabulary; is tokenizer.json there?")
    choose_pad_token(tokenizer)
    return tokenizer


def choose_pad_token(tokenizer: PreTrainedTokenizerBase) -> None:
    """Pad with a token that closes no reply, where there is one.

    Padding is masked by position here, so that even the end token can pad and still be learnt as
    the end of a chain; other programs mask by id, and take the tokenizer that is saved.
    """
    end, vocabulary = end_token_id(tokenizer), tokenizer.get_vocab()
    if tokenizer.pad_token_id not in (None, end):
        return
    names = (*PADS, tokenizer.unk_token, tokenizer.eos_token)
    free = (name for name in names if vocabulary.get(name, end) != end)
    tokenizer.pad_token = next(free, tokenizer.convert_ids_to_tokens(end))


def check_target_modules(model: PreTrainedModel, target_modules: str) -> None:
    """See that each name has a layer; PEFT is content if one of them has.

    Raises:
        SettingsError: one has none.

    """
    if target_modules == "all-linear":
        return
    names = [name for name, _ in model.named_modules()]
    for target in target_modules.split(","):
        if not any(f".{name}".endswith(f".{target}") for name in names if target):
            known = linear_names(model)
            raise SettingsError(
                f"target_modules: no layer of {type(model).__name__} is called {target!r}"
                f"{suggest(target, known)}; give names with commas between, or all-linear"
            )


def linear_names(model: PreTrainedModel) -> list[str]:
    """What the model calls its linear layers, the head apart: down_proj, gate_proj, ..."""
    from torch.nn import Linear

    head = model.get_output_embeddings()
    parts = ((name, part) for name, part in model.named_modules() if part is not head)
    return sorted({name.rpartition(".")[2] for name, part in parts if isinstance(part, Linear)})


def _load_model(base: str, settings: SFTSettings) -> PreTrainedModel:
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING as CAUSAL

    with told(base):
        config = AutoConfig.from_pretrained(base, trust_remote_code=False)
    if type(config) not in CAUSAL:
        raise EngineError(
            f"{base}: {config.model_type} is no causal language model; "
            "take one such as Qwen/Qwen3-0.6B"
        )
    chosen = {
        "dtype": _dtype(settings),
        "quantization_config": _quantization(settings) if settings.qlora else None,
        "attn_implementation": _attention(settings, CAUSAL[type(config)]),
    }
    with told(base):
        model, info = AutoModelForCausalLM.from_pretrained(
            base,
            **chosen,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # told below, by name
            output_loading_info=True,
        )
    # transformers fills what the file lacks with random numbers, and a warning.
    lost = sorted([*info["missing_keys"], *(key[0] for key in info["mismatched_keys"])])
    if lost:
        raise EngineError(
            f"{base}: its weights are not those of its config.json: {len(lost)} tensors are "
            f"missing or of another size, such as {lost[0]}; download it anew"
        )
    return model


def _dtype(settings: SFTSettings) -> torch.dtype:
    import torch

    if not torch.cuda.is_available():
        return torch.bfloat16 if settings.bf16 and cpu_has_bf16() else torch.float32
    if not settings.bf16:
        return torch.float32
    if not torch.cuda.is_bf16_supported(including_emulation=False):
        raise SettingsError("bf16: this GPU does not compute in bfloat16; set bf16=false")
    return torch.bfloat16


def cpu_has_bf16() -> bool:
    """Whether the processor multiplies in bfloat16; without, torch does it a number at a time."""
    import torch

    able = torch.cpu.get_capabilities()
    return any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def _attention(settings: SFTSettings, architecture: Any) -> str | None:
    """The name for transformers; none is sdpa, or eager where that cannot do it (Gemma 2)."""
    import torch

    if settings.attn_implementation != "auto":
        return settings.attn_implementation
    if not torch.cuda.is_available():
        return "eager" if settings.max_length <= EAGER_LENGTH else None
    usable = find_spec("flash_attn") is not None and architecture._supports_flash_attn
    return "flash_attention_2" if usable and settings.bf16 else None


def _quantization(settings: SFTSettings) -> BitsAndBytesConfig:
    """The 4 bits of QLoRA (arXiv 2305.14314, sections 3 and 4): nf4, constants quantized too."""
    from transformers import BitsAndBytesConfig

    if find_spec("bitsandbytes") is None:
        raise MissingError(
            "qlora: bitsandbytes is not installed; pip install bitsandbytes, or set qlora=false"
        )
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=_dtype(settings),
    )


def _check_vocabulary(
    base: str, tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel
) -> None:
    # From the settings rather than the weights: under ZeRO-3 a process holds none of them.
    rows = int(model.config.get_text_config().vocab_size)
    last = max(tokenizer.get_vocab().values())
    if last >= rows:
        raise EngineError(
            f"{base}: its tokenizer has ids up to {last}, its embedding {rows} rows; "
            "tokenizer and weights are not of one model"
        )


@contextmanager
def told(base: str) -> Iterator[None]:
    """What loading raises, as one of our errors, in one line."""
    from safetensors import SafetensorError

    kinds: tuple[type[Exception], ...] = (
        OSError, ValueError, RuntimeError, KeyError, EOFError, pickle.UnpicklingError,
        SafetensorError,
    )  # fmt: skip
    try:
        yield
    except ImportError as error:
        raise MissingError(
            f"{base}: {_first_line(error)} Install it, or change the setting that asks for it"
        ) from error
    except kinds as error:
        raise EngineError(f"{base}: does not load: {_first_line(error)}") from error


def _first_line(error: Any) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
