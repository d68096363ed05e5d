"""The store of uploaded files: two in ``<state>/files`` for each.

One has the bytes, the other their description, which is written last, so that a file exists whole
or not at all. Ids are random; a client's file name is stored as text and never used as a path. With
API keys, a file belongs to the key's owner. Other users of the machine can read neither.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

from gradegpt.errors import MissingError, OutputError
from gradegpt.records import write_json
from gradegpt.schema import Row

_ID: Final = re.compile(r"file-[0-9a-f]{32}")
PRIVATE: Final = 0o600
"""The mode of every file. It is created in a private folder, so it is never open to others."""


class StoredFile(Row):
    """The description of a file. ``created_ns`` orders files of the same second."""

    id: str
    bytes: int
    created_ns: int
    filename: str
    purpose: Literal["batch", "batch_output"]
    owner: str = ""

    def public(self) -> dict[str, Any]:
        """The file as an object of OpenAI's API."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": self.bytes,
            "created_at": self.created_ns // 10**9,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
        }


class FileStore:
    """The files of a state folder, safe for use by several threads and processes."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "files"

    @staticmethod
    def new_id() -> str:
        """An id that cannot be guessed."""
        return f"file-{secrets.token_hex(16)}"

    def add(
        self,
        chunks: Iterable[bytes],
        *,
        filename: str,
        purpose: Literal["batch", "batch_output"],
        owner: str,
        id: str | None = None,  # noqa: A002  OpenAI's word
    ) -> StoredFile:
        """Write a file; a file with the given ``id`` is replaced, so writing may be repeated.

        Raises:
            OutputError: the state folder cannot be written.

        """
        id = id or self.new_id()  # noqa: A001
        try:
            private_folder(self._folder)
            size = _write(self.path(id), chunks)
            about = StoredFile(
                id=id, bytes=size, created_ns=time.time_ns(), filename=filename,
                purpose=purpose, owner=owner,
            )  # fmt: skip
            write_json(self._about(id), about.model_dump())
            self._about(id).chmod(PRIVATE)
        except OSError as error:
            raise OutputError(
                f"{self._folder}: cannot be written ({error.strerror}); "
                "free space there, or set state to another folder"
            ) from error
        return about

    def get(self, id: str, owner: str) -> StoredFile:  # noqa: A002
        """The description of a file. Raises ``MissingError``, also for another owner's file."""
        about = _read(self._about(id)) if _ID.fullmatch(id) else None
        if about is None or about.owner != owner:
            raise MissingError(f"file {id!r} does not exist; GET /v1/files lists the existing ones")
        return about

    def owned_by(self, owner: str) -> list[StoredFile]:
        """The files of an owner, oldest first."""
        files = (_read(path) for path in self._folder.glob("file-*.json"))
        own = [file for file in files if file is not None and file.owner == owner]
        return sorted(own, key=lambda file: (file.created_ns, file.id))

    def delete(self, id: str, owner: str) -> None:  # noqa: A002
        """Remove a file. Raises ``MissingError``."""
        self.get(id, owner)
        self._about(id).unlink(missing_ok=True)
        self.path(id).unlink(missing_ok=True)

    def path(self, id: str) -> Path:  # noqa: A002
        """The file of the bytes of a known id."""
        return self._folder / f"{id}.bytes"

    def _about(self, id: str) -> Path:  # noqa: A002
        return self._folder / f"{id}.json"


def private_folder(path: Path) -> None:
    """Create a folder, if there is none, and close it to other users of the machine."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)


def _write(path: Path, chunks: Iterable[bytes]) -> int:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as out:
            temporary.chmod(PRIVATE)
            size = sum(out.write(chunk) for chunk in chunks)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return size


def _read(path: Path) -> StoredFile | None:
    try:
        return StoredFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:  # deleted meanwhile
        return None
