"""The papers' other gradings: ``gradegpt eval.protocol steps|rubric|errors|leakage FILE``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import SettingsError
from gradegpt.tables import opened
from gradegpt.tables.inputs import Reading, columns_in

from .asking import ApiKey, Concurrency, Protocol, engine_of, run_protocol
from .error_kinds import ErrorKinds, errors_protocol
from .leakage import Continuing, leakage_protocol
from .rubric.protocol import grade_protocol, make_protocol
from .steps.protocol import steps_protocol

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class ProtocolName(StrEnum):
    """What is graded."""

    STEPS = "steps"
    RUBRIC = "rubric"
    ERRORS = "errors"
    LEAKAGE = "leakage"


_TAKES: Final = {
    ProtocolName.STEPS: {"judgements"},
    ProtocolName.RUBRIC: {"rubrics"},
    ProtocolName.ERRORS: {"judgements", "kinds"},
}
"""The options that are not for every protocol."""


@app.command(
    epilog="steps, errors: first gradegpt eval.answer QUESTIONS -o answers.jsonl --prompt steps, "
    "and gradegpt judge answers.jsonl -o judged.jsonl. rubric: first for the questions, then for "
    "the answers with --rubrics."
)
def main(
    kind: Annotated[ProtocolName, typer.Argument(metavar="PROTOCOL", help="See above.")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The rows, as JSON Lines.")],
    out: Annotated[Path, options.output("The file for the rows.")],
    base_url: options.BaseUrlOption = None,
    model: Annotated[str | None, typer.Option(help="The model's name there.")] = None,
    judgements: Annotated[
        Path | None,
        typer.Option(
            metavar="JUDGED.JSONL",
            help="The output of gradegpt judge for FILE (steps: are answers right; errors: which "
            "are wrong).",
        ),
    ] = None,
    rubrics: Annotated[
        Path | None,
        typer.Option(
            metavar="RUBRICS.JSONL",
            help="Rubrics to grade by or, of questions, those that need not be made; made, or "
            'written by hand: {"id": …, "criteria": [{"text": …, "points": …}], "total": 10}.',
        ),
    ] = None,
    kinds: Annotated[
        ErrorKinds | None,
        typer.Option(help="The paper whose kinds of error are named. [default: atlas]"),
    ] = None,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
    max_new_tokens: Annotated[
        int | None, typer.Option(min=1, help="The limit of a reply, in tokens.")
    ] = None,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    request: options.RequestOption = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Grade the rows of a file by a protocol of the papers.

    steps: score each step of each response as right (1) or wrong (0), and find the first error
    (OlympicArena). Rows have a reference solution (solution or steps). Figures are the mean process
    score, also by tag, the positions of errors, and the correlation with answers. The model replies
    a line for each step, such as Step 2 | Reference 1 | 12 + 7 = 18 | 0.

    rubric: make a rubric for each question from its reference solution, and check it; of rows with
    a response, award points by the --rubrics (ARB). The model replies a line for each criterion,
    such as Criterion 1: quote "12 + 7 = 18"; reason: a wrong sum; points: 0.

    errors: classify why answers are wrong, by the categories of ATLAS or, with --kinds cmmath, as
    errors of perception, reasoning or calculation and rejected questions. The model replies
    {"category": "unit", "why": "..."}.

    leakage: let the --model (a folder or a hub name, best of a base model) continue questions and
    solutions on this machine, five tokens at five positions; an item that it knows is leaked
    (OlympicArena).

    OUT has the rows; beside it are OUT.replies.jsonl, where each reply is saved when it comes,
    OUT.summary.json with the figures, OUT.findings.jsonl with rows to check, and OUT.manifest.json.
    A stopped run resumes with the same command; a finished one only makes the figures again.
    """
    given = {"judgements": judgements, "rubrics": rubrics, "kinds": kinds}
    for name, value in given.items():
        if value and name not in _TAKES.get(kind, ()):
            raise SettingsError(f"--{name}: not for {kind.value}")
    reading = options.reading_of(mapped, sheet, separator)
    if kind is ProtocolName.LEAKAGE:
        if base_url or not model:
            raise SettingsError("leakage: needs --model, and no --base-url: it reads tokens here")
        from gradegpt.engines.local import LocalEngine

        local, concurrency = LocalEngine(model, constrained=False), 1
        engine: Any = Continuing(local)
        protocol: Protocol[Any] = leakage_protocol(path, out, local, reading)
    else:
        engine = engine_of(
            base_url, model, api_key=api_key, concurrency=concurrency, request=request
        )
        protocol = _protocol(kind, path, out, reading, given)
    run_protocol(
        protocol, engine, max_new_tokens=max_new_tokens, concurrency=concurrency,
        overwrite=overwrite,
    )  # fmt: skip


def _protocol(
    kind: ProtocolName, path: Path, out: Path, reading: Reading, given: dict[str, Any]
) -> Protocol[Any]:
    judgements, rubrics = given["judgements"], given["rubrics"]
    if kind is ProtocolName.STEPS:
        return steps_protocol(path, out, reading, judgements=judgements)
    if kind is ProtocolName.RUBRIC:
        with opened(str(path), reading.sheet) as table:
            answered = columns_in(table, reading.columns).fields.get("response")
        if answered:
            return grade_protocol(path, out, rubrics, reading)
        return make_protocol(path, out, rubrics, reading)
    if judgements is None:
        raise SettingsError("errors needs --judgements, the output of gradegpt judge")
    return errors_protocol(path, judgements, out, reading, given["kinds"] or ErrorKinds.ATLAS)


if __name__ == "__main__":
    run(app, name="gradegpt eval.protocol")
