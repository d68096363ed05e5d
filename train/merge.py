"""Merge an adapter into its base: one model, for servers that do not load adapters.

gradegpt train.merge judges/mine -o runs/mine-merged
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import EngineError, MissingError, SettingsError
from gradegpt.core.records import sha256_file, whole_folder, write_json
from gradegpt.core.shipped import adapter_of, base_named_by, base_of
from gradegpt.engines.chat import pinned
from gradegpt.engines.encoder import is_for_encoder
from gradegpt.engines.files import PROMPT_FILE
from gradegpt.engines.local import quiet_start
from gradegpt.judges.calibration import CALIBRATION_FILE

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_ADAPTER: Final = "adapter_model.safetensors"


def merge(adapter: Path, out: Path, base: str = "", dtype: str = "bfloat16") -> dict[str, Any]:
    """Write base and adapter as one model to ``out``; return the manifest.

    ``base``: a folder or hub name; empty uses the base that the adapter names. ``dtype``: the type
    of the written weights; they are added in float32.

    Raises:
        MissingError: the adapter or its prompt settings are missing.
        OutputError: ``out`` already exists.
        EngineError: the base does not load, or the adapter does not fit it.

    """
    settings = adapter / "adapter_config.json"
    for path in (settings, adapter / _ADAPTER, adapter / PROMPT_FILE):
        if not path.is_file():
            raise MissingError(f"{path}: does not exist; give an adapter's folder from training")
    named = base or json.loads(settings.read_text(encoding="utf-8"))["base_model_name_or_path"]
    source = base_of(base) if base else base_named_by(adapter)
    manifest = {
        "stage": "train.merge",
        "base": named,
        "adapter": sha256_file(adapter / _ADAPTER),
        "dtype": dtype,
    }
    with whole_folder(out) as made:
        model, tokenizer = _load(source, adapter)
        import torch

        model.to(getattr(torch, dtype)).save_pretrained(made)
        tokenizer.chat_template = pinned(tokenizer.get_chat_template())  # for servers, too
        tokenizer.save_pretrained(made)
        copy_settings(adapter, made)
        write_json(made / "manifest.json", manifest)
    return manifest


def copy_settings(source: Path, target: Path) -> None:
    """Copy the files that belong beside the weights: prompt settings and calibration."""
    for name in (PROMPT_FILE, CALIBRATION_FILE):
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)


def _load(base: str, adapter: Path) -> tuple[Any, Any]:
    quiet_start()
    if is_for_encoder(str(adapter)):
        raise SettingsError(
            f"{adapter}: is for an encoder, which is not merged; use the folder as it is"
        )
    import torch
    from peft import PeftModel
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        merged = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise EngineError(
            f"{adapter}: does not fit its base {base}: {str(error).splitlines()[0]}"
        ) from error
    return merged, tokenizer


@app.command(epilog="Then: vllm serve runs/mine-merged")
def main(
    adapter: Annotated[
        str,
        typer.Argument(
            metavar="ADAPTER",
            help="The judge: the folder of an adapter, or the name of a shipped judge, such as "
            "gradegpt-1.5b.",
        ),
    ],
    output: Annotated[Path, options.output("A new folder.", "FOLDER")],
    base: Annotated[
        str,
        typer.Option(help="The adapter's base model, if it is not the one that the adapter names."),
    ] = "",
) -> None:
    """Write adapter and base as one model in bfloat16, for servers that do not load adapters."""
    written = merge(Path(adapter_of(adapter)), output, base)
    typer.echo(f"wrote {output}: {written['base']} with its adapter, bfloat16")


if __name__ == "__main__":
    run(app, name="gradegpt train.merge")
