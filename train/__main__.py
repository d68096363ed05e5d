"""Fine-tune a judge on training rows: ``gradegpt train configs/train/qwen3-0.6b.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.settings import load_settings

from .settings import SFTSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="To train another base: gradegpt train qwen3-0.6b model=Qwen/Qwen2.5-0.5B-Instruct "
    "sft.learning_rate=1e-4 name=qwen2.5-0.5b"
)
def main(
    config: Annotated[Path, options.config("qwen3-0.6b")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "model (the base: a folder or Hugging Face name), data (a folder that gradegpt data "
            "wrote), out (the output folder; default runs/<name>), sft.OPTION (TRL's SFTConfig), "
            "lora.OPTION (PEFT's LoraConfig), qlora, share_prefix, ..."
        ),
    ] = None,
    output: options.Folder = None,
) -> None:
    """Fine-tune a LoRA adapter on rows that gradegpt data made.

    After every sft.eval_steps steps, loss and verdicts are measured on the dev set. The best step
    by sft.metric_for_best_model (loss or verdict_accuracy) becomes the adapter. With
    sft.eval_strategy=no, the last step becomes the adapter.

    The command writes checkpoints to <out>, the adapter to <out>/adapter and, last,
    <out>/manifest.json. A stopped run resumes from its last complete checkpoint when the same
    command is given again, and gives the same result as an uninterrupted run.

    To use several GPUs, or several processes on a CPU, run: torchrun --nproc_per_node 2 -m gradegpt
    train CONFIG.YAML. accelerate launch also works; on a CPU it starts a single process.
    """
    settings = load_settings(SFTSettings, config, options.with_folder(output, overrides))
    from .sft import fine_tune

    try:
        manifest = fine_tune(settings)
    except KeyboardInterrupt:
        typer.echo(
            f"stopped; run the same command again to resume from {settings.folder}", err=True
        )
        raise typer.Exit(130) from None
    from accelerate import PartialState

    # The others wait for the first one to write; a process that leaves the group early aborts.
    PartialState().wait_for_everyone()
    PartialState().destroy_process_group()
    if not manifest:  # one of several processes, and not the first
        return
    figures = ", ".join(
        f"{name.replace('_', ' ')} {value:.3g}"
        for name, value in manifest["metrics"].items()
        if not name.endswith(("runtime", "per_second", "flos", "epoch"))
    )
    typer.echo(
        f"wrote {settings.folder}/adapter after {manifest['steps']:,} steps and "
        f"{manifest['minutes']} minutes: {figures}"
    )


if __name__ == "__main__":
    run(app, name="gradegpt train")
