"""Labels -> a measured judge: ``gradegpt finetune graded.csv --base BASE -o judges/mine``.

Every step is a command of its own on the files in ``OUT/work``, so each can be given again by
hand, and a run that was stopped anywhere goes on from there:

1. ``data``            train, dev and test rows, by question; a teacher labels rows without labels
2. ``train``           a LoRA adapter, with settings for this machine (``work/train.yaml``)
3. ``eval.calibrate``  what the judge's verdicts are worth, on dev
4. ``eval``            the judge beside its base, the rules and the cascades, on test
5. ``eval.attacks``    whether it accepts responses that try to manipulate it

``OUT`` is then a judge that ``judge``, ``serve`` and ``eval`` take by its path.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
import yaml

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import MissingError, OutputError, SettingsError
from gradegpt.core.records import or_example, sha256_file, whole_file, write_json
from gradegpt.core.settings import build_settings
from gradegpt.core.shipped import ADAPTER_CONFIG, adapter_of, base_of, found, is_judge
from gradegpt.engines.files import BEGUN, check_weights
from gradegpt.judges.calibration import CALIBRATION_FILE, read_calibration

from .loading import is_encoder
from .plan import chosen, estimate
from .settings import SFTSettings
from .summary import ATTACKS, SHEET, conclusion

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

MANIFEST: Final = "manifest.json"
_PACKAGES: Final = (
    "torch", "transformers", "peft", "trl", "datasets", "accelerate", "scipy", "jinja2",
)  # fmt: skip
"""What the steps import, checked before the first."""
_OF_ROWS: Final = ("format", "seed", "test", "mix", "columns", "sheet", "separator")
_DATA: Final = "data."
"""The prefix of changes to the settings of ``data``; the others are those of ``train``."""
_MAX_FALSE_ACCEPT: Final = 0.01
_CONTRADICTED: Final = 0.1
_LEAST_CONTRADICTED: Final = 5
"""The share and the number of labels that the rules may contradict in a cascade with them."""

Options = Mapping[str, Any]
"""The command's options, by name."""


def finetune(given: Options) -> dict[str, Any]:
    """Train and measure a judge in the folder ``given["out"]``; return its manifest.

    A stopped run has to be given the same options.

    Raises:
        MissingError: the table or the base is not there.
        SettingsError: a setting is unknown, or the options differ from those of the stopped run.
        OutputError: the folder holds something else, or the disk is too small.
        typer.Exit: a step failed, and has said why.

    """
    out = Path(given["out"])
    work, begun = out / "work", _check(given, out)
    data = _prepare(given, work / "data")
    settings = _training(given, work, "data")
    write_json(work / BEGUN, begun)
    takes, disk = estimate(settings)
    if (free := shutil.disk_usage(out).free) < disk:
        raise OutputError(
            f"{out}: the disk has {free / 1e9:.2f} GB free, and checkpoints and reports need "
            f"{disk / 1e9:.2f}; free some, or choose -o on another disk"
        )
    typer.echo(takes)
    _train(settings, work)
    for path in (settings.folder / "adapter").iterdir():
        shutil.copyfile(path, out / path.name)
    _calibrate(work, out)
    measured = bool(data["counts"]["test"])
    judges = _judges(out, settings, data)
    report = _evaluate(work, "eval", judges, f"judge {settings.name}") if measured else None
    attacks = _attack(work, out)
    use, why = _to_use(out, data)
    manifest = {
        "stage": "finetune",
        "options": dict(given),
        "base": settings.base_name or settings.model,
        "data": {k: data[k] for k in ("counts", "questions", "rules", "chain_format", "no_chain")},
        "use": use,
        "why": why,
        "attacks": attacks,
    }
    lines = list(conclusion(report, manifest, str(out)))
    _write_card(settings.folder / "adapter" / "README.md", out / "README.md", lines)
    for name in ("report.html", "report.json") if measured else ():
        shutil.copyfile(work / "eval" / name, out / name)
    if data["counts"]["sheet"]:
        shutil.copyfile(work / "data" / SHEET, out / SHEET)
    for checkpoint in work.glob("*/checkpoint-*"):
        shutil.rmtree(checkpoint)
    write_json(out / MANIFEST, manifest)
    typer.echo("\n" + "\n".join(lines))
    return manifest


def _write_card(of_adapter: Path, path: Path, lines: Sequence[str]) -> None:
    """The adapter's card, with the measured figures and commands instead of its use."""
    head, _, use = of_adapter.read_text(encoding="utf-8").partition("## Use\n")
    data = use.partition("## Data\n")[1:]
    measured = "\n    ".join(("## Measured\n", *lines))
    with whole_file(path) as file:
        file.write(f"{head}{measured}\n\n{''.join(data)}")


def _check(given: Options, out: Path) -> dict[str, Any]:
    """What this run depends on, after the checks that need no data."""
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise MissingError(f"not installed: {', '.join(missing)}; pip install 'gradegpt[train]'")
    if not (given["base"] or given["from"]):
        raise SettingsError("base: missing; name a chat model, such as --base Qwen/Qwen3-0.6B")
    if given["from"] and not is_judge(given["from"]):
        what = f"is no judge; to train a model give --base {given['from']}"
        raise SettingsError(f"--from {given['from']}: {what}")
    if (out / MANIFEST).is_file():
        raise OutputError(f"{out}: holds a finished judge; choose another -o, or remove the folder")
    unused = {"name": "finetune", "data": "data", "model": "base"}
    build_settings(SFTSettings, unused, "finetune", _changes(given))
    begun = out / "work" / BEGUN
    if out.exists() and not begun.is_file() and {p.name for p in out.iterdir()} - {"work"}:
        raise OutputError(f"{out}: exists, and no run of finetune made it; choose another -o")
    files = {name: given[name] for name in ("source", "test") if given[name]}
    for path in files.values():
        if not Path(path).is_file():
            raise MissingError(f"{path}: no such file; give labelled answers{or_example(path)}")
    base = base_of(given["base"] or given["from"])
    check_weights(base)
    if given["format"] == "chain" and is_encoder(base):
        raise SettingsError(f"--format chain: {base} is an encoder, which writes no chain")
    now = dict(given) | {name: sha256_file(path) for name, path in files.items()}
    before = json.loads(begun.read_text(encoding="utf-8")) if begun.is_file() else now
    if changed := [name for name in now if now[name] != before.get(name)]:
        raise SettingsError(
            f"{out}: was begun with another {', '.join(changed)}; give the same command to "
            "resume, choose another -o, or remove the folder"
        )
    return now


def _changes(given: Options) -> list[str]:
    """The changes to the settings of training."""
    return [change for change in given["changes"] if not change.startswith(_DATA)]


def _prepare(given: Options, folder: Path) -> dict[str, Any]:
    """Write the rows into ``folder``; return the manifest."""
    settings = {
        "name": folder.name,
        "kind": "labelled",
        "path": given["source"],
        "out": str(folder),
        "skip_bad": given["skip-bad"],
    } | {name: given[name] for name in _OF_ROWS if given[name]}
    if given["teacher"]:
        key = "OPENAI_API_KEY" if os.environ.get("OPENAI_API_KEY") else ""
        settings["teacher"] = {
            "model": given["teacher"],
            "base_url": given["teacher-url"],
            "api_key_env": key if given["teacher-url"] else "",
            "cache": str(folder.parent / "teacher.sqlite"),
        }
    if is_encoder(base_of(given["base"] or given["from"])):
        settings["format"] = "tag"
    own = (c.removeprefix(_DATA) for c in given["changes"] if c.startswith(_DATA))
    path, wrote = folder.with_suffix(".yaml"), folder / MANIFEST
    made: dict[str, Any] = _with_settings("data", path, settings, wrote, *own)
    return made


def _training(given: Options, work: Path, data: str) -> SFTSettings:
    """The settings of the training on the rows of a folder: for this machine, then the user's."""
    rows = json.loads((work / data / MANIFEST).read_text(encoding="utf-8"))
    wanted = {
        "name": Path(given["out"]).resolve().name,
        "data": str(work / data),
        "model": base_of(given["base"] or given["from"]),
        "base_name": _base_name(given),
        "adapter": given["from"] or "",
        "out": str(work / data.replace("data", "train")),
        "prompt": rows["settings"]["prompt"],
    }
    planned = chosen(wanted, given["seed"])
    return build_settings(SFTSettings, planned, "finetune", _changes(given))


def _base_name(given: Options) -> str:
    """The base's name in the adapter: a folder's whole path, so that it is found from anywhere."""
    if given["base"] is None:
        config = Path(adapter_of(given["from"])) / ADAPTER_CONFIG
        return str(json.loads(config.read_text(encoding="utf-8"))["base_model_name_or_path"])
    base = Path(given["base"])
    return str(base.resolve()) if base.is_dir() else ""


def _step(
    command: str, *arguments: str, wrote: Path, may_fail: bool = False, said: Path | None = None
) -> dict[str, Any]:
    """Run a command as a user would, and return the manifest or report that it wrote.

    Each has a process of its own, which returns its memory. Ctrl-C reaches it, too. What it prints
    goes to the file ``said``, if there is one: the last lines of ``finetune`` say what matters.

    Raises:
        typer.Exit: it failed, and has said why.

    """
    where = f" > {said}" if said else ""
    typer.echo(f"\n$ {shlex.join(['gradegpt', command, *arguments])}{where}")
    words = [sys.executable, "-m", "gradegpt", command, *arguments]
    with said.open("w", encoding="utf-8") if said else nullcontext() as out:
        code = subprocess.run(words, check=False, stdout=out).returncode
    if code and not (may_fail and code == 1):
        raise typer.Exit(code if code > 0 else 1)
    read: dict[str, Any] = json.loads(wrote.read_text(encoding="utf-8"))
    return read


def _with_settings(
    command: str, path: Path, settings: Options, wrote: Path, *changes: str, **step: Any
) -> Any:
    """Write a command's settings, and run it with them and some changes."""
    with whole_file(path) as out:
        out.write(f"# gradegpt {command} {path}\n")
        yaml.safe_dump(dict(settings), out, allow_unicode=True, sort_keys=False)
    measures = command.startswith("eval")
    replaced, said = ("--overwrite",) * measures, path.with_suffix(".txt") if measures else None
    return _step(command, str(path), *changes, *replaced, wrote=wrote, said=said, **step)


def _train(settings: SFTSettings, work: Path) -> None:
    changed = settings.model_dump(mode="json", exclude_defaults=True)
    folder = settings.folder
    _with_settings("train", work / f"{folder.name}.yaml", changed, folder / MANIFEST)


def _calibrate(work: Path, out: Path) -> None:
    folder = work / "calibrate"
    settings = {
        "name": "calibrate",
        "out": str(folder),
        "sources": [_examples(work, "dev")],
        "judge": {"kind": "model", "model": str(out)},
        "after": [{"kind": "rules"}],
        "least_rows": 20,
    }
    (out / CALIBRATION_FILE).unlink(missing_ok=True)
    wrote = folder / CALIBRATION_FILE
    _with_settings("eval.calibrate", work / "calibrate.yaml", settings, wrote)
    shutil.copyfile(wrote, out / CALIBRATION_FILE)


def _to_use(out: Path, data: Options) -> tuple[str, str]:
    """The measured judge to use, and why; by the training and dev rows, never by the test rows."""
    decided = data["rules"]["decided"]
    wrong = decided - data["rules"]["agree"]
    if wrong >= _LEAST_CONTRADICTED and wrong > _CONTRADICTED * decided:
        told = f"the rules contradict {wrong} of the {decided} labels that they decide"
        return "tuned", f"the model alone, as {told}"
    if read_calibration(out / CALIBRATION_FILE).weights:
        return "cascade", "rules, then the model, with confidences measured on dev"
    told = "every verdict given: too few dev rows show how far to trust the model"
    return "cascade-all", f"rules, then the model, {told}"


def _examples(work: Path, part: str) -> dict[str, Any]:
    return {"path": str(work / "data" / "examples" / f"{part}.jsonl"), "fields": None}


def _judges(out: Path, settings: SFTSettings, data: Options) -> list[dict[str, Any]]:
    """The judges to measure; what is made of them is not asked twice."""
    prompt = data["settings"]["prompt"]
    base = {"kind": "model", "model": settings.model, "adapter": None, "prompt": prompt}
    tuned = {"name": "tuned", "kind": "model", "model": str(out)}
    own = prompt | {"chain_format": data["chain_format"]}  # the chain's verdict, not the tag's
    chain = {"name": "tuned-chain", "prompt": own}
    judges = [
        {"kind": "rules"},
        base | {"name": "untrained"},
        *([base | {"name": "before", "adapter": settings.adapter}] if settings.adapter else []),
        tuned,
        *([tuned | chain] if data["counts"]["chains"] else []),
        {"name": "cascade-untrained", "kind": "cascade", "judges": [{"kind": "rules"}, base]},
        *_cascades(out),
    ]
    # The head of an encoder is made by training: there is no judge before it.
    without = is_encoder(settings.model)
    return [j for j in judges if not without or "untrained" not in j.get("name", "")]


def _cascades(out: Path) -> list[dict[str, Any]]:
    """The cascade that abstains where it is unsure, and the one that gives every verdict."""
    cascade = {"name": "cascade", "kind": "cascade", "model": str(out)}
    return [cascade, cascade | {"name": "cascade-all", "min_confidence": 0}]


def _evaluate(work: Path, name: str, judges: list[dict[str, Any]], title: str) -> dict[str, Any]:
    """The report of the judges on the test rows."""
    folder = work / name
    settings = {
        "name": re.sub(r"[^\w .+-]", "-", title),
        "out": str(folder),
        "sources": [_examples(work, "test")],
        "judges": judges,
    }
    wrote = folder / "report.json"
    return dict(_with_settings("eval", work / f"{name}.yaml", settings, wrote))


def _attack(work: Path, out: Path) -> dict[str, Any]:
    """The rates at which the judge calls attacks correct, alone and in the cascade."""
    rows, folder = work / "attacks", work / "eval-attacks"
    _step("data", "attacks-check", f"out={rows}", wrote=rows / MANIFEST)
    settings = {
        "name": "attacks",
        "out": str(folder),
        "max_false_accept": _MAX_FALSE_ACCEPT,
        "sample": ATTACKS,
        "sources": [{"path": str(rows / "attacks.jsonl"), "fields": None}],
        "judges": [{"name": "tuned", "kind": "model", "model": str(out)}, *_cascades(out)],
    }
    wrote = folder / "report.json"
    report = _with_settings("eval.attacks", work / "attacks.yaml", settings, wrote, may_fail=True)
    return {one["judge"]: one["overall"] | {"exceeds": one["exceeds"]} for one in report["judges"]}


@app.command(
    epilog="Try it without a download: gradegpt finetune train/data/policy.csv --base nano -o "
    "judges/demo"
)
def main(
    source: options.Labelled,
    output: Annotated[str, options.output("A new folder for the judge.")],
    base: Annotated[
        str | None,
        typer.Option(
            help="The model to train: the folder or Hugging Face name of a chat model, such as "
            "Qwen/Qwen3-0.6B, or of an encoder, such as ModernBERT; nano is a tiny built-in one "
            "for trying the command."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="JUDGE",
            help="Train on from a judge: gradegpt-1.5b, or the folder of one.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "those of training (sft.num_train_epochs, sft.learning_rate, lora.r, qlora, ...) and, "
            "after data., those of gradegpt data labelled (data.test_share=0.3, "
            "data.teacher.budget=5, ...)."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Measure on this table instead of held-out questions."),
    ] = None,
    chain: Annotated[
        Literal["tag", "chain", "both"],
        typer.Option(
            "--format",
            help="tag: the judge gives the verdict alone. chain: it explains the verdict where a "
            "checked explanation can be written. both: it can be asked either way.",
        ),
    ] = "both",
    teacher: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="A large model that labels the rows without a label, and writes chains where no "
            "other source has one; without --teacher-url it runs in this process.",
        ),
    ] = "",
    teacher_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The OpenAI-compatible server of the teacher, including /v1. Its API key is read "
            "from $OPENAI_API_KEY.",
        ),
    ] = "",
    mix: Annotated[
        list[str] | None,
        typer.Option(metavar="FOLDER", help="Add the training rows of gradegpt data; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split, the adapter and the order.")] = 0,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
    skip_bad: options.SkipBad = False,
) -> None:
    """Fine-tune a judge on labelled answers, and say by how much it is better.

    Splits the answers by question, trains a LoRA adapter with settings for this machine, calibrates
    it, and measures it on held-out questions beside the untrained base, the rules and cascades of
    them, and against attacks. The last lines say in words what came out and how to use the judge.
    With --teacher the rows need no labels; then OUT/to_label.csv has answers for you to label, on
    which the judge can be measured.

    OUT is the judge, for --model OUT or gradegpt serve OUT: adapter, prompt settings, calibration,
    card and report.html. OUT/work has the files of every step. A run that was stopped, also by
    Ctrl-C, goes on when the same command is given again.
    """
    given = {
        "source": found(source), "out": output, "base": base, "from": start, "test": test,
        "format": chain, "mix": mix or [], "seed": seed, "teacher": teacher,
        "teacher-url": teacher_url,
        **options.reading_of(mapped, sheet, separator)._asdict(), "skip-bad": skip_bad,
        "changes": overrides or [],
    }  # fmt: skip
    try:
        finetune(given)
    except KeyboardInterrupt:
        typer.echo("stopped; give the same command again to go on from there", err=True)
        raise typer.Exit(130) from None


if __name__ == "__main__":
    run(app, name="gradegpt finetune")
