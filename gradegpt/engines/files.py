"""What lies beside the weights, and what tells one set of weights from another."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from gradegpt.chain import PromptSettings
from gradegpt.records import read_beside

PROMPT_FILE: Final = "gradegpt.json"
"""Beside the weights: the prompt settings that they were trained with."""
_DECIDING: Final = (
    "*.safetensors", "*.bin", "*.onnx*", "tokenizer.json", "*config.json", "*.jinja",
)  # fmt: skip
_END_BYTES: Final = 2**20


def stamped(folder: str) -> str:
    """The folder's last name and a digest of what decides its output.

    Trained anew it is another judge, moved it is not. Of each file its size and both ends, 1 MiB
    each: training changes every weight, and a large model is not read twice. A hub name stays as
    it is.
    """
    files = sorted({path for pattern in _DECIDING for path in Path(folder).glob(pattern)})
    if not files:
        return folder
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_END_BYTES))
            file.seek(max(0, size - _END_BYTES))
            digest.update(file.read())
    return f"{Path(folder).resolve().name}@{digest.hexdigest()[:12]}"


def prompt_settings_beside(folder: str | None) -> PromptSettings | None:
    """The prompt settings stored with the weights in ``folder``, or none where there are none."""
    return read_beside(folder, PROMPT_FILE, PromptSettings)
