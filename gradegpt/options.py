"""The options that commands share: their names, their help, and what ``--map`` says."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt import schema
from gradegpt.rules.profiles import PROFILES
from gradegpt.tables import Form


class Kind(StrEnum):
    """The judges to choose from."""

    RULES = "rules"
    LEXICAL = "lexical"
    MODEL = "model"
    CASCADE = "cascade"
    CODE = "code"
    PARTS = "parts"


JUDGES: Final = (
    "rules: instant, decides what it can show. lexical: free text by its words. "
    "model: asks a model. cascade: rules, then the model for what they leave open. "
    "code: programs by their tests. parts: a JSON list of answers, each by the cascade."
)

File = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="Items as JSON Lines, JSON, CSV, TSV, Parquet or XLSX; - for standard input; or "
        "hf:owner/name:config@split. Columns: question, reference, response; optional id, context, "
        "answer_type, tolerance, needs, meta; or by their usual names, such as answer and "
        "prediction. Labels (label, verdict) may be there and are not looked at. Or the log of "
        "another tool, which is known by its structure: lm-evaluation-harness, Inspect, "
        "OpenCompass, VLMEvalKit, evalscope, simple-evals, HELM, verl, OpenRLHF; the run ends with "
        "what changed against its scores.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Judgements, in the same order. JSON Lines; or the rows of the input with a verdict "
        "each where the name ends in .csv, .tsv, .xlsx, .parquet or .json. "
        "[default: JSON Lines on standard output]",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="The column that holds a field; repeat it for more. FIELD= alone: no column holds it.",
    ),
]
OutputForm = Annotated[
    Form | None, typer.Option("--format", help="The form of the output, whatever its name ends in.")
]
References = Annotated[
    list[str] | None,
    typer.Option(help="Its reference answer; repeat it where several are accepted."),
]
Judge = Annotated[
    Kind,
    typer.Option(
        "--judge",
        help=JUDGES,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="An OpenAI-compatible server, up to /v1; its key comes from OPENAI_API_KEY.",
    ),
]
BatchSize = Annotated[int | None, typer.Option(min=1, help="Items a forward pass. [default: 32]")]
Cache = Annotated[
    Path | None, typer.Option(help="Keep judgements in this file and judge nothing twice.")
]
Abstain = Annotated[
    bool | None,
    typer.Option(
        "--abstain/--no-abstain",
        help="A cascade leaves open what is below the thresholds of calibration.json, beside the "
        "weights; or decides it all. [default: abstain]",
    ),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Below it the model abstains: undecided. [default: 0]"),
]
Question = Annotated[str | None, typer.Option(help="The question of a single item.")]
Context = Annotated[
    str | None,
    typer.Option(help="What its question is asked about: a text, or the parts before it."),
]
Response = Annotated[str | None, typer.Option(help="The response to grade.")]
Profile = Annotated[
    str | None,
    typer.Option(
        help=f"With --judge rules: score as a benchmark's paper says: {', '.join(PROFILES)}. "
        "The first two read \\boxed{}, arb what follows ANSWER: and nothing else. What is not "
        "matched is 'incorrect'; a type that the paper has no rule for is 'undecided'."
    ),
]
Model = Annotated[
    str | None,
    typer.Option(help="A folder or hub name; the name at --base-url. [default: the embedded]"),
]
Adapter = Annotated[str | None, typer.Option(help="A LoRA adapter for the model.")]
ChainFormat = Annotated[
    schema.ChainFormat | None,
    typer.Option(help="How the judge explains itself. [default: as the model was trained]"),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it is there.")]
IgnoreExtra = Annotated[bool, typer.Option("--ignore-extra", help="Skip columns that no item has.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out rows that are no items, and count them.")
]


def columns_of(mapped: Sequence[str] | None) -> dict[str, str]:
    """What ``--map FIELD=COLUMN`` says: fields and their columns, "" where none holds a field."""
    return dict(_field_and_column(text) for text in mapped or ())


def _field_and_column(text: str) -> tuple[str, str]:
    field, equals, column = text.partition("=")
    if not equals or not field:
        raise typer.BadParameter(f"--map {text}: expected FIELD=COLUMN, such as reference=gold")
    return field, column
