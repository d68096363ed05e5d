"""Logs of other tools -> items with the score that the tool gave them.

``recognise`` finds the tool from the file's structure, ``items_of`` writes a log's items for
judging, and ``compare`` compares the old scores with the judgements.
"""

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
from gradegpt.core.schema import Item, Judgement
from gradegpt.tables import Form, Table
from gradegpt.tables.importers.logs import opencompass
from gradegpt.tables.importers.logs.by_row import EVALSCOPE, LM_EVAL, VERL, VLMEVALKIT
from gradegpt.tables.importers.logs.changed import Rescored, shown
from gradegpt.tables.importers.logs.documents import HELM, INSPECT, SIMPLE_EVALS
from gradegpt.tables.importers.logs.opencompass import OPENCOMPASS
from gradegpt.tables.importers.logs.reading import Read, Tool, contents_of

ITEMS: Final = ".items.jsonl"
"""The suffix of an output's name for the items of its log."""
SCORES: Final = ".scores.jsonl"
"""The suffix of an output's name for the old and new scores."""
TOOLS: Final = (LM_EVAL, INSPECT, OPENCOMPASS, VLMEVALKIT, EVALSCOPE, SIMPLE_EVALS, HELM, VERL)


def recognise(path: str | Path) -> Tool | None:
    """The tool that wrote a log, by the file's structure and never by its name; or a run's folder.

    None for a file that is not a log of a known tool, or that fits two.

    Raises:
        InputError: the folder is not that of a run, but one of its folders is.

    """
    path = Path(path)
    if path.is_dir():
        if opencompass.is_run(path):
            return OPENCOMPASS
        opencompass.refuse_runs(path)
    if not path.is_file():
        return None
    file = contents_of(path)
    if file.form == "lines" and {"reference", "response"} <= file.names:
        return None
    fitting = [tool for tool in TOOLS if tool.fits(file)]
    return fitting[0] if len(fitting) == 1 else None


@contextmanager
def opened(given: str, sheet: str = "") -> Iterator[Table]:
    """The table ``given``, as ``gradegpt.tables.opened``; of a log of another tool its items.

    A table with the columns of a tool's is read as any other table.
    """
    log = recognise(given)
    if log is None or log is VLMEVALKIT:
        with tables.opened(given, sheet) as table:
            yield table
    else:
        with tempfile.TemporaryDirectory(prefix="gradegpt-") as folder:
            yield Table(items_of(given, log, f"{folder}/log")[0], Form.JSONL, given)


def items_of(log: str | Path, tool: Tool, output: str | Path) -> tuple[Path, str]:
    """Write a log's items to ``<output>.items.jsonl``; return the file and a summary in one line.

    An item's ``meta`` keeps its task, its old scores by metric and its place in the log.

    Raises:
        InputError: nothing in the log can be graded, or a row is not in the tool's format.

    """
    rows: list[Item] = []
    left: Counter[str] = Counter()
    for row in _read(tool, Path(log)):
        if isinstance(row, str):
            left[row] += 1
        else:
            rows.append(row)
    reasons = "; ".join(f"{n:,} left out: {reason}" for reason, n in left.most_common())
    if not rows:
        what = f"the log of {tool.name} has nothing to grade ({reasons or 'it is empty'})"
        raise InputError(f"{log}: {what}")
    path = Path(f"{output}{ITEMS}")
    write_rows(path, rows)
    return path, f"{tool.name}: {len(rows):,} responses" + (f"; {reasons}" if reasons else "")


def _read(tool: Tool, log: Path) -> Iterator[Read]:
    try:
        yield from tool.read(log)
    except (KeyError, TypeError, AttributeError) as error:
        what = f"not in the form that {tool.name} writes ({type(error).__name__}: {error})"
        raise InputError(f"{log}: {what}") from error


def is_regraded(output: str | Path) -> bool:
    """Whether ``output`` was judged from a log: the items with old scores are beside it."""
    return Path(f"{output}{ITEMS}").is_file()


def compare(output: str | Path) -> str:
    """A summary of what judging a log again changed, from ``output`` and the items beside it.

    ``<output>.scores.jsonl`` gets a row for each old score, in the same order: ``id``, ``task``,
    ``metric``, ``old_score``, ``new_score`` (1 correct, 0 incorrect or invalid, else ``null``),
    ``change`` (became right, became wrong, same, or ``null``), ``outcome`` and ``verdict``.

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
    many = max(len(item.meta["old_scores"]) for item in items)
    each = [list[Rescored]() for _ in range(many)]
    scores = list[dict[str, Any]]()
    for item, judgement in zip(items, judgements, strict=True):
        new, why = judgement.correct, item.meta.get("unscored", "")
        for rows, (metric, old) in zip(each, item.meta["old_scores"].items(), strict=False):
            row = Rescored(
                item.id, item.meta["task"], metric, old, None if new is None else float(new), why
            )
            rows.append(row)
            scores.append({
                "id": row.id, "task": row.task, "metric": metric, "old_score": old,
                "new_score": row.new, "change": row.change_in_words, "outcome": judgement.outcome,
                "verdict": judgement.verdict,
            })  # fmt: skip
    write_rows(f"{output}{SCORES}", scores)
    return "\n".join(shown(rows, f"{output}{SCORES}") for rows in each)
