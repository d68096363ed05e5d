"""Files that every node can reach: on a shared disk, or wherever fsspec finds them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gradegpt.core.errors import GradeGPTError, InputError, MissingError, OutputError
from gradegpt.core.records import A_FILE, sha256_file
from gradegpt.tables import SUFFIXES, Table, files, form_of


class InputFile(NamedTuple):
    """An input file; the digest of an object in a store is that of its properties."""

    table: Table
    digest: str


class OutputFolder(NamedTuple):
    """The output folder: a path, or the address of one in a store."""

    url: str

    @classmethod
    def of(cls, name: str) -> OutputFolder:
        """The folder by which every node finds it: an absolute path, or an address."""
        path = name.removeprefix("file://")
        return cls(name.rstrip("/") if "://" in path else str(Path(path).resolve()))

    def names(self) -> list[str]:
        """The names in the folder, made if there is none."""
        with _files(self.url, OutputError) as (fs, path):
            fs.makedirs(path, exist_ok=True)
            fs.invalidate_cache(path)
            try:
                found = fs.ls(path, detail=False)
            except FileNotFoundError:  # a store has no empty folders
                return []
            return sorted(one.rstrip("/").rpartition("/")[2] for one in found)

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        with _files(f"{self.url}/{name}", InputError) as (fs, path):
            return bytes(fs.cat_file(path))

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all: under another name first."""
        with _files(f"{self.url}/{name}", OutputError) as (fs, path):
            fs.pipe_file(f"{path}.tmp", data)
            fs.mv(f"{path}.tmp", path)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files."""
        with _files(self.url, OutputError) as (fs, path):
            for name in names:
                fs.rm_file(f"{path}/{name}")

    def manifest(self, name: str) -> dict[str, Any]:
        """A manifest. Raises ``OutputError`` where it is none."""
        try:
            return dict(json.loads(self.read(name)))
        except ValueError as error:
            what = f"{self.url}/{name}: cannot be read ({error})"
            raise OutputError(f"{what}; choose another folder") from error

    def write_manifest(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a manifest."""
        self.write(name, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())


def inputs(patterns: Iterable[str]) -> list[InputFile]:
    """The files that are given, or that match the ``*`` of a pattern; each of them once.

    Raises:
        MissingError: there is no such file, or nothing that reads such an address.
        InputError: a folder, or a file of an unknown form.

    """
    return [_source(n) for n in dict.fromkeys(n for one in patterns for n in _matching(one))]


def local(table: Table) -> Table:
    """The table on a disk of this node: of an object in a store, a copy that is made once."""
    if "://" not in table.name:
        return table
    with _files(table.name, InputError) as (fs, path):
        version = hashlib.sha256(str(fs.ukey(path)).encode()).hexdigest()
        copy = Path(tempfile.gettempdir()) / "gradegpt-objects" / version
        if not copy.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            begun = copy.with_suffix(f".{os.getpid()}")
            fs.get_file(path, str(begun))
            begun.replace(copy)
    return table._replace(path=copy)


def _matching(pattern: str) -> list[str]:
    if pattern == "-":
        raise InputError(f"{pattern}: is read on one machine only; without --on, or save it")
    if "://" not in pattern:
        return [*files(pattern)]
    if "*" not in pattern:
        return [pattern]
    with _files(pattern, InputError) as (fs, path):
        found = sorted(fs.unstrip_protocol(one) for one in fs.glob(path))
    if not found:
        raise MissingError(f"{pattern}: no file matches; check the path")
    return found


def _source(name: str) -> InputFile:
    form, url = form_of(name), OutputFolder.of(name).url
    with _files(url, InputError, name) as (fs, path):
        if fs.isdir(path):
            what = f"{A_FILE}, or a pattern such as {name}/*.parquet"
            raise InputError(f"{name}: is a folder; {what}")
        fs.info(path)
        digest = str(fs.ukey(path)) if "://" in url else sha256_file(url)
    if form is None:
        known = ", ".join(SUFFIXES)
        raise InputError(f"{name}: unknown suffix {Path(name).suffix!r}; save it as {known}")
    return InputFile(Table(Path(url), form, name), digest)


@contextmanager
def _files(url: str, kind: type[GradeGPTError], name: str = "") -> Iterator[tuple[Any, str]]:
    """The file system of an address and the path there; its errors become ours."""
    import fsspec

    try:
        yield fsspec.core.url_to_fs(url)
    except GradeGPTError:
        raise
    except (ImportError, ValueError) as error:
        how = "install what fsspec needs for it, such as s3fs for s3://"
        raise MissingError(f"{url}: cannot be opened ({error}); {how}") from error
    except FileNotFoundError as error:
        raise MissingError(f"{name or url}: no such file; check the path") from error
    except OSError as error:
        why, read = error.strerror or error, kind is InputError
        what = f"cannot be {'read' if read else 'written'} ({why})"
        advice = "every node must reach it" if read else "choose another path"
        raise kind(f"{name or url}: {what}; {advice}") from error
