"""A model's replies to prompts, saved one row each as they arrive, and the options to ask with."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Protocol, Self, TypedDict, TypeVar

import typer

from gradegpt.engines.base import Engine, Generation
from gradegpt.engines.client import RequestSettings
from gradegpt.engines.openai_api import OpenAIEngine
from gradegpt.errors import EngineError
from gradegpt.records import ResumableWriter, read_rows, sha256_file, write_json
from gradegpt.run import GIVE_UP_AFTER, MANIFEST
from gradegpt.schema import Message
from gradegpt.settings import build_settings

from .judging import progress_bar

_TOKENS: Final = ("prompt_tokens", "completion_tokens")
_COST: Final = frozenset((*_TOKENS, "cut_off", "error"))
"""Keys of ``meta`` that describe this reply; a row made from another reply has that one's."""

BaseUrl = Annotated[str, typer.Option(help="An OpenAI-compatible server, up to and including /v1.")]
ModelName = Annotated[str, typer.Option("--model", help="The model's name there.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at a time.")]
MaxNewTokens = Annotated[int, typer.Option(min=1, help="The limit of a reply, in tokens.")]
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
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]


class RowWithMeta(Protocol):
    """A pydantic row with a free column ``meta``, which holds the cost of a reply."""

    @property
    def meta(self) -> dict[str, Any]: ...  # noqa: D102
    def model_copy(self, *, update: dict[str, Any]) -> Self: ...  # noqa: D102


R = TypeVar("R", bound=RowWithMeta)
Prompt = Sequence[Message] | str
"""A conversation to ask, or the text of a reply that already exists."""


class Asked(NamedTuple):
    """The counts of a run: tokens of this run alone, ``failure`` of the first row that failed."""

    rows: int
    rows_before: int
    cut_off: int
    failed: int
    failure: str
    prompt_tokens: int
    completion_tokens: int


class AskOptions(TypedDict, total=False):
    """The options of ``ask_rows``, and of every function that calls it."""

    max_new_tokens: int
    at_once: int
    overwrite: bool
    on_progress: Callable[[int, int], None] | None


def ask_rows(
    prompts: Sequence[Prompt],
    row_of: Callable[[int, str | None], R],
    out: Path,
    engine: Engine | None,
    *,
    row_type: type[R],
    source: Path,
    settings: str,
    rounds: Sequence[range] = (),
    prompt_after: Callable[[int, Sequence[R]], Sequence[Message]] | None = None,
    max_new_tokens: int = 4096,
    at_once: int = 64,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Asked:
    """Write to ``out`` a row for every prompt, in order, and ``out.manifest.json`` beside it.

    ``row_of(n, reply)`` makes the n-th row from its reply, or from None where the server finally
    refused the prompt; the row's ``meta`` gets tokens, ``cut_off``, or the ``error``. A stopped run
    resumes with the same call: no answered prompt is asked twice, and failed ones are asked again.
    ``source`` is the file that the prompts were made from; ``settings`` names everything else that
    they depend on. A prompt that is a text is its own reply, and no engine is asked for it.
    Where a prompt needs replies to others, ``rounds`` are the numbers of the prompts that are asked
    together, and ``prompt_after(n, rows)`` makes the n-th prompt from the rows of earlier rounds.

    Raises:
        OutputError: ``out`` exists, or was begun with another source or other settings.
        EngineError: the server answers nothing; earlier replies are kept.

    """
    name = engine.name if engine else "none"
    made_from = f"{name}|{settings}|{max_new_tokens}|{sha256_file(source)}"
    report = on_progress or (lambda done, total: None)
    writer = ResumableWriter(out, made_from, overwrite=overwrite)
    if not overwrite and _manifest(out).get("failed") and _manifest(out)["made_from"] == made_from:
        writer.reopen()
    rows: list[R] = []
    spent: Counter[str] = Counter()

    def asked(numbers: Sequence[int]) -> Iterator[tuple[Sequence[int], list[R]]]:
        for part in _batches(numbers, rounds or [range(len(prompts))], at_once):
            some = [prompt_after(n, rows) if prompt_after else prompts[n] for n in part]
            replies = _replies(engine, some, max_new_tokens)
            _give_up(replies, min(GIVE_UP_AFTER, at_once, len(numbers)))
            made = [_with_cost(row_of, n, reply) for n, reply in zip(part, replies, strict=True)]
            spent.update(_spent(made))
            yield part, made

    with _reporting_saved_rows(writer, len(prompts)), writer:
        rows += read_rows(writer.partial, row_type)  # type: ignore[type-var]
        again = [n for n, row in enumerate(rows) if "error" in row.meta]
        before = len(rows) - len(again)
        report(before, len(prompts))
        for part, made in asked(again):
            for n, row in zip(part, made, strict=True):
                rows[n] = row
            writer.replace(rows)  # type: ignore[arg-type]
        for _, made in asked(range(len(rows), len(prompts))):
            writer.write(made)  # type: ignore[arg-type]
            rows += made
            report(writer.done, len(prompts))
    failures = [row.meta["error"] for row in rows if "error" in row.meta]
    cut = sum(bool(row.meta.get("cut_off")) for row in rows)
    manifest = {
        "made_from": made_from,
        "input": {"path": str(source), "sha256": sha256_file(source)},
        "output": {"path": str(out), "sha256": sha256_file(out)},
        "rows": len(rows),
        "failed": len(failures),
        "cut_off": cut,
        **_spent(rows),
    }
    write_json(out.with_name(out.name + MANIFEST), manifest)
    first = next(iter(failures), "")
    return Asked(len(rows), before, cut, len(failures), first, *(spent[t] for t in _TOKENS))


def _replies(
    engine: Engine | None, prompts: Sequence[Prompt], max_new_tokens: int
) -> list[Generation | EngineError]:
    """The replies, in order; a prompt that is a text is its own reply."""
    asked = [prompt for prompt in prompts if not isinstance(prompt, str)]
    generated: Iterator[Generation | EngineError] = iter(())
    if asked and engine is not None:
        generated = iter(engine.generate(asked, max_new_tokens=max_new_tokens))
    return [Generation(p) if isinstance(p, str) else next(generated) for p in prompts]


def _give_up(replies: Sequence[Generation | EngineError], least: int) -> None:
    """Raise the last failure where at least ``least`` replies all failed: the server is down."""
    failed = [reply for reply in replies if isinstance(reply, EngineError)]
    if failed and len(failed) == len(replies) >= least:
        raise failed[-1]


@contextmanager
def _reporting_saved_rows(writer: ResumableWriter, rows: int) -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise type(error)(
            f"{error}; {writer.done:,} of {rows:,} answers are saved in {writer.partial}; "
            "run the same command again to resume"
        ) from error


def _batches(
    numbers: Sequence[int], rounds: Sequence[range], at_once: int
) -> Iterator[Sequence[int]]:
    for one in rounds:
        mine = [n for n in numbers if n in one]
        for start in range(0, len(mine), at_once):
            yield mine[start : start + at_once]


def _with_cost(
    row_of: Callable[[int, str | None], R], n: int, reply: Generation | EngineError
) -> R:
    if isinstance(reply, EngineError):
        row, more = row_of(n, None), dict[str, Any](error=str(reply))
    else:
        counts = dict(zip(_TOKENS, (reply.prompt_tokens, reply.completion_tokens), strict=True))
        row, more = row_of(n, reply.text), {"cut_off": reply.cut_off} | counts
    own = {name: value for name, value in row.meta.items() if name not in _COST}
    return row.model_copy(update={"meta": own | more})


def _spent(rows: Sequence[RowWithMeta]) -> dict[str, int]:
    return {name: sum(row.meta.get(name, 0) for row in rows) for name in _TOKENS}


def _manifest(out: Path) -> dict[str, Any]:
    path = out.with_name(out.name + MANIFEST)
    exists = out.is_file() and path.is_file()
    return dict(json.loads(path.read_text(encoding="utf-8"))) if exists else {}


@contextmanager
def asking(
    base_url: str,
    model: str,
    *,
    api_key: str | None,
    concurrency: int,
    max_new_tokens: int,
    overwrite: bool,
    temperature: float = 0.0,
    request: Sequence[str] | None = None,
) -> Iterator[tuple[OpenAIEngine, AskOptions]]:
    """The engine of a command and how it is asked, under a progress bar."""
    wanted = build_settings(RequestSettings, {}, "--request", request or ())
    engine = OpenAIEngine(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=temperature,
        request=wanted,
    )  # fmt: skip
    with progress_bar("asking") as advance:
        yield (
            engine,
            {
                "max_new_tokens": max_new_tokens,
                "at_once": 4 * concurrency,
                "overwrite": overwrite,
                "on_progress": advance,
            },
        )


def print_asked(
    made: Asked, out: Path, started: float, max_new_tokens: int, prices: tuple[float, float]
) -> None:
    """Print the summary of a command; ``started`` is a time of ``time.monotonic``.

    Raises:
        EngineError: some rows failed; the same command asks them again.

    """
    cost = (made.prompt_tokens * prices[0] + made.completion_tokens * prices[1]) / 1e6
    earlier = f" ({made.rows_before:,} from an earlier run)" if made.rows_before else ""
    typer.echo(
        f"{made.rows:,} answers{earlier}, {made.cut_off:,} of them cut off at {max_new_tokens:,} "
        f"tokens\n{made.prompt_tokens:,} tokens read, {made.completion_tokens:,} written in "
        f"{time.monotonic() - started:.0f} s" + (f", {cost:.2f} at your prices" if cost else "")
    )
    typer.echo(f"wrote {out}")
    if made.failed:
        again = "run the same command again to ask only these"
        raise EngineError(
            f"{made.failed:,} questions were not answered, the first with: {made.failure}; {again}"
        )
