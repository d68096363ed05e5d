"""The files of a batch, in ``<state>/batches/<id>``, shared by several server processes.

``batch.json`` is the batch, ``input.jsonl`` its own copy of the requests, ``done`` the replies so
far, ``progress`` their number, ``cancel`` a request to stop. Only the process that holds the lock
on ``lock`` works on the batch and writes these files, except ``cancel``. The input is removed when
the batch ends, so open batches are recognised without reading them.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple

try:
    import fcntl
except ImportError:  # Windows, where one process serves
    fcntl = None  # type: ignore[assignment]

from gradegpt.errors import MissingError, OutputError
from gradegpt.records import write_json
from gradegpt.schema import Row

from ..files.store import PRIVATE, FileStore, private_folder
from .lines import Problem

WINDOW_S: Final = 24 * 3600
"""The one completion window of the API."""
_ID: Final = re.compile(r"batch_[0-9a-f]{32}")

Status = Literal[
    "validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling",
    "cancelled",
]  # fmt: skip
_AT: Final = (
    "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled",
)  # fmt: skip
OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})
"""The final states."""


class Batch(Row):
    """A batch. ``at`` has the time of each state; the ids of its results are drawn at the start."""

    id: str
    owner: str
    created_ns: int
    endpoint: str
    input_file_id: str
    metadata: Mapping[str, str] | None = None
    status: Status = "validating"
    at: Mapping[str, int] = {}
    problems: tuple[Problem, ...] = ()
    total: int = 0
    completed: int = 0
    failed: int = 0
    output_id: str
    error_id: str
    has_output: bool = False
    has_errors: bool = False

    @property
    def expires_at(self) -> int:
        """The time after which requests are no longer sent, in seconds."""
        return self.created_ns // 10**9 + WINDOW_S

    def now(self, status: Status, **changes: Any) -> Batch:
        """The batch in a new state, with the time."""
        at = {**self.at, status: int(time.time())}
        return self.model_copy(update={"status": status, "at": at, **changes})

    def public(self) -> dict[str, Any]:
        """The batch as an object of OpenAI's API."""
        problems = [problem.model_dump() for problem in self.problems]
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": {"object": "list", "data": problems} if problems else None,
            "input_file_id": self.input_file_id,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.output_id if self.has_output else None,
            "error_file_id": self.error_id if self.has_errors else None,
            "created_at": self.created_ns // 10**9,
            "expires_at": self.expires_at,
            **{f"{status}_at": self.at.get(status) for status in _AT},
            "request_counts": {
                "total": self.total,
                "completed": self.completed,
                "failed": self.failed,
            },
            "metadata": self.metadata,
        }


class Done(NamedTuple):
    """A reply on disk: its line number, whether it succeeded, and its position in the file."""

    number: int
    ok: bool
    start: int
    length: int


class BatchStore:
    """The batches of a state folder."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "batches"

    def create(
        self, source: Path, *, owner: str, endpoint: str, input_file_id: str,
        metadata: Mapping[str, str] | None,
    ) -> Batch:  # fmt: skip
        """A new batch with its own copy of the input, so that the file may be deleted."""
        batch = Batch(
            id=f"batch_{secrets.token_hex(16)}", owner=owner, created_ns=time.time_ns(),
            endpoint=endpoint, input_file_id=input_file_id, metadata=metadata,
            output_id=FileStore.new_id(), error_id=FileStore.new_id(),
        )  # fmt: skip
        try:
            private_folder(self._folder)
            private_folder(self._at(batch.id))
            _link(source, self.input(batch.id))
            self.write(batch)  # last: a batch exists completely or not at all
        except FileNotFoundError as error:
            shutil.rmtree(self._at(batch.id), ignore_errors=True)
            raise MissingError(f"file {input_file_id!r} was deleted; upload it again") from error
        except OSError as error:
            raise OutputError(
                f"{self._folder}: cannot be written ({error.strerror}); "
                "free space there, or set state to another folder"
            ) from error
        return batch

    def get(self, id: str, owner: str) -> Batch:  # noqa: A002
        """A batch of this owner. Raises ``MissingError``, also for a batch of another owner."""
        batch = self.read(id) if _ID.fullmatch(id) else None
        if batch is None or batch.owner != owner:
            raise MissingError(
                f"batch {id!r} does not exist; GET /v1/batches lists the existing ones"
            )
        return self._shown(batch)

    def owned_by(self, owner: str) -> list[Batch]:
        """The batches of an owner, newest first."""
        read = (self.read(path.parent.name) for path in self._folder.glob("batch_*/batch.json"))
        own = [self._shown(batch) for batch in read if batch is not None and batch.owner == owner]
        return sorted(own, key=lambda batch: (batch.created_ns, batch.id), reverse=True)

    def open(self) -> list[str]:
        """The ids of the unfinished batches."""
        return sorted(path.parent.name for path in self._folder.glob("batch_*/input.jsonl"))

    def read(self, id: str) -> Batch | None:  # noqa: A002
        """A batch as its process last wrote it."""
        try:
            return Batch.model_validate_json((self._at(id) / "batch.json").read_bytes())
        except FileNotFoundError:
            return None

    def write(self, batch: Batch) -> None:
        """Write the batch, replacing its file."""
        path = self._at(batch.id) / "batch.json"
        write_json(path, batch.model_dump(mode="json"))
        path.chmod(PRIVATE)

    def write_progress(self, id: str, completed: int, failed: int) -> None:  # noqa: A002
        """Write the progress, without a sync, as it changes often."""
        path = self._at(id) / "progress"
        temporary = path.with_suffix(".tmp")
        temporary.write_text(f"{completed} {failed}", encoding="utf-8")
        temporary.replace(path)

    def close(self, batch: Batch) -> None:
        """Write the final state, then remove the working files."""
        self.write(batch)
        for name in ("done", "progress", "cancel", "input.jsonl"):
            (self._at(batch.id) / name).unlink(missing_ok=True)

    def input(self, id: str) -> Path:  # noqa: A002
        """The file of requests."""
        return self._at(id) / "input.jsonl"

    def cancel(self, id: str) -> None:  # noqa: A002
        """Request that the process which works on the batch stops."""
        path = self._at(id) / "cancel"
        if not path.exists():
            path.write_text(str(int(time.time())), encoding="utf-8")

    def cancelled_at(self, id: str) -> int | None:  # noqa: A002
        """The time of the request to stop, or None."""
        try:
            return int((self._at(id) / "cancel").read_text(encoding="utf-8") or time.time())
        except FileNotFoundError:
            return None

    @contextmanager
    def lock(self, id: str) -> Iterator[bool]:  # noqa: A002
        """Whether this process got the batch's lock, which is released when the process ends."""
        with (self._at(id) / "lock").open("wb") as handle:
            if fcntl is None:
                yield True
                return
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def resume(self, id: str) -> tuple[BinaryIO, list[Done]]:  # noqa: A002
        """The file of replies, opened at its end, with the replies in it.

        An incomplete last line of a killed server is removed.
        """
        path = self._at(id) / "done"
        path.touch(PRIVATE)
        rows = self.done(id)
        os.truncate(path, rows[-1].start + rows[-1].length + 1 if rows else 0)
        return path.open("ab"), rows

    def done(self, id: str) -> list[Done]:  # noqa: A002
        """The replies on disk, in the order in which they were written."""
        rows: list[Done] = []
        position, path = 0, self._at(id) / "done"
        if not path.is_file():
            return rows
        with path.open("rb") as handle:
            for raw in handle:
                if not raw.endswith(b"\n"):
                    break
                number, ok, _ = raw.split(b" ", 2)
                head = len(number) + len(ok) + 2
                rows.append(Done(int(number), ok == b"1", position + head, len(raw) - head - 1))
                position += len(raw)
        return rows

    def replies(self, id: str, rows: Iterable[Done]) -> Iterator[bytes]:  # noqa: A002
        """The lines of some replies."""
        with (self._at(id) / "done").open("rb") as handle:
            for row in rows:
                handle.seek(row.start)
                yield handle.read(row.length) + b"\n"

    def _shown(self, batch: Batch) -> Batch:
        """The batch with its current progress, and ``cancelling`` after a request to stop."""
        if batch.status in OVER:
            return batch
        changes = self._progress(batch.id) if batch.status == "in_progress" else {}
        if (asked := self.cancelled_at(batch.id)) is not None:
            changes |= {"status": "cancelling", "at": {**batch.at, "cancelling": asked}}
        return batch.model_copy(update=changes)

    def _progress(self, id: str) -> dict[str, Any]:  # noqa: A002
        try:
            completed, failed = (self._at(id) / "progress").read_text(encoding="utf-8").split()
        except (FileNotFoundError, ValueError):  # not written yet, or lost in a crash
            return {}
        return {"completed": int(completed), "failed": int(failed)}

    def _at(self, id: str) -> Path:  # noqa: A002
        return self._folder / id


def done_row(number: int, ok: bool, reply: Mapping[str, Any]) -> bytes:
    """A reply as a line of ``done``."""
    text = json.dumps(reply, ensure_ascii=False, separators=(", ", ": "))
    return f"{number} {int(ok)} {text}\n".encode()


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        temporary = target.with_suffix(".tmp")
        shutil.copyfile(source, temporary)
        temporary.replace(target)
