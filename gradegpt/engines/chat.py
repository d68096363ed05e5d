"""Conversations as text and tokens, by the model's own chat template, for every local engine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gradegpt.chains.chain import OWN_TAG, YES
from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DATE: Final = date(2024, 7, 26)
"""What templates are told to be today, as a prompt must not change with the day: the date that is
fixed in Llama 3.1's template."""
_CLOCK: Final = re.compile(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)")
_USE_CHAT_MODEL: Final = "use the model's chat or instruct version"


def render_chat(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """The prompt text by the model's own chat template, with thinking off where it has a switch.

    A control token of the tokenizer in a text begins with the wide form of its first character;
    those of the usual families are defused for any engine (``chains.chain.defuse``).
    Where a template rejects the system turn (Gemma 2) or drops it, the user's turn begins with it.

    Raises:
        EngineError: there is no template, or it rejects the conversation.

    """
    from jinja2 import TemplateError

    control = _control_tokens(tokenizer)
    chat = [{"role": m.role, "content": widened(control, m.content)} for m in messages]
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
        what = f"rejects a conversation of {', '.join(m['role'] for m in chat)}: {error}"
        raise EngineError(f"{tokenizer.name_or_path}: its chat template {what}") from error


@lru_cache(maxsize=8)
def _control_tokens(tokenizer: PreTrainedTokenizerBase) -> re.Pattern[str]:
    added = {str(token): token.special for token in tokenizer.added_tokens_decoder.values()}
    return _controlling(added, str(tokenizer.chat_template))


def control_tokens_beside(folder: str | None) -> re.Pattern[str] | None:
    """The control tokens of the tokenizer in a folder, as a model behind a URL has it, too."""
    names = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
    paths = [Path(folder or "", name) for name in names]
    if folder is None or not paths[0].is_file():
        return None
    tokens, config, template = (p.read_text("utf-8") if p.is_file() else "" for p in paths)
    template += str(json.loads(config or "{}").get("chat_template"))
    added = json.loads(tokens).get("added_tokens") or ()
    return _controlling({token["content"]: token["special"] for token in added}, template)


def _controlling(added: Mapping[str, bool], template: str) -> re.Pattern[str]:
    """The special tokens, and those that the template writes, without the prompt's own tags.

    Other added tokens are usual text, such as the HTML tags and runs of blanks of Gemma.
    """
    marks = (token for token, is_special in added.items() if is_special or token in template)
    signs = (t for t in marks if re.match(r"(?a)[!-~]\S", t) and not t[0].isalnum())
    own = sorted(re.escape(t) for t in signs if not OWN_TAG.fullmatch(t))
    return re.compile("|".join(own) or r"(?!)")


def widened(control: re.Pattern[str], text: str) -> str:
    """The text, with the wide form of the first character of each control token."""
    return control.sub(lambda token: chr(ord(token[0][0]) + 0xFEE0) + token[0][1:], text)


def _apply_template(
    tokenizer: PreTrainedTokenizerBase, chat: list[dict[str, str]], *, reply_follows: bool = True
) -> str:
    if tokenizer.chat_template is None:
        what = "its tokenizer has no chat template"
        raise EngineError(f"{tokenizer.name_or_path}: {what}; {_USE_CHAT_MODEL}")
    return str(
        tokenizer.apply_chat_template(
            chat,
            tokenize=False,
            add_generation_prompt=reply_follows,
            enable_thinking=False,
            chat_template=pinned(tokenizer.get_chat_template()),
        )
    )


def pinned(template: str) -> str:
    """The template with ``DATE`` wherever it reads the clock."""
    return _CLOCK.sub(lambda call: repr(DATE.strftime(call[2])), template)


def clock(tokenizer: PreTrainedTokenizerBase) -> str:
    """The date of the prompts, for the name of an engine; empty where the template shows none."""
    return f"+{DATE}" if _CLOCK.search(str(tokenizer.chat_template)) else ""


def end_token_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The token that ends an assistant's turn: the one that follows a reply in the chat template.

    It may differ from ``eos_token``: Gemma ends a turn with ``<end_of_turn>``, a text with
    ``<eos>``. Where a template ends turns without a special token, it is ``eos_token``.

    Raises:
        EngineError: there is no template, or neither token exists.

    """
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": YES}]
    tail = _apply_template(tokenizer, chat, reply_follows=False).rpartition(YES)[2].lstrip()
    ids = tokenizer(tail, add_special_tokens=False)["input_ids"] if tail else []
    special = tokenizer.added_tokens_decoder
    if ids and ids[0] in special and special[ids[0]].special:
        return int(ids[0])
    if tokenizer.eos_token_id is None:
        what = "no token ends a reply, neither in its chat template nor as eos_token"
        raise EngineError(f"{tokenizer.name_or_path}: {what}; {_USE_CHAT_MODEL}")
    return int(tokenizer.eos_token_id)


def end_token_ids(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """The tokens that end a generation: ``end_token_id``, and ``eos_token`` where it differs."""
    ends = (end_token_id(tokenizer), tokenizer.eos_token_id)
    return tuple(dict.fromkeys(token for token in ends if token is not None))
