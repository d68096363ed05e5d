"""Files that every node can reach: on a shared disk, or wherever fsspec finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from gradegpt.errors import GradeGPTError, InputError, MissingError, OutputError
from gradegpt.records import A_FILE, sha256_file, whole_file
from gradegpt.tables import SUFFIXES, Form, files, form_of

_LIBRARIES: Final = "install what fsspec needs for it, such as s3fs for s3://"


class File(NamedTuple):
    """An input file; ``name`` is how it was given, ``url`` can be opened on every node."""

    name: str
    url: str
    form: Form
    size: int
    digest: str
    """The hash of its bytes; of an object in a store, that of its properties (with its ETag)."""


def inputs(patterns: Iterable[str]) -> list[File]:
    """The files that are given, or that match the ``*`` of a pattern; each of them once.

    Raises:
        MissingError: there is no such file, or nothing that reads such an address.
        InputError: a folder, or a file of an unknown form.

    """
    names = dict.fromkeys(name for pattern in patterns for name in _matching(pattern))
    return [_file(name) for name in names]


def is_local(url: str) -> bool:
    """Whether it is a path and not an address."""
    return "://" not in url


def absolute(name: str) -> str:
    """The address by which every node opens a file or folder: an absolute path, or a URL."""
    path = name.removeprefix("file://")
    return str(Path(path).resolve()) if is_local(path) else name.rstrip("/")


def opened(url: str) -> IO[bytes]:
    """The file, open for reading."""
    fs, path = _filesystem(url)
    file: IO[bytes] = fs.open(path, "rb")
    return file


def read(url: str) -> bytes | None:
    """The bytes of a file; None if there is none."""
    fs, path = _filesystem(url)
    with reading(url):
        try:
            return bytes(fs.cat_file(path))
        except FileNotFoundError:
            return None


def write(url: str, data: bytes) -> None:
    """Write a file whole or not at all: under another name first, or in one put."""
    if is_local(url):
        with whole_file(url) as out:
            out.buffer.write(data)
        return
    fs, path = _filesystem(url)
    with _writing(url):
        fs.pipe_file(path, data)


def listed(folder: str) -> list[str]:
    """The names in a folder, made if there is none."""
    fs, path = _filesystem(folder)
    with _writing(folder):
        fs.makedirs(path, exist_ok=True)
        fs.invalidate_cache(path)
        try:
            found = fs.ls(path, detail=False)
        except FileNotFoundError:  # a store has no empty folders
            return []
        return sorted(one.rstrip("/").rpartition("/")[2] for one in found)


def remove(folder: str, names: Iterable[str]) -> None:
    """Delete files of a folder."""
    fs, path = _filesystem(folder)
    with _writing(folder):
        for name in names:
            fs.rm_file(f"{path}/{name}")


def _matching(pattern: str) -> list[str]:
    if is_local(pattern):
        if pattern == "-" or pattern.startswith("hf:"):
            raise InputError(f"{pattern}: is read on one machine only; without --on, or save it")
        return [*files(pattern)]
    if "*" not in pattern:
        return [pattern]
    fs, path = _filesystem(pattern)
    with reading(pattern):
        found = sorted(fs.unstrip_protocol(one) for one in fs.glob(path))
    if not found:
        raise MissingError(f"{pattern}: no file matches; check the path")
    return found


def _file(name: str) -> File:
    url = absolute(name)
    fs, path = _filesystem(url)
    with reading(name):
        if fs.isdir(path):
            raise InputError(
                f"{name}: is a folder; {A_FILE}, or a pattern such as {name}/*.parquet"
            )
        size = int(fs.info(path)["size"])
        digest = sha256_file(url) if is_local(url) else str(fs.ukey(path))
    form = form_of(name)
    if form is None:
        known = ", ".join(SUFFIXES)
        raise InputError(f"{name}: unknown suffix {Path(name).suffix!r}; save it as {known}")
    if form not in (Form.PARQUET, Form.JSONL) and not is_local(url):
        raise InputError(f"{name}: {form} is read from a disk only; save it as .parquet or .jsonl")
    return File(name, url, form, size, digest)


def _filesystem(url: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    import fsspec

    try:
        fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise MissingError(f"{url}: cannot be opened ({error}); {_LIBRARIES}") from error
    return fs, path


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn an error of the file system into an ``InputError`` or a ``MissingError``."""
    try:
        yield
    except GradeGPTError:
        raise
    except FileNotFoundError as error:
        raise MissingError(f"{name}: no such file; check the path") from error
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"{name}: cannot be read ({why}); every node must reach it") from error


@contextmanager
def _writing(url: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise OutputError(f"{url}: cannot be written ({why}); choose another path") from error
