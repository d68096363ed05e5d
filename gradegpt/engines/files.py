"""The prompt settings stored with the weights, and a name that identifies a set of weights."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from gradegpt.chain import PromptSettings
from gradegpt.records import read_beside

PROMPT_FILE: Final = "gradegpt.json"
"""The file beside the weights with the prompt settings that they were trained with."""
_DECIDING: Final = (
    "*.safetensors", "*.bin", "*.onnx*", "tokenizer.json", "*config.json", "*.jinja",
)  # fmt: skip
_END_BYTES: Final = 2**20


def name_with_digest(folder: str) -> str:
    """The folder's last name and a digest of the files that decide its output.

    It changes when the model is trained again, and not when the folder is moved. The digest is of
    each file's size and its first and last MiB, as training changes every weight and reading a
    large model takes long. A hub name is returned unchanged.
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
    """The prompt settings stored with the weights in ``folder``, if any."""
    return read_beside(folder, PROMPT_FILE, PromptSettings)
