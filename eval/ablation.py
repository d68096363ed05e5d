"""Reproduce the paper's ablation: ``gradegpt eval.ablation configs/eval/ablation-0.5b.yaml``.

Each chain format is trained by the command that users give, on the same rows rewritten, at equal
steps and at equal tokens; ``eval`` judges the same labelled rows with all of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

import typer
from pydantic import Field

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.chains.chain import (
    PromptSettings,
    TagPlace,
    build_prompt,
    parse_chain,
    parse_prompt,
    render_chain,
)
from gradegpt.chains.fit import Budget
from gradegpt.chains.shots import MOST
from gradegpt.core.errors import InputError, MissingError, OutputError
from gradegpt.core.records import read_rows, validate, write_json, write_rows
from gradegpt.core.schema import ChainFormat, Message, TrainingRow, Verdict
from gradegpt.core.settings import Settings, load_settings
from gradegpt.judges.settings import JudgeSettings

from .console import limits, percent, show, signed
from .evaluate import EvalReport, evaluate
from .metrics import JudgeMetrics
from .settings import EvalSettings, RowsSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_FIRST: Final = ChainFormat.OUTCOME
LONGEST: Final = ChainFormat.CROSS_LINGUAL
"""The format of the rows that are rewritten into the others."""
_UNCUT: Final = Budget(question=10**6, reference=10**6, response=10**6)
"""The texts of a training row's prompt fit already, and are not fitted again."""


class Arm(Settings):
    """A judge to compare: a base trained on a chain format, or untrained with ``shots`` examples.

    ``verdict`` is the place of the tag; a judge whose tag is first writes no chain.
    """

    chain_format: ChainFormat
    verdict: TagPlace = "last"
    shots: int | None = Field(default=None, ge=0, le=MOST)

    @property
    def name(self) -> str:
        """The name in the table."""
        first = "-first" if self.verdict == "first" else ""
        base = "" if self.shots is None else f"-{self.shots}-shot"
        return f"{self.chain_format.value}{first}{base}"


class AblationSettings(RowsSettings):
    """The arms on the same rows; those that are trained are trained alike, with every seed.

    ``data`` is a folder of ``data_gen``: its cross-lingual rows are rewritten into each format.
    ``recipe`` is a settings file of ``train``; ``train`` changes some of its keys for all runs.
    ``steps`` is the length of the equal-steps runs; the equal-tokens runs of the formats with
    shorter rows have more steps. ``judge`` are further settings of every judge.
    """

    command: ClassVar[str] = "eval.ablation"
    data: str
    recipe: str
    model: str
    train: dict[str, str] = Field(default={})
    arms: tuple[Arm, ...] = Field(
        default=tuple(Arm(chain_format=one) for one in ChainFormat), min_length=1
    )
    steps: int = Field(default=300, ge=1)
    seeds: tuple[int, ...] = Field(default=(0, 1, 2), min_length=1)
    judge: dict[str, Any] = Field(default={"max_new_tokens": 256})


class ArmRun(NamedTuple):
    """A judge of an arm: which budget was equal, its seed and its folder; none if untrained."""

    arm: Arm
    budget: Literal["steps", "tokens", "none"]
    seed: int
    steps: int
    tokens: int
    folder: Path


@app.command(epilog="A first look: gradegpt eval.ablation ablation-0.5b name=quick steps=10")
def main(
    config: Annotated[Path, options.config("ablation-0.5b")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "name, data, recipe, model, arms, steps, seeds, train.KEY (any setting of the "
            "recipe), judge.KEY, sources."
        ),
    ] = None,
    output: options.Folder = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Train each chain format alike, with every seed, and measure what the format is worth.

    The tag alone (outcome), the chain in one language and the cross-lingual chain (CMMaTH, table
    8): on the same rows, at equal steps and at equal training tokens; beside them the untrained
    base with worked examples, where arms has it. Writes runs/<name>/: data,
    runs, eval (with its report) and ablation.json. A stopped command resumes when it is given
    again.
    """
    settings = load_settings(AblationSettings, config, options.with_folder(output, overrides))
    rows = ablate(settings, overwrite=overwrite)
    sources = list(rows[0]["sources"])
    show(
        ("equal", "format", "seed", "steps", "tokens", "written", "parsed", "balanced", "gain"),
        [[str(value) for name, value in row.items() if name != "sources"] for row in rows],
        "ablation, unparsed replies counted as wrong; gain over outcome",
    )
    show(
        ("equal", "format", "seed", *sources),
        [[r["equal"], r["format"], str(r["seed"]), *r["sources"].values()] for r in rows],
        "balanced accuracy of each source",
    )
    typer.echo(f"wrote {settings.folder / 'ablation.json'}")


def ablate(settings: AblationSettings, *, overwrite: bool = False) -> list[dict[str, Any]]:
    """Train, judge and compare; write ``ablation.json`` to the folder.

    Raises:
        MissingError, InputError: the rows or the labelled answers do not exist.
        OutputError: a run failed.

    """
    runs = train_all(settings)
    rows = {name: getattr(settings, name) for name in RowsSettings.model_fields}
    rows |= {"name": f"{settings.name}-eval", "out": str(settings.folder / "eval")}
    judges = tuple(_judges(settings, runs))
    report = evaluate(EvalSettings(**rows, judges=judges), overwrite=overwrite)
    made = list(_table(runs, report))
    values = {"settings": settings.model_dump(mode="json"), "rows": report.n_items, "runs": made}
    write_json(settings.folder / "ablation.json", values)
    return made


def _table(runs: Sequence[ArmRun], report: EvalReport) -> Iterator[dict[str, Any]]:
    """A row for each run, with the paired gain over its tag-only twin, if there is one."""
    judges = {judge.name: judge for judge in report.judges}
    gains = {(pair.a, pair.b): pair.difference for pair in report.pairs}
    tags = (r for r in runs if r.arm.chain_format is _FIRST)
    twins = {(r.budget, r.seed, r.arm.shots): r.folder.name for r in tags}
    for one in runs:
        judge = judges[one.folder.name]
        gain = gains.get((twins.get((one.budget, one.seed, one.arm.shots), ""), judge.name))
        yield {
            "equal": one.budget,
            "format": one.arm.name,
            "seed": one.seed,
            "steps": one.steps,
            "tokens": one.tokens,
            "written": round(judge.completion_tokens / report.n_items, 1),
            "parsed": percent(judge.parsed_rate),
            "balanced": _balanced(judge.overall),
            "gain": signed(gain.value) + limits(gain.interval) if gain else "",
            "sources": {name: _balanced(found) for name, found in judge.views["source"].items()},
        }


def _balanced(found: JudgeMetrics) -> str:
    interval = found.intervals.get("balanced_accuracy_all")
    return percent(found.balanced_accuracy_all) + limits(interval)


def _judges(settings: AblationSettings, runs: Sequence[ArmRun]) -> Iterator[JudgeSettings]:
    common = {"kind": "model", "model": settings.model, **settings.judge}
    for folder, arm in {one.folder: one.arm for one in runs}.items():
        own: dict[str, Any] = {"name": folder.name, "adapter": str(folder / "adapter")}
        if arm.shots is not None:
            prompt = _prompt(Path(settings.data), arm)
            own |= {"adapter": None, "shots": arm.shots, "prompt": prompt}
        yield JudgeSettings.of(**common | own)


def train_all(settings: AblationSettings) -> list[ArmRun]:
    """Every run at equal steps, those that need more steps for equal tokens, the untrained.

    A run that has a manifest is finished and is not trained again.

    Raises:
        OutputError: a training command failed; what is finished is kept.

    """
    trained = [arm for arm in settings.arms if arm.shots is None]
    first = len(trained) * len(settings.seeds)
    typer.echo(
        f"{first} runs at equal steps, then at most {first - len(settings.seeds)} at equal tokens; "
        "a stopped command resumes",
        err=True,
    )
    for arm in trained:
        folder = settings.folder / "data" / arm.name
        if not (folder / "manifest.json").is_file():
            write_format(Path(settings.data), arm, folder)
    runs = [
        _train(settings, arm, "steps", seed, settings.steps)
        for seed in settings.seeds
        for arm in trained
    ]
    most = {one.seed: one.tokens for one in sorted(runs, key=lambda one: one.tokens)}
    for one in list(runs):
        steps = round(settings.steps * most[one.seed] / one.tokens)
        if steps > settings.steps:
            runs.append(_train(settings, one.arm, "tokens", one.seed, steps))
        else:  # its equal-steps run has as many tokens already
            runs.append(one._replace(budget="tokens"))
    base = (arm for arm in settings.arms if arm.shots is not None)
    return runs + [
        ArmRun(arm, "none", 0, 0, 0, settings.folder / "runs" / arm.name) for arm in base
    ]


def _train(
    settings: AblationSettings,
    arm: Arm,
    budget: Literal["steps", "tokens"],
    seed: int,
    steps: int,
) -> ArmRun:
    folder = settings.folder / "runs" / f"{arm.name}-{budget}-{seed}"
    overrides = {
        **settings.train,
        "name": f"{settings.name}-{folder.name}",
        "data": str(settings.folder / "data" / arm.name),
        "model": settings.model,
        "out": str(folder),
        "sft.seed": str(seed),
        "sft.max_steps": str(steps),
    }
    if not (folder / "manifest.json").is_file():
        given = [settings.recipe, *(f"{key}={value}" for key, value in overrides.items())]
        command = [sys.executable, "-m", "gradegpt", "train", *given]
        typer.echo(f"training {folder.name}: {steps} steps", err=True)
        if subprocess.run(command, check=False).returncode:
            raise OutputError(
                f"gradegpt train {' '.join(given)}: failed; its output is above. "
                "Run the same command again to resume"
            )
    # An estimate of the training tokens: the mean length of the rows, times their number.
    made: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    rows = int(made["settings"]["rows_per_step"]) * steps
    tokens = round(int(made["tokens"]) / int(made["rows"]["train"]) * rows)
    return ArmRun(arm, budget, seed, steps, tokens, folder)


def _manifest(data: Path) -> dict[str, Any]:
    path = data / "manifest.json"
    if not path.is_file():
        raise MissingError(f"{path}: does not exist; make the rows first")
    made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return made


def _prompt(data: Path, arm: Arm) -> PromptSettings:
    """The prompt settings of ``data`` in an arm's format: all arms see the same texts."""
    own = {"chain_format": arm.chain_format, "verdict": arm.verdict}
    given = _manifest(data)["settings"]["prompt"]
    return validate(PromptSettings, given | own, str(data / "manifest.json"))


def write_format(data: Path, arm: Arm, out: Path) -> int:
    """Write the cross-lingual rows of ``data`` in an arm's format; return how many train.

    ``train`` reads the folder ``out``: its manifest has the prompt settings.

    Raises:
        MissingError: ``data`` is not a folder of data_gen.
        InputError: it holds no cross-lingual rows.

    """
    prompt, counts = _prompt(data, arm), {}
    for part in ("train", "dev"):
        rows = read_rows(data / f"{part}.jsonl", TrainingRow)
        cross = (row for row in rows if row.meta.get("chain_format") == LONGEST)
        made = (in_format(row, arm.chain_format, arm.verdict) for row in cross)
        counts[part] = write_rows(out / f"{part}.jsonl", made)
    if not counts["train"]:
        raise InputError(f"{data}: no cross-lingual row; generate some with formats.cross_lingual")
    formats = {arm.chain_format.value: 1.0}
    made_with = {"prompt": prompt.model_dump(mode="json"), "formats": formats}
    values = {"stage": "eval.ablation", "settings": made_with, "rows": counts}
    write_json(out / "manifest.json", values | {"from": _manifest(data).get("outputs", {})})
    return counts["train"]


def in_format(row: TrainingRow, chain_format: ChainFormat, place: TagPlace = "last") -> TrainingRow:
    """The row with the prompt and the chain of ``chain_format``; question and label stay.

    Raises:
        ValueError: the row is not a judge's, or its chain lacks the gloss that the format needs.

    """
    item, parsed = parse_prompt(row.prompt), parse_chain(row.completion[-1].content)
    if item is None or parsed.chain is None:
        raise ValueError("not a judge's prompt and chain")
    chain = parsed.chain
    if row.meta.get("verdict"):  # a bare tag does not distinguish incorrect from invalid
        chain = chain.model_copy(update={"verdict": Verdict(row.meta["verdict"])})
    shown = PromptSettings(chain_format=chain_format, verdict=place, budget=_UNCUT)
    reply = Message(role="assistant", content=render_chain(chain, chain_format, place))
    return row.model_copy(
        update={
            "prompt": build_prompt(item, shown),
            "completion": (reply,),
            "meta": row.meta | {"chain_format": chain_format.value},
        }
    )


if __name__ == "__main__":
    run(app, name="gradegpt eval.ablation")
