"""A data set of the hub, ``hf:owner/name:config@split``. Needs datasets."""

from __future__ import annotations

from typing import Final

from gradegpt.errors import InputError, MissingError
from gradegpt.tables.forms import Rows

HUB: Final = "hf:"


def read_hub(path: str) -> Rows:
    """The rows of ``hf:owner/name:config@split``, streamed and counted from 1.

    Raises:
        MissingError: there is no such data set or no network, or ``datasets`` is not installed.
        InputError: there are several splits or configurations, and none is named.

    """
    try:
        import datasets
    except ImportError as error:
        raise MissingError(
            f"{path}: needs datasets; install it with pip install 'gradegpt[data]'"
        ) from error
    address, _, split = path.removeprefix(HUB).partition("@")
    name, _, config = address.partition(":")
    try:
        splits = datasets.load_dataset(name, config or None, streaming=True)
        rows = splits[_split(split, list(splits), path)]
        # Undecoded: decoding the images of a data set would need an image library.
        yield from enumerate(rows.decode(False) if rows.features else rows, start=1)
    except InputError:
        raise
    except (OSError, datasets.exceptions.DatasetsError) as error:
        raise MissingError(
            f"{path}: cannot be read from the hub ({_line(error)}); check the name and the "
            "network, or download the files and give their path"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: {_line(error)}; write hf:owner/name:config@split") from error


def _split(wanted: str, have: list[str], path: str) -> str:
    if not wanted and len(have) == 1:
        return have[0]
    if wanted not in have:
        raise InputError(f"{path}: name one of its splits: {', '.join(f'@{s}' for s in have)}")
    return wanted


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
