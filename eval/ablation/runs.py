"""The training runs: each is trained by the command that users give, and only once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from gradegpt.errors import OutputError
from gradegpt.schema import ChainFormat
from gradegpt.shipped import base_of

from .rows import write_format
from .settings import UNTUNED, AblationSettings

Budget = Literal["steps", "tokens"]
LONGEST: Final = ChainFormat.CROSS_LINGUAL
"""The format whose equal-steps runs set the number of tokens."""


class Run(NamedTuple):
    """One trained adapter: its format, which budget was equal, its seed and its folder."""

    chain_format: ChainFormat
    budget: Budget
    seed: int
    steps: int
    tokens: int
    folder: Path

    @property
    def name(self) -> str:
        """The name of its folder and of its judge."""
        return f"{self.chain_format.value}-{self.budget}-{self.seed}"

    @property
    def adapter(self) -> str:
        """The path of the adapter."""
        return str(self.folder / "adapter")


def train_all(settings: AblationSettings) -> list[Run]:
    """Every run at equal steps, then those that need more steps for equal tokens.

    A run that has a manifest is finished and is not trained again.

    Raises:
        OutputError: a training command failed; what is finished is kept.

    """
    for chain_format in settings.formats:
        folder = _data(settings, chain_format)
        if not (folder / "manifest.json").is_file():
            write_format(Path(settings.data), chain_format, folder)
    runs = [
        _train(settings, chain_format, "steps", seed, settings.steps)
        for seed in settings.seeds
        for chain_format in settings.formats
    ]
    return [*runs, *_equal_tokens(settings, runs)]


def _equal_tokens(settings: AblationSettings, runs: list[Run]) -> Iterator[Run]:
    for run in runs:
        most_tokens = next(
            (r.tokens for r in runs if (r.chain_format, r.seed) == (LONGEST, run.seed)), run.tokens
        )
        steps = round(settings.steps * most_tokens / run.tokens)
        if steps > settings.steps:
            yield _train(settings, run.chain_format, "tokens", run.seed, steps)
        else:  # its equal-steps run has as many tokens already
            yield run._replace(budget="tokens")


def _train(
    settings: AblationSettings, chain_format: ChainFormat, budget: Budget, seed: int, steps: int
) -> Run:
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
        _command("train", settings.recipe, *(f"{key}={value}" for key, value in overrides.items()))
    return Run(chain_format, budget, seed, steps, _tokens(folder, steps), folder)


def exported(settings: AblationSettings, adapter: Path | None) -> str:
    """The folder of the fast engine's model, exported if missing; without adapter, the base alone.

    Raises:
        OutputError: the export failed.

    """
    out = settings.folder / "fast" / (adapter.parent.name if adapter else UNTUNED)
    base = base_of(settings.model)
    if not (out / "manifest.json").is_file():
        source = (str(adapter), "--base", base) if adapter else (base,)
        _command("export", *source, str(out), "--quantization", "float32", "--check", "1")
    return str(out)


def _command(name: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "gradegpt", name, *arguments]
    if subprocess.run(command, check=False).returncode:
        raise OutputError(
            f"gradegpt {name} {' '.join(arguments)}: failed; its output is above. "
            "Run the same command again to resume"
        )


def _tokens(folder: Path, steps: int) -> int:
    """An estimate of the run's training tokens: the mean length of its rows, times their number."""
    made: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    used = made["settings"]["sft"]
    passes = int(used["gradient_accumulation_steps"]) * steps
    rows = int(used["per_device_train_batch_size"]) * passes
    return round(int(made["tokens"]) / int(made["rows"]["train"]) * rows)


def _data(settings: AblationSettings, chain_format: ChainFormat) -> Path:
    return settings.folder / "data" / chain_format.value
