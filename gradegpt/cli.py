"""The command ``gradegpt``: judge a file or one response, and see which engines work here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer

from gradegpt.console import to_file, to_stdout
from gradegpt.errors import EngineError, GradeGPTError, MissingError, SettingsError
from gradegpt.importers import logs
from gradegpt.inputs import CheckedInput, check_input
from gradegpt.judges.base import Judge
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.records import validate
from gradegpt.rules.profiles import PROFILES
from gradegpt.run import check_output
from gradegpt.schema import ChainFormat, Item, Outcome
from gradegpt.settings import build_settings
from gradegpt.shipped import NANO, base_of
from gradegpt.tables import Form, form_of, opened

app = typer.Typer(
    help="GradeGPT grades a model's response against a reference answer.",
    epilog="Try it: gradegpt judge --judge rules --reference 4 --response 'The answer is 4.'",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_LOCAL: Final = ("torch", "transformers", "peft", "safetensors")
_FAST: Final = ("onnxruntime", "tokenizers", "jinja2")
_OF_RULES: Final = frozenset(("batch_size", "cache", "profile"))
"""Options that a judge without a model takes."""


class Kind(StrEnum):
    """The judges to choose from."""

    RULES = "rules"
    LEXICAL = "lexical"
    MODEL = "model"
    CASCADE = "cascade"
    CODE = "code"
    PARTS = "parts"


def main() -> NoReturn:
    """The entry point of ``gradegpt``."""
    run(app, name="gradegpt")


def run(app: typer.Typer, arguments: Sequence[str] | None = None, *, name: str) -> NoReturn:
    """Run a command line; a ``GradeGPTError`` becomes one line on stderr and its exit code."""
    try:
        app(args=arguments, prog_name=name)
    except GradeGPTError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    sys.exit(0)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradegpt {_installed('gradegpt') or '(not installed: run from a checkout)'}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


_Source = Annotated[
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
_Output = Annotated[
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
_Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="The column that holds a field; repeat it for more. FIELD= alone: no column holds it.",
    ),
]
_Format = Annotated[
    Form | None, typer.Option("--format", help="The form of the output, whatever its name ends in.")
]
_References = Annotated[
    list[str] | None,
    typer.Option(help="Its reference answer; repeat it where several are accepted."),
]
_Judge = Annotated[
    Kind,
    typer.Option(
        "--judge",
        help="rules: instant, decides what it can show. lexical: free text by its words. "
        "model: asks a model. cascade: rules, then the model for what they leave open. "
        "code: programs by their tests. parts: a JSON list of answers, each by the cascade.",
    ),
]
_BaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="An OpenAI-compatible server, up to /v1; its key comes from OPENAI_API_KEY.",
    ),
]
_BatchSize = Annotated[int | None, typer.Option(min=1, help="Items a forward pass. [default: 32]")]
_Cache = Annotated[
    Path | None, typer.Option(help="Keep judgements in this file and judge nothing twice.")
]
_Abstain = Annotated[
    bool | None,
    typer.Option(
        "--abstain/--no-abstain",
        help="A cascade leaves open where trust.json, beside the weights, says that its model is "
        "no better than chance; or guesses. [default: abstain]",
    ),
]
_MinConfidence = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Below it the model abstains: undecided. [default: 0]"),
]


@app.command()
def judge(
    source: _Source = None,
    output: _Output = None,
    question: Annotated[str | None, typer.Option(help="The question of a single item.")] = None,
    context: Annotated[
        str | None,
        typer.Option(help="What its question is asked about: a text, or the parts before it."),
    ] = None,
    reference: _References = None,
    response: Annotated[str | None, typer.Option(help="The response to grade.")] = None,
    kind: _Judge = Kind.CASCADE,
    profile: Annotated[
        str | None,
        typer.Option(
            help=f"With --judge rules: score as a benchmark's paper says: {', '.join(PROFILES)}. "
            "The first two read \\boxed{}, arb what follows ANSWER: and nothing else. What is not "
            "matched is 'incorrect'; a type that the paper has no rule for is 'undecided'."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="A folder or hub name; the name at --base-url. [default: the embedded]"),
    ] = None,
    adapter: Annotated[str | None, typer.Option(help="A LoRA adapter for the model.")] = None,
    base_url: _BaseUrl = None,
    chain_format: Annotated[
        ChainFormat | None,
        typer.Option(help="How the judge explains itself. [default: as the model was trained]"),
    ] = None,
    batch_size: _BatchSize = None,
    cache: _Cache = None,
    min_confidence: _MinConfidence = None,
    abstain: _Abstain = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the output if it is there.")
    ] = False,
    ignore_extra: Annotated[
        bool, typer.Option("--ignore-extra", help="Skip columns that no item has.")
    ] = False,
    mapped: _Map = None,
    form: _Format = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows that are no items, and count them.")
    ] = False,
) -> None:
    """Judge a file of items, or one response given by --question, --reference and --response.

    A run that was stopped goes on where it stood when the same command is given again.
    """
    options = {
        "profile": profile, "model": model, "adapter": adapter, "base_url": base_url,
        "chain_format": chain_format, "batch_size": batch_size, "cache": cache,
        "min_confidence": min_confidence, "abstain": abstain,
    }  # fmt: skip
    settings = _settings(kind, options)
    single = {
        "question": question, "context": context, "reference": reference, "response": response,
    }  # fmt: skip
    if source is None:
        _judge_one(single, settings)
        return
    if any(value is not None for value in single.values()):
        raise typer.BadParameter("give a file, or --reference and --response; not both")
    columns = dict(field_and_column(text) for text in mapped or ())
    if not columns and (log := logs.recognise(source)):
        _regrade(source, log, output, settings, overwrite=overwrite)
        return
    with opened(source) as table:
        checked = check_input(table, ignore_extra=ignore_extra, columns=columns, skip_bad=skip_bad)
        say_what_is_read(checked)
        form = form or (form_of(output) if output else None) or Form.JSONL
        _judge_rows(checked, output, form, settings, overwrite=overwrite)


def _judge_rows(
    rows: CheckedInput,
    output: Path | None,
    form: Form,
    settings: JudgeSettings,
    *,
    overwrite: bool,
) -> None:
    build, at_a_time = partial(_built, settings), settings.rows_at_a_time
    if output is None:
        to_stdout(rows, form, build, at_a_time)
    else:
        to_file(rows, output, form, build, at_a_time, overwrite=overwrite)


def _regrade(
    source: str, log: logs.Tool, output: Path | None, settings: JudgeSettings, *, overwrite: bool
) -> None:
    """Judge what another tool's log holds, and say what changed against its scores."""
    if output is None or form_of(output) not in (None, Form.JSONL):
        raise typer.BadParameter(
            f"{source} is a log of {log.name}; give -o OUT.jsonl, beside which its old scores go, "
            "or name a column, --map FIELD=COLUMN, to have it read as a table of items"
        )
    check_output(output, Path(source), overwrite=overwrite)
    items, read = logs.items_of(source, log, output)
    typer.echo(read, err=True)
    with opened(str(items)) as table:
        _judge_rows(check_input(table), output, Form.JSONL, settings, overwrite=overwrite)
    typer.echo(logs.compare(output))


def _settings(kind: Kind, options: dict[str, Any]) -> JudgeSettings:
    given = {name: value for name, value in options.items() if value is not None}
    settings = build_settings(JudgeSettings, {"kind": kind.value, **given}, where="options")
    if settings.asks_no_model and given.keys() - _OF_RULES:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given if name not in _OF_RULES)
        raise SettingsError(f"{names}: not for --judge {kind.value}, which asks no model")
    return settings


def _judge_one(given: dict[str, Any], settings: JudgeSettings) -> None:
    if not given["reference"] or given["response"] is None:
        raise typer.BadParameter("give a file, or --reference and --response")
    item = validate(Item, {k: v for k, v in given.items() if v is not None}, "options")
    judgement = build_judge(settings).judge([item])[0]
    if judgement.outcome is Outcome.FAILED:
        raise EngineError(judgement.reason)
    typer.echo(str(judgement))


def field_and_column(text: str) -> tuple[str, str]:
    """What ``--map FIELD=COLUMN`` says; without a column, that none holds the field."""
    field, equals, column = text.partition("=")
    if not equals or not field:
        raise typer.BadParameter(f"--map {text}: expected FIELD=COLUMN, such as reference=gold")
    return field, column


def say_what_is_read(checked: CheckedInput) -> None:
    """Say on stderr which columns were recognised, and what is set aside."""
    if checked.columns.said:
        typer.echo(f"columns: {checked.columns.said}", err=True)
    if n := checked.set_aside.rows:
        why = checked.set_aside.listed("set aside")
        typer.echo(f"{n:,} rows are set aside, {checked.rows:,} are judged\n{why}", err=True)


def _built(settings: JudgeSettings) -> Judge:
    judge = build_judge(settings)
    _ = judge.fingerprint  # loads what a cascade loads late
    return judge


@app.command()
def report(
    output: Annotated[Path, typer.Argument(metavar="OUT.JSONL", help="What judge wrote.")],
    other: Annotated[
        Path | None,
        typer.Argument(metavar="[OTHER.JSONL]", help="What another judge wrote for the same."),
    ] = None,
) -> None:
    """Show what changed: against the scores of the log that was judged, or between two judges."""
    typer.echo(logs.between(output, other) if other else logs.compare(output))


@app.command()
def engines() -> None:
    """Show which engines work here, and what to install for the others."""
    for name, usable, note in _engines():
        typer.echo(f"{name:<9} {'yes' if usable else 'no':<4} {note}")


def _engines() -> Iterator[tuple[str, bool, str]]:
    yield "rules", True, "the rule judge; needs no model"
    yield _engine("local", _LOCAL, "a transformers model on this machine")
    yield _engine("fast", _FAST, "what python -m train.export wrote, on the CPU")
    yield _engine("openai", ("openai",), "any OpenAI-compatible server, with --base-url")
    try:
        folder = base_of(NANO)
    except MissingError as error:
        yield "embedded", False, str(error)
    else:
        yield "embedded", True, f"the default model, {folder}; runs on the local engine"


def _engine(name: str, packages: Sequence[str], what: str) -> tuple[str, bool, str]:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        needed = f"missing {', '.join(missing)}: pip install 'gradegpt[{name}]'"
        return name, False, f"{what}; {needed}"
    return name, True, f"{what} ({', '.join(f'{p} {_installed(p)}' for p in packages)})"


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
