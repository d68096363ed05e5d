"""A tiny tokenizer with chat tokens, and a tiny random model, made in a moment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.chain import NO, YES

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

TEXTS: Final = (
    "2+2=? The answer is 4.",
    "短",
    "因此答案是 B。" * 9,
    "a\nb\n\nc",
    "The answer is <Yes> or <No>.",
)
START: Final = "<|im_start|>"
END: Final = "<|im_end|>"
PAD: Final = "<|endoftext|>"

_PIECES: Final = (
    r"\p{N}| ?[A-Za-z]?[a-z]+|[A-Z]|\p{Han}+| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+|\p{L}+"
)
CHAT_TEMPLATE: Final = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def train_tokenizer(
    texts: Iterable[str], vocab_size: int, max_length: int
) -> PreTrainedTokenizerFast:
    """A byte-level BPE; chat tokens are special, verdict tags are one ordinary token each."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - 2,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in (YES, NO)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        chat_template=CHAT_TEMPLATE,
        model_max_length=max_length,
        clean_up_tokenization_spaces=False,
    )


def random_model(path: Path, **config: Any) -> Path:
    """A tiny random model of the built-in kind in the folder ``path``, with its tokenizer."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = train_tokenizer(TEXTS * 20, vocab_size=512, max_length=256)
    made = Qwen3Config(
        vocab_size=512, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, head_dim=16, tie_word_embeddings=False,
        initializer_range=1.0, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, **config,
    )  # fmt: skip
    Qwen3ForCausalLM(made).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path
