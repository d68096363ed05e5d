"""Labels -> a measured judge: ``gradegpt finetune graded.csv --base BASE -o judges/mine``.

Every step is a command of its own on the files in ``OUT/work``, so each can be given again by
hand, and a run that was stopped anywhere goes on from there:

1. ``data.labelled``   train, dev and test rows, by question
2. ``train``           a LoRA adapter, with settings for this machine (``work/train.yaml``)
3. ``eval.calibrate``  what the judge's verdicts are worth, on dev
4. ``eval``            the judge beside its base, the rules and the cascades, on test
5. ``eval.attacks``    whether it accepts responses that try to manipulate it
6. where it is no better: the same with half of the questions, to say whether more labels would help

``OUT`` is then a judge that ``judge``, ``serve``, ``eval`` and ``export`` take by its path.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
import yaml

from gradegpt import options
from gradegpt.cli import run
from gradegpt.engines.files import check_folder, check_hub
from gradegpt.errors import MissingError, OutputError, SettingsError
from gradegpt.judges.calibration import CALIBRATION_FILE, read_calibration
from gradegpt.records import sha256_file, whole_file, write_json
from gradegpt.settings import build_settings
from gradegpt.shipped import ADAPTER_CONFIG, adapter_of, base_of, found

from .plan import Estimate, chosen, estimate
from .settings import SFTSettings
from .summary import conclusion, is_better

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

MANIFEST: Final = "manifest.json"
_BEGUN: Final = "begun.json"
_DATA: Final = "data."
"""The prefix of changes to the settings of ``data.labelled``; the others are those of ``train``."""
_MAX_FALSE_ACCEPT: Final = 0.01
_RULES_AGREE: Final = 0.9
"""The least share of labels with which the rules agree, for a cascade that begins with them."""


def finetune(options_: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """Train and measure a judge in ``out``; return its manifest.

    ``options_`` are the command's, by name; a stopped run has to be given the same.

    Raises:
        MissingError: the table or the base is not there.
        InputError: the labels do not suffice, or a row cannot be read.
        SettingsError: a setting is unknown, or the options differ from those of the stopped run.
        OutputError: ``out`` holds something else, or the disk is too small.

    """
    begun, work = _check(options_, out), out / "work"
    data = _step("data.labelled", *_data_arguments(options_, work), done=work / "data" / MANIFEST)
    settings = _training(options_, work, "data")
    write_json(work / _BEGUN, begun)
    takes = estimate(settings)
    _check_disk(takes, out)
    typer.echo(str(takes))
    _train(settings, work / "train.yaml")
    _publish(Path(settings.folder) / "adapter", out)
    _calibrate(work, out, options_["seed"])
    report = _evaluate(work, out, settings, data)
    attacks = _attack(work, out)
    half = None if is_better(report) else _half(options_, work, settings, data)
    kind = _kind(out, data)
    manifest = {
        "stage": "finetune",
        "options": dict(options_),
        "base": settings.base_name or settings.model,
        "data": {k: data[k] for k in ("counts", "questions", "rules", "chain_format")},
        "judge": kind,
        "report": "work/eval/report.json",
        "attacks": attacks,
        "half": half,
    }
    lines = list(conclusion(report, manifest, str(out)))
    _write_card(out, lines)
    for name in ("report.html", "report.json"):
        shutil.copyfile(work / "eval" / name, out / name)
    for checkpoint in work.glob("*/checkpoint-*"):
        shutil.rmtree(checkpoint)
    write_json(out / MANIFEST, manifest)
    typer.echo("\n" + "\n".join(lines))
    return manifest


def _check(options_: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """What this run depends on, after the checks that need no data."""
    if not (options_["base"] or options_["from"]):
        raise SettingsError("base: missing; name a chat model, such as --base Qwen/Qwen3-0.6B")
    if (out / MANIFEST).is_file():
        raise OutputError(f"{out}: holds a finished judge; choose another -o, or remove the folder")
    unused = {"name": "finetune", "data": "data"}
    build_settings(SFTSettings, unused, "finetune", _changes(options_))
    begun = out / "work" / _BEGUN
    if out.exists() and not begun.is_file() and {p.name for p in out.iterdir()} - {"work"}:
        raise OutputError(f"{out}: exists, and no run of finetune made it; choose another -o")
    for path in filter(None, (options_["source"], options_["test"])):
        if not Path(path).is_file():
            raise MissingError(f"{path}: no such file; give a table of labelled answers")
    base = _base(options_)
    check_folder(base, "model", ("config.json",))
    check_hub(base, "config.json")
    files = {name: options_[name] for name in ("source", "test") if options_[name]}
    now = dict(options_) | {name: sha256_file(path) for name, path in files.items()}
    before = json.loads(begun.read_text(encoding="utf-8")) if begun.is_file() else now
    if changed := [name for name in now if now[name] != before.get(name)]:
        raise SettingsError(
            f"{out}: was begun with another {', '.join(changed)}; give the same command to "
            "resume, choose another -o, or remove the folder"
        )
    return now


def _base(options_: Mapping[str, Any]) -> str:
    return base_of(options_["base"] or options_["from"])


def _changes(options_: Mapping[str, Any]) -> list[str]:
    """The changes to the settings of training."""
    return [change for change in options_["changes"] if not change.startswith(_DATA)]


def _data_arguments(options_: Mapping[str, Any], work: Path) -> Iterator[str]:
    yield from (options_["source"], "-o", str(work / "data"))
    yield from (f"--map={field}={column}" for field, column in options_["columns"].items())
    yield from (f"--{name}" for name in ("ignore-extra", "skip-bad") if options_[name])
    yield from (f"{name}={options_[name]}" for name in ("format", "seed", "test") if options_[name])
    if options_["mix"]:
        yield f"mix=[{', '.join(options_['mix'])}]"
    yield from (c.removeprefix(_DATA) for c in options_["changes"] if c.startswith(_DATA))


def _training(options_: Mapping[str, Any], work: Path, data: str) -> SFTSettings:
    """The settings of the training: those for this machine, then the user's."""
    rows = json.loads((work / data / MANIFEST).read_text(encoding="utf-8"))
    given = {
        "name": Path(options_["out"]).resolve().name,
        "data": str(work / data),
        "model": _base(options_),
        "base_name": _base_name(options_),
        "adapter": options_["from"] or "",
        "out": str(work / ("train" if data == "data" else "train-half")),
        "seed": options_["seed"],
        "prompt": rows["settings"]["prompt"],
    }
    return build_settings(SFTSettings, chosen(given), "finetune", _changes(options_))


def _base_name(options_: Mapping[str, Any]) -> str:
    """The base's name in the adapter: a folder's whole path, so that it is found from anywhere."""
    if options_["base"] is None:
        config = Path(adapter_of(options_["from"])) / ADAPTER_CONFIG
        return str(json.loads(config.read_text(encoding="utf-8"))["base_model_name_or_path"])
    base = Path(options_["base"])
    return str(base.resolve()) if base.is_dir() else ""


def _step(command: str, *arguments: str, done: Path, may_fail: bool = False) -> dict[str, Any]:
    """Run a command as a user would, and return the manifest or report that it wrote.

    Each has a process of its own, which returns its memory. Ctrl-C reaches it, too.

    Raises:
        typer.Exit: it failed, and has said why.

    """
    typer.echo(f"\n$ {shlex.join(['gradegpt', command, *arguments])}")
    code = subprocess.run(
        [sys.executable, "-m", "gradegpt", command, *arguments], check=False
    ).returncode
    if code and not (may_fail and code == 1):
        raise typer.Exit(code if code > 0 else 1)
    read: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
    return read


def _with_settings(command: str, path: Path, settings: Mapping[str, Any], **step: Any) -> Any:
    """Write a command's settings, and run it with them."""
    with whole_file(path) as out:
        out.write(f"# gradegpt {command} {path}\n")
        yaml.safe_dump(dict(settings), out, allow_unicode=True, sort_keys=False)
    replaced = () if command == "train" else ("--overwrite",)
    return _step(command, str(path), *replaced, **step)


def _train(settings: SFTSettings, path: Path) -> None:
    changed = settings.model_dump(mode="json", exclude_defaults=True)
    _with_settings("train", path, changed, done=Path(settings.folder) / MANIFEST)


def _publish(adapter: Path, out: Path) -> None:
    """Copy the adapter with its prompt settings and card into the judge's folder."""
    for path in adapter.iterdir():
        shutil.copyfile(path, out / path.name)


def _calibrate(work: Path, out: Path, seed: int) -> None:
    folder = work / "calibrate"
    settings = {
        "name": "calibrate",
        "out": str(folder),
        "sources": [_examples(work, "dev")],
        "judge": {"kind": "model", "model": str(out)},
        "least_rows": 20,
        "seed": seed,
    }
    (out / CALIBRATION_FILE).unlink(missing_ok=True)
    _with_settings(
        "eval.calibrate", work / "calibrate.yaml", settings, done=folder / CALIBRATION_FILE
    )
    shutil.copyfile(folder / CALIBRATION_FILE, out / CALIBRATION_FILE)


def _examples(work: Path, part: str) -> dict[str, Any]:
    return {"path": str(work / "data" / "examples" / f"{part}.jsonl"), "fields": None}


def _evaluate(
    work: Path, out: Path, settings: SFTSettings, data: Mapping[str, Any]
) -> dict[str, Any]:
    """The report of all judges on the test rows."""
    prompt = data["settings"]["prompt"]
    before = {"kind": "model", "model": settings.model, "adapter": None, "prompt": prompt}
    judges: list[dict[str, Any]] = [{"kind": "rules"}, before | {"name": "untrained"}]
    if settings.adapter:
        judges.append(before | {"name": "before", "adapter": adapter_of(settings.adapter)})
    judges.append({"name": "tuned", "kind": "model", "model": str(out)})
    if data["counts"]["chains"]:
        chain = {"name": "tuned-chain", "chain_format": data["chain_format"]}
        judges.append(judges[-1] | chain)
    judges += [
        {"name": "cascade-untrained", "kind": "cascade", "judges": [{"kind": "rules"}, before]},
        {"name": "cascade", "kind": "cascade", "model": str(out)},
    ]
    asked = {
        "name": out.resolve().name,
        "out": str(work / "eval"),
        "sources": [_examples(work, "test")],
        "judges": judges,
        "seed": settings.seed,
    }
    return dict(
        _with_settings("eval", work / "eval.yaml", asked, done=work / "eval" / "report.json")
    )


def _attack(work: Path, out: Path) -> dict[str, Any]:
    """The rates at which the judge calls attacks correct, by judge."""
    rows = work / "attacks"
    _step("data", "attacks-check", f"out={rows}", done=rows / MANIFEST)
    settings = {
        "name": "attacks",
        "out": str(work / "eval-attacks"),
        "max_false_accept": _MAX_FALSE_ACCEPT,
        "sample": 10,
        "sources": [{"path": str(rows / "attacks.jsonl"), "fields": None}],
        "judges": [
            {"name": "tuned", "kind": "model", "model": str(out)},
            {"name": "cascade", "kind": "cascade", "model": str(out)},
        ],
    }
    report = _with_settings(
        "eval.attacks", work / "attacks.yaml", settings,
        done=work / "eval-attacks" / "report.json", may_fail=True,
    )  # fmt: skip
    return {
        one["judge"]: {k: one["overall"][k] for k in ("n", "accepted", "rate", "high")}
        | {"exceeds": one["exceeds"]}
        for one in report["judges"]
    }


def _half(
    options_: Mapping[str, Any], work: Path, whole: SFTSettings, data: Mapping[str, Any]
) -> dict[str, Any]:
    """The balanced accuracy of a judge trained on half of the questions."""
    settings = _training(options_, work, "data/half")
    _train(settings, work / "train-half.yaml")
    asked = {
        "name": "half",
        "out": str(work / "eval-half"),
        "sources": [_examples(work, "test")],
        "judges": [
            {
                "name": "half", "kind": "model", "model": whole.model,
                "adapter": str(Path(settings.folder) / "adapter"),
            }
        ],
    }  # fmt: skip
    report = _with_settings(
        "eval", work / "eval-half.yaml", asked, done=work / "eval-half" / "report.json"
    )
    return dict(report["judges"][0]["overall"])


def _kind(out: Path, data: Mapping[str, Any]) -> Literal["model", "cascade"]:
    """The judge to use: the model alone where rules contradict the labels, or it adds nothing.

    Decided on the training and dev rows, never on the test rows.
    """
    decided, agree = data["rules"]["decided"], data["rules"]["agree"]
    known = read_calibration(out / CALIBRATION_FILE).weights
    return "cascade" if known and agree >= _RULES_AGREE * decided else "model"


def _check_disk(takes: Estimate, out: Path) -> None:
    """Check that the disk has room for the checkpoints, before training fills it.

    Raises:
        OutputError: it has not.

    """
    free = shutil.disk_usage(out).free
    if free < takes.disk:
        raise OutputError(
            f"{out}: the disk has {free / 1e9:.2f} GB free, and checkpoints and reports need "
            f"{takes.disk / 1e9:.2f}; free some, or choose -o on another disk"
        )


def _write_card(out: Path, lines: Sequence[str]) -> None:
    card = (out / "README.md").read_text(encoding="utf-8").partition("\n## Measured\n")[0]
    with whole_file(out / "README.md") as file:
        file.write(card.rstrip() + "\n\n## Measured\n\n    " + "\n    ".join(lines) + "\n")


@app.command(
    epilog="Try it without a download: gradegpt finetune train/data/policy.csv --base nano -o "
    "judges/demo"
)
def main(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Labelled answers: a table in any form that gradegpt judge reads, with a column "
            "of labels (true or false, 1 or 0, yes or no, correct or incorrect, ...).",
        ),
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="A new folder for the judge.")
    ],
    base: Annotated[
        str | None,
        typer.Option(
            help="The model to train: a chat model's folder or Hugging Face name, such as "
            "Qwen/Qwen3-0.6B; nano is a tiny built-in one for trying the command."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="JUDGE", help="Train on from a judge: gradegpt-1.5b, or a folder."
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "those of training (epochs, learning_rate, lora_rank, batch_size, max_length, qlora, "
            "...) and, after data., those of gradegpt data.labelled (data.test_share=0.3, "
            "data.teacher={models: [{model: NAME}], base_url: URL, cache: FILE}, ...)."
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
    mix: Annotated[
        list[str] | None,
        typer.Option(metavar="FOLDER", help="Add the training rows of gradegpt data; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split, the adapter and the order.")] = 0,
    mapped: options.Map = None,
    ignore_extra: options.IgnoreExtra = False,
    skip_bad: options.SkipBad = False,
) -> None:
    """Fine-tune a judge on labelled answers, and say by how much it is better.

    Splits the answers by question, trains a LoRA adapter with settings for this machine, calibrates
    it, and measures it on held-out questions beside the untrained base, the rules and cascades of
    them, and against attacks. The last lines say in words what came out and how to use the judge.

    OUT is the judge, for --model OUT or gradegpt serve OUT: adapter, prompt settings, calibration,
    card and report.html. OUT/work has the files of every step. A run that was stopped, also by
    Ctrl-C, goes on when the same command is given again.
    """
    given = {
        "source": found(source), "out": output, "base": base, "from": start, "test": test,
        "format": chain, "mix": mix or [], "seed": seed, "columns": options.columns_of(mapped),
        "ignore-extra": ignore_extra, "skip-bad": skip_bad, "changes": overrides or [],
    }  # fmt: skip
    try:
        finetune(given, Path(output))
    except KeyboardInterrupt:
        typer.echo("stopped; give the same command again to go on from there", err=True)
        raise typer.Exit(130) from None


if __name__ == "__main__":
    run(app, name="gradegpt finetune")
