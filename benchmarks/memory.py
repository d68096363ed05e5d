"""The memory that a recipe of ``configs/train`` takes on each GPU, by a trace on a CPU.

    python -m benchmarks.memory qwen3-14b                     on one GPU
    python -m benchmarks.memory qwen3-14b --shards 8          in shards on eight, by FSDP2

Two steps of the recipe run on tensors without data (``FakeTensorMode``), in a process group that
sends nothing, and torch's memory tracker adds up what is allocated. The layers, the adapter, the
precision, the checkpointing, the loss on the chain's tokens and the optimizer are those of a run;
of the layers, which are alike, two and four are traced. What a trace does not see is CUDA's own
memory and fragments, 1 to 2 GB. On a CPU sdpa stores what flash attention stores. Weights in 4 bits
cannot be traced: they are put in by arithmetic.
"""
# ruff: noqa: TID253  nothing else runs here

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from peft import get_peft_model
from torch import distributed
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import Linear
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoModelForCausalLM
from typing_extensions import override

from gradegpt.core.settings import load_settings
from gradegpt.engines.local import quiet_start
from train.settings import SFTSettings
from train.sft import _lora

CONFIGS: Final = Path(__file__).parents[1] / "configs" / "train"
CHAIN: Final = 150
"""The supervised tokens of a row, which are those that have logits."""
_NF4: Final = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a weight in 4 bits: itself, and its block's scale in 8 bits (QLoRA, section 3)."""
_DEPTHS: Final = (2, 4)
_NAMES: Final = (
    "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "vocab_size", "tie_word_embeddings", "head_dim",
)  # fmt: skip
SHAPES: Final[dict[str, tuple[str, tuple[int, ...]]]] = {
    "tiny": ("qwen3", (64, 128, 6, 4, 2, 4096, True, 16)),
    "Qwen/Qwen2.5-Coder-0.5B-Instruct": ("qwen2", (896, 4864, 24, 14, 2, 151936, True)),
    "Qwen/Qwen2.5-Coder-1.5B-Instruct": ("qwen2", (1536, 8960, 28, 12, 2, 151936, True)),
    "Qwen/Qwen2.5-7B-Instruct": ("qwen2", (3584, 18944, 28, 28, 4, 152064, False)),
    "Qwen/Qwen2.5-14B-Instruct": ("qwen2", (5120, 13824, 48, 40, 8, 152064, False)),
    "Qwen/Qwen3-0.6B": ("qwen3", (1024, 3072, 28, 16, 8, 151936, True, 128)),
    "Qwen/Qwen3-1.7B": ("qwen3", (2048, 6144, 28, 16, 8, 151936, True, 128)),
    "Qwen/Qwen3-4B": ("qwen3", (2560, 9728, 36, 32, 8, 151936, True, 128)),
    "Qwen/Qwen3-8B": ("qwen3", (4096, 12288, 36, 32, 8, 151936, False, 128)),
    "Qwen/Qwen3-14B": ("qwen3", (5120, 17408, 40, 40, 8, 151936, False, 128)),
    "meta-llama/Llama-3.1-8B-Instruct": ("llama", (4096, 14336, 32, 32, 8, 128256, False, 128)),
    "google/gemma-2-9b-it": ("gemma2", (3584, 14336, 42, 16, 8, 256000, True, 256)),
}
"""The bases of the recipes by their ``config.json``, so that no hub is needed."""


class Traced(NamedTuple):
    """The peak of one GPU in bytes, and the parameters: those that are trained, and all."""

    peak: int
    trainable: int
    parameters: int


def config_of(base: str, **changes: int) -> Any:
    """The configuration of a base."""
    kind, values = SHAPES[base]
    return AutoConfig.for_model(kind, **dict(zip(_NAMES, values, strict=False)) | changes)


def predicted(settings: SFTSettings, base: str, processes: int = 1) -> Traced:
    """The memory of all layers from traces of few: every two more take as much more."""
    few, more = (
        traced(settings, config_of(base, num_hidden_layers=depth), processes) for depth in _DEPTHS
    )
    steps = (config_of(base).num_hidden_layers - _DEPTHS[0]) / (_DEPTHS[1] - _DEPTHS[0])
    found = [a + steps * (b - a) for a, b in zip(few, more, strict=True)]
    found[0] += _in_four_bits(base) if settings.qlora else 0
    return Traced(*map(int, found))


def traced(settings: SFTSettings, config: Any, processes: int = 1) -> Traced:
    """Trace two steps of a recipe on a base of that configuration in 16 bits, several in shards."""
    with ExitStack() as stack:
        model = _on_meta(settings, config)
        mesh = stack.enter_context(_mesh(processes)) if processes > 1 else None
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        model = model.to_empty(device="cpu")
        model.get_base_model().tie_weights()
        if settings.sft["gradient_checkpointing"]:
            model.gradient_checkpointing_enable({"use_reentrant": False})
            model.enable_input_require_grads()
        sizes = [(p.numel(), p.requires_grad) for p in model.parameters()]
        if processes > 1:
            _shard(model, mesh)
        learns = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(learns, foreach=True)
        with _tracker(model, optimizer, in_shards=processes > 1) as tracker:
            for _ in range(2):  # the moments are there from the second on
                _step(model, optimizer, settings.passes(processes)[0], settings.sft["max_length"])
                tracker.reset_mod_stats()
        (peak,) = (found["Total"] for found in tracker.get_tracker_snapshot("peak").values())
    trainable = sum(size for size, trained in sizes if trained)
    return Traced(peak, trainable, sum(size for size, _ in sizes))


class _Whole(MemTracker):  # type: ignore[misc]
    """Torch's tracker without its look at all weights in every layer.

    It looks for their gradients, too, which frozen weights do not have.
    """

    @override
    def _track_module_params_and_buffers(self, module: Any, install_grad_hooks: bool = True) -> Any:
        return 0, 0  # known from ``track_external``


def _tracker(model: Any, optimizer: Any, *, in_shards: bool) -> Any:
    if in_shards:
        return FSDPMemTracker(model, optimizer)
    whole = _Whole()
    whole.track_external(model, optimizer)
    return whole


def _on_meta(settings: SFTSettings, config: Any) -> Any:
    """The base in bfloat16 with its adapter, which is in float32 but for 4-bit weights (TRL)."""
    with torch.device("meta"):
        base = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        model = get_peft_model(base, _lora(settings, base)).train()
        return model.bfloat16() if settings.qlora else model


def _shard(model: Any, mesh: Any) -> None:
    """As accelerate does by ``configs/accelerate/fsdp.yaml``."""
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    policy = MixedPrecisionPolicy(torch.bfloat16, torch.bfloat16, torch.bfloat16)
    for part in (*model.get_base_model().model.layers, model):
        fully_shard(part, mesh=mesh, mp_policy=policy)


@contextmanager
def _mesh(processes: int) -> Iterator[Any]:
    """A group of so many processes, of which this is the first and the only one."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=processes)
    try:
        yield init_device_mesh("cpu", (processes,))
    finally:
        distributed.destroy_process_group()


def _step(model: Any, optimizer: Any, rows: int, length: int) -> None:
    """One pass and one step: as ``train.trainer``, logits of the last ``CHAIN`` tokens alone."""
    ids = torch.zeros(rows, length, dtype=torch.long)
    chain = min(CHAIN, length - 1)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(input_ids=ids, use_cache=False, logits_to_keep=chain).logits
        loss = cross_entropy(logits.flatten(0, 1).float(), ids[:, -chain:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def _in_four_bits(base: str) -> float:
    """By how many bytes 4-bit weights change the peak: less of them, one layer in 16 bits."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config_of(base))
    head = model.get_output_embeddings()
    sizes = [
        part.weight.numel()
        for part in model.modules()
        if isinstance(part, Linear) and part is not head
    ]
    return float(2 * max(sizes) - (2 - _NF4) * sum(sizes))


def main() -> None:
    """Print what the recipes that are named take."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipes", nargs="+")
    parser.add_argument("--shards", type=int, default=1, metavar="GPUS")
    given = parser.parse_args()
    quiet_start()
    for name in given.recipes:
        recipe, *changes = name.split(",")
        settings = load_settings(SFTSettings, CONFIGS / f"{recipe}.yaml", changes)
        found = predicted(settings, settings.model, given.shards)
        rows, passes = settings.passes(given.shards)
        print(
            f"{name}: {found.peak / 1e9:.1f} GB, {found.trainable / 1e6:.1f}M of "
            f"{found.parameters / 1e9:.2f}B parameters trained, {settings.rows_per_step} rows a "
            f"step as {rows} x {passes} x {given.shards}",
            flush=True,
        )


if __name__ == "__main__":
    main()
