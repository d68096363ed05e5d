"""Ask a model about every row of a file: rows are saved as they arrive, and a run resumes.

A ``Protocol`` is what a paper does so: the prompt of every row, the reading of its reply, and the
figures of all rows.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Generic, NamedTuple, Self, TypeVar
from typing import Protocol as Structure

import typer

from gradegpt.app.console import progress, read_items
from gradegpt.app.run import GIVE_UP_AFTER, MANIFEST
from gradegpt.core.errors import EngineError, InputError, SettingsError
from gradegpt.core.records import ResumableWriter, read_rows, sha256_file, write_json
from gradegpt.core.schema import Message
from gradegpt.core.settings import build_settings
from gradegpt.engines.base import Engine, Generation
from gradegpt.engines.client import RequestSettings
from gradegpt.engines.openai_api import OpenAIEngine
from gradegpt.tables.inputs import Placed

from .judging import Advance

_TOKENS: Final = ("prompt_tokens", "completion_tokens")
_COST: Final = frozenset((*_TOKENS, "cut_off", "error"))
"""Keys of ``meta`` that describe this reply; a row made from another reply has that one's."""

ServerUrl = Annotated[
    str | None, typer.Option(help="An OpenAI-compatible server, up to and including /v1.")
]
ModelName = Annotated[str | None, typer.Option("--model", help="The model's name there.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at a time.")]
ApiKey = Annotated[str | None, typer.Option(help="[default: $OPENAI_API_KEY]")]
InputPrice = Annotated[float, typer.Option(min=0, help="The price of a million prompt tokens.")]
OutputPrice = Annotated[float, typer.Option(min=0, help="The price of a million generated tokens.")]
Request = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="What a reasoning model needs, repeatable: thinking_tokens=8192, "
        "max_tokens_name=max_completion_tokens, extra_body.temperature=1.",
    ),
]


class RowWithMeta(Structure):
    """A pydantic row with a free column ``meta``, which holds the cost of a reply."""

    @property
    def meta(self) -> dict[str, Any]: ...  # noqa: D102
    def model_copy(self, *, update: dict[str, Any]) -> Self: ...  # noqa: D102


R = TypeVar("R", bound=RowWithMeta)
Prompt = Any
"""A conversation to ask, or the text of a reply that already exists."""


@dataclass(frozen=True)
class Protocol(Generic[R]):
    """The rows that a model makes of a file, one for each prompt and in their order.

    Attributes:
        source: The file that the prompts were made from.
        rows: Where the rows are written.
        version: Everything else that they depend on, besides the model.
        row_type: Their type.
        prompts: The conversations; one that is a text is its own reply, and no model is asked.
        read: Makes the n-th row from its reply, or from None where the server finally refused.
        finish: Writes and prints the figures of all rows.
        max_new_tokens: The usual limit of a reply.
        rounds: The numbers of prompts that are asked together, where a prompt needs other replies.
        prompt_after: Makes the n-th prompt from the rows of earlier rounds.

    """

    source: Path
    rows: Path
    version: str
    row_type: type[R]
    prompts: Sequence[Prompt]
    read: Callable[[int, Any], R]
    finish: Callable[[list[R]], None] = lambda rows: None
    max_new_tokens: int = 2048
    rounds: Sequence[range] = ()
    prompt_after: Callable[[int, Sequence[R]], Sequence[Message]] | None = None

    @property
    def asks(self) -> bool:
        """Whether any row needs a model."""
        return bool(self.rounds) or any(not isinstance(prompt, str) for prompt in self.prompts)


class Asked(NamedTuple):
    """The counts of a run: tokens of this run alone, ``failure`` of the first row that failed."""

    rows: int
    rows_before: int
    cut_off: int
    failed: int
    failure: str
    prompt_tokens: int
    completion_tokens: int


def ask(
    protocol: Protocol[R],
    engine: Engine | None = None,
    *,
    max_new_tokens: int | None = None,
    at_once: int = 64,
    overwrite: bool = False,
    on_progress: Advance = lambda done, total: None,
) -> tuple[list[R], Asked]:
    """Write a row for every prompt, and ``.manifest.json`` beside the file; return the rows.

    A row's ``meta`` gets tokens, ``cut_off``, or the ``error``. A stopped run resumes with the same
    call: no answered prompt is asked twice, and failed ones are asked again; the rows of a finished
    one are read.

    Raises:
        OutputError: the file exists, or was begun with another source, model or version.
        EngineError: the server answers nothing; earlier replies are kept.

    """
    out, total = protocol.rows, len(protocol.prompts)
    limit = max_new_tokens or protocol.max_new_tokens
    name = engine.name if engine else "none"
    made_from = f"{name}|{protocol.version}|{limit}|{sha256_file(protocol.source)}"
    writer = ResumableWriter(out, made_from, overwrite=overwrite)
    before = {} if overwrite else _manifest(out)
    if before.get("made_from") == made_from:
        if not before["failed"]:
            rows = list(read_rows(out, protocol.row_type))  # type: ignore[type-var]
            return rows, Asked(total, total, before.get("cut_off", 0), 0, "", 0, 0)
        writer.reopen()
    rows = []
    spent: Counter[str] = Counter()

    def asked(numbers: Sequence[int]) -> Iterator[tuple[Sequence[int], list[R]]]:
        for part in _batches(numbers, protocol.rounds or [range(total)], at_once):
            replies = _replies(protocol, engine, part, rows, limit)
            failed = [reply for reply in replies if isinstance(reply, EngineError)]
            if len(failed) == len(replies) >= min(GIVE_UP_AFTER, at_once, len(numbers)):
                raise failed[-1]  # the server is down
            made = [_row(protocol, n, one) for n, one in zip(part, replies, strict=True)]
            spent.update(_spent(made))
            yield part, made

    with _reporting_saved_rows(writer, total), writer:
        rows += read_rows(writer.partial, protocol.row_type)  # type: ignore[type-var]
        again = [n for n, row in enumerate(rows) if "error" in row.meta]
        kept = len(rows) - len(again)
        on_progress(kept, total)
        for part, made in asked(again):
            for n, row in zip(part, made, strict=True):
                rows[n] = row
            writer.replace(rows)  # type: ignore[arg-type]
        for _, made in asked(range(len(rows), total)):
            writer.write(made)  # type: ignore[arg-type]
            rows += made
            on_progress(writer.done, total)
    failures = [row.meta["error"] for row in rows if "error" in row.meta]
    cut = sum(bool(row.meta.get("cut_off")) for row in rows)
    manifest = {
        "made_from": made_from,
        "input": {"path": str(protocol.source), "sha256": sha256_file(protocol.source)},
        "output": {"path": str(out), "sha256": sha256_file(out)},
        "rows": len(rows),
        "failed": len(failures),
        "cut_off": cut,
        **_spent(rows),
    }
    write_json(out.with_name(out.name + MANIFEST), manifest)
    tokens = (spent[name] for name in _TOKENS)
    return rows, Asked(len(rows), kept, cut, len(failures), next(iter(failures), ""), *tokens)


def _manifest(out: Path) -> dict[str, Any]:
    path = out.with_name(out.name + MANIFEST)
    exists = out.is_file() and path.is_file()
    return dict(json.loads(path.read_text(encoding="utf-8"))) if exists else {}


def _replies(
    protocol: Protocol[R], engine: Any, part: Sequence[int], rows: Sequence[R], limit: int
) -> list[Any]:
    """The replies, in order; a prompt that is a text is its own reply."""
    after = protocol.prompt_after
    prompts = [after(n, rows) if after else protocol.prompts[n] for n in part]
    conversations = [prompt for prompt in prompts if not isinstance(prompt, str)]
    generated = iter(engine.generate(conversations, max_new_tokens=limit) if conversations else ())
    return [p if isinstance(p, str) else next(generated) for p in prompts]


def _batches(
    numbers: Sequence[int], rounds: Sequence[range], at_once: int
) -> Iterator[Sequence[int]]:
    for one in rounds:
        mine = [n for n in numbers if n in one]
        for start in range(0, len(mine), at_once):
            yield mine[start : start + at_once]


def _row(protocol: Protocol[R], n: int, reply: Any) -> R:
    """The row of a reply, with its cost or its error."""
    if isinstance(reply, EngineError):
        row, more = protocol.read(n, None), dict[str, Any](error=str(reply))
    elif isinstance(reply, Generation):
        more = {name: getattr(reply, name) for name in ("cut_off", *_TOKENS)}
        row = protocol.read(n, reply.text)
    else:
        more = {"cut_off": False, **dict.fromkeys(_TOKENS, 0)} if isinstance(reply, str) else {}
        row = protocol.read(n, reply)
    own = {name: value for name, value in row.meta.items() if name not in _COST}
    return row.model_copy(update={"meta": own | more})


def _spent(rows: Sequence[RowWithMeta]) -> dict[str, int]:
    return {name: sum(row.meta.get(name, 0) for row in rows) for name in _TOKENS}


@contextmanager
def _reporting_saved_rows(writer: ResumableWriter, rows: int) -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise type(error)(
            f"{error}; {writer.done:,} of {rows:,} answers are saved in {writer.partial}; "
            "run the same command again to resume"
        ) from error


def run_protocol(
    protocol: Protocol[R],
    engine: Engine | None,
    *,
    max_new_tokens: int | None,
    concurrency: int,
    prices: tuple[float, float],
    overwrite: bool,
) -> None:
    """Ask under a progress bar, print the figures, and what was asked.

    Raises:
        SettingsError: a row needs a model, and there is none.
        EngineError: some rows failed; the same command asks them again.

    """
    if protocol.asks and engine is None:
        raise SettingsError("a model is asked: give --base-url and --model")
    started, made, rows = time.monotonic(), None, list[R]()
    if protocol.prompts:
        with progress("asking") as advance:
            rows, made = ask(
                protocol, engine, max_new_tokens=max_new_tokens, at_once=4 * concurrency,
                overwrite=overwrite, on_progress=advance,
            )  # fmt: skip
    protocol.finish(rows)
    if made is None:
        return
    if protocol.asks:
        limit, seconds = max_new_tokens or protocol.max_new_tokens, time.monotonic() - started
        cost = (made.prompt_tokens * prices[0] + made.completion_tokens * prices[1]) / 1e6
        earlier = f" ({made.rows_before:,} from an earlier run)" if made.rows_before else ""
        typer.echo(
            f"{made.rows:,} answers{earlier}, {made.cut_off:,} of them cut off at {limit:,} "
            f"tokens\n{made.prompt_tokens:,} tokens read, {made.completion_tokens:,} written in "
            f"{seconds:.0f} s" + (f", {cost:.2f} at your prices" if cost else "")
        )
    typer.echo(f"wrote {protocol.rows}")
    if made.failed:
        again = "run the same command again to ask only these"
        raise EngineError(
            f"{made.failed:,} questions were not answered, the first with: {made.failure}; {again}"
        )


def engine_of(
    base_url: str | None,
    model: str | None,
    *,
    api_key: str | None,
    concurrency: int,
    request: Sequence[str] | None,
    temperature: float = 0.0,
) -> Engine | None:
    """The model behind a server; None where neither is named."""
    if not base_url and not model:
        return None
    if not base_url or not model:
        raise SettingsError("a model needs --base-url and --model; give both")
    return OpenAIEngine(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=temperature,
        request=build_settings(RequestSettings, {}, "--request", request or ()),
    )  # fmt: skip


def read_asked(
    path: Path,
    *needs: str,
    columns: Mapping[str, str] | None = None,
    answered: bool = False,
    also: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
) -> list[Placed]:
    """The items of a table of any form, with their places.

    Args:
        path: The table.
        needs: The fields that must not be empty.
        columns: Fields and the columns that hold them, where their names do not say it.
        answered: Whether the responses count; else they are left out.
        also: What is read beside the fields of an item.
        defaults: The values of fields that a row may lack.

    Raises:
        InputError: a row is no item or lacks a field, an id is repeated, or there is no row; with
            ``file:line: field``.

    """
    none = {} if answered else {"response": ""}
    rows = read_items(
        path, {**(columns or {}), **none}, defaults={**none, **(defaults or {})}, also=also,
        distinct=True,
    )  # fmt: skip
    for where, item, *_ in rows:
        for field in needs:
            if not str(getattr(item, field)).strip():
                raise InputError(f"{where}: {field}: is empty; give {' and '.join(needs)}")
    return rows
