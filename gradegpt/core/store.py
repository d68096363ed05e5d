"""An SQLite file that threads and processes share; a process may be killed at any time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from gradegpt.core.errors import OutputError

_WAIT_S: Final = 30.0


class Store:
    """One table in a file of its own kind; each ``insert`` is a transaction.

    Args:
        path: The file, made where there is none.
        kind: SQLite's ``application_id``, by which files of another kind are recognised.
        table: The statement that makes the table where it does not exist.
        what: The contents of the file, for messages.
        power_safe: Whether an insert survives a power cut and not only a killed process; slower.

    Raises:
        OutputError: the file is of another kind, is damaged, or cannot be read or written.

    """

    def __init__(
        self, path: str | Path, *, kind: int, table: str, what: str, power_safe: bool
    ) -> None:
        self.path = Path(path)
        self._what = what
        self._lock = Lock()
        with self._output_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
        try:
            with self._output_errors():
                self._open(kind, table)
                self._use_write_ahead_log()
                self._db.execute(f"PRAGMA synchronous = {'FULL' if power_safe else 'NORMAL'}")
        except OutputError:
            self._db.close()
            raise

    def query(self, statement: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
        """The rows that a statement selects."""
        with self._lock, self._output_errors():
            return self._db.execute(statement, values).fetchall()

    def insert(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each row, in one transaction."""
        with self._lock, self._output_errors():
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; safe to call again."""
        with self._lock:
            self._db.close()

    def _open(self, kind: int, table: str) -> None:
        # One transaction, so that only one of several processes that start at once makes the file.
        self._db.execute("BEGIN IMMEDIATE")
        (found,) = self._db.execute("PRAGMA application_id").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and found != kind:
            raise OutputError(f"{self.path}: is a database of another kind; choose another cache")
        self._db.execute(f"PRAGMA application_id = {kind}")
        self._db.execute(table)
        self._db.execute("COMMIT")

    def _use_write_ahead_log(self) -> None:
        """Switch to a write-ahead log, so that a reader never waits for a writer."""
        until = time.monotonic() + _WAIT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:  # this statement ignores SQLite's own timeout
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _output_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, FileExistsError, NotADirectoryError, PermissionError) as error:
            how = "choose another path, free the disk, or delete the file if it is damaged"
            raise OutputError(
                f"{self.path}: cannot be used as a cache of {self._what} ({error}); {how}"
            ) from error
