"""The prompt settings stored with the weights, and a name that identifies a set of weights."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from gradegpt.chain import PromptSettings
from gradegpt.errors import MissingError
from gradegpt.records import read_beside
from gradegpt.shipped import judges

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


def check_folder(name: str, what: str, needed: tuple[str, ...]) -> None:
    """Check a model or adapter that is a folder: it exists and has one of the ``needed`` files.

    Raises:
        MissingError: ``name`` is a path without a folder, or the folder holds no such file.

    """
    folder = Path(name)
    is_path = name.startswith((".", "/")) or name.count("/") > 1
    if is_path and not folder.is_dir():
        given = "give a folder or a hub name such as Qwen/Qwen3-0.6B"
        raise MissingError(f"{name}: no such {what} folder; {given}")
    if folder.is_dir() and not any((folder / file).is_file() for file in needed):
        missing = f"contains no {what} ({needed[0]} is missing)"
        raise MissingError(f"{name}: {missing}; give the folder of one")


def check_hub(name: str, file: str) -> None:
    """Ask the hub once for a model that is no folder and not downloaded; loading retries long.

    Raises:
        MissingError: there is no such model, or the hub cannot be reached.

    """
    from huggingface_hub import errors, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    # Of the HTTP library that the hub's client uses, which depends on its version.
    unreachable = errors.HTTPError  # type: ignore[attr-defined]
    if Path(name).is_dir():
        return
    try:
        if not isinstance(try_to_load_from_cache(name, file), str):
            get_hf_file_metadata(hf_hub_url(name, file))
    except errors.GatedRepoError:
        return  # loading says what to do
    except (
        errors.RepositoryNotFoundError,
        errors.HFValidationError,
        unreachable,
        ConnectionError,
    ) as error:
        answered = isinstance(error, errors.HfHubHTTPError)
        if answered and not isinstance(error, errors.RepositoryNotFoundError):
            return
        raise MissingError(
            f"{name}: not a folder, not a shipped judge ({', '.join(judges())}), and not found on "
            "the Hugging Face Hub or the hub cannot be reached; check the name or the network"
        ) from error


def prompt_settings_beside(folder: str | None) -> PromptSettings | None:
    """The prompt settings stored with the weights in ``folder``, if any."""
    return read_beside(folder, PROMPT_FILE, PromptSettings)
