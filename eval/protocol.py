"""The papers' other gradings: ``gradegpt eval.protocol steps|rubric|parts|errors|leakage FILE``."""

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

from .asking import (
    ApiKey,
    Concurrency,
    InputPrice,
    OutputPrice,
    Protocol,
    Request,
    engine_of,
    run_protocol,
)
from .error_kinds import ErrorKinds, errors_protocol
from .leakage import LOCAL_ITEMS, Completions, Continues, Continuing, leakage_protocol
from .parts import parts_protocol
from .rubric.protocol import grade_protocol, make_protocol
from .steps.protocol import steps_protocol

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class ProtocolName(StrEnum):
    """What is graded."""

    STEPS = "steps"
    RUBRIC = "rubric"
    PARTS = "parts"
    ERRORS = "errors"
    LEAKAGE = "leakage"


_TAKES: Final = {
    ProtocolName.STEPS: {"judgements"},
    ProtocolName.RUBRIC: {"rubrics", "people"},
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
    out: Annotated[
        Path,
        options.output("The file for the rows."),
    ],
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
    people: Annotated[
        Path | None,
        typer.Option(
            metavar="PEOPLE.JSONL",
            help="People's points: rows with the id of a response, criteria (points by the rubric, "
            "in order) and points (on the whole).",
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
    request: Request = None,
    input_price: InputPrice = 0.0,
    output_price: OutputPrice = 0.0,
    overwrite: options.Overwrite = False,
) -> None:
    """Grade the rows of a file by a protocol of the papers.

    steps: score each step of each response as right (1) or wrong (0), and find the first error
    (OlympicArena). Rows have a reference solution (solution or steps). Human labels are {"meta":
    {"step_labels": [1, 0]}}. Figures are the mean process score, also by tag, the positions of
    errors, the correlation with answers, and the agreement with labels. The model replies a line
    for each step, such as Step 2 | Reference 1 | 12 + 7 = 18 | 0.

    rubric: make a rubric for each question from its reference solution, and check it; of rows with
    a response, award points by the --rubrics (ARB). The model replies a line for each criterion,
    such as Criterion 1: quote "12 + 7 = 18"; reason: a wrong sum; points: 0.

    parts: extract a reference for each sub-question from a solution (ATLAS). An answer that the
    solution does not give is a finding. The model replies {"answers": ["...", "..."]}.

    errors: classify why answers are wrong, by the categories of ATLAS or, with --kinds cmmath, as
    errors of perception, reasoning or calculation and rejected questions. The model replies
    {"category": "unit", "why": "..."}.

    leakage: let the --model (a folder, a hub name, or a server's, best of a base model) continue
    questions and solutions, five tokens at five positions; an item that it knows is leaked
    (OlympicArena). Over HTTP n-grams are of words, which is harder than tokens.

    OUT has the rows; beside it are OUT.replies.jsonl, where each reply is saved when it comes,
    OUT.summary.json with the figures, OUT.findings.jsonl with rows to check, and OUT.manifest.json.
    A stopped run resumes with the same command; a finished one only makes the figures again.
    """
    given = {"judgements": judgements, "rubrics": rubrics, "people": people, "kinds": kinds}
    for name, value in given.items():
        if value and name not in _TAKES.get(kind, ()):
            raise SettingsError(f"--{name}: not for {kind.value}")
    reading = options.reading_of(mapped, sheet, separator)
    if kind is ProtocolName.LEAKAGE:
        continues = _continues(base_url, model, api_key)
        engine: Any = Continuing(continues)
        at_once, concurrency = (1, concurrency) if base_url else (LOCAL_ITEMS, 1)
        protocol: Protocol[Any] = leakage_protocol(
            path, out, continues, at_once=at_once, reading=reading
        )
    else:
        engine = engine_of(
            base_url, model, api_key=api_key, concurrency=concurrency, request=request
        )
        protocol = _protocol(kind, path, out, reading, given)
    run_protocol(
        protocol, engine, max_new_tokens=max_new_tokens, concurrency=concurrency,
        prices=(input_price, output_price), overwrite=overwrite,
    )  # fmt: skip


def _protocol(
    kind: ProtocolName, path: Path, out: Path, reading: Reading, given: dict[str, Any]
) -> Protocol[Any]:
    judgements, rubrics = given["judgements"], given["rubrics"]
    if kind is ProtocolName.STEPS:
        return steps_protocol(path, out, reading, judgements=judgements)
    if kind is ProtocolName.PARTS:
        return parts_protocol(path, out, reading)
    if kind is ProtocolName.RUBRIC:
        with opened(str(path), reading.sheet) as table:
            answered = columns_in(table, reading.columns).fields.get("response")
        if answered:
            return grade_protocol(path, out, rubrics, given["people"], reading)
        return make_protocol(path, out, rubrics, reading)
    if judgements is None:
        raise SettingsError("errors needs --judgements, the output of gradegpt judge")
    return errors_protocol(path, judgements, out, reading, given["kinds"] or ErrorKinds.ATLAS)


def _continues(base_url: str | None, model: str | None, api_key: str | None) -> Continues[Any]:
    if model is None:
        raise SettingsError("leakage needs --model")
    if base_url:
        return Completions(base_url, model, api_key=api_key)
    from gradegpt.engines.local import LocalEngine

    return LocalEngine(model, constrained=False)


if __name__ == "__main__":
    run(app, name="gradegpt eval.protocol")
