"""The options that commands share: their names, their help, and the parsing of ``--map``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal

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


def ray_address(on: str | None) -> str | None:
    """The address of a Ray cluster; an error of usage where it is none."""
    if on is not None and on != "ray" and not on.startswith("ray://"):
        raise typer.BadParameter("must be ray, or ray://HOST:PORT")
    return on


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="Items as JSON Lines, JSON, CSV, TSV, Parquet or XLSX; - for standard input; or "
        "hf:owner/name:config@split; with --on several. Columns: question, reference, response; "
        "optional id, context, answer_type, tolerance, needs, meta. Usual synonyms such as answer"
        " and prediction are recognised. Columns with labels (label, verdict) are ignored. Logs "
        "of other tools (lm-evaluation-harness, Inspect, OpenCompass, VLMEvalKit, evalscope, "
        "simple-evals, HELM, verl, OpenRLHF) are accepted, and their scores are compared with the"
        " new verdicts.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Write the judgements to OUT, in the order of the input: JSON Lines for .jsonl, or "
        "the input's rows with a verdict each for .csv, .tsv, .xlsx, .parquet and .json. "
        "With --on OUT is a folder. [default: JSON Lines on standard output]",
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
Engine = Annotated[
    Literal["auto", "transformers", "onnx", "vllm"] | None,
    typer.Option(
        help="What runs a model in this process: onnx for a folder that gradegpt export wrote, "
        "transformers, or vllm, for GPUs. [default: auto, one of the first two]"
    ),
]
TensorParallel = Annotated[
    int | None,
    typer.Option(min=1, metavar="GPUS", help="With --engine vllm: GPUs that share one copy."),
]
DataParallel = Annotated[
    int | None,
    typer.Option(min=1, metavar="COPIES", help="With --engine vllm: copies, on GPUs of their own."),
]
BatchSize = Annotated[int | None, typer.Option(min=1, help="Batch size. [default: 32]")]
Cache = Annotated[Path | None, typer.Option(help="Cache judgements in this file.")]
MinConfidence = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="With --judge cascade: give no verdict below this measured confidence; 0 gives every "
        "verdict. [default: 0.75]",
    ),
]
MaxError = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="With --judge cascade: give only verdicts of which at most this share is wrong, such "
        "as 0.02, as shown by the labelled rows of the calibration; leave the rest undecided.",
    ),
]
MaxFalseCorrect = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="With --max-error: another bound for the verdicts 'correct' alone.",
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
Rejudge = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace judgements that were made from other rows or by another judge."
    ),
]
IgnoreExtra = Annotated[bool, typer.Option("--ignore-extra", help="Ignore unknown columns.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip invalid rows, and count them.")]


def config(example: str) -> Any:
    """The argument of a command for its settings file; ``example`` is a shipped one's name."""
    return typer.Argument(
        metavar="CONFIG.YAML",
        help=f"A settings file, or the name of a shipped one, such as {example}.",
    )


def changes(names: str) -> Any:
    """The arguments of a command that change settings; ``names`` lists the usual ones."""
    return typer.Argument(metavar="KEY=VALUE", help=f"Settings to change: {names}")


On = Annotated[
    str | None,
    typer.Option(
        metavar="ray[://HOST:PORT]",
        callback=ray_address,
        help="Judge on a Ray cluster, into the folder OUT: ray for the cluster of this machine, or "
        "else for one of its cores alone. Input and output are paths that every node reaches, or "
        "URLs such as s3://bucket/answers/*.parquet.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --on: processes that each load the model. [default: one per GPU, or 1]",
    ),
]


def columns_of(mapped: Sequence[str] | None) -> dict[str, str]:
    """The fields and columns of ``--map FIELD=COLUMN``; "" where no column holds a field."""
    return dict(_field_and_column(text) for text in mapped or ())


def _field_and_column(text: str) -> tuple[str, str]:
    field, equals, column = text.partition("=")
    if not equals or not field:
        raise typer.BadParameter(f"--map {text}: expected FIELD=COLUMN, such as reference=gold")
    return field, column
