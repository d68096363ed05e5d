"""Whether labels show that a judge is good enough: ``gradegpt eval labelled.csv --certify 0.9``."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

import typer

from gradegpt.core.errors import InputError, OutputError, SettingsError
from gradegpt.core.records import EXISTS, sha256_file, write_json
from gradegpt.core.shipped import base_of
from gradegpt.judges.certificate import LEAST_LABELS, Certificate, read_certificate
from gradegpt.tables import opened
from gradegpt.tables.columns import dig
from gradegpt.tables.importers.labelled import question_key

from .console import decimal, percent
from .evaluate import EvalReport
from .judging import read_sources, seen_by
from .settings import EvalSettings

CERTIFICATE = "certificate.json"
_MODEL: Final = ("model", "tags.model", "meta.model")
"""The columns that may say which model answered."""


class TooFewLabelsError(InputError):
    """The rows that the judge decided have no label of one kind."""

    exit_code = 5


def check(settings: EvalSettings) -> None:
    """Check before anything is judged that there can be a certificate.

    Raises:
        SettingsError: there are several judges, or no labels.
        InputError: rows have questions that made the judge.

    """
    if len(settings.judges) != 1:
        raise SettingsError("--certify: needs one judge; give --judge once")
    if not settings.sources:
        raise SettingsError("--certify: no row has a label; name them: --map label=COLUMN")
    if told := seen_by(settings.judges, read_sources(settings)):
        raise InputError(f"--certify: {told}")
    if model := getattr(settings.judges[0], "model", None):
        known = {bare(name) for name in (model, base_of(model))}
        for source in settings.sources:
            with opened(source.path, source.sheet) as table:
                own = sum(answered_by(known, row) for _, row in table.valid())
            if own:
                what = f"{source.path}: {own:,} answers of it are by {model}, which judges them"
                why = "a model favours its own; certify it on answers of other models"
                typer.echo(f"warning: {what}: {why}", err=True)


def certified_before(settings: EvalSettings) -> bool:
    """Whether the folder is that of an earlier certification of the same judge.

    Raises:
        OutputError: it has the certificate of another judge.

    """
    path = settings.folder / CERTIFICATE
    if not path.is_file():
        return False
    if read_certificate(path).settings != _made_by(settings):
        raise OutputError(f"{path}: is of another judge; {EXISTS}")
    return True


def _made_by(settings: EvalSettings) -> dict[str, Any]:
    (judge,) = settings.judges
    return {"kind": judge.kind, **judge.model_dump(mode="json", exclude_defaults=True)}


def answered_by(known: Set[str], row: Mapping[str, Any]) -> bool:
    """Whether a row's column, tag or metadatum ``model`` is one of some ``bare`` names."""
    named = next(filter(None, (dig(row, name) for name in _MODEL)), "")
    return any(bare(str(one)) in known for one in (named if isinstance(named, list) else [named]))


def bare(model: str) -> str:
    """A model's name without its owner, case and signs."""
    return question_key(model.rstrip("/").rpartition("/")[2])


def certify(settings: EvalSettings, report: EvalReport, floor: float) -> Certificate:
    """Write ``certificate.json`` to the folder of a finished run of one judge on labelled rows.

    Raises:
        TooFewLabelsError: the judge decided no row of one of both labels.

    """
    (judge,), items = report.judges, settings.folder / "items.jsonl"
    found = judge.overall
    if found.balanced_accuracy is None or found.kappa is None:
        has = found.true_positive + found.false_negative, found.true_negative + found.false_positive
        lacks = " or ".join(x for x, n in zip(("correct", "incorrect"), has, strict=True) if not n)
        what = f"no row labelled {lacks} has a verdict; label more such answers"
        raise TooFewLabelsError(f"--certify: not decided: {what}, at least {LEAST_LABELS} in all")
    made = Certificate(
        judge=judge.fingerprint,
        settings=_made_by(settings),
        rows=sha256_file(items),
        n_labels=found.n_judged,
        coverage=found.coverage or 0.0,
        balanced_accuracy=round(found.balanced_accuracy, 6),
        low=round(found.intervals["balanced_accuracy"].low, 6),
        high=round(found.intervals["balanced_accuracy"].high, 6),
        floor=floor,
        majority=found.majority or 0.0,
        kappa=round(found.kappa, 6),
    )
    write_json(settings.folder / CERTIFICATE, made.model_dump(mode="json"))
    return made


def in_words(made: Certificate) -> str:
    """The result in one sentence, and how far the judge is from always giving one label."""
    why = (
        f"balanced accuracy {percent(made.balanced_accuracy)} % by {made.n_labels:,} labels, with "
        f"95 % confidence {percent(made.low)} to {percent(made.high)} %, against "
        f"{percent(made.floor)} %"
    )
    if made.n_labels < LEAST_LABELS:
        why = f"{made.n_labels} labelled rows with a verdict, of at least {LEAST_LABELS}"
    result = "certified" if made.passed else "not certified"
    if made.needed:
        result = f"not decided, about {made.needed:,} labels would"
    return (
        f"{result}: {why}; decided "
        f"{percent(made.coverage)} % of the rows; always the more frequent label is right on "
        f"{percent(made.majority)} %, kappa {decimal(made.kappa)}"
    )
