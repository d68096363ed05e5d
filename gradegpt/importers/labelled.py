"""Graded answers in JSON Lines with any column names -> examples, by a mapping in the settings."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from gradegpt.errors import InputError
from gradegpt.records import read_objects, validate
from gradegpt.schema import AnswerType, Example, Verdict
from gradegpt.settings import Settings

Split = Literal["train", "dev", "test"]
_SHARES: dict[Split, float] = {"train": 0.75, "dev": 0.05, "test": 0.20}


class Fields(Settings):
    """Which column holds what. An empty name means that the file has no such column."""

    id: str = "id"
    question: str = "question"
    reference: str = "reference"
    response: str = "response"
    verdict: str = "label"
    lang: str = "lang"
    labelled_by: str = "label_by"


class Source(Settings):
    """A file of graded answers and how to read it.

    ``split`` keeps one part of the questions (train 75 %, dev 5 %, test 20 %, by a hash of the question's text, so that
    all answers to a question fall together, in every file). ``reference_separator`` splits accepted answers.
    """

    path: str
    name: str = ""
    fields: Fields = Fields()
    split: Split | None = None
    reference_separator: str = ""
    limit: int | None = Field(default=None, ge=1)

    @property
    def label(self) -> str:
        """The source's name in tables: ``name``, or the file's name without its ending."""
        return self.name or self.path.rsplit("/", 1)[-1].removesuffix(".jsonl")


def read_examples(source: Source) -> Iterator[Example]:
    """The labelled rows of a source, in file order; rows without a label or a response are left out.

    Raises:
        MissingError: no such file.
        InputError: a row without a mapped column, or with a label that is no verdict; ``file:line`` leads.

    """
    count = 0
    for number, row in read_objects(source.path):
        where = f"{source.path}:{number}"
        verdict = _verdict(_column(row, source.fields.verdict, where), where)
        response = _column(row, source.fields.response, where)
        if verdict is None or response is None or not _in_split(row, source, where):
            continue
        if count == source.limit:
            return
        count += 1
        yield validate(Example, _example(row, source, verdict, where), where)


def _example(row: dict[str, Any], source: Source, verdict: Verdict, where: str) -> dict[str, Any]:
    fields = source.fields
    kind = row.get("answer_type")
    return {
        "id": str(row.get(fields.id) or where.rsplit("/", 1)[-1]),
        "question": _column(row, fields.question, where) or "",
        "reference": accepted(_column(row, fields.reference, where), source.reference_separator),
        "response": _column(row, fields.response, where),
        "answer_type": kind if kind in set(AnswerType) else None,
        "verdict": verdict,
        "labelled_by": str(row.get(fields.labelled_by) or ""),
        "lang": str(row.get(fields.lang) or ""),
        "source": source.label,
    }


def accepted(reference: Any, separator: str) -> Any:
    """The accepted answers: as they are, or split at ``separator``."""
    if not isinstance(reference, str) or not separator:
        return reference
    return tuple(part.strip() for part in reference.split(separator) if part.strip()) or reference


def _column(row: dict[str, Any], name: str, where: str) -> Any:
    if name and name not in row:
        have = ", ".join(sorted(row))
        raise InputError(
            f"{where}: no column {name!r}; the row has: {have}. Map columns with 'fields' in the settings"
        )
    return row[name] if name else None


def _verdict(label: Any, where: str) -> Verdict | None:
    if label is None:
        return None
    if isinstance(label, bool):
        return Verdict.CORRECT if label else Verdict.INCORRECT
    if label in set(Verdict):
        return Verdict(label)
    raise InputError(
        f"{where}: label {label!r} is no verdict; use true, false, null or {', '.join(Verdict)}"
    )


def _in_split(row: dict[str, Any], source: Source, where: str) -> bool:
    if source.split is None:
        return True
    question = _column(row, source.fields.question, where) or str(
        _column(row, source.fields.reference, where)
    )
    return split_of(question) == source.split


def question_key(question: str) -> str:
    """The question without case, blanks and punctuation: equal keys mean the same question."""
    text = unicodedata.normalize("NFKC", question).casefold()
    return re.sub(r"[\W_]+", "", text)


def split_of(question: str) -> Split:
    """The part a question belongs to, by a hash of its key: the same in every file and every run."""
    digest = hashlib.sha256(question_key(question).encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    for name, size in _SHARES.items():
        if share < size:
            return name
        share -= size
    return "test"
