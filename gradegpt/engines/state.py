"""An ONNX model with a key-value cache that stays in place and can be rewound."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from gradegpt.errors import EngineError

if TYPE_CHECKING:
    import numpy as np

    from gradegpt.engines.exported import ModelShape

_STEP: Final = 256
"""Buffers grow by this many positions."""
WANTED_FROM: Final = "wanted_from"
"""The model's input with the index of the first token whose logits are returned."""


class State:
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

    def reserve(self, places: int) -> None:
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

    def read(self, tokens: Sequence[int], past: int, *, wanted: int = 1) -> np.ndarray:
        """Read ``tokens`` after the first ``past`` positions.

        Returns:
            The logits after each of the last ``wanted`` tokens, ``[wanted, vocabulary]``.

        Raises:
            EngineError: ONNX Runtime failed.

        """
        import numpy as np

        count = len(tokens)
        given = {
            "input_ids": np.array([tokens], np.int64),
            "attention_mask": np.ones((1, past + count), np.int64),
            "position_ids": np.arange(past, past + count, dtype=np.int64)[None],
            WANTED_FROM: np.array([count - wanted], np.int64),
        }
        for name in given.keys() & self._inputs:
            self._binding.bind_cpu_input(name, given[name])
        self._binding.bind_output("logits", "cpu")
        with engine_errors("the model"):
            self._session.run_with_iobinding(self._binding)
        logits: np.ndarray = self._binding.get_outputs()[-1].numpy()[0]
        return logits

    def shared_parts(self, parts: Sequence[tuple[int, ...]]) -> int:
        """How many of the first ``parts`` the buffers already hold."""
        return common_prefix(self._parts, parts[:-1])

    def begin(self, parts: Sequence[tuple[int, ...]]) -> int:
        """Read all ``parts`` but the last that the buffers do not hold; return their length.

        Each part is read in a pass of its own, so that the logits do not depend on which of them
        were there before.
        """
        shared = self.shared_parts(parts)
        past = sum(map(len, parts[:shared]))
        del self._parts[shared:]
        for part in parts[shared:-1]:
            self.read(part, past)
            past += len(part)
            self._parts.append(part)
        return past


def common_prefix(some: Sequence[object], others: Sequence[object]) -> int:
    """The length of the prefix that both have in common."""
    return sum(1 for _ in itertools.takewhile(bool, map(operator.eq, some, others)))


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
