"""The mean of a run's last checkpoints: ``python -m train.average runs/nano-judge runs/nano-mean``.

The weights that a run ends with move around a point that is mostly better than each of them
(Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018, section
3). Measure both before you keep one.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gradegpt.cli import run as run_command
from gradegpt.engines.files import PROMPT_FILE
from gradegpt.engines.local import quiet_start
from gradegpt.errors import InputError, MissingError, OutputError
from gradegpt.records import sha256_file, write_json
from train.merge import WEIGHTS, copy_settings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_CONFIG: Final = "adapter_config.json"


def average(run: Path, out: Path, last: int = 3) -> dict[str, Any]:
    """Write the mean of the adapters in the ``last`` checkpoints of ``run``; return the manifest.

    Prompt settings come from the adapter that the run ended with. The mean is taken in float32.

    Raises:
        MissingError: the run has not ended, or has fewer checkpoints.
        InputError: a checkpoint is cut off.
        OutputError: ``out`` is there already.

    """
    quiet_start()
    from train.callbacks import checkpoints, what_is_wrong

    adapter = run / "adapter"
    for path in (adapter / _CONFIG, adapter / PROMPT_FILE):
        if not path.is_file():
            raise MissingError(f"{path}: not there; give the folder of a run that has ended")
    found = checkpoints(run)
    if len(found) < last:
        raise MissingError(
            f"{run}: {len(found)} checkpoints, not {last}; ask for fewer with --last, or train "
            "with smaller save_steps"
        )
    if out.exists() and any(out.iterdir()):
        raise OutputError(f"{out}: exists already; choose another folder")
    for _, folder in found[-last:]:
        if wrong := what_is_wrong(folder):
            raise InputError(f"{folder}: not whole ({wrong}); ask for those after it with --last")
    temporary = out.with_name(f".{out.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    _write_mean([folder / WEIGHTS for _, folder in found[-last:]], temporary / WEIGHTS)
    shutil.copyfile(adapter / _CONFIG, temporary / _CONFIG)
    copy_settings(adapter, temporary)
    manifest = {
        "stage": "train.average",
        "run": run.name,
        "steps": [step for step, _ in found[-last:]],
        "adapters": [sha256_file(folder / WEIGHTS) for _, folder in found[-last:]],
    }
    write_json(temporary / "manifest.json", manifest)
    if out.exists():
        out.rmdir()
    temporary.replace(out)
    return manifest


def _write_mean(weights: list[Path], out: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    parts = [load_file(path) for path in weights]
    mean = {
        name: torch.stack([part[name].float() for part in parts]).mean(0).to(value.dtype)
        for name, value in parts[0].items()
    }
    save_file(mean, out, metadata={"format": "pt"})


@app.command(epilog="Then: gradegpt judge answers.jsonl -o out.jsonl --model BASE --adapter OUT")
def main(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Such as runs/nano-judge.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder for the adapter.")],
    last: Annotated[int, typer.Option(min=2, help="How many checkpoints, from the end.")] = 3,
) -> None:
    """Average the adapters of a run's last checkpoints."""
    manifest = average(run, out, last)
    steps = ", ".join(map(str, manifest["steps"]))
    typer.echo(f"wrote {out}: the mean of {run} after steps {steps}")


if __name__ == "__main__":
    run_command(app, name="python -m train.average")
