"""The mean of a run's last checkpoints: ``gradegpt train.average runs/nano-judge runs/nano-mean``.

The weights of a run's last steps move around a point that is mostly better than each of them
(Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018, section
3). Measure both before choosing one.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gradegpt.cli import run as run_command
from gradegpt.engines.files import PROMPT_FILE
from gradegpt.errors import InputError, MissingError
from gradegpt.records import sha256_file, whole_folder, write_json

from .checkpoints import checkpoints, why_incomplete
from .merge import WEIGHTS, copy_settings

if TYPE_CHECKING:
    import torch

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_CONFIG: Final = "adapter_config.json"
Weights = dict[str, "torch.Tensor"]


def average(run: Path, out: Path, last: int = 3, *, before: Path | None = None) -> dict[str, Any]:
    """Write the mean of the adapters in the ``last`` checkpoints of ``run``; return the manifest.

    With ``before``, an adapter of the same shape, the result is the mean of that adapter and of the
    checkpoints' mean, so a run that started from ``before`` forgets less. Prompt settings are
    copied from the run's final adapter. The means are computed in float32.

    Raises:
        MissingError: the run has not ended, or has fewer complete checkpoints; ``before`` has no
            weights.
        InputError: ``before`` has another shape.
        OutputError: ``out`` already exists.

    """
    adapter = run / "adapter"
    for path in (adapter / _CONFIG, adapter / PROMPT_FILE):
        if not path.is_file():
            raise MissingError(f"{path}: does not exist; give the folder of a finished run")
    complete = [
        (step, folder) for step, folder in checkpoints(run) if why_incomplete(folder) is None
    ]
    if len(complete) < last:
        raise MissingError(
            f"{run}: has {len(complete)} complete checkpoints, not {last}; ask for fewer with "
            "--last, or train with smaller save_steps"
        )
    steps, folders = zip(*complete[-last:], strict=True)
    weights = [folder / WEIGHTS for folder in folders]
    manifest = {
        "stage": "train.average",
        "run": run.name,
        "steps": list(steps),
        "adapters": [sha256_file(path) for path in weights],
    }
    mean = _mean([_load(path) for path in weights])
    if before is not None:
        if not (before / WEIGHTS).is_file():
            raise MissingError(f"{before / WEIGHTS}: does not exist; give an adapter's folder")
        other = _load(before / WEIGHTS)
        if _shapes(other) != _shapes(mean):
            raise InputError(
                f"{before}: its matrices differ in shape from those of {run}; "
                "give the adapter that the run started from"
            )
        manifest["before"] = sha256_file(before / WEIGHTS)
        mean = _mean([other, mean])
    with whole_folder(out) as made:
        _save(mean, made / WEIGHTS)
        shutil.copyfile(adapter / _CONFIG, made / _CONFIG)
        copy_settings(adapter, made)
        write_json(made / "manifest.json", manifest)
    return manifest


def _load(path: Path) -> Weights:
    from safetensors.torch import load_file

    weights: Weights = load_file(path)
    return weights


def _shapes(weights: Weights) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in weights.items()}


def _mean(parts: list[Weights]) -> Weights:
    import torch

    return {
        name: torch.stack([part[name].float() for part in parts]).mean(0).to(value.dtype)
        for name, value in parts[0].items()
    }


def _save(weights: Weights, out: Path) -> None:
    from safetensors.torch import save_file

    save_file(weights, out, metadata={"format": "pt"})


@app.command(epilog="Then: gradegpt judge answers.jsonl -o out.jsonl --model BASE --adapter OUT")
def main(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Such as runs/nano-judge.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder for the adapter.")],
    last: Annotated[int, typer.Option(min=2, help="The number of last checkpoints.")] = 3,
    before: Annotated[
        Path | None,
        typer.Option(
            help="The adapter that the run started from, with as much weight as all checkpoints."
        ),
    ] = None,
) -> None:
    """Average the adapters of a run's last checkpoints."""
    manifest = average(run, out, last, before=before)
    steps = ", ".join(map(str, manifest["steps"]))
    also = f", and of {before}" if before else ""
    typer.echo(f"wrote {out}: the mean of {run} after steps {steps}{also}")


if __name__ == "__main__":
    run_command(app, name="gradegpt train.average")
