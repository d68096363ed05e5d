"""The command ``gradegpt``: judge a file or one response, and see which engines work here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gradegpt.errors import EngineError, GradeGPTError, MissingError, SettingsError
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.records import validate
from gradegpt.rules.profiles import PROFILES
from gradegpt.run import Progress as Report
from gradegpt.run import Summary, check_input, check_output, judge_file
from gradegpt.schema import ChainFormat, Item, Outcome
from gradegpt.settings import build_settings
from gradegpt.shipped import NANO, base_of

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
    Path | None,
    typer.Argument(
        metavar="IN.JSONL",
        help="Items, one JSON object a line: question, reference, response; optional id, context, "
        "answer_type, tolerance, needs, meta. Labels (verdict, labelled_by, lang, source) may be "
        "there and are not looked at.",
    ),
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
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT.JSONL", help="Judgements, in the same order."),
    ] = None,
    question: Annotated[str, typer.Option(help="The question of a single item.")] = "",
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
    if source is not None:
        if reference or response is not None or question or context:
            raise typer.BadParameter("give a file, or --reference and --response; not both")
        if output is None:
            raise typer.BadParameter("give -o OUT.JSONL, the file for the judgements")
        _judge_to_file(source, output, settings, overwrite=overwrite, ignore_extra=ignore_extra)
    else:
        if not reference or response is None:
            raise typer.BadParameter("give IN.JSONL and -o, or --reference and --response")
        values = {"question": question, "reference": reference, "response": response}
        _judge_one(validate(Item, values | {"context": context}, "options"), settings)


def _settings(kind: Kind, options: dict[str, Any]) -> JudgeSettings:
    given = {name: value for name, value in options.items() if value is not None}
    settings = build_settings(JudgeSettings, {"kind": kind.value, **given}, where="options")
    if settings.asks_no_model and given.keys() - _OF_RULES:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given if name not in _OF_RULES)
        raise SettingsError(f"{names}: not for --judge {kind.value}, which asks no model")
    return settings


def _judge_one(item: Item, settings: JudgeSettings) -> None:
    judgement = build_judge(settings).judge([item])[0]
    if judgement.outcome is Outcome.FAILED:
        raise EngineError(judgement.reason)
    typer.echo(str(judgement))


def _judge_to_file(
    source: Path, output: Path, settings: JudgeSettings, *, overwrite: bool, ignore_extra: bool
) -> None:
    checked = check_input(source, ignore_extra=ignore_extra)
    check_output(output, source, overwrite=overwrite)
    console = Console(stderr=True)
    with console.status("loading the judge"):
        judge = build_judge(settings)
        run_on = partial(judge_file, checked, output, judge, overwrite=overwrite)
        _ = judge.fingerprint  # loads what a cascade loads late
    rows = settings.rows_at_a_time
    try:
        with _progress(console) as report:
            summary = run_on(rows_per_write=rows, on_progress=report)
    except KeyboardInterrupt:
        typer.echo(f"stopped; run the same command again to go on from {output}.partial", err=True)
        raise typer.Exit(130) from None
    typer.echo(summed_up(summary))
    if n := summary.counts.n_failed:
        again = "run the same command again to ask about them once more"
        raise EngineError(f"{n:,} rows failed, the first with: {summary.failure}; {again}")


def summed_up(summary: Summary) -> str:
    """The end of a run in a few lines; the numbers in each line add up."""
    counts, before = summary.counts, summary.rows_before
    earlier = f" ({before:,} rows were there from an earlier run)" if before else ""
    return (
        f"{counts.n_items:,} items = {counts.n_judged:,} judged "
        f"+ {counts.n_undecided:,} undecided + {counts.n_unparsed:,} unparsed "
        f"+ {counts.n_failed:,} failed\n"
        f"{counts.n_judged:,} judged = {counts.n_correct:,} correct "
        f"+ {counts.n_incorrect:,} incorrect + {counts.n_invalid:,} invalid\n"
        f"{summary.seconds:.1f} s, {summary.rows_per_second:,.0f} rows/s{earlier}\n"
        f"judgements: {summary.output}"
    )


@contextmanager
def _progress(console: Console) -> Iterator[Report]:
    """A bar with the rate and the time left, counted from the rows that were there already."""
    rate, left = TextColumn("{task.fields[rate]}"), TimeRemainingColumn()
    columns = TextColumn("judging"), BarColumn(), MofNCompleteColumn(), rate, left
    bar = Progress(*columns, console=console, disable=not console.is_terminal)

    def report(done: int, total: int) -> None:
        if not bar.tasks:
            bar.add_task("judging", completed=done, total=total, rate="")
        speed = bar.tasks[0].speed
        bar.update(bar.tasks[0].id, completed=done, rate=f"{speed:,.1f} rows/s" if speed else "")

    with bar:
        yield report


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
