"""The result of every reader of a log, and the reading of values that logs have in common."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from gradegpt.answers.options import LETTERS
from gradegpt.core.errors import InputError
from gradegpt.core.records import validate
from gradegpt.core.schema import Item
from gradegpt.tables.importers.logs.contents import Contents

T = TypeVar("T")

NO_REFERENCE: Final = "no reference answer"
NO_RESPONSE: Final = "no response text"


class LoggedItem(NamedTuple):
    """One response of a log as an item, with the score that the tool gave it.

    ``old`` is the score as the tool wrote it, ``None`` where there is none; ``where`` names the
    file and the line, the sample or the key.
    """

    item: Item
    task: str
    metric: str
    old: float | None
    where: str


class Ungradable(NamedTuple):
    """A row of a log that cannot be graded again, and why."""

    where: str
    reason: str


Read = LoggedItem | Ungradable
LoggedFields = dict[str, Any]


class Tool(NamedTuple):
    """A kind of log: how it is recognised, and how it is read."""

    name: str
    shape: str
    fits: Callable[[Contents], bool]
    read: Callable[[Path], Iterator[Read]]


def each(
    rows: Iterable[tuple[str, T]], read: Callable[[T, str, str], LoggedFields | str], task: str
) -> Iterator[Read]:
    """Every row as an item with its old score; ``task`` is that of rows that do not state theirs.

    ``read`` takes a row, its place and the task, and returns the fields of ``_logged``, or the
    reason why the row cannot be graded again.

    Raises:
        InputError: a row without a field that its tool always writes, or with another type.

    """
    for where, row in rows:
        try:
            found = read(row, where, task)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            what = f"{type(error).__name__}: {error}"
            raise InputError(f"{where}: not in the form that this tool writes ({what})") from error
        if isinstance(found, str):
            yield Ungradable(where, found)
        else:
            if "name" in found:
                found["id"] = f"{task}/{found.pop('name')}"
            found.setdefault("task", task)
            yield _logged(where, **found)


def _logged(
    where: str,
    *,
    id: str,  # noqa: A002  the field's name
    task: str,
    question: str,
    reference: Any,
    response: str | None,
    metric: str,
    old: Any,
    context: str | None = None,
    needs: Literal["all", "any"] | None = None,
) -> Read:
    """A row as an item with its old score; without a reference or a response it is left out.

    A ``name`` in place of the ``id`` is that of the row in its task.
    """
    accepted = references(reference)
    if response is None:
        return Ungradable(where, NO_RESPONSE)
    if not accepted:
        return Ungradable(where, NO_REFERENCE)
    solution, final = _final(accepted)
    values = {
        "id": id, "question": question, "reference": final, "response": response,
        "context": context or None, "needs": needs if len(final) > 1 else None,
        "solution": solution,
    }  # fmt: skip
    return LoggedItem(validate(Item, values, where), task, metric, score(old), where)


def references(value: Any) -> tuple[str, ...]:
    """The reference answers in a value, one or several, without empty ones."""
    many = value if isinstance(value, list | tuple) else [value]
    texts = [str(v).strip() for v in many if isinstance(v, str | int | float)]
    return tuple(text for text in texts if text)


def listed(value: Any) -> Any:
    """The texts of a list that was written as Python shows it, or any other value unchanged.

    >>> listed("['red', 'crimson']"), listed("[1, 2]")
    (['red', 'crimson'], '[1, 2]')
    """
    if not (isinstance(value, str) and value.startswith("[") and value.endswith("]")):
        return value
    try:
        texts = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    every = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    return list(dict.fromkeys(texts)) if every else value


def _final(accepted: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    # GSM8K's references are a solution, "####" and the answer; tools copy them unchanged.
    if len(accepted) == 1 and "####" in accepted[0]:
        solution, answer = (part.strip() for part in accepted[0].rsplit("####", 1))
        return solution, (answer or accepted[0],)
    return "", accepted


def score(value: Any) -> float | None:
    """A flag, a number or the text of either as a number; None for anything else."""
    if isinstance(value, str):
        flags = {"true": True, "false": False}
        value = flags.get(value.strip().lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def text(content: Any) -> str:
    """The text of a message's content: a string, or the texts among its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(part for part in texts if isinstance(part, str))


def question_and_context(messages: Any) -> tuple[str, str | None]:
    """The last user turn, and the turns before it, without a system prompt."""
    if isinstance(messages, str):
        return messages, None
    turns = [m for m in messages or () if isinstance(m, dict) and m.get("role") != "system"]
    users = [n for n, turn in enumerate(turns) if turn.get("role") == "user"]
    if not users:
        return "", None
    before = "\n\n".join(text(turn.get("content")) for turn in turns[: users[-1]])
    return text(turns[users[-1]].get("content")), before or None


def with_options(question: str, options: Sequence[str]) -> str:
    """The question with its options below it, each with its letter."""
    lettered = zip(LETTERS, options, strict=False)
    return "\n".join([question, *(f"{letter}. {option}" for letter, option in lettered)])
