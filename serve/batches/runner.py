"""Process batches in the background, including those that a killed server left unfinished.

A reply is on disk before its line counts as done, so a resumed batch sends exactly the remaining
lines. A line that was being judged when the server died is judged again and written once.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Iterator
from http import HTTPStatus
from itertools import chain
from typing import Any, BinaryIO, Final

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from ..files.store import FileStore
from ..settings import ServeSettings
from .inside import Answer, post
from .lines import Line, check, read
from .store import Batch, BatchStore, Done, Status, done_row

SWEEP_S: Final = 5.0
"""Seconds between two searches for batches that no process works on."""
_PROGRESS_S: Final = 1.0
_BUSY: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_PASSING: Final = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})
_TRIES: Final = 3
_LONGEST_WAIT_S: Final = 30.0
_GIVEN_UP: Final = {
    "cancelled": "the batch was cancelled before this request was answered",
    "expired": "the batch's 24 hours ended before this request was answered",
}

log = logging.getLogger(__name__)


class Runner:
    """The batches that this process works on."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self.store: Final = BatchStore(settings.state)
        self.files: Final = FileStore(settings.state)
        self._app = app
        self._settings = settings
        self._turns = asyncio.Semaphore(settings.batch_concurrency)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, id: str) -> None:  # noqa: A002  OpenAI's word
        """Work on a batch, unless this process already does."""
        if id not in self._tasks:
            task = self._tasks[id] = asyncio.create_task(self._work(id), name=id)
            task.add_done_callback(self._ended)

    async def sweep(self) -> None:
        """Repeatedly start batches that no process works on."""
        while True:
            try:
                for id in await run_in_threadpool(self.store.open):  # noqa: A001
                    self.start(id)
            except OSError:
                log.exception("batches: the search for unfinished batches failed; it is repeated")
            await asyncio.sleep(SWEEP_S)

    async def stop(self) -> None:
        """Stop all work; another server resumes from the files."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task.get_name()]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("batch %s: failed; it is started again", task.get_name(), exc_info=error)

    async def _work(self, id: str) -> None:  # noqa: A002
        with self.store.lock(id) as ours:
            batch = self.store.read(id) if ours and self.store.input(id).exists() else None
            if batch is None:  # another process works on it, or has just finished it
                return
            if batch.status == "validating":
                batch = await self._checked(batch)
            if batch.status == "in_progress":
                batch = await self._answered(batch)
            if batch.status == "finalizing":
                batch = await run_in_threadpool(self._finalized, batch)
            self.store.close(batch)

    async def _checked(self, batch: Batch) -> Batch:
        found = await run_in_threadpool(
            check, self.store.input(batch.id), batch.endpoint, self._settings.max_batch_lines
        )
        if found.problems:
            return self._put(batch.now("failed", problems=found.problems))
        return self._put(batch.now("in_progress", total=found.total))

    async def _answered(self, batch: Batch) -> Batch:
        out, done = await run_in_threadpool(self.store.resume, batch.id)
        with out:
            work = _Work(self, batch, out, done)
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._settings.batch_concurrency, batch.total)):
                    group.create_task(work.run())
        return self._put(work.counted().now("finalizing"))

    async def ask(self, batch: Batch, line: Line) -> Answer | None:
        """The application's answer; None where the batch ended while the server was busy."""
        tries, wait = 0, 0.25
        while self._given_up(batch) is None:
            async with self._turns:
                answer = await post(self._app, batch.endpoint, line.body, owner=batch.owner)
            tries += 1
            passing = answer.status in _PASSING and tries < _TRIES
            if not passing and answer.status not in _BUSY:
                return answer
            # Interactive requests come first: a batch has 24 hours.
            await asyncio.sleep(_wait(answer, wait))
            wait = min(2 * wait, _LONGEST_WAIT_S)
        return None

    def _given_up(self, batch: Batch) -> Status | None:
        if self.store.cancelled_at(batch.id) is not None:
            return "cancelled"
        return "expired" if time.time() > batch.expires_at else None

    def _finalized(self, batch: Batch) -> Batch:
        """Write the results in the order of the input, and count them."""
        rows = sorted(self.store.done(batch.id))
        kept = list({row.number: row for row in rows}.values())
        good = [row for row in kept if row.ok]
        bad = [row for row in kept if not row.ok]
        missing = len(kept) < batch.total
        over = self._given_up(batch)
        over = "completed" if over is None or (over == "expired" and not missing) else over
        if good:
            self._add(batch, batch.output_id, "output", self.store.replies(batch.id, good))
        if bad or missing:
            lines = chain(self.store.replies(batch.id, bad), self._unanswered(batch, kept, over))
            self._add(batch, batch.error_id, "error", lines)
        return batch.now(
            over, completed=len(good), failed=batch.total - len(good), has_output=bool(good),
            has_errors=bool(bad or missing),
        )  # fmt: skip

    def _unanswered(self, batch: Batch, kept: list[Done], over: Status) -> Iterator[bytes]:
        answered = {row.number for row in kept}
        if len(answered) == batch.total:
            return
        error = {"code": f"batch_{over}", "message": _GIVEN_UP[over]}
        for line in read(self.store.input(batch.id)):
            if line.number not in answered:
                yield done_row(0, False, _reply(batch, line, None, error)).split(b" ", 2)[2]

    def _add(self, batch: Batch, id: str, kind: str, lines: Iterator[bytes]) -> None:  # noqa: A002
        self.files.add(
            lines, filename=f"{batch.id}_{kind}.jsonl", purpose="batch_output",
            owner=batch.owner, id=id,
        )  # fmt: skip

    def _put(self, batch: Batch) -> Batch:
        self.store.write(batch)
        return batch


class _Work:
    """The remaining lines of a batch, shared by workers of one event loop."""

    def __init__(self, runner: Runner, batch: Batch, out: BinaryIO, done: list[Done]) -> None:
        numbers = {row.number for row in done}
        lines = read(runner.store.input(batch.id))
        self._left = (line for line in lines if line.number not in numbers)
        self._runner, self._batch, self._out = runner, batch, out
        self._completed = sum(row.ok for row in done)
        self._failed = len(done) - self._completed
        self._reported = time.monotonic()

    async def run(self) -> None:
        """Send requests until none is left or the batch ends."""
        for line in self._left:
            answer = await self._runner.ask(self._batch, line)
            if answer is None:
                return
            self._keep(line, answer)

    def counted(self) -> Batch:
        """The batch with its counts so far."""
        counts = {"completed": self._completed, "failed": self._failed}
        return self._batch.model_copy(update=counts)

    def _keep(self, line: Line, answer: Answer) -> None:
        ok = answer.status == HTTPStatus.OK
        # Flushed, not synced: a killed process loses nothing, and a sync costs more than judging.
        self._out.write(done_row(line.number, ok, _reply(self._batch, line, answer, None)))
        self._out.flush()
        self._completed += ok
        self._failed += not ok
        if time.monotonic() - self._reported > _PROGRESS_S:
            self._reported = time.monotonic()
            self._runner.store.write_progress(self._batch.id, self._completed, self._failed)


def _reply(
    batch: Batch, line: Line, answer: Answer | None, error: dict[str, str] | None
) -> dict[str, Any]:
    """A line of a results file, in OpenAI's form."""
    name = hashlib.sha256(f"{batch.id}:{line.number}".encode()).hexdigest()[:24]
    response = answer and {
        "status_code": answer.status,
        "request_id": answer.headers.get("x-request-id", f"req_{name}"),
        "body": answer.body,
    }
    return {
        "id": f"batch_req_{name}",
        "custom_id": line.custom_id,
        "response": response,
        "error": error,
    }


def _wait(answer: Answer, otherwise: float) -> float:
    retry_after = answer.headers.get("retry-after", "")
    return min(float(retry_after), _LONGEST_WAIT_S) if retry_after.isdecimal() else otherwise
