"""The recipes for real bases: each trains a tiny base of its architecture, which a judge loads."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Final

import pytest

from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import Item, TrainingRow
from gradegpt.core.settings import load_settings
from gradegpt.engines.files import prompt_settings_beside
from gradegpt.engines.local import LocalEngine
from gradegpt.judges.model import ModelJudge
from tests.train.test_loading import FAMILIES, dress, make_base
from train.rows import prompt_settings_of
from train.settings import SFTSettings
from train.sft import fine_tune

# PEFT and TRL use transformers' old names for itinternally.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
CONFIGS: Final = Path(__file__).parents[2] / "configs" / "train"
RECIPES: Final = sorted(path.stem for path in CONFIGS.glob("*.yaml"))
FOR_GPUS: Final = [name for name in RECIPES if not name.startswith("gradegpt-")]
FAMILY: Final = {
    "Qwen/Qwen2.5-": "qwen2",
    "Qwen/Qwen3-": "qwen3",
    "meta-llama/Llama-3": "llama",
    "google/gemma-2-": "gemma2",
}
# Settings for a CPU and two rows; the others are the recipe's.
SMALL: Final = (
    "sft.max_steps=1", "rows_per_step=2", "sft.per_device_train_batch_size=2",
    "sft.per_device_eval_batch_size=2", "sft.eval_strategy=no", "sft.bf16=false",
    "qlora=false", "sft.report_to=none", "lora.r=4", "lora.layers_to_transform=null",
    "sft.logging_steps=1", "sft.warmup_steps=0", "adapter=",
)  # fmt: skip
ITEM: Final = Item(question="2+2=?", reference=("4",), response="The answer is 4.")


def family_of(model: str) -> str:
    (name,) = {name for prefix, name in FAMILY.items() if model.startswith(prefix)}
    return name


def recipe(name: str, *overrides: str) -> SFTSettings:
    return load_settings(SFTSettings, CONFIGS / f"{name}.yaml", overrides)


def distinct(names: list[str]) -> list[str]:
    """The first recipe of each family and settings: sizes and QLoRA differ in ``SMALL`` alone."""
    found: dict[tuple[str, str], str] = {}
    for name in names:
        settings = recipe(name, *SMALL)
        rest = settings.model_dump_json(exclude={"name", "model", "data", "out"})
        found.setdefault((family_of(settings.model), rest), name)
    return [*found.values()]


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory, judge_data: Path) -> Path:
    """Four rows to train on, two to evaluate."""
    folder = tmp_path_factory.mktemp("few")
    for part, count in (("train", 4), ("dev", 2)):
        rows = list(read_rows(judge_data / "train.jsonl", TrainingRow))[:count]
        write_rows(folder / f"{part}.jsonl", rows)
    (folder / "manifest.json").write_bytes((judge_data / "manifest.json").read_bytes())
    return folder


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory, base: Path) -> dict[str, Path]:
    """A tiny base of each family."""
    from transformers import AutoTokenizer

    made = {}
    for name, family in FAMILIES.items():
        tokenizer = dress(AutoTokenizer.from_pretrained(base / "model"), family)
        made[name] = make_base(tmp_path_factory.mktemp(name) / "model", tokenizer, family)
    return made


def test_every_family_and_size_has_a_recipe() -> None:
    """LoRA and QLoRA for the Qwen3 line, and at least one base of each other family."""
    sizes = ("0.6b", "1.7b", "4b", "8b", "14b")
    assert {f"qwen3-{size}{kind}" for size in sizes for kind in ("", "-qlora")} <= {*RECIPES}
    assert {family_of(recipe(name).model) for name in RECIPES} == FAMILIES.keys()


@pytest.mark.parametrize("name", FOR_GPUS)
def test_a_recipe_says_what_it_is_and_trains_alike(name: str) -> None:
    """Its name is its file's, its comment states the hardware, and a step has 64 rows (paper: 256).

    So recipes differ only in the base and in memory settings.
    """
    settings = recipe(name)
    assert settings.name == name
    assert settings.qlora == name.endswith("-qlora")
    assert settings.rows_per_step == (256 if name == "paper-14b" else 64)
    assert settings.data == "data/gradegpt-56k"
    assert (settings.sft["max_length"], settings.sft["gradient_checkpointing"]) == (3072, True)
    text = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8")
    ((peak, rows, gpu),) = re.findall(
        r"Memory: (\S+) GB .* with (\d+) rows .*GPU with (\d+) GB", text
    )
    assert float(peak) + 2 < int(gpu)
    assert int(rows) == settings.passes(1)[0]


def test_the_adapters_of_the_shipped_judges_are_small() -> None:
    """At most 20 MB in bf16, by the dimensions of Qwen2.5's 0.5B and 1.5B."""
    for name, layers, hidden, wide in (("0.5b", 24, 896, 4864), ("1.5b", 28, 1536, 8960)):
        settings = recipe(f"gradegpt-{name}")
        heads = {"0.5b": 128, "1.5b": 256}[name]
        sizes = 2 * 2 * hidden + 2 * (hidden + heads) + 3 * (hidden + wide)
        adapted = len(settings.lora.get("layers_to_transform", range(layers)))
        assert 10e6 < 2 * settings.lora["r"] * sizes * adapted < 20e6
        assert settings.save_dtype == "bfloat16"


@pytest.mark.parametrize("name", distinct(RECIPES))
def test_a_recipe_trains_and_its_adapter_judges(
    bases: dict[str, Path], few: Path, tmp_path: Path, name: str
) -> None:
    """One step on a tiny base of its family, adapters on all seven linear layers of both layers."""
    from safetensors import safe_open

    model = bases[family_of(recipe(name).model)]
    places = (f"model={model}", f"data={few}", f"out={tmp_path}")
    metrics: dict[str, Any] = fine_tune(recipe(name, *SMALL, *places))["metrics"]
    assert math.isfinite(metrics["train_loss"])
    assert metrics["train_loss"] > 0
    with safe_open(tmp_path / "adapter" / "adapter_model.safetensors", "pt") as weights:
        moved = [k for k in weights.keys() if "lora_B" in k and weights.get_tensor(k).abs().sum()]  # noqa: SIM118  no mapping
    assert len(moved) == 2 * 7
    assert prompt_settings_beside(str(tmp_path / "adapter")) == prompt_settings_of(few)
    engine = LocalEngine(str(model), str(tmp_path / "adapter"), device="cpu")
    (judgement,) = ModelJudge(engine, prompt_settings_of(few), max_new_tokens=4).judge([ITEM])
    assert judgement.outcome != "failed"
    assert judgement.prompt_tokens > 0


@pytest.mark.slow
def test_qlora_trains_every_architecture(base: Path, few: Path, tmp_path: Path) -> None:
    """In 4 bits on a CPU, whose kernel needs widths that are multiples of 64."""
    pytest.importorskip("bitsandbytes")
    import torch
    from safetensors import safe_open
    from transformers import AutoTokenizer

    wide = {"hidden_size": 64, "intermediate_size": 128, "head_dim": 32, "num_key_value_heads": 2}
    for name, family in FAMILIES.items():
        tokenizer = dress(AutoTokenizer.from_pretrained(base / "model"), family)
        model = make_base(tmp_path / name / "model", tokenizer, family, **wide)
        places = (f"model={model}", f"data={few}", f"out={tmp_path / name / 'out'}")
        manifest = fine_tune(recipe("qwen3-0.6b", *SMALL, *places, "qlora=true"))
        assert math.isfinite(manifest["metrics"]["train_loss"])
        last = tmp_path / name / "out" / "checkpoint-1" / "adapter_model.safetensors"
        with safe_open(last, "pt") as made:
            types = {made.get_tensor(key).dtype for key in made.keys()}  # noqa: SIM118  no mapping
        assert types == {torch.bfloat16}  # as the estimate of memory counts it
