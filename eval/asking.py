"""Prompts -> a model's replies, a row each, kept as they come; and the options of such commands."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Protocol, Self, TypeVar

import typer

from eval.judging import progress_bar
from gradegpt.engines.base import Engine, Generation
from gradegpt.engines.openai_api import OpenAIEngine
from gradegpt.errors import EngineError
from gradegpt.records import ResumableWriter, read_rows, sha256_file, write_json
from gradegpt.run import GIVE_UP_AFTER, MANIFEST
from gradegpt.schema import Message

_TOKENS: Final = ("prompt_tokens", "completion_tokens")
_COST: Final = frozenset((*_TOKENS, "cut_off", "error"))
"""What ``meta`` says of this reply; a row that was made of another reply brings that one's."""

BaseUrl = Annotated[str, typer.Option(help="An OpenAI-compatible server, up to and including /v1.")]
ModelName = Annotated[str, typer.Option("--model", help="The model's name there.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at a time.")]
MaxNewTokens = Annotated[int, typer.Option(min=1, help="Of a reply.")]
ApiKey = Annotated[str | None, typer.Option(help="[default: $OPENAI_API_KEY]")]
InputPrice = Annotated[float, typer.Option(min=0, help="Of a million prompt tokens.")]
OutputPrice = Annotated[float, typer.Option(min=0, help="Of a million tokens written.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it is there.")]


class RowWithMeta(Protocol):
    """A pydantic row with a free column ``meta``, in which a reply's cost is kept."""

    @property
    def meta(self) -> dict[str, Any]: ...  # noqa: D102
    def model_copy(self, *, update: dict[str, Any]) -> Self: ...  # noqa: D102


R = TypeVar("R", bound=RowWithMeta)


class Asked(NamedTuple):
    """What a run came to: tokens of this run alone, ``failure`` of the first row that failed."""

    rows: int
    rows_before: int
    cut_off: int
    failed: int
    failure: str
    prompt_tokens: int
    completion_tokens: int


def ask_rows(
    prompts: Sequence[Sequence[Message]],
    row_of: Callable[[int, str | None], R],
    out: Path,
    engine: Engine,
    *,
    row_type: type[R],
    source: Path,
    settings: str,
    max_new_tokens: int = 2048,
    at_once: int = 64,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    rounds: Sequence[range] = (),
    prompt_after: Callable[[int, Sequence[R]], Sequence[Message]] | None = None,
) -> Asked:
    """Write to ``out`` a row for every prompt, in order, and ``out.manifest.json`` beside it.

    ``row_of(n, reply)`` makes the n-th row of its reply, or of None where the server refused the
    prompt for good; the row's ``meta`` gets tokens, ``cut_off``, or the ``error``. A stopped run
    goes on with the same call, nothing is asked twice, and what failed is asked again. ``source``
    is the file that the prompts were made from; ``settings`` names all else that they depend on.
    Where a prompt needs replies to others, ``rounds`` cut the prompts into those that are asked
    together, and ``prompt_after(n, rows)`` makes the n-th anew, given the rows of earlier rounds.

    Raises:
        OutputError: ``out`` is there, or was begun with another source or other settings.
        EngineError: the server answers nothing; what came before is kept.

    """
    made_from = f"{engine.name}|{settings}|{max_new_tokens}|{sha256_file(source)}"
    report = on_progress or (lambda done, total: None)
    prompt_of = prompt_after or (lambda n, rows: prompts[n])
    rows: list[R] = []

    def replies(numbers: Sequence[int]) -> Iterator[list[R]]:
        for part in _batches(numbers, rounds or [range(len(prompts))], at_once):
            told = engine.generate(
                [prompt_of(n, rows) for n in part], max_new_tokens=max_new_tokens
            )
            failed = [one for one in told if isinstance(one, EngineError)]
            few = min(GIVE_UP_AFTER, at_once, len(numbers))
            if failed and len(failed) == len(told) and len(told) >= few:
                raise failed[-1]
            yield [_with_cost(row_of, n, said) for n, said in zip(part, told, strict=True)]

    writer = ResumableWriter(out, made_from, overwrite=overwrite)
    if not overwrite and _made(out).get("failed") and _made(out)["made_from"] == made_from:
        writer.begin_again()
    spent = [0, 0]
    try:
        with writer:
            rows += read_rows(writer.partial, row_type)  # type: ignore[type-var]
            again = [n for n, row in enumerate(rows) if "error" in row.meta]
            before = len(rows) - len(again)
            report(before, len(prompts))
            for part in replies(list(again)):
                for row in part:
                    rows[again.pop(0)] = row
                    _count(row, spent)
                writer.replace(rows)  # type: ignore[arg-type]
            for part in replies(range(len(rows), len(prompts))):
                writer.write(part)  # type: ignore[arg-type]
                rows += part
                for row in part:
                    _count(row, spent)
                report(writer.done, len(prompts))
    except EngineError as error:
        raise type(error)(
            f"{error}; {writer.done:,} of {len(prompts):,} answers are safe in {writer.partial}; "
            "run the same command again to go on"
        ) from error
    rows = list(read_rows(out, row_type))  # type: ignore[type-var]
    failures = [row.meta["error"] for row in rows if "error" in row.meta]
    cut = sum(bool(row.meta.get("cut_off")) for row in rows)
    manifest = {
        "made_from": made_from,
        "input": {"path": str(source), "sha256": sha256_file(source)},
        "output": {"path": str(out), "sha256": sha256_file(out)},
        "rows": len(rows),
        "failed": len(failures),
        "cut_off": cut,
        **{name: sum(row.meta.get(name, 0) for row in rows) for name in _TOKENS},
    }
    write_json(out.with_name(out.name + MANIFEST), manifest)
    return Asked(len(rows), before, cut, len(failures), next(iter(failures), ""), *spent)


def _batches(
    numbers: Sequence[int], rounds: Sequence[range], at_once: int
) -> Iterator[Sequence[int]]:
    for one in rounds:
        mine = [n for n in numbers if n in one]
        for start in range(0, len(mine), at_once):
            yield mine[start : start + at_once]


def _with_cost(row_of: Callable[[int, str | None], R], n: int, said: Generation | EngineError) -> R:
    if isinstance(said, EngineError):
        row, more = row_of(n, None), dict[str, Any](error=str(said))
    else:
        counts = dict(zip(_TOKENS, (said.prompt_tokens, said.completion_tokens), strict=True))
        row, more = row_of(n, said.text), {"cut_off": said.cut_off} | counts
    own = {name: value for name, value in row.meta.items() if name not in _COST}
    return row.model_copy(update={"meta": own | more})


def _count(row: RowWithMeta, spent: list[int]) -> None:
    for n, name in enumerate(_TOKENS):
        spent[n] += row.meta.get(name, 0)


def _made(out: Path) -> dict[str, Any]:
    path = out.with_name(out.name + MANIFEST)
    there = out.is_file() and path.is_file()
    return dict(json.loads(path.read_text(encoding="utf-8"))) if there else {}


@contextmanager
def asking(
    base_url: str, model: str, *, api_key: str | None, concurrency: int, temperature: float = 0.0
) -> Iterator[tuple[OpenAIEngine, Callable[[int, int], None]]]:
    """The engine of a command, and what its progress bar is told."""
    engine = OpenAIEngine(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=temperature
    )
    with progress_bar("asking") as advance:
        yield engine, advance


def print_asked(
    made: Asked, out: Path, started: float, max_new_tokens: int, prices: tuple[float, float]
) -> None:
    """What a command says at its end; ``started`` by ``time.monotonic``.

    Raises:
        EngineError: some rows failed; the same command asks them once more.

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
        again = "run the same command again to ask them once more"
        raise EngineError(
            f"{made.failed:,} questions were not answered, the first with: {made.failure}; {again}"
        )
