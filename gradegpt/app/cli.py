"""The command ``gradegpt``: judges files and single responses, and runs the stages by name."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, cast

import typer
from pydantic import ValidationError
from typer.main import get_command

import gradegpt
from gradegpt.app import options
from gradegpt.app.console import complain, report_columns, to_cluster, to_file, to_stdout
from gradegpt.app.options import SETTING, JudgeKind
from gradegpt.app.run import check_output
from gradegpt.app.stages import COMMANDS, packages_of, run_stage, settings_of
from gradegpt.core.errors import (
    ColumnsError,
    EngineError,
    GradeGPTError,
    MissingError,
    OutputError,
    SettingsError,
)
from gradegpt.core.mistakes import explain
from gradegpt.core.records import read_objects, validate, whole_file
from gradegpt.core.schema import Item, Outcome
from gradegpt.core.shipped import found, recipes
from gradegpt.judges.base import Judge, judge_each
from gradegpt.judges.build import build_judge, missing_kinds, on_every_core, unasked
from gradegpt.judges.settings import KINDS, JudgeSettings
from gradegpt.tables import SUFFIXES, Form, form_of, opened, write
from gradegpt.tables.columns import LABEL
from gradegpt.tables.forms import SEPARATED, UTF8
from gradegpt.tables.importers import logs
from gradegpt.tables.importers.logs.reading import Tool
from gradegpt.tables.inputs import CheckedInput, check_input

app = typer.Typer(
    help="GradeGPT grades a model's response against a reference answer.",
    epilog="Try it: gradegpt judge --judge rules --reference 4 --response 'The answer is 4.'",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_UsageError: Final = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""The base of all errors of usage, which typer does not export."""
_EXAMPLES: Final = "eval/data/handmade.jsonl"


def main() -> NoReturn:
    """The entry point of ``gradegpt``."""
    run(app, name="gradegpt")


def run(app: typer.Typer, arguments: Sequence[str] | None = None, *, name: str) -> NoReturn:
    """Run a command line; a ``GradeGPTError`` becomes one line on stderr and its exit code."""
    command = name.removeprefix("gradegpt").lstrip()
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    try:
        with packages_of(command):
            code = app(
                args=given, prog_name=name, standalone_mode=False,
                help_option_names=["-h", "--help"],
            )  # fmt: skip
    except GradeGPTError as error:
        said = f"{error}{_needed_by(command, given, error)}"
        mappable = not command or any("--map" in p.opts for p in get_command(app).params)
        # The settings may be those of finetune, which has the option, too.
        if isinstance(error, ColumnsError) and mappable and not given[0].endswith(".yaml"):
            whole = shlex.join([*name.split(), *given])
            said = said.replace(f"\n  {error.options}\n", f"\n  {whole} {error.options}\n")
        typer.echo(f"error: {said}", err=True)
        sys.exit(error.exit_code)
    except _UsageError as error:
        if isinstance(error.__cause__, ValidationError):
            error.message = explain(error.__cause__)
        error.message += _as_setting(command, error, given)
        error.show()
        sys.exit(error.exit_code)
    sys.exit(code or 0)


def _needed_by(command: str, given: Sequence[str], error: GradeGPTError) -> str:
    """Where a shipped recipe says what it needs, if something is missing."""
    a_file = isinstance(error, MissingError) and not isinstance(error.__cause__, ImportError)
    names = {Path(one).name.removesuffix(".yaml") for one in given[:1] if a_file}
    own = (path for owner, path in recipes() if owner == command and path.stem in names)
    return next((f"; {path} says at its top what it needs" for path in own), "")


def _as_setting(command: str, error: Any, given: Sequence[str]) -> str:
    """The setting that an unknown option means, of this command or of another one."""
    option, context = getattr(error, "option_name", ""), getattr(error, "ctx", None)
    known = context.command.params if context else ()
    if not option.startswith("--") or any(option in p.opts for p in known):
        return ""
    name = option[2:].replace("-", "_")
    has_settings = any(p.metavar == SETTING and p.param_type_name == "argument" for p in known)
    if has_settings and (key := settings_of(command).get(name)):
        at = next(n for n, one in enumerate(given) if one.partition("=")[0] == option)
        value = given[at].partition("=")[2] or next(iter(given[at + 1 :]), "...")
        return f"; a setting has no dashes: did you mean {key}={value}"
    every = {one: settings_of(one) for one in ("serve", "train", "eval", "data")}
    having = [f"{keys[name]} is a setting of gradegpt {one}" for one, keys in every.items()
              if name in keys]  # fmt: skip
    return f"; {having[0]}" if len(having) == 1 else ""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradegpt {gradegpt.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def judge(
    sources: options.Files = None,
    output: options.Output = None,
    question: options.QuestionOption = None,
    context: options.Context = None,
    reference: options.References = None,
    response: options.Response = None,
    answer_type: options.AnswerTypeOption = None,
    tolerance: options.ToleranceOption = None,
    kinds: options.JudgeOption = None,
    profile: options.ProfileOption = None,
    model: options.ModelOption = None,
    adapter: options.Adapter = None,
    base_url: options.BaseUrlOption = None,
    request: options.RequestOption = None,
    chain_format: options.ChainFormatOption = None,
    batch_size: options.BatchSize = None,
    cache: options.Cache = None,
    min_confidence: options.MinConfidence = None,
    labels: options.Labels = None,
    max_error: options.MaxError = None,
    certificate: options.CertificateOption = None,
    overwrite: options.Overwrite = False,
    mapped: options.Map = None,
    separator: options.Separator = "",
    sheet: options.Sheet = "",
    skip_bad: options.SkipBad = False,
    on: options.On = None,
    workers: options.Workers = None,
) -> None:
    """Judge a file, or one response.

    Give one response by --question, --reference and --response. With --on, any number of files are
    judged on a Ray cluster. To resume a run that was stopped, give the same command again.
    """
    given = {
        "profile": profile, "model": model, "adapter": adapter, "base_url": base_url,
        "chain_format": chain_format, "batch_size": batch_size, "cache": cache,
        "min_confidence": min_confidence, "labels": labels, "max_error": max_error,
        "labels_map": mapped if labels else None, "request": options.request_of(request, base_url),
    }  # fmt: skip
    settings = _settings(kinds or [JudgeKind.CASCADE], given)
    single = {
        "question": question, "context": context, "reference": reference, "response": response,
        "answer_type": answer_type, "tolerance": tolerance,
    }  # fmt: skip
    if not sources:
        if output is not None:
            raise _UsageError("--output is for a FILE; a single result is printed")
        _judge_one(single, settings)
        return
    if any(value is not None for value in single.values()):
        raise _UsageError("give FILE, or --reference and --response; not both")
    columns = options.columns_of(mapped, labels)
    reading: dict[str, Any] = {
        "columns": columns, "skip_bad": skip_bad, "separator": separator, "command": True
    }  # fmt: skip
    if certificate is not None and on is not None:
        raise _UsageError("--certificate: leave --on out")
    if on is not None:
        folder, address = _on_cluster(output, settings, workers), None if on == "ray" else on
        to_cluster(
            sources, folder, settings, address, workers=workers, overwrite=overwrite, **reading
        )
        return
    if workers is not None:
        raise _UsageError("--workers is for --on ray")
    if len(sources) > 1:
        how = "the reference answers are a column of it, or in a class list a row"
        raise _UsageError(f"{len(sources)} files are for --on ray; give one FILE: {how}")
    source, path = sources[0], Path(output) if output else None
    form = _form_of(path)
    if not (columns or sheet or separator) and (log := logs.recognise(source)):
        _regrade(source, log, path, settings, overwrite=overwrite)
        return
    with opened(source, sheet) as table:
        checked = check_input(table, **reading)
        report_columns(checked)
        if certificate is not None:
            from gradegpt.judges.certificate import read_certificate

            read_certificate(certificate).demand(build_judge(settings).fingerprint)
        _judge_rows(checked, path, form, settings, overwrite=overwrite)


def _on_cluster(output: str | None, settings: JudgeSettings, workers: int | None) -> str:
    """The folder of a judging on a cluster, whose other options are checked."""
    if output is None:
        raise _UsageError("--on: give -o FOLDER; the judgements are written in parts")
    if settings.cache is not None:
        raise SettingsError("--cache: is a file of one machine; leave it out with --on")
    if settings.asks_no_model and workers is not None:
        kind = f"--judge {settings.kind}"
        raise SettingsError(f"--workers: not for {kind}, which uses every core of the cluster")
    return output


def _form_of(output: Path | None) -> Form:
    """The form that the output's suffix names; JSON Lines without a suffix."""
    if output is None or not output.suffix:
        return Form.JSONL
    if (form := form_of(output)) is None:
        what = f"unknown suffix {output.suffix!r}; use {', '.join(SUFFIXES)}"
        raise typer.BadParameter(f"{output}: {what}", param_hint="--output")
    return form


def _judge_rows(
    rows: CheckedInput,
    output: Path | None,
    form: Form,
    settings: JudgeSettings,
    *,
    overwrite: bool,
) -> None:
    has_labels = rows.columns.labels and rows.columns.is_judged
    if has_labels and getattr(settings, "labels", None) is None:
        name = rows.table.name
        how = f"to use them: --labels {shlex.quote(name)}"
        typer.echo(f"{name}: judged before; its labels are not used; {how}", err=True)
    build = partial(_built, settings)
    if output is None:
        to_stdout(rows, build, settings.rows_at_a_time)
    else:
        complain(to_file(rows, output, form, build, settings, overwrite=overwrite))


def _regrade(
    source: str, log: Tool, output: Path | None, settings: JudgeSettings, *, overwrite: bool
) -> None:
    """Judge the items of another tool's log, and report what changed against its scores."""
    if output is None or form_of(output) not in (None, Form.JSONL):
        raise typer.BadParameter(
            f"{source} is a log of {log.name}; give -o OUT.jsonl (the old scores are written to "
            "OUT.jsonl.scores.jsonl), or --map FIELD=COLUMN to read it as a table of items"
        )
    check_output(output, Path(source), overwrite=overwrite)
    items, read = logs.items_of(source, log, output)
    typer.echo(read, err=True)
    with opened(str(items)) as table:
        rows, build = check_input(table), partial(_built, settings)
        summary = to_file(rows, output, Form.JSONL, build, settings, overwrite=overwrite)
    typer.echo(logs.compare(output))
    complain(summary)


def _settings(kinds: Sequence[JudgeKind], wanted: dict[str, Any]) -> JudgeSettings:
    """The settings of one judge, or of a panel; each judge gets the options that it has."""
    given = {name: value for name, value in wanted.items() if value is not None}
    known = {name for kind in kinds for name in KINDS[kind.value].model_fields}
    if others := [name for name in given if name not in known]:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in others)
        having = [one for one in JudgeKind if KINDS[one].model_fields.keys() >= {*others}]
        use = f"; use --judge {' or '.join(having)}" if having else ""
        raise SettingsError(f"{names}: not for --judge {' and '.join(kinds)}{use}")
    each = [
        {"kind": kind.value}
        | {name: value for name, value in given.items() if name in KINDS[kind.value].model_fields}
        for kind in kinds
    ]
    of_one = each[0] if len(each) == 1 else {"kind": "panel", "judges": each}
    return JudgeSettings.of("options", **of_one)


def _judge_one(given: dict[str, Any], settings: JudgeSettings) -> None:
    if not given["reference"] or given["response"] is None:
        raise _UsageError("nothing to judge: give FILE, or --reference and --response")
    item = validate(Item, {k: v for k, v in given.items() if v is not None}, "options")
    judgement = judge_each(build_judge(settings), [item])[0]
    if judgement.outcome is Outcome.FAILED:
        raise EngineError(judgement.reason)
    typer.echo(str(judgement))


def _built(settings: JudgeSettings) -> Judge:
    judge = build_judge(settings)
    _ = judge.fingerprint  # loads the models that a cascade loads on first use
    if said := unasked(settings):
        typer.echo(said, err=True)
    if missing := missing_kinds(judge):
        listed = "\n  ".join(missing)
        withheld = "max_error: these verdicts are withheld, as the bound is not shown for them"
        typer.echo(f"{withheld}\n  {listed}", err=True)
    return on_every_core(judge, settings)


@app.command()
def example(
    output: Annotated[
        Path, typer.Argument(metavar="FILE", help=f"The table to write: {', '.join(SUFFIXES)}.")
    ],
) -> None:
    """Write example answers to try the commands on.

    They have labels. Then: gradegpt judge FILE -o judged.csv, or gradegpt eval FILE. The rules were
    developed on these answers, so they show the commands, not how often the rules are right.
    """
    form = _form_of(output)
    if output.exists():
        raise OutputError(f"{output}: exists already; choose another name")
    columns = ("id", "question", "reference", "response", LABEL)
    held = ({**row, LABEL: row["verdict"]} for _, row in read_objects(found(_EXAMPLES)))
    rows = [{name: row[name] for name in columns} for row in held]
    with whole_file(output, "utf-8-sig" if form in SEPARATED else UTF8) as out:
        write(out, form, columns, rows)
    typer.echo(f"wrote {output}: {len(rows)} answers, on which the rules were developed")
    typer.echo(f"try gradegpt judge {output} -o judged.csv")


def _stage(context: typer.Context) -> None:
    """Pass everything after the command's name to the stage, which has its own help."""
    assert context.info_name is not None
    run_stage(context.info_name, context.args)


for _name, _command in COMMANDS.items():
    app.command(
        _name, help=_command.help, add_help_option=False,
        context_settings={
            "allow_extra_args": True, "allow_interspersed_args": False,
            "ignore_unknown_options": True,
        },
    )(_stage)  # fmt: skip
