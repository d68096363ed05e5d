"""The options that commands share: their names, their help, and the parsing of ``--map``."""

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
    "rules: instant, decides what rules can show. lexical: free text by lexical overlap. "
    "model: a model. cascade: rules, then the model for what they leave undecided. "
    "code: programs by their tests. parts: a JSON list of answers, each by the cascade."
)

File = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="Items as JSON Lines, JSON, CSV, TSV, Parquet or XLSX; - for standard input; or "
        "hf:owner/name:config@split. Columns: question, reference, response; optional id, context, "
        "answer_type, tolerance, needs, meta; or by their usual names, such as answer and "
        "prediction. Columns with labels (label, verdict) are ignored. Or the log of another tool, "
        "which is recognised by its structure: lm-evaluation-harness, Inspect, OpenCompass, "
        "VLMEvalKit, evalscope, simple-evals, HELM, verl, OpenRLHF; the run then ends with a "
        "comparison with the log's scores.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="The judgements, in the order of the input: as JSON Lines, or as the rows of the "
        "input with a verdict each if the name ends in .csv, .tsv, .xlsx, .parquet or .json. "
        "[default: JSON Lines on standard output]",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="The column of a field; may be repeated. FIELD= alone: no column holds it.",
    ),
]
OutputForm = Annotated[
    Form | None, typer.Option("--format", help="The form of the output. [default: by its suffix]")
]
References = Annotated[
    list[str] | None,
    typer.Option(help="The reference answer; may be repeated if several are accepted."),
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
BatchSize = Annotated[int | None, typer.Option(min=1, help="Batch size. [default: 32]")]
Cache = Annotated[
    Path | None, typer.Option(help="Keep judgements in this file, so that none is made twice.")
]
Abstain = Annotated[
    bool | None,
    typer.Option(
        "--abstain/--no-abstain",
        help="Whether a cascade leaves undecided what is below the abstention thresholds of "
        "calibration.json, beside the weights. [default: abstain]",
    ),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="The confidence below which a model abstains. [default: 0]"),
]
Question = Annotated[str | None, typer.Option(help="The question of a single item.")]
Context = Annotated[
    str | None,
    typer.Option(help="The context of the question: a text, or the earlier parts of a problem."),
]
Response = Annotated[str | None, typer.Option(help="The response to grade.")]
Profile = Annotated[
    str | None,
    typer.Option(
        help=f"With --judge rules: score as a benchmark's paper does: {', '.join(PROFILES)}. "
        "The first two read \\boxed{}, arb only the text after ANSWER:. An answer that does not "
        "match is 'incorrect'; a type that the paper has no rule for is 'undecided'."
    ),
]
Model = Annotated[
    str | None,
    typer.Option(help="A folder or hub name; or the name at --base-url. [default: embedded]"),
]
Adapter = Annotated[str | None, typer.Option(help="A LoRA adapter for the model.")]
ChainFormat = Annotated[
    schema.ChainFormat | None,
    typer.Option(help="The format of the chain. [default: as the model was trained]"),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]
IgnoreExtra = Annotated[bool, typer.Option("--ignore-extra", help="Skip columns without a field.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out rows that are not items, and count them.")
]


def columns_of(mapped: Sequence[str] | None) -> dict[str, str]:
    """The fields and columns of ``--map FIELD=COLUMN``; "" where no column holds a field."""
    return dict(_field_and_column(text) for text in mapped or ())


def _field_and_column(text: str) -> tuple[str, str]:
    field, equals, column = text.partition("=")
    if not equals or not field:
        raise typer.BadParameter(f"--map {text}: expected FIELD=COLUMN, such as reference=gold")
    return field, column
