"""The settings of an ablation, and its runs, each trained once by the command that users give."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from gradegpt.chains.chain import (
    PromptSettings,
    build_prompt,
    parse_chain,
    parse_prompt,
    render_chain,
)
from gradegpt.core.errors import InputError, MissingError, OutputError
from gradegpt.core.records import read_rows, validate, write_json, write_rows
from gradegpt.core.schema import ChainFormat, Message, TrainingRow, Verdict

from ..settings import RowsSettings

UNTUNED: Final = "untuned"


class AblationSettings(RowsSettings):
    """Every chain format, trained alike on the same rows, with every seed.

    ``data`` is a folder of ``data_gen``: its cross-lingual rows are rewritten into each format.
    ``recipe`` is a settings file of ``train``; ``train`` changes some of its keys for all runs.
    ``steps`` is the length of the equal-steps runs; the equal-tokens runs have more steps, as their
    rows are shorter. The untuned base is prompted with ``shots`` solved rows before each item.
    ``judge`` are further settings of every judge.
    """

    command: ClassVar[str] = "eval.ablation"
    data: str
    recipe: str
    model: str
    train: dict[str, str] = Field(default={})
    steps: int = Field(default=300, ge=1)
    seeds: tuple[int, ...] = Field(default=(0, 1, 2), min_length=1)
    shots: int = Field(default=3, ge=0)
    judge: dict[str, Any] = Field(default={"max_new_tokens": 256})


EqualBudget = Literal["steps", "tokens"]
LONGEST: Final = ChainFormat.CROSS_LINGUAL
"""The format whose equal-steps runs set the number of tokens."""


class TrainedRun(NamedTuple):
    """One trained adapter: its format, which budget was equal, its seed and its folder."""

    chain_format: ChainFormat
    budget: EqualBudget
    seed: int
    steps: int
    tokens: int
    folder: Path


def train_all(settings: AblationSettings) -> list[TrainedRun]:
    """Every run at equal steps, then those that need more steps for equal tokens.

    A run that has a manifest is finished and is not trained again.

    Raises:
        OutputError: a training command failed; what is finished is kept.

    """
    for chain_format in ChainFormat:
        folder = _data(settings, chain_format)
        if not (folder / "manifest.json").is_file():
            write_format(Path(settings.data), chain_format, folder)
    runs = [
        _train(settings, chain_format, "steps", seed, settings.steps)
        for seed in settings.seeds
        for chain_format in ChainFormat
    ]
    return [*runs, *_equal_tokens(settings, runs)]


def _equal_tokens(settings: AblationSettings, runs: list[TrainedRun]) -> Iterator[TrainedRun]:
    most = {run.seed: run.tokens for run in runs if run.chain_format is LONGEST}
    for run in runs:
        steps = round(settings.steps * most[run.seed] / run.tokens)
        if steps > settings.steps:
            yield _train(settings, run.chain_format, "tokens", run.seed, steps)
        else:  # its equal-steps run has as many tokens already
            yield run._replace(budget="tokens")


def _train(
    settings: AblationSettings,
    chain_format: ChainFormat,
    budget: EqualBudget,
    seed: int,
    steps: int,
) -> TrainedRun:
    folder = settings.folder / "runs" / f"{chain_format.value}-{budget}-{seed}"
    overrides = {
        **settings.train,
        "name": f"{settings.name}-{folder.name}",
        "data": str(_data(settings, chain_format)),
        "model": settings.model,
        "out": str(folder),
        "sft.seed": str(seed),
        "sft.max_steps": str(steps),
    }
    if not (folder / "manifest.json").is_file():
        given = [settings.recipe, *(f"{key}={value}" for key, value in overrides.items())]
        if subprocess.run(
            [sys.executable, "-m", "gradegpt", "train", *given], check=False
        ).returncode:
            raise OutputError(
                f"gradegpt train {' '.join(given)}: failed; its output is above. "
                "Run the same command again to resume"
            )
    return TrainedRun(chain_format, budget, seed, steps, _tokens(folder, steps), folder)


def _tokens(folder: Path, steps: int) -> int:
    """An estimate of the run's training tokens: the mean length of its rows, times their number."""
    made: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    used = made["settings"]["sft"]
    passes = int(used["gradient_accumulation_steps"]) * steps
    rows = int(used["per_device_train_batch_size"]) * passes
    return round(int(made["tokens"]) / int(made["rows"]["train"]) * rows)


def _data(settings: AblationSettings, chain_format: ChainFormat) -> Path:
    return settings.folder / "data" / chain_format.value


def write_format(data: Path, chain_format: ChainFormat, out: Path) -> int:
    """Write the cross-lingual rows of ``data`` in one format; return the number of training rows.

    ``train`` reads the folder ``out``: its manifest has the prompt settings.

    Raises:
        MissingError: ``data`` is not a folder of data_gen.
        InputError: it holds no cross-lingual rows.

    """
    path = data / "manifest.json"
    if not path.is_file():
        raise MissingError(f"{path}: does not exist; make the rows first: gradegpt data ...")
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    prompt = validate(PromptSettings, manifest["settings"]["prompt"], str(path))
    widest, counts = _widest(manifest["settings"]), {}
    for part in ("train", "dev"):
        counts[part] = write_rows(
            out / f"{part}.jsonl",
            (
                in_format(row, chain_format, widest)
                for row in read_rows(data / f"{part}.jsonl", TrainingRow)
                if row.meta.get("chain_format") == ChainFormat.CROSS_LINGUAL
            ),
        )
    if not counts["train"]:
        raise InputError(f"{data}: no cross-lingual row; generate some with formats.cross_lingual")
    made = {
        "stage": "eval.ablation",
        "settings": {
            "prompt": prompt.model_dump(mode="json"),
            "formats": {chain_format.value: 1.0},
        },
        "rows": counts,
        "from": manifest.get("outputs", {}),
    }
    write_json(out / "manifest.json", made)
    return counts["train"]


def in_format(row: TrainingRow, chain_format: ChainFormat, prompt: PromptSettings) -> TrainingRow:
    """The row with the prompt and the chain of ``chain_format``; question and label stay.

    Raises:
        ValueError: the row is not a judge's, or its chain lacks the gloss that the format needs.

    """
    item, parsed = parse_prompt(row.prompt), parse_chain(row.completion[-1].content)
    if item is None or parsed.chain is None:
        raise ValueError("not a judge's prompt and chain")
    # The texts of a prompt already fit the largest budget, so fitting them again changes nothing.
    shown = prompt.model_copy(update={"chain_format": chain_format})
    chain = parsed.chain
    if row.meta.get("verdict"):  # a bare tag does not distinguish incorrect from invalid
        chain = chain.model_copy(update={"verdict": Verdict(row.meta["verdict"])})
    return row.model_copy(
        update={
            "prompt": build_prompt(item, shown),
            "completion": (Message(role="assistant", content=render_chain(chain, chain_format)),),
            "meta": row.meta | {"chain_format": chain_format.value},
        }
    )


def _widest(settings: dict[str, Any]) -> PromptSettings:
    """The largest value of each budget that a row of the set may have been made with."""
    budgets = [settings["prompt"]["budget"], *(p["budget"] for p in settings.get("longer", ()))]
    widest = {part: 2 * max(int(b[part]) for b in budgets) for part in budgets[0]}
    return validate(PromptSettings, {"budget": widest}, "budget")
