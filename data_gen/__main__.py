"""Make training rows: ``gradegpt data configs/data_gen/demo.yaml``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.chains.chain import GLOSS, KEY, WHY
from gradegpt.core.records import read_rows
from gradegpt.core.schema import TrainingRow

from .attacks import write_attacks
from .generate import generate
from .labelled import SHEET, prepare
from .public import fetch
from .settings import (
    AttackRowSettings,
    DataGenSettings,
    LabelledSettings,
    PublicSettings,
    load_data_settings,
)
from .truth import FLAWS

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_SHOWN = ("verdict", "lang", "type", "origin", "labelled_by", "left_out")
"""The groups of counts that the table shows; the data card has them all."""
_NO_DEV = (
    "dev has no rows: 1 question in 20 belongs to it, here none; add questions, or let "
    "kind: labelled divide a small table"
)


@app.command(
    epilog="For a small set in seconds: gradegpt data configs/data_gen/demo.yaml parametric=200"
)
def main(
    config: Annotated[Path, options.config("demo")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "out (the output folder), seed, workers (the number of processes; 0 is one per core), "
            "on (ray, or ray://host:port: do the work on a Ray cluster), parametric (the number of "
            "generated problems with random numbers), balance.rows (the number of rows to keep; 0 "
            "keeps all), formats (the fraction of each chain format, such as {outcome: 1}), ..."
        ),
    ] = None,
    output: options.Folder = None,
    mapped: options.Map = None,
    skip_bad: options.SkipBad = False,
) -> None:
    """Make prompt/completion rows for a judge from questions, references and responses.

    The output folder <out> (default: data/<name>) gets train.jsonl and dev.jsonl,
    disputed.jsonl (rows on which the sources of labels disagree), README.md (the data card) and,
    last, manifest.json. The same settings give the same bytes with any number of workers. A run
    that was stopped resumes when the same command is given again. With the setting kind: labelled,
    the rows are made from one table of labelled answers (gradegpt data labelled path=FILE out=DIR),
    and every row is used, or named with its reason in left_out.jsonl. With kind: attacks, the
    command writes attacks.jsonl instead (labelled responses that try to manipulate a judge). With
    kind: public, it fetches public sets of graded answers (gradegpt data public sets=[evouna]).
    """
    overrides = options.with_folder(output, overrides) + ["skip_bad=true"] * skip_bad
    if mapped:
        overrides += [f"columns={json.dumps(options.columns_of(mapped), ensure_ascii=False)}"]
    settings = load_data_settings(config, overrides)
    if isinstance(settings, AttackRowSettings):
        counts = write_attacks(settings)["counts"]
        patterns = sum(name.startswith("pattern:") for name in counts)
        typer.echo(f"wrote {settings.folder}/: {counts['rows']:,} rows of {patterns} patterns")
    elif isinstance(settings, PublicSettings):
        for name, rows in fetch(settings).items():
            typer.echo(f"wrote {settings.folder}/{name}.jsonl: {rows:,} graded answers")
    elif isinstance(settings, LabelledSettings):
        _print_labelled(prepare(settings), settings)
    elif isinstance(settings, DataGenSettings):
        # Without settings that change no row, so that the card has the same bytes.
        kept = [o for o in overrides if o.partition("=")[0] not in ("out", "workers", "on")]
        command = shlex.join(["gradegpt", "data", str(config), *kept])
        _print(_with_progress(settings, command), settings)


def _with_progress(settings: DataGenSettings, command: str) -> dict[str, Any]:
    with Progress(console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        return generate(settings, show, command)


def _print(manifest: dict[str, Any], settings: DataGenSettings) -> None:
    console, counts = Console(), manifest["counts"]
    rows = counts["train"] + counts["dev"]
    table = Table(title=f"{settings.folder}: {counts['train']:,} train, {counts['dev']:,} dev")
    for heading, side in (("what", "left"), ("rows", "right"), ("share", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    for name, count in counts.items():
        group, _, label = name.partition(":")
        if group in _SHOWN and label:
            share = "" if group == "left_out" else f"{count / rows:.1%}"
            table.add_row(f"{group} {label}", f"{count:,}", share)
    console.print(table)
    helps = "" if settings.teacher else "a teacher writes chains: the setting teacher; "
    helps += "formats={outcome: 1} needs none"
    typer.echo(_without_chain(counts, helps), nl=False)
    for reason, n in manifest.get("teacher", {}).get("rejected", {}).items():
        console.print(f"the teacher's replies: {n:,} could not be used ({reason})")
    for gap in manifest["shortfalls"]:
        cell = gap["cell"].replace(":", " ")
        have = f"{gap['have']:,} of {gap['wanted']:,}"
        typer.echo(f"fewer rows than the recipe asks for ({cell}): {have}")
    if not counts["dev"]:
        typer.echo(_NO_DEV)
    typer.echo(_example(settings.folder / "train.jsonl"))
    typer.echo(f"wrote {settings.folder}/: {', '.join(manifest['outputs'])}, manifest.json")


def _example(path: Path) -> str:
    """One of the chains of a file of rows: with a gloss and a reason if it can be."""
    best = ""
    for row in read_rows(path, TrainingRow):
        text = row.completion[-1].content
        has = [lead for lead in (KEY, GLOSS, WHY) if lead in text]
        if len(has) > len([lead for lead in (KEY, GLOSS, WHY) if lead in best]):
            best = text
        if len(has) == 3:
            break
    return f"one of its chains:\n\n{indent(best, '  ')}\n" if best else ""


def _without_chain(counts: Mapping[str, int], remedy: str) -> str:
    """How many answers have no chain, why, and what helps; empty where all have one."""
    why = {
        said: n
        for flaw, said in FLAWS.items()
        if (n := counts.get(f"left_out:{flaw}", 0) + counts.get(f"no_chain:{flaw}", 0))
    }
    if not why:
        return ""
    told = ", ".join(f"{n:,} as {said}" for said, n in why.items())
    start = f"{sum(why.values()):,} of {counts['answers']:,} answers have no chain"
    return "; ".join(filter(None, (f"{start}: {told}", remedy))) + "\n"


def _print_labelled(made: dict[str, Any], settings: LabelledSettings) -> None:
    counts, questions = made["counts"], made["questions"]
    sizes = (f"{p} {counts[p]:,} answers to {n:,} questions" for p, n in questions.items())
    chains = f"; {counts['chains']:,} of the training answers have a chain"
    typer.echo(f"{', '.join(sizes)}{'' if settings.format == 'tag' else chains}")
    without = {f"no_chain:{flaw}": n for flaw, n in made["no_chain"].items()}
    helps = "a teacher writes chains: gradegpt finetune --teacher MODEL, or the setting teacher"
    remedy = "" if settings.teacher else helps
    typer.echo(_without_chain(without | {"answers": counts["train"]}, remedy), nl=False)
    for reason, n in (made["teacher"] or {}).get("rejected", {}).items():
        typer.echo(f"the teacher's replies: {n:,} could not be used ({reason})")
    if counts["sheet"]:
        typer.echo(f"wrote {settings.folder}/{SHEET}: {counts['sheet']} answers to label by hand")
    if ids := made["disputed"]:
        told = f"{len(ids):,} of the {made['rules']['decided']:,} labels that they decide"
        first = f"the surest first in {settings.folder}/disputed.jsonl: {', '.join(ids[:5])}"
        typer.echo(f"the rules contradict {told}, {first}{', ...' if ids[5:] else ''}")
    for why, count in made["left_out"].items():
        typer.echo(f"left out: {count:,}: {why}")
    typer.echo(_example(settings.folder / "train.jsonl"))
    guards = f"; {counts['guards']:,} guard rows (guard=0 leaves them out)"
    added = f", {counts['mixed']:,} mixed in" if counts["mixed"] else ""
    typer.echo(f"wrote {settings.folder}: {counts['rows']:,} training rows{guards}{added}")


if __name__ == "__main__":
    run(app, name="gradegpt data")
