"""Recognise the tool of a log, write its items, and compare its old scores with judgements."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gradegpt import tables
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.tables import Form, Table
from gradegpt.tables.importers.logs.by_row import EVALSCOPE, LM_EVAL, OPENRLHF, VERL, VLMEVALKIT
from gradegpt.tables.importers.logs.changed import Rescored, shown
from gradegpt.tables.importers.logs.contents import contents_of
from gradegpt.tables.importers.logs.helm import HELM
from gradegpt.tables.importers.logs.inspect_ai import INSPECT
from gradegpt.tables.importers.logs.opencompass import OPENCOMPASS
from gradegpt.tables.importers.logs.rows import LoggedItem, Read, Tool, Ungradable
from gradegpt.tables.importers.logs.simple_evals import SIMPLE_EVALS

ITEMS: Final = ".items.jsonl"
"""The suffix of an output's name for the items of its log."""
SCORES: Final = ".scores.jsonl"
"""The suffix of an output's name for the old and new scores."""
TOOLS: Final = (
    LM_EVAL, INSPECT, OPENCOMPASS, VLMEVALKIT, EVALSCOPE, SIMPLE_EVALS, HELM, VERL, OPENRLHF,
)  # fmt: skip


def recognise(path: str | Path) -> Tool | None:
    """The tool that wrote a log, by the file's structure and never by its name.

    ``None`` for a file that is not a log: a file of items, or one that may be a file of items with
    errors (JSON Lines or a list that no tool writes, a table, plain text, no file at all).

    Raises:
        InputError: a JSON document, a zip or HTML that no tool writes, or a file that fits two
            tools; the message lists the known forms and the contents of the file.

    """
    path = Path(path)
    if not path.is_file():
        return None
    file = contents_of(path)
    if file.form == "lines" and {"reference", "response"} <= file.names:
        return None
    fitting = [tool for tool in TOOLS if tool.fits(file)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting and (file.form in ("lines", "table", "other") or isinstance(file.value, list)):
        return None
    fits = " and ".join(tool.name for tool in fitting)
    what = f"the log fits {fits}" if fitting else "not a log of a known tool"
    known = "\n  ".join(f"{tool.name}: {tool.shape}" for tool in TOOLS)
    raise InputError(f"{path}: {what}; the file is {file.words}. Known logs are\n  {known}")


@contextmanager
def opened(given: str) -> Iterator[Table]:
    """The table ``given``, as ``gradegpt.tables.opened``; of a log of another tool its items.

    A table with the columns of a tool's is read as any other table, and so is a document of no
    tool.
    """
    try:
        log = recognise(given)
    except InputError:
        log = None
    if log is None or log is VLMEVALKIT:
        with tables.opened(given) as table:
            yield table
    else:
        with tempfile.TemporaryDirectory(prefix="gradegpt-") as folder:
            yield Table(items_of(given, log, f"{folder}/log")[0], Form.JSONL, given)


def items_of(log: str | Path, tool: Tool, output: str | Path) -> tuple[Path, str]:
    """Write a log's items to ``<output>.items.jsonl``; return the file and a summary in one line.

    An item's ``meta`` keeps its task, its metric, its old score and its place in the log.

    Raises:
        InputError: nothing in the log can be graded, or a row is not in the tool's format.

    """
    rows: list[Item] = []
    left: Counter[str] = Counter()
    for row in _read(tool, Path(log)):
        if isinstance(row, Ungradable):
            left[row.reason] += 1
        else:
            rows.append(_item(row))
    reasons = "; ".join(f"{n:,} left out: {reason}" for reason, n in left.most_common())
    if not rows:
        raise InputError(
            f"{log}: the log of {tool.name} has nothing to grade ({reasons or 'it is empty'})"
        )
    path = Path(f"{output}{ITEMS}")
    write_rows(path, rows)
    return path, f"{tool.name}: {len(rows):,} responses" + (f"; {reasons}" if reasons else "")


def _read(tool: Tool, log: Path) -> Iterator[Read]:
    try:
        yield from tool.read(log)
    except (KeyError, TypeError, AttributeError) as error:
        what = f"not in the form that {tool.name} writes ({type(error).__name__}: {error})"
        raise InputError(f"{log}: {what}; expected {tool.shape}") from error


def _item(row: LoggedItem) -> Item:
    where = row.where.rsplit("/", 1)[-1]  # a log that was moved has the same items
    meta = {"task": row.task, "metric": row.metric, "old_score": row.old, "where": where}
    return row.item.model_copy(update={"meta": meta})


def is_regraded(output: str | Path) -> bool:
    """Whether ``output`` was judged from a log: the items with old scores are beside it."""
    return Path(f"{output}{ITEMS}").is_file()


def compare(output: str | Path) -> str:
    """A summary of what judging a log again changed, from ``output`` and the items beside it.

    ``<output>.scores.jsonl`` gets a row for each judgement, in the same order: ``id``, ``task``,
    ``metric``, ``old_score``, ``new_score`` (1 correct, 0 incorrect or invalid, else ``null``),
    ``outcome`` and ``verdict``.

    Raises:
        MissingError: ``output`` is not there, or was not made from a log.
        InputError: ``output`` holds judgements of other items.

    """
    if not is_regraded(output):
        how = f"judge a log first: gradegpt judge LOG -o {output}"
        raise MissingError(f"{output}{ITEMS}: there is no such file; {how}")
    items = list(read_rows(f"{output}{ITEMS}", Item))
    judgements = list(read_rows(output, Judgement))
    if [i.id for i in items] != [j.id for j in judgements]:
        how = "judge the log again with --overwrite"
        raise InputError(f"{output}: not the judgements of {output}{ITEMS}; {how}")
    pairs = list(zip(items, judgements, strict=True))
    write_rows(f"{output}{SCORES}", (_beside(item, judgement) for item, judgement in pairs))
    return shown([Rescored(*_logged(i), _new(j)) for i, j in pairs])


def between(first: str | Path, second: str | Path) -> str:
    """A summary of the differences between two judges of the same items.

    Raises:
        InputError: the files are not judgements of the same items in the same order.

    """
    before, after = list(read_rows(first, Judgement)), list(read_rows(second, Judgement))
    if [j.id for j in before] != [j.id for j in after]:
        how = "compare judgements of one file"
        raise InputError(f"{second}: not the same items in the same order as {first}; {how}")
    pairs = zip(before, after, strict=True)
    return shown(
        [Rescored(b.id, "", "", _new(b), _new(a)) for b, a in pairs],
        no_verdict=f"without a verdict in {second}",
        unscored=f"without one in {first}",
    )


def _logged(item: Item) -> tuple[str, str, str, float | None]:
    return item.id, item.meta["task"], item.meta["metric"], item.meta["old_score"]


def _beside(item: Item, judgement: Judgement) -> dict[str, Any]:
    names = ("id", "task", "metric", "old_score")
    new = {"new_score": _new(judgement), "outcome": judgement.outcome, "verdict": judgement.verdict}
    return dict(zip(names, _logged(item), strict=True)) | new


def _new(judgement: Judgement) -> float | None:
    judged = judgement.outcome is Outcome.JUDGED
    return float(judgement.verdict is Verdict.CORRECT) if judged else None
