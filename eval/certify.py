"""Whether labels show that a judge is good enough: ``gradegpt eval labelled.csv --certify 0.9``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import read_rows, sha256_file, write_json
from gradegpt.core.schema import Example, Item
from gradegpt.judges.certificate import LEAST_LABELS, Certificate, kinds_of
from gradegpt.tables.importers.labelled import item_key

from .console import decimal, percent
from .judging import read_sources
from .report.content import EvalReport
from .settings import EvalSettings

CERTIFICATE = "certificate.json"


def check(settings: EvalSettings) -> None:
    """Check before anything is judged that there can be a certificate.

    Raises:
        SettingsError: there are several judges, or no labels.
        InputError: rows have questions that made the judge.

    """
    if len(settings.judges) != 1 or not settings.sources:
        raise SettingsError("--certify: needs one judge and a file with labels")
    check_held_out(getattr(settings.judges[0], "model", None) or "", read_sources(settings))


def certify(settings: EvalSettings, report: EvalReport, floor: float) -> Certificate:
    """Write ``certificate.json`` to the folder of a finished run of one judge on labelled rows.

    Raises:
        InputError: the judge decided no row of one of both labels.

    """
    (judge,), items = report.judges, settings.folder / "items.jsonl"
    found = judge.overall
    if found.balanced_accuracy is None or found.kappa is None:
        raise InputError("--certify: needs rows of both labels that the judge decides; label more")
    made = Certificate(
        judge=judge.fingerprint,
        settings=settings.judges[0].model_dump(mode="json", exclude_defaults=True),
        rows=sha256_file(items),
        n_labels=found.n_judged,
        coverage=found.coverage or 0.0,
        balanced_accuracy=round(found.balanced_accuracy, 6),
        low=round(found.intervals["balanced_accuracy"].low, 6),
        floor=floor,
        majority=found.majority or 0.0,
        kappa=round(found.kappa, 6),
        kinds=kinds_of(read_rows(items, Item)),
    )
    write_json(settings.folder / CERTIFICATE, made.model_dump(mode="json"))
    return made


def check_held_out(model: str, items: Sequence[Item]) -> None:
    """Refuse rows with questions on which ``gradegpt finetune`` trained or calibrated the judge."""
    examples = Path(model) / "work" / "data" / "examples"
    files = [examples / f"{part}.jsonl" for part in ("train", "dev")]
    seen = {item_key(row) for file in files if file.is_file() for row in read_rows(file, Example)}
    if n := sum(item_key(item) in seen for item in items):
        raise InputError(
            f"--certify: {n:,} of the {len(items):,} rows have questions that made this judge; "
            f"certify it on others, such as {examples / 'test.jsonl'}"
        )


def in_words(made: Certificate) -> str:
    """The result in one sentence, and how far the judge is from always giving one label."""
    why = (
        f"balanced accuracy {percent(made.balanced_accuracy)} % by {made.n_labels:,} labels, with "
        f"95 % confidence at least {percent(made.low)} %, against {percent(made.floor)} %"
    )
    if made.n_labels < LEAST_LABELS:
        why = f"{made.n_labels} labelled rows with a verdict, of at least {LEAST_LABELS}"
    return (
        f"{'certified' if made.passed else 'not certified'}: {why}; decided "
        f"{percent(made.coverage)} % of the rows; always the more frequent label is right on "
        f"{percent(made.majority)} %, kappa {decimal(made.kappa)}"
    )
