"""Result files of models, joined to their questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import Field, model_validator

from gradegpt.errors import InputError
from gradegpt.importers.labelled import question_key
from gradegpt.labels import read_label
from gradegpt.records import validate
from gradegpt.schema import Example, Item, Verdict
from gradegpt.settings import Settings
from gradegpt.tables import files, read_table

from ..problems import Problem
from .mapping import Column
from .questions import Questions, read_mapped
from .texts import dig, pick, text

_AMBIGUOUS: Final = "ambiguous_question"


class Outputs(Settings):
    """Files of models' responses to ``questions``.

    ``id`` or ``question`` names the column that identifies the question; an id is tried first.
    ``response``: a list holds several samples, an object one response per model. Without a
    ``model`` column the name of the file is used. ``label`` holds a verdict in one of its usual
    forms (``gradegpt.labels``), or nothing.
    """

    paths: tuple[str, ...] = Field(min_length=1)
    questions: Questions
    name: str = ""
    id: Column = ()
    question: Column = ()
    response: Column = Field(min_length=1)
    model: Column = ()
    label: Column = ()
    labelled_by: str = ""

    @model_validator(mode="after")
    def _joins(self) -> Outputs:
        if not self.id and not self.question:
            raise ValueError("name the column of the question's 'id', or of the 'question' itself")
        return self

    @property
    def source(self) -> str:
        """The name of the source in tables: ``name``, or that of the questions."""
        return self.name or self.questions.label


def read_outputs(outputs: Outputs, counts: Counter[str]) -> Iterator[tuple[Item, str]]:
    """The responses with the language of their question, in order; labelled ones are examples.

    Every response is counted in ``counts``: ``read:SOURCE``, and ``skipped:SOURCE:REASON`` for
    those left out: ``no_response``, ``unknown_question``, ``ambiguous_question`` (two questions
    have the same id or text), and the reasons for which the question itself is left out.

    Raises:
        MissingError: a file does not exist.
        InputError: no response matches a question, or a row lacks a mapped column.

    """
    known = _index(outputs.questions)
    matched, first = False, ""
    for reply in _replies(outputs):
        counts[f"read:{outputs.source}"] += 1
        problem = _find(reply.row, outputs, known)
        matched = matched or problem is not None
        first = first or f"{reply.where}: {_key(reply.row, outputs)[:80]!r}"
        if isinstance(problem, Problem) and reply.text is not None:
            yield _item(problem, reply, outputs), problem.lang
        else:
            reason = problem if isinstance(problem, str) else "no_response"
            reason = reason if problem else "unknown_question"
            counts[f"skipped:{outputs.source}:{reason}"] += 1
    if not matched:
        raise InputError(
            f"{', '.join(outputs.paths)}: no response matches a question of "
            f"{outputs.questions.path} (the first is for {first or 'none'}); "
            "check 'id' and 'question', here and in the mapping of the questions"
        )


class _Reply(NamedTuple):
    """One response; ``text`` is none where the row has no response."""

    where: str
    row: dict[str, Any]
    model: str
    sample: int
    text: str | None


def _replies(outputs: Outputs) -> Iterator[_Reply]:
    for path in (name for given in outputs.paths for name in files(given) or (given,)):
        for where, row in read_table(path):
            model = text(pick(row, outputs.model)) or Path(path).stem
            given = _response(row, outputs, where)
            by_model = given if isinstance(given, dict) else {model: given}
            for name, cell in by_model.items():
                samples = cell if isinstance(cell, list) and cell else [cell]
                for number, sample in enumerate(samples):
                    # An empty response is kept: it is the model's output.
                    response = None if sample is None or sample == [] else text(sample)
                    yield _Reply(where, row, name, number, response)


def _response(row: dict[str, Any], outputs: Outputs, where: str) -> Any:
    found = [value for name in outputs.response if (value := dig(row, name)) is not None]
    if not found and not any(name.partition(".")[0] in row for name in outputs.response):
        raise InputError(
            f"{where}: no column {' or '.join(outputs.response)!r} among {', '.join(row)}; "
            "name the one that holds the model's text in 'response'"
        )
    return found[0] if found else None


def _index(questions: Questions) -> dict[str, Problem | str]:
    """Problems, or the reasons why they are left out, by id and by question text.

    The text is indexed with and without context and options.
    """
    known: dict[str, Problem | str] = {}
    for mapped in read_mapped(questions):
        texts = [mapped.question]
        if isinstance(mapped.problem, Problem):
            texts.append(mapped.problem.question)
        keys = {f"id:{mapped.id}": None} | {f"text:{question_key(t)}": None for t in texts if t}
        for key in keys:
            other = known.setdefault(key, mapped.problem)
            if other is not mapped.problem and not _same(other, mapped.problem):
                known[key] = _AMBIGUOUS
    return known


def _same(one: Problem | str, other: Problem | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return (one.question, one.reference) == (other.question, other.reference)


def _find(
    row: dict[str, Any], outputs: Outputs, known: dict[str, Problem | str]
) -> Problem | str | None:
    named = known.get(f"id:{text(pick(row, outputs.id))}") if outputs.id else None
    asked = text(pick(row, outputs.question))
    return named or (known.get(f"text:{question_key(asked)}") if asked else None)


def _key(row: dict[str, Any], outputs: Outputs) -> str:
    return text(pick(row, (*outputs.id, *outputs.question)))


def _item(problem: Problem, reply: _Reply, outputs: Outputs) -> Item:
    item = {
        "id": f"{problem.id}:{reply.model}:{reply.sample}",
        "question": problem.question,
        "reference": (problem.reference, *problem.accepted),
        "response": reply.text,
        "answer_type": problem.answer_type,
        "tolerance": problem.tolerance,
        "meta": {"model": reply.model},
    }
    verdict = _verdict(reply, outputs)
    if verdict is None:
        return validate(Item, item, reply.where)
    by = {"verdict": verdict, "labelled_by": outputs.labelled_by}
    known = {"lang": problem.lang, "source": outputs.source}
    return validate(Example, item | by | known, reply.where)


def _verdict(reply: _Reply, outputs: Outputs) -> Verdict | None:
    """The row's label; in a list of labels, each belongs to the sample at the same position."""
    cell = pick(reply.row, outputs.label)
    if isinstance(cell, list) and reply.sample < len(cell):
        cell = cell[reply.sample]
    try:
        return read_label(text(cell))
    except ValueError as error:
        raise InputError(f"{reply.where}: {error}") from error
