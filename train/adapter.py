"""The outputs of a run: the adapter with its prompt settings and card, and the manifest."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.records import sha256_file, whole_file, write_json
from gradegpt.engines.files import PROMPT_FILE

from .settings import SFTSettings

_CARD: Final = Path(__file__).with_name("card.md")

_SHOWN: Final = (
    "adapter", "qlora", "share_prefix", "verdict_weight", "chain_weight", "twin_weight",
    "twin_margin", "dev_rows", "save_dtype",
)  # fmt: skip
"""Settings that the card shows, besides the options of TRL and PEFT."""


class Run(NamedTuple):
    """The result of training.

    ``best``: the step that became the adapter, its metric and value; None where the last step was
    taken without an evaluation. ``parameters``: trainable, and all.
    """

    steps: int
    best: dict[str, Any] | None
    metrics: dict[str, float]
    parameters: tuple[int, int]
    tokens_per_second: float | None
    processes: int


def manifest_of(
    settings: SFTSettings, base: str, parts: Mapping[str, Any], run: Run, seconds: float
) -> dict[str, Any]:
    """The manifest of an adapter: its data and settings, the versions, and the results."""
    import peft
    import torch
    import transformers
    import trl

    seed = settings.sft["seed"]
    return {
        "stage": "train",
        "settings": settings.model_dump(mode="json"),
        "base": base,
        "data": {name: sha256_file(Path(settings.data) / f"{name}.jsonl") for name in parts},
        "rows": {part: len(rows) for part, rows in parts.items()},
        "tokens": sum(len(ids) for ids in parts["train"]["input_ids"]),
        "steps": run.steps,
        "best": run.best,
        "metrics": run.metrics,
        "parameters": dict(zip(("trainable", "all"), run.parameters, strict=True)),
        "tokens_per_second": run.tokens_per_second and round(run.tokens_per_second),
        "minutes": round(seconds / 60, 1),
        "seeds": {
            "seed": seed,
            "data_seed": settings.sft.get("data_seed", seed),
        },
        "hardware": {"device": hardware(), "processes": run.processes},
        "versions": {m.__name__: m.__version__ for m in (torch, transformers, trl, peft)},
    }


def save_adapter(
    model: Any,
    folder: Path,
    prompt: PromptSettings,
    manifest: dict[str, Any],
    weights: dict[str, Any] | None = None,
) -> None:
    """Write weights, prompt settings and card; give ``weights`` if the model's are in shards."""
    model.peft_config["default"].base_model_name_or_path = manifest["base"]
    if manifest["settings"]["save_dtype"] == "bfloat16":
        whole = model.state_dict() if weights is None else weights
        weights = {n: v.bfloat16() if "lora_" in n else v for n, v in whole.items()}
    model.save_pretrained(folder, save_embedding_layers=False, state_dict=weights)
    write_json(folder / PROMPT_FILE, prompt.model_dump(mode="json"))
    with whole_file(folder / "README.md") as out:
        out.write(card(manifest))


def card(manifest: Mapping[str, Any]) -> str:
    """The model card, from the manifest."""
    settings, best, rows = manifest["settings"], manifest["best"], manifest["rows"]
    numbers = {k: v for k, v in manifest["metrics"].items() if k.startswith("eval_")}
    shown = {k: v for k, v in numbers.items() if not k.endswith(("_runtime", "_per_second"))}
    return _CARD.read_text(encoding="utf-8").format(
        base=manifest["base"],
        name=settings["name"],
        prompt_file=PROMPT_FILE,
        data=Path(settings["data"]).name,
        train=rows["train"],
        dev=rows["dev"],
        tokens=manifest["tokens"],
        digest=manifest["data"]["train"],
        numbers=_table(shown) if shown else "None: there were no dev rows.",
        best=f"Step {best['step']} of {manifest['steps']}, the best by {best['by']}."
        if best
        else f"The last step, {manifest['steps']}.",
        settings=_table(
            settings["sft"] | settings["lora"] | {name: settings[name] for name in _SHOWN}
        ),
        minutes=manifest["minutes"],
        hardware=manifest["hardware"]["device"],
        versions=", ".join(f"{k} {v}" for k, v in manifest["versions"].items()),
    )


def _table(values: Mapping[str, Any]) -> str:
    lines = [f"| {name} | {value} |" for name, value in values.items()]
    return "\n".join(["| what | value |", "|---|---|", *lines])


def hardware() -> str:
    """The name of the GPU, or of the processor where there is none."""
    import torch

    if torch.cuda.is_available():
        return str(torch.cuda.get_device_name())
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
