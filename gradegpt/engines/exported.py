"""An exported model: its files, read without torch and transformers, and its state as it reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Row
from gradegpt.engines.chat import common_prefix

if TYPE_CHECKING:
    import numpy as np

ENGINE_FILE: Final = "engine_config.json"
"""The engine's settings in an exported folder."""
TEMPLATE_FILE: Final = "chat_template.jinja"
MODEL_FILE: Final = "model.onnx"
"""Weights that are too large for one file are in further files that begin with its name."""

_STEP: Final = 256
"""Buffers grow by this many positions."""
WANTED_FROM: Final = "wanted_from"
"""The model's input with the index of the first token whose logits are returned."""


class ModelShape(Row):
    """The sizes of keys and values; ``context`` is the most tokens that the model reads."""

    layers: int
    kv_heads: int
    head_size: int
    context: int


class ExportSettings(Row):
    """The contents of ``engine_config.json``."""

    engine: Literal["onnx"] = "onnx"
    quantization: str
    shape: ModelShape
    end_token_ids: tuple[int, ...]
    special_tokens: dict[str, str | list[str]]
    """By their names in the chat template: ``bos_token`` and the like."""


class ExportedTokenizer:
    """Tokenizer and chat template of an exported folder, without transformers.

    It has the methods of a transformers tokenizer that ``render_chat`` uses, by the same names.
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


class KVCache:
    """The keys and values of one conversation, in buffers that the model writes in place.

    To rewind, read from an earlier position. Not safe for several threads at once.

    Args:
        session: An ``onnxruntime.InferenceSession`` of a model that ``train.export`` wrote.
        shape: The model's sizes.

    """

    def __init__(self, session: Any, shape: ModelShape) -> None:
        self._session, self._shape = session, shape
        self._inputs = {given.name for given in session.get_inputs()}
        self._places = 0
        self._buffers: list[np.ndarray] = []
        self._binding: Any = None
        self._parts: list[tuple[int, ...]] = []

    def _reserve(self, places: int) -> None:
        """Make room for ``places`` tokens; the contents are lost where the buffers grow."""
        import numpy as np

        if places <= self._places:
            return
        self._places = min(-(-places // _STEP) * _STEP, self._shape.context)
        size = (1, self._shape.kv_heads, self._places, self._shape.head_size)
        self._buffers = [np.zeros(size, np.float32) for _ in range(2 * self._shape.layers)]
        self._binding = self._session.io_binding()
        self._parts = []
        for n, buffer in enumerate(self._buffers):
            name = f"{n // 2}.{('key', 'value')[n % 2]}"
            place = ("cpu", 0, np.float32, size, buffer.ctypes.data)
            self._binding.bind_input(f"past_key_values.{name}", *place)
            self._binding.bind_output(f"present.{name}", *place)

    def read(self, tokens: Sequence[int], past: int) -> np.ndarray:
        """Read ``tokens`` after the first ``past`` positions.

        Returns:
            The logits after the last token, ``[vocabulary]``.

        Raises:
            EngineError: ONNX Runtime failed.

        """
        import numpy as np

        count = len(tokens)
        given = {
            "input_ids": np.array([tokens], np.int64),
            "attention_mask": np.ones((1, past + count), np.int64),
            "position_ids": np.arange(past, past + count, dtype=np.int64)[None],
            WANTED_FROM: np.array([count - 1], np.int64),
        }
        for name in given.keys() & self._inputs:
            self._binding.bind_cpu_input(name, given[name])
        self._binding.bind_output("logits", "cpu")
        with engine_errors("the model"):
            self._session.run_with_iobinding(self._binding)
        logits: np.ndarray = self._binding.get_outputs()[-1].numpy()[0, -1]
        return logits

    def begin(self, parts: Sequence[tuple[int, ...]], places: int) -> int:
        """Read all ``parts`` but the last that the buffers do not hold; return their length.

        Each part is read in a pass of its own, so that the logits do not depend on which of them
        were there before. ``places``: the tokens of the whole conversation.
        """
        self._reserve(places)
        shared = common_prefix(self._parts, parts[:-1])
        past = sum(map(len, parts[:shared]))
        del self._parts[shared:]
        for part in parts[shared:-1]:
            self.read(part, past)
            past += len(part)
            self._parts.append(part)
        return past


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


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn ONNX Runtime's exceptions, which share no base, into an ``EngineError`` of one line."""
    from onnxruntime.capi import onnxruntime_pybind11_state as library

    kinds: tuple[type[Exception], ...] = (
        RuntimeError, OSError, ValueError,
        *(k for k in vars(library).values() if isinstance(k, type) and issubclass(k, Exception)),
    )  # fmt: skip
    try:
        yield
    except kinds as error:
        raise EngineError(f"{what}: {str(error).splitlines()[0]}") from error
