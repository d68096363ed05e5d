"""Questions with references, from tables of any columns, as problems."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import Field

from gradegpt.answers.read import answer_type
from gradegpt.answers.spans import sentences
from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item
from gradegpt.core.settings import Settings
from gradegpt.rules.claims import boxes
from gradegpt.rules.reference import asked, reference_answers
from gradegpt.tables import each_row
from gradegpt.tables.columns import read_item, recognise, survey

from .problems import Problem

MAX_REFERENCE: Final = 300
"""Most characters of a reference: a longer one is a solution, and has no hard negative."""
MAX_STEPS: Final = 12
"""Number of steps after which a solution is cut: responses use no more of it."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_NO_PROSE: Final = re.compile(r"<<[^<>\n]*>>|!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^<>]*>")
"""GSM8K's calculator annotations, and pictures."""


class Questions(Settings):
    """A table of questions with references and without responses; the writer writes responses.

    ``path``: a table of any form, or several with ``*``. ``columns`` names the column of a field of
    an item (question, reference, context, answer_type, tolerance, solution, ...) where its name is
    no usual one. The answer is found in a reference that is a worked solution.
    """

    path: str
    columns: dict[str, str] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name of the source in tables: that of the file or of its folder."""
        parts = Path(self.path).with_suffix("").parts
        return next((p for p in reversed(parts) if "*" not in p), "questions")


def read_problems(questions: Questions, counts: Counter[str]) -> Iterator[Problem]:
    """The problems of a table, in order.

    Every row is counted in ``counts``: ``read:LABEL``, and ``skipped:LABEL:REASON`` for those left
    out: ``no_item`` (no question, no reference) and ``long_reference``.

    Raises:
        MissingError: the file or data set does not exist.
        SettingsError: there is no column of the name that ``columns`` gives.
        InputError: a row cannot be read, or no row has a question and a reference.

    """
    path, fits, why = questions.path, False, ""
    seen = survey(row for _, row in each_row(path))
    columns = recognise(seen, questions.columns, name=path)
    columns = columns._replace(defaults={"response": ""})
    for where, row in each_row(path):
        item, wrong = read_item(row, columns, where)
        counts[f"read:{questions.label}"] += 1
        problem = _problem(item, questions.label) if item is not None and item.question else None
        why = why or "; ".join(map(str, wrong))
        fits = fits or problem is not None
        if problem is None or len(problem.reference) > MAX_REFERENCE:
            reason = "no_item" if problem is None else "long_reference"
            counts[f"skipped:{questions.label}:{reason}"] += 1
        else:
            yield problem
    if not fits:
        have = ", ".join(seen) or "none"
        raise InputError(
            f"{path}: no row has a question and a reference ({why or 'no question'}); the columns "
            f"are: {have}. Name the right ones in 'columns'"
        )


def _problem(item: Item, source: str) -> Problem:
    question, given = asked(item), item.accepted[0]
    boxed = boxes(given)
    reference = boxed[-1].content if boxed else reference_answers(given)[0]
    # A row is identified by its question, which stays when rows or files move.
    digest = hashlib.sha256(question.encode()).hexdigest()[:12]
    return Problem(
        id=f"{source}-{digest}",
        lang="zh" if _HAN.search(question) else "en",
        question=question,
        reference=reference,
        answer_type=item.answer_type or answer_type(reference, question),
        tolerance=item.tolerance,
        solution=steps(item.solution or (given if given != reference else "")),
    )


def steps(solution: str) -> tuple[str, ...]:
    """A worked solution split into sentences, each on one line; a formula is never split."""
    worked = _NO_PROSE.sub("", solution)
    formulas = "\\" in worked  # without a command, a dollar is money and opens no formula
    found, begin = list[str](), 0
    for _, end in sentences(worked):
        if not formulas or _closed(worked[begin:end]):
            found.append(worked[begin:end])
            begin = end
    lines = (" ".join(step.split()) for step in (*found, worked[begin:]))
    return tuple(line for line in lines if re.search(r"\w", line))[:MAX_STEPS]


def _closed(piece: str) -> bool:
    dollars = piece.count("$") - piece.count(r"\$")
    pairs = ((r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{"))
    return dollars % 2 == 0 and all(piece.count(a) <= piece.count(b) for a, b in pairs)
