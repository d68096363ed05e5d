"""Conversations as text and tokens: by the model's own chat template, alike wherever it runs.

What is taken for a tokenizer here may also be an ``ExportedTokenizer``, which knows as much of one
as these functions use.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gradegpt.chain import YES
from gradegpt.errors import EngineError
from gradegpt.schema import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_TAKE: Final = "take the model's chat or instruct version"


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
        what = f"takes no conversation of {', '.join(m['role'] for m in chat)}: {error}"
        raise EngineError(f"{tokenizer.name_or_path}: its chat template {what}") from error


def _apply_template(
    tokenizer: PreTrainedTokenizerBase, chat: list[dict[str, str]], *, reply_follows: bool = True
) -> str:
    if tokenizer.chat_template is None:
        raise EngineError(f"{tokenizer.name_or_path}: its tokenizer has no chat template; {_TAKE}")
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
        nowhere = "neither in its chat template nor as eos_token"
        raise EngineError(f"{tokenizer.name_or_path}: no token ends a reply, {nowhere}; {_TAKE}")
    return int(tokenizer.eos_token_id)


def end_token_ids(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """What ends a generation: ``end_token_id`` first, and ``eos_token`` where that is another."""
    ends = (end_token_id(tokenizer), tokenizer.eos_token_id)
    return tuple(dict.fromkeys(token for token in ends if token is not None))


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
