"""Measure judges against labels: ``gradegpt eval graded.csv --judge rules --judge cascade``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.app.console import report_columns
from gradegpt.app.options import JudgeKind
from gradegpt.core.settings import build_settings, load_settings
from gradegpt.judges.settings import KINDS
from gradegpt.tables import form_of
from gradegpt.tables.columns import LABEL
from gradegpt.tables.importers.labelled import read_examples, source_of
from gradegpt.tables.importers.logs import opened
from gradegpt.tables.inputs import USUAL, CheckedInput, Reading, check_input
from gradegpt.tables.labels import read_label

if TYPE_CHECKING:
    from .settings import EvalSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="With a file of yours: gradegpt eval graded.csv --judge rules --judge cascade. "
    "With a settings file, and the rules alone, which takes seconds: "
    "gradegpt eval configs/eval/handmade.yaml 'judges=[{kind: rules}]' name=rules-only"
)
def main(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|CONFIG.YAML",
            help="A table of answers, with or without a column of labels; its formats and other "
            "columns are those of gradegpt judge. Or a settings file, or the name of a shipped "
            "settings file, such as handmade.",
        ),
    ],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "name, out (the output folder; default runs/<name>), "
            "judges=[{kind: rules|model|cascade, model: ..., adapter: ...}], bootstrap (the number "
            "of resamples for intervals), seed. With a settings file also sources=[{path: FILE}] "
            "(with labels) or answers=[FILE] (without labels)."
        ),
    ] = None,
    judges: Annotated[
        list[JudgeKind] | None,
        typer.Option(
            "--judge",
            help=f"The judge of a FILE; repeat the option for several judges. {options.JUDGES} "
            "[default: cascade]",
        ),
    ] = None,
    model: options.ModelOption = None,
    adapter: options.Adapter = None,
    base_url: options.BaseUrlOption = None,
    request: options.RequestOption = None,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
    min_confidence: options.MinConfidence = None,
    labels: options.Labels = None,
    certify_at: Annotated[
        float | None,
        typer.Option(
            "--certify",
            min=0.5,
            max=1,
            metavar="FLOOR",
            help="With one judge: certify that its balanced accuracy on the rows that it decides "
            "is at least FLOOR, by the lower 95 % limit on 50 labels or more; writes "
            "certificate.json for gradegpt judge --certificate. Exit code 0: shown; 1: it is not "
            "so; 5: not enough labels, and about how many would decide; others are errors.",
        ),
    ] = None,
    output: options.Folder = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Measure judges against labels, or score a model.

    If the rows have labels, it measures how well each judge agrees with them. If they have none, it
    scores the model that wrote the answers, by the verdicts of each judge.

    The folder runs/<name> gets judgements/<judge>.jsonl, report.json, report.html (open it in a
    browser) and, last, manifest.json. For a FILE, <name> is the file's name without its suffix. A
    stopped run resumes when the same command is given again. Judgements of the same rows by the
    same judge are reused.
    """
    from .certify import CERTIFICATE, certified_before, certify, check, in_words
    from .evaluate import evaluate
    from .settings import EvalSettings
    from .tables import print_report

    asked: dict[str, Any] = {"model": model, "adapter": adapter, "base_url": base_url}
    asked |= {"min_confidence": min_confidence, "labels": labels and str(labels)}
    asked |= {"labels_map": mapped if labels else None}
    asked |= {"request": options.request_of(request, base_url)}
    if labels is not None and labels.resolve() == Path(source).resolve():
        raise typer.BadParameter(f"--labels {labels}: holds the labels that measure the judge")
    reading = options.reading_of(mapped, sheet, separator)
    given = {name: value for name, value in asked.items() if value is not None}
    overrides = options.with_folder(output, overrides)
    if is_answers(source):
        settings = _settings(source, _judges(judges, given), reading, overrides)
    elif judges or given or reading != USUAL:
        raise typer.BadParameter(
            f"--judge, --model, --map and similar options need a file of answers; {source} holds "
            "settings: change them with KEY=VALUE, such as 'judges=[{kind: rules}]'"
        )
    else:
        settings = load_settings(EvalSettings, source, overrides)
    if certify_at is not None:
        check(settings)
        overwrite = overwrite or certified_before(settings)
    try:
        report = evaluate(settings, overwrite=overwrite)
        print_report(report)
    except KeyboardInterrupt:
        typer.echo(
            f"stopped; run the same command again to resume from {settings.folder}", err=True
        )
        raise typer.Exit(130) from None
    typer.echo(f"report: {settings.folder / 'report.html'}")
    if certify_at is not None:
        made = certify(settings, report, certify_at)
        typer.echo(in_words(made))
        if made.passed:
            typer.echo(f"certificate: {settings.folder / CERTIFICATE}")
        raise typer.Exit(5 if made.needed else 0 if made.passed else 1)


def _judges(kinds: Sequence[JudgeKind] | None, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The settings of each judge; each gets the options that it has."""
    have = {kind: KINDS[kind].model_fields.keys() for kind in kinds or (JudgeKind.CASCADE,)}
    if other := [name for name in given if not any(name in names for names in have.values())]:
        raise typer.BadParameter(f"--{other[0].replace('_', '-')}: not for {', '.join(have)}")
    return [
        {"kind": kind.value} | {name: given[name] for name in given if name in names}
        for kind, names in have.items()
    ]


def is_answers(path: str) -> bool:
    """Whether ``path`` is a table of answers and not a settings file."""
    settings = Path(path).suffix.lower() in (".yaml", ".yml")
    return form_of(path) is not None or (Path(path).is_file() and not settings)


def _settings(
    path: str,
    judges: Sequence[Mapping[str, Any]],
    reading: Reading,
    overrides: Sequence[str],
) -> EvalSettings:
    """The settings of a run named as the file; prints how the columns and the label are read."""
    from .settings import EvalSettings

    with opened(path, reading.sheet) as table:
        answers = check_input(table, columns=reading.columns, separator=reading.separator)
        label = answers.columns.label(answers.table.name)
        alike = [] if label else [*_like_labels(answers)]
    rows: dict[str, Any] = {"answers": [path], **reading._asdict()}
    said = "no label column was recognised, so this scores the model that answered; "
    named = [f"if {n!r} is it: {answers.columns.hint({LABEL: n})}" for n in alike]
    said += ", ".join(named) or "to measure the judge, name it: --map label=COLUMN"
    if label is not None:
        report_columns(answers)
        source = source_of(answers, label)
        rows = {"sources": [source.model_dump(exclude_unset=True)]}
        left = answers.rows - sum(1 for _ in read_examples(source))
        said = f"label: the column {label}" + (
            f"; {left:,} rows without one are left out" if left else ""
        )
    name = re.sub(r"[^\w .+-]", "-", Path(path).stem).lstrip(" .+-") or "answers"
    settings = build_settings(
        EvalSettings, {"name": name, **rows, "judges": judges}, path, overrides
    )
    typer.echo(said, err=label is not None)
    return settings


def _like_labels(answers: CheckedInput) -> Iterator[str]:
    """The free columns whose cells are all labels or empty, of which two differ."""
    rows = [row for row, _ in answers.items()]
    for name in answers.columns.free:
        with suppress(ValueError):
            if len({read_label(row.get(name)) for row in rows} - {None}) > 1:
                yield name


if __name__ == "__main__":
    run(app, name="gradegpt eval")
