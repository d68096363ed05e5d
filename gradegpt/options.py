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
    "rules: fast and deterministic. lexical: word overlap, for short free text. model: a language "
    "model. cascade: rules, lexical, then model. code: runs a program's tests. parts: each answer "
    "of a JSON list, by the cascade."
)


def http_url(url: str | None) -> str | None:
    """``url``, or several with commas between them; an error of usage where one is no URL."""
    if url and not all(one.strip().startswith(("http://", "https://")) for one in url.split(",")):
        raise typer.BadParameter("must start with http:// or https://")
    return url


File = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="Items as JSON Lines, JSON, CSV, TSV, Parquet or XLSX; - for standard input; or "
        "hf:owner/name:config@split. Columns: question, reference, response; optional id, context, "
        "answer_type, tolerance, needs, meta. Usual synonyms such as answer and prediction are "
        "recognised. Columns with labels (label, verdict) are ignored. Logs of other tools "
        "(lm-evaluation-harness, Inspect, OpenCompass, VLMEvalKit, evalscope, simple-evals, HELM, "
        "verl, OpenRLHF) are accepted, and their scores are compared with the new verdicts.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Write the judgements to OUT, in the order of the input: JSON Lines for .jsonl, or "
        "the input's rows with a verdict each for .csv, .tsv, .xlsx, .parquet and .json. "
        "[default: JSON Lines on standard output]",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="Read FIELD from COLUMN; repeatable. FIELD= ignores the field.",
    ),
]
OutputForm = Annotated[
    Form | None, typer.Option("--format", help="The output's format. [default: by its suffix]")
]
References = Annotated[
    list[str] | None,
    typer.Option(help="The reference answer; repeatable, where several are accepted."),
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
        callback=http_url,
        help="The URL of an OpenAI-compatible server, including /v1; its key: $OPENAI_API_KEY.",
    ),
]
BatchSize = Annotated[int | None, typer.Option(min=1, help="Batch size. [default: 32]")]
Cache = Annotated[Path | None, typer.Option(help="Cache judgements in this file.")]
Abstain = Annotated[
    bool | None,
    typer.Option(
        "--abstain/--no-abstain",
        help="With --judge cascade: give no verdict where the model's confidence is below its "
        "calibrated minimum. [default: abstain]",
    ),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="With --judge model or cascade: the model gives no verdict below this confidence. "
        "[default: 0]",
    ),
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
        help=f"With --judge rules: score exactly as a benchmark does: {', '.join(PROFILES)}. The "
        "first two read \\boxed{}, arb the text after ANSWER:. An answer that does not match is "
        "incorrect; a type for which the benchmark has no rule is undecided.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        help="Model folder or Hugging Face name; with --base-url, the server's name of the model. "
        "[default: the built-in model]"
    ),
]
Adapter = Annotated[
    str | None, typer.Option(help="Folder or Hugging Face name of a LoRA adapter for the model.")
]
ChainFormat = Annotated[
    schema.ChainFormat | None,
    typer.Option(help="The format of the chain. [default: as the model was trained]"),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]
IgnoreExtra = Annotated[bool, typer.Option("--ignore-extra", help="Ignore unknown columns.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip invalid rows, and count them.")]


def columns_of(mapped: Sequence[str] | None) -> dict[str, str]:
    """The fields and columns of ``--map FIELD=COLUMN``; "" where no column holds a field."""
    return dict(_field_and_column(text) for text in mapped or ())


def _field_and_column(text: str) -> tuple[str, str]:
    field, equals, column = text.partition("=")
    if not equals or not field:
        raise typer.BadParameter(f"--map {text}: expected FIELD=COLUMN, such as reference=gold")
    return field, column
