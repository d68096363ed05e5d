"""Ask a model about every row of a file: each reply is saved when it comes, and a run resumes.

A ``Protocol`` is what a paper does so: the prompt of every row, the reading of its reply, and the
figures of all rows. Its file has the rows; beside it are ``.replies.jsonl``, ``.manifest.json``
and, of protocols that have them, ``.summary.json`` and ``.findings.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final, Generic, TypeVar

import typer

from gradegpt.app import options
from gradegpt.app.console import progress, read_items
from gradegpt.app.run import GIVE_UP_AFTER, MANIFEST
from gradegpt.core.errors import EngineError, InputError, OutputError, SettingsError
from gradegpt.core.records import (
    EXISTS,
    ResumableWriter,
    read_rows,
    sha256_file,
    write_json,
    write_rows,
)
from gradegpt.core.schema import Message, Row
from gradegpt.engines.base import Generation
from gradegpt.engines.openai_api import OpenAIEngine
from gradegpt.tables.inputs import USUAL, Placed, Reading

from .figures import ProtocolSummary, show_summary
from .judging import Advance

REPLIES: Final = ".replies.jsonl"
SUMMARY: Final = ".summary.json"
FINDINGS: Final = ".findings.jsonl"
_SPENT: Final = ("cut_off", "prompt_tokens", "completion_tokens")

Concurrency = Annotated[int, typer.Option(min=1, help="Requests at a time.")]
ApiKey = Annotated[str | None, typer.Option(help="[default: $OPENAI_API_KEY]")]


R = TypeVar("R", bound=Row)
Prompt = Any
"""A conversation to ask, or the text of a reply that already exists."""


def conversation(system: str, user: str) -> tuple[Message, ...]:
    """Instructions, and what they are about."""
    return Message(role="system", content=system), Message(role="user", content=user)


class Reply(Row):
    """The reply to the ``n``-th prompt of a run, as it is saved when it comes."""

    n: int
    reply: Any
    cut_off: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class Protocol(Generic[R]):
    """The rows that a model makes of a file, one for each prompt and in their order.

    Attributes:
        source: The file that the prompts were made from.
        out: Where the rows are written.
        version: Everything else that the replies depend on, besides the model.
        prompts: The conversations; one that is a text is its own reply, and no model is asked.
        read: Makes the row of a reply.
        summary: The figures of the rows, by the numbers of their prompts.
        max_new_tokens: The usual limit of a reply.
        at_once: The prompts of one call of the engine.

    """

    source: Path
    out: Path
    version: str
    prompts: Sequence[Prompt]
    read: Callable[[int, Reply], R]
    summary: Callable[[Mapping[int, R]], ProtocolSummary] | None = None
    max_new_tokens: int = 2048
    at_once: int = 1

    def beside(self, suffix: str) -> Path:
        """A file beside the rows."""
        return self.out.with_name(self.out.name + suffix)


class Asking:
    """The asking of one protocol: ``replies`` by number, and ``failures`` with their errors."""

    def __init__(self, protocol: Protocol[Any], engine: Any, limit: int) -> None:
        self.protocol, self.failures = protocol, dict[int, EngineError]()
        self.replies: dict[int, Reply] = {}
        self._engine, self._limit, self._lock = engine, limit, Lock()
        self._failed_in_a_row, self._give_up_after = 0, GIVE_UP_AFTER

    def resume(self, path: Path) -> None:
        """Take the replies that an earlier run saved."""
        self.replies = {reply.n: reply for reply in read_rows(path, Reply)}

    def ask(self, writer: ResumableWriter, concurrency: int, on_progress: Advance) -> None:
        """Ask what has no reply yet; every reply is saved by the thread that receives it.

        Raises:
            EngineError: the server answers nothing; earlier replies are kept.

        """
        total = len(self.protocol.prompts)
        self._give_up_after = max(GIVE_UP_AFTER, 4 * concurrency)
        left = [n for n in range(total) if n not in self.replies]
        size = self.protocol.at_once
        pool = ThreadPoolExecutor(concurrency)
        try:
            parts = (left[start : start + size] for start in range(0, len(left), size))
            asked = [pool.submit(self._part, part, writer) for part in parts]
            for future in as_completed(asked):
                future.result()
                on_progress(len(self.replies), total)
        finally:  # replies to what is asked already are saved
            pool.shutdown(cancel_futures=True)
        if self.failures and not self.replies:
            raise next(iter(self.failures.values()))

    def _part(self, numbers: Sequence[int], writer: ResumableWriter) -> None:
        prompts = [self.protocol.prompts[n] for n in numbers]
        asked = [prompt for prompt in prompts if not isinstance(prompt, str)]
        made = iter(self._engine.generate(asked, max_new_tokens=self._limit) if asked else ())
        found = [prompt if isinstance(prompt, str) else next(made) for prompt in prompts]
        with self._lock:
            pairs = list(zip(numbers, found, strict=True))
            good = [_reply(n, one) for n, one in pairs if not isinstance(one, EngineError)]
            writer.write(good)
            self.replies.update((reply.n, reply) for reply in good)
            failed = {n: one for n, one in pairs if isinstance(one, EngineError)}
            self.failures |= failed
            self._failed_in_a_row = 0 if good else self._failed_in_a_row + len(failed)
            if self._failed_in_a_row >= self._give_up_after:
                saved = f"{writer.done:,} of {len(self.protocol.prompts):,} answers are saved in "
                again = f"{writer.partial}; run the same command again to resume"
                error = failed[numbers[-1]]
                raise type(error)(f"{error}; {saved}{again}") from error


def _reply(n: int, made: Any) -> Reply:
    if not isinstance(made, Generation):
        return Reply(n=n, reply=made)
    cost = {name: getattr(made, name) for name in _SPENT}
    return Reply(n=n, reply=made.text, **cost)


def run_protocol(
    protocol: Protocol[R],
    engine: Any = None,
    *,
    max_new_tokens: int | None = None,
    concurrency: int = 16,
    overwrite: bool = False,
) -> list[R]:
    """Ask under a progress bar, write the rows and all that is beside them, and print the figures.

    A prompt that the server refused has no row. A stopped run resumes with the same call: what was
    answered is not asked again, and what was refused is; a finished one makes the figures again.

    Raises:
        SettingsError: a row needs a model, and there is none.
        OutputError: the file exists, or was begun with another source, model or version.
        EngineError: the server answers nothing; or some prompts were refused.

    """
    asks = any(not isinstance(prompt, str) for prompt in protocol.prompts)
    if asks and engine is None:
        raise SettingsError("a model is asked: give --base-url and --model")
    limit = max_new_tokens or protocol.max_new_tokens
    run, started = Asking(protocol, engine, limit), time.monotonic()
    name = engine.name if engine else "none"
    prompts = hashlib.sha256(repr([*protocol.prompts]).encode()).hexdigest()
    made_from = f"{name}|{protocol.version}|{limit}|{prompts}"
    if not overwrite and _finished(protocol, made_from):
        run.resume(protocol.beside(REPLIES))
        return _finish(run, made_from, f" ({len(run.replies):,} from earlier runs)")
    writer = ResumableWriter(protocol.beside(REPLIES), made_from, overwrite=overwrite)
    if protocol.out.exists() and not overwrite and not writer.partial.exists():
        raise OutputError(f"{protocol.out}: {EXISTS}")
    with writer:
        run.resume(writer.partial)
        before = f" ({len(run.replies):,} from earlier runs)" if run.replies else ""
        with progress("asking") as advance:
            run.ask(writer, concurrency, advance)
        rows = _finish(run, made_from, f"{before} in {time.monotonic() - started:.0f} s")
        if run.failures:
            first = run.failures[min(run.failures)]
            raise EngineError(
                f"{len(run.failures):,} of {len(protocol.prompts):,} were not answered and have no "
                f"row, the first with: {first}; run the same command again to ask only these"
            )
    return rows


def _finished(protocol: Protocol[Any], made_from: str) -> bool:
    path = protocol.beside(MANIFEST)
    if not (path.is_file() and protocol.out.is_file() and protocol.beside(REPLIES).is_file()):
        return False
    return bool(json.loads(path.read_text(encoding="utf-8")).get("made_from") == made_from)


def _finish(run: Asking, made_from: str, took: str) -> list[Any]:
    """Write and print everything that follows from the replies; ``took`` is said of them."""
    protocol = run.protocol
    spent = {name: sum(getattr(r, name) for r in run.replies.values()) for name in _SPENT}
    rows = {n: protocol.read(n, run.replies[n]) for n in sorted(run.replies)}
    write_rows(protocol.out, rows.values())
    if protocol.summary:
        summary = protocol.summary(rows)
        show_summary(summary)
        write_json(protocol.beside(SUMMARY), summary.model_dump(mode="json"))
        protocol.beside(FINDINGS).unlink(missing_ok=True)
        if summary.findings:
            write_rows(protocol.beside(FINDINGS), summary.findings)
    manifest = {
        "made_from": made_from,
        "input": {"path": str(protocol.source), "sha256": sha256_file(protocol.source)},
        "output": {"path": str(protocol.out), "sha256": sha256_file(protocol.out)},
        "rows": len(rows),
        "failed": {str(n + 1): str(error) for n, error in sorted(run.failures.items())},
        **spent,
    }
    write_json(protocol.beside(MANIFEST), manifest)
    cut_off, read, written = spent.values()
    typer.echo(
        f"{len(run.replies):,} answers{took}, {cut_off:,} of them cut off\n"
        f"{read:,} tokens read, {written:,} written, by all runs"
    )
    typer.echo(f"wrote {protocol.out}")
    return list(rows.values())


def engine_of(
    base_url: str | None,
    model: str | None,
    *,
    api_key: str | None,
    concurrency: int,
    request: Sequence[str] | None,
    temperature: float = 0.0,
) -> OpenAIEngine | None:
    """The model behind a server; None where neither is named."""
    wanted = options.request_of(request, base_url)
    if not base_url and not model:
        return None
    if not base_url or not model:
        raise SettingsError("a model needs --base-url and --model; give both")
    return OpenAIEngine(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=temperature,
        request=wanted,
    )  # fmt: skip


def read_asked(
    path: Path,
    *needs: str,
    reading: Reading = USUAL,
    answered: bool = False,
    also: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
) -> list[Placed]:
    """The items of a table of any form, with their places; the fields in ``needs`` are not empty.

    Unless ``answered``, their responses do not count and are left out. ``reading``, ``also`` and
    ``defaults`` are as for ``console.read_items``.

    Raises:
        InputError: a row is no item or lacks a field, an id is repeated, or there is no row; with
            ``file:line: field``.

    """
    none = () if answered else ("response",)
    rows = read_items(
        path, reading.without(*none), also=also, distinct=True,
        defaults={**dict.fromkeys(none, ""), **(defaults or {})},
    )  # fmt: skip
    for where, item, *_ in rows:
        for field in needs:
            if not str(getattr(item, field)).strip():
                raise InputError(f"{where}: {field}: is empty; give {' and '.join(needs)}")
    return rows
