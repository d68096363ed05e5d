"""JSON Lines in and out: complaints name ``file:line``; written whole or not at all; resumable."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TextIO, TypeVar

from pydantic import BaseModel, ValidationError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from gradegpt.errors import InputError, MissingError, OutputError, TooLargeError

R = TypeVar("R", bound=BaseModel)

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

MAX_LINE_BYTES = 16 * 2**20
"""A longer line is an error: one row is one answer, not a corpus."""
EXISTS = "exists already; choose another name or pass --overwrite"
_EACH_LINE = "every line holds one {...}"


def read_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, object)`` for every line that is not blank.

    Raises:
        MissingError: no such file.
        InputError: a line that is not UTF-8 or not a JSON object, with ``file:line``.

    """
    for number, raw in read_lines(path):
        yield number, parse_line(raw, f"{path}:{number}")


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield ``(line number, bytes)`` for every line that is not blank."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder; give a JSON Lines file, one object a line")
    if not path.is_file():
        raise MissingError(f"{path}: no such file; give a JSON Lines file, one object a line")
    try:
        lines = path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    with lines:
        for number, raw in enumerate(lines, start=1):
            if not raw.isspace():
                yield number, raw


def parse_line(raw: bytes, where: str) -> dict[str, Any]:
    """One line as an object. Raises ``InputError`` that starts with ``where``."""
    if len(raw) > MAX_LINE_BYTES:
        most = f"at most {MAX_LINE_BYTES:,} are read"
        raise TooLargeError(f"{where}: a line of {len(raw):,} bytes; {most}")
    try:
        value = parse_json(raw)
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 5,000 digits
        raise InputError(f"{where}: not a JSON object ({error}); {_EACH_LINE}") from error
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise InputError(f"{where}: a {kind}, not a JSON object; {_EACH_LINE}")
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
    """``value`` as a ``model``; a complaint starts with ``where`` and names the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{where}: {explain(error)}") from error


def read_beside(folder: str | None, name: str, model: type[R]) -> R | None:
    """The settings stored under that name in ``folder``, or none where there are none."""
    path = Path(folder or "") / name
    if not folder or not path.is_file():
        return None
    return validate(model, json.loads(path.read_text(encoding="utf-8")), str(path))


def explain(error: ValidationError) -> str:
    """Every field and what is wrong with it, in one line."""
    return "; ".join(complaints(error))


def complaints(error: ValidationError) -> list[str]:
    """``field: what is wrong with it``, one text a complaint."""
    parts = []
    for detail in error.errors(include_url=False):
        field = ".".join(str(p) for p in detail["loc"])
        message = detail["msg"].removeprefix("Value error, ")
        message = "unknown field" if detail["type"] == "extra_forbidden" else message
        parts.append(f"{field}: {message[0].lower()}{message[1:]}" if field else message)
    return parts


def read_rows(path: str | Path, model: type[R]) -> Iterator[R]:
    """Every row of ``path`` as a ``model``; an ``InputError`` says ``file:line: field: what``."""
    for number, value in read_objects(path):
        yield validate(model, value, f"{path}:{number}")


def dump(row: BaseModel | dict[str, Any]) -> str:
    """One JSON line, without the newline. Keys keep their order, so equal rows are equal bytes."""
    value = row.model_dump(mode="json") if isinstance(row, BaseModel) else row
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


@contextmanager
def whole_file(path: str | Path) -> Iterator[TextIO]:
    """Open ``path`` for writing so that it appears complete or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, which becomes ``path`` once it is complete, or not at all.

    Raises:
        OutputError: ``path`` is there already, and no empty folder.

    """
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
    """Write ``rows`` as JSON Lines, whole or not at all; return how many."""
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
    """Hex digest of a file's bytes."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class ResumableWriter:
    """Append rows in input order to ``<path>.partial``; rename to ``path`` when all are there.

    A run killed anywhere leaves whole lines and at most one torn one, which is cut off on the way
    back in. The ``fingerprint`` names what the rows depend on: a partial file made from anything
    else is an error, not a mixture.

    Raises:
        OutputError: ``path`` exists already, or the partial file belongs to another run.

    """

    def __init__(self, path: str | Path, fingerprint: str, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self.partial = self.path.with_name(self.path.name + ".partial")
        self._stamp = self.path.with_name(self.path.name + ".partial.json")
        self._fingerprint = fingerprint
        self._overwrite = overwrite
        self.done = 0

    def __enter__(self) -> Self:
        if self.path.exists() and not self._overwrite:
            raise OutputError(f"{self.path}: {EXISTS}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        begun = self._stamp.exists() and self.partial.exists()
        if begun:
            self._check_stamp()
        self._file = self.partial.open("a" if begun else "w", encoding="utf-8", newline="\n")
        self._lock()
        if begun:
            self.done = _cut_torn_line(self.partial)
        else:
            write_json(self._stamp, {"fingerprint": self._fingerprint})
        return self

    def _lock(self) -> None:
        # Two runs on one file would write every row twice. The lock goes with the process, however
        # it ends.
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            what = "another run is writing it; wait for it or choose another output"
            raise OutputError(f"{self.partial}: {what}") from error

    def _check_stamp(self) -> None:
        if json.loads(self._stamp.read_text(encoding="utf-8"))["fingerprint"] != self._fingerprint:
            raise OutputError(
                f"{self.partial}: begun with another input or other settings; "
                f"delete it and {self._stamp.name} to start anew, or choose another output"
            )

    def begin_again(self) -> None:
        """Take what is finished for the beginning of a run, so that rows of it can be replaced."""
        write_json(self._stamp, {"fingerprint": self._fingerprint})
        self.path.replace(self.partial)

    def replace(self, rows: Iterable[BaseModel]) -> None:
        """Put ``rows`` in the place of all that are written, in one step."""
        beside = self.partial.with_name(self.partial.name + ".new")
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(dump(row) + "\n" for row in rows)
        self._file.close()
        beside.replace(self.partial)
        self._file = self.partial.open("a", encoding="utf-8", newline="\n")
        self._lock()

    def write(self, rows: Iterable[BaseModel | dict[str, Any]]) -> None:
        """Append rows and push them to the disk together."""
        lines = [dump(row) + "\n" for row in rows]
        self._file.write("".join(lines))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done += len(lines)

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is None:
            self.partial.replace(self.path)
            self._stamp.unlink(missing_ok=True)


def _cut_torn_line(path: Path) -> int:
    """Drop what stands after the last newline; return the number of whole lines."""
    count = end = 0
    with path.open("r+b") as handle:
        for line in handle:
            if line.endswith(b"\n"):
                count, end = count + 1, end + len(line)
        handle.truncate(end)
    return count
