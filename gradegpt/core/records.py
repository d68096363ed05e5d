"""Read and write JSON Lines: errors name ``file:line``; written whole or not at all; resumable."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, Self, TextIO, TypeVar

from pydantic import BaseModel, ValidationError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from gradegpt.core.errors import GradeGPTError, InputError, MissingError, OutputError, TooLargeError
from gradegpt.core.mistakes import explain

R = TypeVar("R", bound=BaseModel)

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

MAX_LINE_BYTES = 16 * 2**20
"""A longer line is an error, as a row is one answer."""
EXISTS = "exists already; choose another name or pass --overwrite"
FOLDER_MANIFEST = "_manifest.json"
"""The manifest in a folder of parts, written when all of them are."""
A_FILE = "give a file (.jsonl, .csv, .xlsx, ...)"
_EACH_LINE = "write one {...} per line"


def read_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, object)`` for every line that is not blank.

    Raises:
        MissingError: there is no such file.
        InputError: a line that is not UTF-8 or not a JSON object, with ``file:line``.

    """
    for number, raw in read_lines(path):
        yield number, parse_line(raw, f"{path}:{number}")


def read_lines(path: str | Path, start: int = 0, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield ``(line number, bytes)`` for every line that is not blank.

    ``start`` is the byte at which the line with the number ``first`` begins.
    """
    with _opened(Path(path)) as lines:
        lines.seek(start)
        for number, raw in enumerate(lines, start=first):
            if not raw.isspace():
                yield number, raw


def _opened(path: Path) -> BufferedReader:
    if path.is_dir():
        raise InputError(f"{path}: is a folder; {A_FILE}")
    if not path.is_file():
        raise MissingError(f"{path}: no such file; check the path{or_example(path)}")
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def or_example(path: str | Path) -> str:
    """How to get a missing file that has the name of one in the README."""
    known = str(path) == Path(path).name and Path(path).stem in ("answers", "graded", "labelled")
    return f", or write one to try: gradegpt example {path}" if known else ""


def parse_line(raw: bytes, where: str) -> dict[str, Any]:
    """One line as an object. Raises ``InputError`` that starts with ``where``."""
    if len(raw) > MAX_LINE_BYTES:
        most = f"at most {MAX_LINE_BYTES:,} are allowed"
        raise TooLargeError(f"{where}: the line has {len(raw):,} bytes; {most}")
    try:
        value = parse_json(raw)
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 5,000 digits
        raise InputError(f"{where}: not a JSON object ({error}); {_EACH_LINE}") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: {type(value).__name__} instead of a JSON object; {_EACH_LINE}")
    return value


def parse_json(raw: bytes) -> Any:
    """JSON from UTF-8 bytes. Half a surrogate pair, which no UTF-8 can hold, becomes ``�``.

    Raises:
        ValueError, RecursionError: not JSON, not UTF-8, or nested too deeply.

    """
    value = json.loads(raw.decode("utf-8-sig"))
    if _SURROGATE_ESCAPE.search(raw):
        value = json.loads(_LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))
    return value


def validate(model: type[R], value: Any, where: str) -> R:
    """``value`` as a ``model``; the error starts with ``where`` and names the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{where}: {explain(error)}") from error


def read_beside(folder: str | None, name: str, model: type[R]) -> R | None:
    """The settings in the file ``name`` of ``folder``, if it exists."""
    path = Path(folder or "") / name
    if not folder or not path.is_file():
        return None
    return validate(model, json.loads(path.read_text(encoding="utf-8")), str(path))


def read_rows(path: str | Path, model: type[R]) -> Iterator[R]:
    """Every row of ``path`` as a ``model``; an ``InputError`` is ``file:line: field: error``.

    A folder of parts, as ``gradegpt judge --on ray`` writes, is their rows in order.
    """
    for file in _files(Path(path)):
        for number, value in read_objects(file):
            yield validate(model, value, f"{file}:{number}")


def _files(path: Path) -> list[Path]:
    parts = sorted(path.glob("part-*.jsonl"), key=lambda part: (len(part.name), part.name))
    if parts and not (path / FOLDER_MANIFEST).is_file():
        raise InputError(f"{path}: has no {FOLDER_MANIFEST}; run the command that wrote it again")
    return parts or [path]


def dump(row: BaseModel | dict[str, Any]) -> str:
    """One JSON line, without the newline. Keys keep their order: equal rows give equal bytes."""
    value = row.model_dump(mode="json") if isinstance(row, BaseModel) else row
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


@contextmanager
def writing(path: Path, *, is_folder: bool = False) -> Iterator[None]:
    """Turn an error of the file system at ``path`` into an ``OutputError``."""
    try:
        if path.is_dir() and not is_folder:
            raise OutputError(f"{path}: is a folder; give the name of a file to write")
        yield
    except OSError as error:
        # Other files may be read meanwhile; a full disk has no name.
        name = Path(str(error.filename or path))
        beside = name.parent == path.parent and path.name in name.name
        if isinstance(error, GradeGPTError) or not (beside or name in path.parents):
            raise
        why = "not a folder" if isinstance(error, FileExistsError) else error.strerror or error
        raise OutputError(f"{path}: cannot be written ({why}); choose another path") from error


@contextmanager
def whole_file(path: str | Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open ``path`` for writing so that it appears complete or not at all.

    A character that the encoding does not have is written as its number.
    """
    path = Path(path)
    with writing(path):
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", -1, encoding, "backslashreplace", "\n") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink()


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, which becomes ``path`` once it is complete, or not at all.

    Raises:
        OutputError: ``path`` exists already and is not an empty folder, or cannot be written.

    """
    with writing(path, is_folder=True):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise OutputError(f"{path}: exists already; choose another folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as work:
            made = Path(work) / path.name
            made.mkdir()
            yield made
            if path.exists():
                path.rmdir()
            made.replace(path)


def write_rows(path: str | Path, rows: Iterable[BaseModel | dict[str, Any]]) -> int:
    """Write ``rows`` as JSON Lines, whole or not at all; return their number."""
    count = 0
    with whole_file(path) as out:
        for row in rows:
            out.write(dump(row) + "\n")
            count += 1
    return count


def write_json(path: str | Path, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all."""
    with whole_file(path) as out:
        json.dump(value, out, ensure_ascii=False, indent=2)
        out.write("\n")


def sha256_file(path: str | Path) -> str:
    """Hex digest of a file's bytes. Raises ``MissingError`` where there is no such file."""
    with _opened(Path(path)) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class ResumableWriter:
    """Append rows in input order to ``<path>.partial``; rename to ``path`` when all are written.

    A killed run leaves whole lines and at most one incomplete line, which is dropped when the run
    is resumed. The ``fingerprint`` identifies everything that the rows depend on: a partial file
    with another fingerprint is an error, or replaced with ``overwrite``.

    Raises:
        OutputError: ``path`` exists already, or the partial file belongs to another run.

    """

    def __init__(self, path: str | Path, fingerprint: str, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self.partial = Path(f"{path}.partial")
        self._fingerprint_file = Path(f"{path}.partial.json")
        self._fingerprint = fingerprint
        self._overwrite = overwrite
        self.done = 0

    def __enter__(self) -> Self:
        with writing(self.path):
            if self.path.exists() and not self._overwrite:
                raise OutputError(f"{self.path}: {EXISTS}")
            begun = self._is_begun()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.partial.open("a", encoding="utf-8", newline="\n")
        self._lock()
        if begun:
            self.done = _drop_incomplete_line(self.partial)
        else:
            self._file.truncate(0)
            write_json(self._fingerprint_file, {"fingerprint": self._fingerprint})
        return self

    def _lock(self) -> None:
        # Two runs on one file would write every row twice. The lock ends with the process, however
        # that ends.
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            what = "another run is writing this file; wait for it or choose another output"
            raise OutputError(f"{self.partial}: {what}") from error

    def _is_begun(self) -> bool:
        """Whether a partial file is there to go on with."""
        file = self._fingerprint_file
        if not (file.exists() and self.partial.exists()):
            return False
        same: bool = json.loads(file.read_text("utf-8"))["fingerprint"] == self._fingerprint
        if not same and not self._overwrite:
            raise OutputError(
                f"{self.partial}: begun with another input or other settings; pass --overwrite to "
                "start anew, or choose another output"
            )
        return same

    def reopen(self) -> None:
        """Turn the finished file into a partial one, so that rows of it can be replaced."""
        write_json(self._fingerprint_file, {"fingerprint": self._fingerprint})
        self.path.replace(self.partial)

    def replace(self, rows: Iterable[BaseModel]) -> None:
        """Replace all rows written so far by ``rows``, in one step."""
        new = self.partial.with_name(self.partial.name + ".new")
        with new.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(dump(row) + "\n" for row in rows)
        self._file.close()
        new.replace(self.partial)
        self._file = self.partial.open("a", encoding="utf-8", newline="\n")
        self._lock()

    def write(self, rows: Iterable[BaseModel | dict[str, Any]]) -> None:
        """Append rows and sync them to the disk together."""
        lines = [dump(row) + "\n" for row in rows]
        self._file.write("".join(lines))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done += len(lines)

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is None:
            self.partial.replace(self.path)
            self._fingerprint_file.unlink(missing_ok=True)


def _drop_incomplete_line(path: Path) -> int:
    """Drop the text after the last newline; return the number of whole lines."""
    count = end = 0
    with path.open("r+b") as handle:
        for line in handle:
            if line.endswith(b"\n"):
                count, end = count + 1, end + len(line)
        handle.truncate(end)
    return count
