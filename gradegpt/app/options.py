"""The options that commands share: their names, their help, and the parsing of ``--map``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gradegpt.core import schema
from gradegpt.core.errors import SettingsError
from gradegpt.core.settings import build_settings
from gradegpt.engines.client import RequestSettings
from gradegpt.rules.profiles import PROFILES
from gradegpt.rules.tolerance import NAMES
from gradegpt.tables.columns import LABEL
from gradegpt.tables.inputs import Reading


class JudgeKind(StrEnum):
    """The judges to choose from."""

    RULES = "rules"
    MODEL = "model"
    CASCADE = "cascade"
    CODE = "code"
    PARTS = "parts"


SETTING: Final = "KEY=VALUE"
JUDGES: Final = (
    "rules: deterministic and fast. "
    "model: a language model. cascade: rules, then a model if one is named, with the judges that "
    "its calibration.json names between them; each judges the rows on which those before it are "
    "undecided or unsure. A model that was measured to add nothing is not asked. code: runs a "
    "program's test cases. parts: judges each answer of a JSON list by the cascade."
)


def ray_address(on: str | None) -> str | None:
    """The address of a Ray cluster; an error of usage where it is none."""
    if on is not None and on != "ray" and not on.startswith("ray://"):
        raise typer.BadParameter("must be ray, or ray://HOST:PORT")
    return on


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="The rows to judge, as JSON Lines, JSON, CSV, TSV, Parquet or XLSX; - reads standard "
        "input. Several files need --on. Columns are question, reference and response, and "
        "optionally id, context, answer_type, tolerance, needs and meta; usual synonyms such as "
        "answer and prediction are recognised. Columns with labels (label, verdict) are not shown "
        "to the judge. A log of another tool (lm-evaluation-harness, Inspect, OpenCompass, "
        "VLMEvalKit, evalscope, simple-evals, HELM, verl) is judged again, and its scores are "
        "compared with the new verdicts; of OpenCompass also the folder of a run.",
    ),
]
Labelled = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Labelled answers: a table in any form that gradegpt judge reads, with a column of "
        "labels (true or false, 1 or 0, yes or no, correct or incorrect, ...).",
    ),
]


def output(what: str, metavar: str = "OUT") -> Any:
    """The option ``-o`` of every command that writes something: a file, or a ``FOLDER``."""
    is_folder = metavar == "FOLDER"
    return typer.Option("-o", "--output", metavar=metavar, dir_okay=is_folder, help=what)


Output = Annotated[
    str | None,
    output(
        "Write to OUT, in the order of the input. A .jsonl file gets one judgement per line. "
        "A .csv, .tsv, .xlsx, .parquet or .json file gets the input's rows with the columns of a "
        "verdict. With --on, OUT is a folder. [default: JSON Lines on standard output]"
    ),
]
Folder = Annotated[
    str | None, output("The folder to write, as out=FOLDER. [default: by the settings]", "FOLDER")
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="Read FIELD from COLUMN; may be repeated. FIELD= reads it from no column. "
        "label=COLUMN is the column of labels.",
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(help="The reference answer; may be repeated if several are accepted."),
]
JudgeOption = Annotated[
    list[JudgeKind] | None,
    typer.Option(
        "--judge",
        help=f"{JUDGES} Repeat the option for a panel, which gives the verdict of most of them. "
        "[default: cascade]",
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The URL of an OpenAI-compatible server, including /v1, that runs the model. Its API "
        "key is read from $OPENAI_API_KEY.",
    ),
]
RequestOption = Annotated[
    list[str] | None,
    typer.Option(
        "--request",
        metavar=SETTING,
        help="With --base-url: what a reasoning model needs; may be repeated: "
        "thinking_tokens=8192, max_tokens_name=max_completion_tokens, extra_body.temperature=1. "
        "Any field of the request is a key of extra_body, which null removes: "
        "extra_body.logprobs=null.",
    ),
]
BatchSize = Annotated[
    int | None, typer.Option(min=1, help="Prompts per forward pass. [default: 32]")
]
Cache = Annotated[
    Path | None,
    typer.Option(help="Store judgements in this SQLite file, and reuse those that it has."),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="With --judge cascade: rows whose verdict has a lower measured confidence are left "
        "undecided; 0 gives every verdict. [default: 0.75]",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --judge cascade: a table of graded answers (question, response, label). From "
        "ten to a question on, the verdicts on its other answers also go by the nearest of them.",
    ),
]
MaxError = Annotated[
    float | None,
    typer.Option(
        metavar="FRACTION",
        help="With --judge cascade: give only verdicts of which at most this fraction is wrong, "
        "such as 0.02, and leave the other rows undecided. The bound is tested on the labelled "
        "rows of the calibration, for each type of answer, over all sources of rows together.",
    ),
]
CertificateOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A certificate.json of gradegpt eval --certify: judge only with its judge.",
    ),
]
QuestionOption = Annotated[str | None, typer.Option(help="The question of a single item.")]
Context = Annotated[
    str | None,
    typer.Option(help="Text before the question, such as earlier parts of the problem."),
]
Response = Annotated[str | None, typer.Option(help="The response to grade.")]
AnswerTypeOption = Annotated[
    str | None,
    typer.Option(help=f"The type of a single item's answer: {', '.join(schema.AnswerType)}."),
]
ToleranceOption = Annotated[
    str | None,
    typer.Option(
        metavar="POLICY", help=f"How near a single item's number must be: {', '.join(NAMES)}."
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        help="With --judge rules: apply the scoring rules of a benchmark's paper: "
        f"{', '.join(PROFILES)}. The first two read the answer in \\boxed{{}}, arb the text after "
        "ANSWER:. An answer that does not match is incorrect. A type of answer for which the paper "
        "has no rule is undecided.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        help="The model: a folder, a Hugging Face name, or a shipped judge such as gradegpt-1.5b. "
        "With --base-url, the model's name on the server. [default: none; a cascade then "
        "consists of the rules]"
    ),
]
Adapter = Annotated[
    str | None,
    typer.Option(
        help="A folder or Hugging Face name of a LoRA adapter for the model. Without --model a "
        "folder names its model."
    ),
]
ChainFormatOption = Annotated[
    schema.ChainFormat | None,
    typer.Option(
        help="What the model writes. outcome: the verdict alone. judge_of_chain: an explanation "
        "that ends in the verdict. cross_lingual: the same, with Chinese quotes translated into "
        "English. A model that was trained on verdicts alone decides by them, and then explains "
        "the verdict. [default: as the model was trained]"
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace the output of an earlier run, or what one began."),
]
Separator = Annotated[
    str,
    typer.Option(
        "--separator",
        metavar="TEXT",
        help="What is between the accepted answers in a cell of the reference, such as / or ;",
    ),
]
Sheet = Annotated[str, typer.Option("--sheet", help="The sheet of a workbook with several.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out invalid rows, and count them.")
]


def config(example: str) -> Any:
    """The argument of a command for its settings file; ``example`` is a shipped one's name."""
    return typer.Argument(
        metavar="CONFIG.YAML",
        help=f"A settings file, or the name of a shipped settings file, such as {example}.",
    )


def changes(names: str) -> Any:
    """The arguments of a command that change settings; ``names`` lists the usual ones."""
    return typer.Argument(metavar=SETTING, help=f"Settings to change: {names}")


def with_folder(folder: str | None, overrides: Sequence[str] | None) -> list[str]:
    """The changed settings with that of ``-o FOLDER``."""
    quoted = [] if folder is None else [f"out={json.dumps(folder, ensure_ascii=False)}"]
    return [*(overrides or ()), *quoted]


On = Annotated[
    str | None,
    typer.Option(
        metavar="ray[://HOST:PORT]",
        callback=ray_address,
        help="Judge on a Ray cluster and write into the folder OUT. ray is the cluster that runs "
        "on this machine; if none runs, one is started on all its cores until the command ends. "
        "Input and output are paths that every node can read and write, or URLs such as "
        "s3://bucket/answers/*.parquet.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --on: the number of processes that each load the model. [default: as many as "
        "the GPUs suffice for, or 1 without GPUs]",
    ),
]


def reading_of(mapped: Sequence[str] | None, sheet: str, separator: str) -> Reading:
    """How a table is read by ``--map``, ``--sheet`` and ``--separator``."""
    return Reading(columns_of(mapped), sheet, separator)


def request_of(given: Sequence[str] | None, base_url: str | None) -> RequestSettings | None:
    """What a server wants in a request, by ``--request``; None where it is not given."""
    if given and not base_url:
        raise SettingsError("--request: is for a server; give --base-url too")
    try:
        return build_settings(RequestSettings, {}, "", given) if given else None
    except SettingsError as error:
        how = "; another field of the request is a key of extra_body: extra_body.temperature=1"
        raise SettingsError(f"--request {error}{how * ('unknown' in str(error))}") from error


def columns_of(mapped: Sequence[str] | None, labels: Path | None = None) -> dict[str, str]:
    """The fields and columns of ``--map FIELD=COLUMN``; "" where no column holds a field.

    A label's column is one of ``labels``, where this is a table of its own.
    """
    found = dict[str, str]()
    for text in mapped or ():
        field, equals, column = text.partition("=")
        if not equals or not field:
            raise typer.BadParameter(f"--map {text}: expected FIELD=COLUMN, such as reference=gold")
        found[field] = column
    return found if labels is None else {f: name for f, name in found.items() if f != LABEL}
