"""The input file of a batch: one request per line, all checked before the first is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.errors import InputError
from gradegpt.records import parse_line, read_lines
from gradegpt.schema import Row

SHOWN: Final = 100
"""The most problems of an input file that are listed; the others are counted."""


class Problem(Row):
    """A problem of a line, or of the whole file where ``line`` is None."""

    code: str
    message: str
    param: str | None = None
    line: int | None = None


class Line(NamedTuple):
    """A request: its line number, the caller's id, and the body to post."""

    number: int
    custom_id: str
    body: dict[str, Any]


class Checked(NamedTuple):
    """The number of requests in a file, and their problems."""

    total: int
    problems: tuple[Problem, ...]


def check(path: Path, endpoint: str, max_lines: int) -> Checked:
    """Check every line of the file: JSON, fields, one endpoint, unique ``custom_id``."""
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    total = 0
    for number, raw in read_lines(path):
        total += 1
        if total > max_lines:
            problems.append(_too_many(max_lines))
            break
        problem = _problem_of(number, raw, endpoint, seen)
        if problem is not None:
            problems.append(problem)
    if not total:
        problems.append(
            Problem(code="empty_file", message="the file has no request; send one per line")
        )
    left = len(problems) - SHOWN
    if left > 0:
        more = Problem(code="more_problems", message=f"and {left:,} more lines with problems")
        problems = [*problems[:SHOWN], more]
    return Checked(total, tuple(problems))


def read(path: Path) -> Iterator[Line]:
    """The requests of a checked file, in order."""
    for number, raw in read_lines(path):
        value = parse_line(raw, f"line {number}")
        yield Line(number, value["custom_id"], value["body"])


def _problem_of(number: int, raw: bytes, endpoint: str, seen: dict[str, int]) -> Problem | None:
    try:
        value = parse_line(raw, f"line {number}")
    except InputError as error:
        return Problem(code="invalid_json_line", message=str(error), line=number)
    problem = _fault(value, endpoint)
    if problem is None and (first := seen.setdefault(value["custom_id"], number)) != number:
        problem = Problem(
            code="duplicate_custom_id",
            message=f"{value['custom_id']!r} is also the custom_id of line {first}; choose another",
            param="custom_id",
        )
    return None if problem is None else problem.model_copy(update={"line": number})


def _fault(value: dict[str, Any], endpoint: str) -> Problem | None:
    for field, kind, word in (("custom_id", str, "a text"), ("body", dict, "an object")):
        if not isinstance(value.get(field), kind) or not value[field]:
            message = f"{field}: must be {word} that is not empty"
            return Problem(code="missing_required_parameter", message=message, param=field)
    if value.get("method") != "POST":
        message = f"method: is {value.get('method')!r}; set it to 'POST'"
        return Problem(code="invalid_method", message=message, param="method")
    if value.get("url") != endpoint:
        message = f"url: is {value.get('url')!r}; set it to the batch's endpoint {endpoint!r}"
        return Problem(code="invalid_url", message=message, param="url")
    if value["body"].get("stream"):
        message = "body.stream: not supported in a batch; leave it out"
        return Problem(code="unsupported_value", message=message, param="body.stream")
    return None


def _too_many(max_lines: int) -> Problem:
    return Problem(
        code="too_many_lines",
        message=f"over {max_lines:,} requests; send several batches, "
        "or start the server with a larger max_batch_lines",
    )
