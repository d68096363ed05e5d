"""The files of an exported model besides the weights, read without torch and transformers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from gradegpt.errors import EngineError
from gradegpt.settings import Settings

ENGINE_FILE: Final = "engine_config.json"
"""The engine's settings in an exported folder."""
TEMPLATE_FILE: Final = "chat_template.jinja"
MODEL_FILE: Final = "model.onnx"
"""Weights that are too large for one file are in further files that begin with its name."""


class ModelShape(Settings):
    """The sizes of keys and values; ``context`` is the most tokens that the model reads."""

    layers: int
    kv_heads: int
    head_size: int
    context: int


class ExportSettings(Settings):
    """The contents of ``engine_config.json``."""

    engine: Literal["onnx"] = "onnx"
    quantization: str
    shape: ModelShape
    end_token_ids: tuple[int, ...]
    special_tokens: dict[str, str | list[str]]
    """By their names in the chat template: ``bos_token`` and the like."""


class ExportedTokenizer:
    """Tokenizer and chat template of an exported folder, without transformers.

    It has the methods of a transformers tokenizer that ``render_chat`` and ``token_bytes`` use,
    by the same names.
    """

    def __init__(self, folder: Path, special_tokens: dict[str, str | list[str]]) -> None:
        from tokenizers import Tokenizer

        self.name_or_path = str(folder)
        self.backend_tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.backend_tokenizer.no_truncation()
        self.backend_tokenizer.no_padding()
        self.chat_template = (folder / TEMPLATE_FILE).read_text(encoding="utf-8")
        self._render = _compiled(self.chat_template)
        self._special = special_tokens

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size(with_added_tokens=True))

    def apply_chat_template(
        self, chat: list[dict[str, str]], *, tokenize: Literal[False], **values: Any
    ) -> str:
        """The conversation as text."""
        return self._render(messages=chat, **self._special, **values)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """The tokens' names; empty for an id without a token."""
        return [self.backend_tokenizer.id_to_token(i) or "" for i in ids]

    def encode(self, text: str) -> list[int]:
        """Token ids, no special token added."""
        return list(self.backend_tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: list[int]) -> str:
        """The text, special tokens left out."""
        return str(self.backend_tokenizer.decode(ids, skip_special_tokens=True))


def is_exported(folder: str) -> bool:
    """Whether ``train.export`` wrote this folder."""
    return (Path(folder) / ENGINE_FILE).is_file()


def _compiled(template: str) -> Callable[..., str]:
    """The chat template, rendered as transformers renders it: sandboxed, blocks trimmed."""
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def tojson(value: Any, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = refuse
    try:
        return environment.from_string(template).render
    except TemplateError as error:
        raise EngineError(f"{TEMPLATE_FILE}: cannot be read as a template: {error}") from error
