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
from gradegpt.errors import MissingError
from gradegpt.records import sha256_file, whole_folder, write_json
from train.merge import WEIGHTS, copy_settings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_CONFIG: Final = "adapter_config.json"


def average(run: Path, out: Path, last: int = 3) -> dict[str, Any]:
    """Write the mean of the adapters in the ``last`` checkpoints of ``run``; return the manifest.

    Prompt settings come from the adapter that the run ended with. The mean is taken in float32.

    Raises:
        MissingError: the run has not ended, or has fewer checkpoints that are whole.
        OutputError: ``out`` is there already.

    """
    quiet_start()
    from train.callbacks import checkpoints, what_is_wrong

    adapter = run / "adapter"
    for path in (adapter / _CONFIG, adapter / PROMPT_FILE):
        if not path.is_file():
            raise MissingError(f"{path}: not there; give the folder of a run that has ended")
    whole = [(step, folder) for step, folder in checkpoints(run) if what_is_wrong(folder) is None]
    if len(whole) < last:
        raise MissingError(
            f"{run}: {len(whole)} whole checkpoints, not {last}; ask for fewer with --last, or "
            "train with smaller save_steps"
        )
    steps, folders = zip(*whole[-last:], strict=True)
    weights = [folder / WEIGHTS for folder in folders]
    manifest = {
        "stage": "train.average",
        "run": run.name,
        "steps": list(steps),
        "adapters": [sha256_file(path) for path in weights],
    }
    with whole_folder(out) as made:
        _write_mean(weights, made / WEIGHTS)
        shutil.copyfile(adapter / _CONFIG, made / _CONFIG)
        copy_settings(adapter, made)
        write_json(made / "manifest.json", manifest)
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
