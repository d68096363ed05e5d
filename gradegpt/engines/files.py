"""The files of a model: whether they are there, a name by their contents, their prompt settings."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.errors import EngineError, MissingError
from gradegpt.core.records import read_beside
from gradegpt.core.shipped import ADAPTER_CONFIG, BASES, judges

PROMPT_FILE: Final = "gradegpt.json"
"""The file beside the weights with the prompt settings that they were trained with."""
CONFIG: Final = "config.json"
BEGUN: Final = "begun.json"
"""In the folder ``work`` of a judge: what its run of ``gradegpt finetune`` depends on."""
_DECIDING: Final = ("*.safetensors", "*.bin", "tokenizer.json", "*config.json", "*.jinja")
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


def check_weights(
    model: str, adapter: str | None = None, needed: Sequence[str] = (CONFIG,)
) -> None:
    """Check before anything is loaded that model and adapter are there; loading retries long.

    A folder of a model has one of the ``needed`` files.

    Raises:
        MissingError: a path without a folder, a folder without weights, or a name that the hub
            does not have, or for which it cannot be reached.

    """
    wanted = [(model, "model", needed)]
    wanted += [(adapter, "adapter", (ADAPTER_CONFIG,))] if adapter else []
    for name, what, files in wanted:
        folder = Path(name)
        is_path = name.startswith((".", "/")) or name.count("/") > 1
        if is_path and not folder.is_dir():
            given = "give a folder or a hub name such as Qwen/Qwen3-0.6B"
            raise MissingError(f"{name}: no such {what} folder; {given}")
        if folder.is_dir() and not any((folder / file).is_file() for file in files):
            if (folder / "work" / BEGUN).is_file():
                raise MissingError(
                    f"{name}: gradegpt finetune has not finished this judge; give its command "
                    "again to resume it"
                )
            missing = f"contains no {what} ({files[0]} is missing)"
            raise MissingError(f"{name}: {missing}; give the folder of one")
    for name, _, files in wanted:
        if not Path(name).is_dir():
            _check_hub(name, files[0])


def _check_hub(name: str, file: str) -> None:
    """Ask the hub once for a model that is not downloaded."""
    try:
        from huggingface_hub import errors, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    except ImportError:
        return  # the engine says what to install
    # Of the HTTP library that the hub's client uses, which depends on its version.
    unreachable = errors.HTTPError  # type: ignore[attr-defined]
    unknown = (errors.RepositoryNotFoundError, errors.HFValidationError)
    try:
        if not isinstance(try_to_load_from_cache(name, file), str):
            get_hf_file_metadata(hf_hub_url(name, file))
    except (*unknown, unreachable, ConnectionError) as error:
        gated = isinstance(error, errors.GatedRepoError)
        if gated or (isinstance(error, errors.HfHubHTTPError) and not isinstance(error, unknown)):
            return  # loading says what to do
        raise MissingError(
            f"{name}: not a folder, not a shipped judge ({', '.join(judges())}), and not found on "
            "the Hugging Face Hub or the hub cannot be reached; check the name or the network, or "
            f"set {BASES} to a folder that has {name.rpartition('/')[2]}"
        ) from error


def prompt_settings_beside(folder: str | None) -> PromptSettings | None:
    """The prompt settings stored with the weights in ``folder``, if any."""
    return read_beside(folder, PROMPT_FILE, PromptSettings)


@contextmanager
def load_errors(model: str) -> Iterator[None]:
    """Raise the errors of loading ``model`` as ours, with one line each."""
    from safetensors import SafetensorError

    kinds: tuple[type[Exception], ...] = (
        ImportError, OSError, ValueError, RuntimeError, KeyError, EOFError,
        pickle.UnpicklingError, SafetensorError,
    )  # fmt: skip
    try:
        yield
    except kinds as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, ImportError):
            needed = "Install it, or change the setting that needs it"
            raise MissingError(f"{model}: {why} {needed}") from error
        raise EngineError(f"{model}: does not load: {why}") from error
