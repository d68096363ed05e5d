"""Questions -> a model's answers, a row each, kept as they come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from eval.answer.prompts import Style, prompt
from gradegpt.engines.base import Engine, Generation
from gradegpt.errors import EngineError, InputError
from gradegpt.records import (
    ResumableWriter,
    read_objects,
    read_rows,
    sha256_file,
    validate,
    write_json,
)
from gradegpt.run import GIVE_UP_AFTER, MANIFEST
from gradegpt.schema import Item

_TOKENS: Final = ("prompt_tokens", "completion_tokens")
UNIT: Final = "unit"
"""A column of the questions' file that no item has: what the answer is to be given in."""


class Asked(NamedTuple):
    """What a run came to: tokens of this run alone, ``failure`` of the first row that failed."""

    rows: int
    rows_before: int
    cut_off: int
    failed: int
    failure: str
    prompt_tokens: int
    completion_tokens: int


def read_questions(path: Path) -> list[tuple[Item, str]]:
    """The questions with their units; a column ``response`` may be there and is not read.

    Raises:
        InputError: a row without question or reference, or two with one id; ``file:line`` leads.

    """
    found: list[tuple[Item, str]] = []
    lines: dict[str, int] = {}
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        known = {k: v for k, v in row.items() if k in Item.model_fields}
        item = validate(Item, known | {"response": ""}, where)
        if not item.question.strip():
            raise InputError(f"{where}: question: empty; there is nothing to ask")
        name = item.id or str(number)
        if lines.setdefault(name, number) != number:
            raise InputError(f"{where}: id: {name!r} is that of line {lines[name]} too")
        found.append((item.model_copy(update={"id": name}), str(row.get(UNIT) or "")))
    if not found:
        raise InputError(f"{path}: no rows; every line holds one question as a JSON object")
    return found


def ask(
    path: Path,
    out: Path,
    engine: Engine,
    *,
    style: Style = Style.DIRECT,
    samples: int = 1,
    max_new_tokens: int = 2048,
    at_once: int = 64,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Asked:
    """Write an item for every answer to ``out``: the samples of a question one after another.

    A stopped run goes on with the same call, and what was answered is not asked again. Each row's
    ``meta`` holds its sample, the style, whether it was cut off, and its tokens. What the server
    refuses for good has an empty response and the ``error``; the same call asks it again.

    Raises:
        InputError: the questions cannot be used.
        OutputError: ``out`` is there, or was begun with other questions or settings.
        EngineError: the server answers nothing; what came before is kept.

    """
    questions = read_questions(path)
    wanted = [_Wanted(item, unit, n) for item, unit in questions for n in range(samples)]
    made_from = f"{engine.name}|{style}|{samples}|{max_new_tokens}|{sha256_file(path)}"
    report = on_progress or (lambda done, total: None)

    def answers(some: Sequence[_Wanted]) -> Iterator[list[Item]]:
        for start in range(0, len(some), at_once):
            part = some[start : start + at_once]
            told = engine.generate(
                [prompt(one.item, style, one.unit) for one in part], max_new_tokens=max_new_tokens
            )
            failed = [one for one in told if isinstance(one, EngineError)]
            few = min(GIVE_UP_AFTER, at_once, len(some))
            if failed and len(failed) == len(told) and len(told) >= few:
                raise failed[-1]
            yield [_answered(one, style, said) for one, said in zip(part, told, strict=True)]

    writer = ResumableWriter(out, made_from, overwrite=overwrite)
    if not overwrite and _made(out).get("failed") and _made(out)["made_from"] == made_from:
        writer.begin_again()
    spent = [0, 0]
    try:
        with writer:
            rows = list(read_rows(writer.partial, Item))
            again = [n for n, row in enumerate(rows) if "error" in row.meta]
            before = len(rows) - len(again)
            report(before, len(wanted))
            for part in answers([wanted[n] for n in again]):
                for row in part:
                    rows[again.pop(0)] = row
                    _count(row, spent)
                writer.replace(rows)
            for part in answers(wanted[len(rows) :]):
                writer.write(part)
                for row in part:
                    _count(row, spent)
                report(writer.done, len(wanted))
    except EngineError as error:
        raise type(error)(
            f"{error}; {writer.done:,} of {len(wanted):,} answers are safe in {writer.partial}; "
            "run the same command again to go on"
        ) from error
    rows = list(read_rows(out, Item))
    failures = [row.meta["error"] for row in rows if "error" in row.meta]
    cut = sum(bool(row.meta.get("cut_off")) for row in rows)
    _write_manifest(path, out, made_from, rows)
    return Asked(len(rows), before, cut, len(failures), next(iter(failures), ""), *spent)


class _Wanted(NamedTuple):
    item: Item
    unit: str
    sample: int


def _count(row: Item, spent: list[int]) -> None:
    for n, name in enumerate(_TOKENS):
        spent[n] += row.meta.get(name, 0)


def _answered(wanted: _Wanted, style: Style, said: Generation | EngineError) -> Item:
    item = wanted.item
    meta = item.meta | {"sample": wanted.sample, "style": style.value}
    if isinstance(said, EngineError):
        text, meta = "", meta | {"error": str(said)}
    else:
        counts = dict(zip(_TOKENS, (said.prompt_tokens, said.completion_tokens), strict=True))
        text, meta = said.text, meta | {"cut_off": said.cut_off} | counts
    return item.model_copy(
        update={"id": f"{item.id}#{wanted.sample}", "response": text, "meta": meta}
    )


def _made(out: Path) -> dict[str, Any]:
    path = out.with_name(out.name + MANIFEST)
    there = out.is_file() and path.is_file()
    return dict(json.loads(path.read_text(encoding="utf-8"))) if there else {}


def _write_manifest(path: Path, out: Path, made_from: str, rows: Sequence[Item]) -> None:
    manifest = {
        "stage": "eval.answer",
        "made_from": made_from,
        "input": {"path": str(path), "sha256": sha256_file(path)},
        "output": {"path": str(out), "sha256": sha256_file(out)},
        "rows": len(rows),
        "failed": sum("error" in row.meta for row in rows),
        "cut_off": sum(bool(row.meta.get("cut_off")) for row in rows),
        **{name: sum(row.meta.get(name, 0) for row in rows) for name in _TOKENS},
    }
    write_json(out.with_name(out.name + MANIFEST), manifest)
