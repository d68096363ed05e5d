"""Processes that train, forked from one that has imported the heavy packages once."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

LIMIT_S: Final = 180.0


def exit_codes(target: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[int]:
    """Run a process for each of ``arguments`` at once; a negative code is a signal's number."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["train.trainer", "train.callbacks"])
    processes = [context.Process(target=target, args=given) for given in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(LIMIT_S)
        process.kill()  # a process that has ended ignores it
        process.join()
    return [int(process.exitcode or 0) for process in processes]


def train_as_one_of(rank: int, processes: int, port: int, config: Path) -> None:
    """Train as a process that ``torchrun`` started: these variables are all that it hands over.

    ``accelerate launch`` starts processes in that way on GPUs, but only one on CPUs.
    """
    os.environ |= {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    _train(config)


def train_in_shards(rank: int, processes: int, port: int, config: Path, launch: Path) -> None:
    """Train as a process that ``accelerate launch`` started with an FSDP file.

    Accelerate chooses FSDP for GPUs alone; here it is chosen for CPUs, too. The rest is its own.
    """
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.state import AcceleratorState, DistributedType, PartialState

    values = load_config_from_file(str(launch)).fsdp_config
    os.environ |= {name.upper(): str(value).lower() for name, value in values.items()}
    os.environ |= {
        "ACCELERATE_USE_FSDP": "true",
        "FSDP_AUTO_WRAP_POLICY": values["fsdp_auto_wrap_policy"],
        "FSDP_STATE_DICT_TYPE": values["fsdp_state_dict_type"],
    }
    begin = AcceleratorState.__init__

    def choose(self: Any, *args: Any, fsdp_plugin: Any = None, **rest: Any) -> None:
        begin(self, *args, fsdp_plugin=fsdp_plugin, **rest)
        if fsdp_plugin is not None:
            self.distributed_type, self.fsdp_plugin = DistributedType.FSDP, fsdp_plugin
            PartialState._shared_state["distributed_type"] = DistributedType.FSDP

    from torch.distributed.tensor import DTensor

    from train import sft

    train = sft._train

    def checked(trainer: Any, *rest: Any) -> Any:
        made = train(trainer, *rest)
        layers = [w for name, w in trainer.model.named_parameters() if ".layers." in name]
        assert layers
        assert all(isinstance(weights, DTensor) for weights in layers)
        return made

    AcceleratorState.__init__, sft._train = choose, checked
    train_as_one_of(rank, processes, port, config)


def train_with_deepspeed(rank: int, processes: int, port: int, config: Path, launch: Path) -> None:
    """Train as a process that ``accelerate launch`` started with a DeepSpeed file, on a CPU."""
    from accelerate.commands.config.config_args import load_config_from_file

    values = load_config_from_file(str(launch)).deepspeed_config
    names = {"zero_stage", "offload_optimizer_device", "offload_param_device"}
    for name, value in values.items():
        prefix = "ACCELERATE_DEEPSPEED_" if name in names or "zero3" in name else "ACCELERATE_"
        os.environ[f"{prefix}{name}".upper()] = str(value).lower()
    os.environ |= {"ACCELERATE_USE_DEEPSPEED": "true", "DS_ACCELERATOR": "cpu"}
    train_as_one_of(rank, processes, port, config)


def train_and_die(config: Path, step: int) -> None:
    """Train until the checkpoint of ``step`` is complete, and get SIGKILL."""
    _die_at(step)
    _train(config)


def _die_at(step: int) -> None:
    from train.callbacks import Stamp

    save = Stamp.on_save

    def die(self: Any, args: Any, state: Any, control: Any, **rest: Any) -> None:
        save(self, args, state, control, **rest)
        if state.global_step == step:
            os.kill(os.getpid(), signal.SIGKILL)

    Stamp.on_save = die  # type: ignore[method-assign]


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _train(config: Path) -> None:
    import torch

    from train.__main__ import app

    torch.set_num_threads(1)
    app([str(config)], standalone_mode=False)


if __name__ == "__main__":  # started by torchrun, whose second process dies once
    if (os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]) == ("1", "0"):
        _die_at(int(sys.argv[2]))
    _train(Path(sys.argv[1]))
