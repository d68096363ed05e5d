"""LoRA fine-tuning: TRL's ``SFTTrainer`` with a PEFT adapter, loss on the chain alone."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.chain import YES
from gradegpt.core.errors import InputError, MissingError, SettingsError
from gradegpt.core.mistakes import suggest
from gradegpt.core.records import sha256_file, write_json
from gradegpt.core.shipped import adapter_of, base_of
from gradegpt.engines.encoder import TASK, longest
from gradegpt.engines.files import load_errors, name_with_digest
from gradegpt.engines.local import quiet_start

from .adapter import Run, manifest_of, save_adapter
from .checkpoints import Checkpoint, Plan, resume_point
from .loading import is_encoder, linear_names, load_base
from .memory import keep_freed_memory
from .rows import encode_file, prompt_settings_of, verdict_token_ids
from .settings import OF_ADAPTER, SFTSettings

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import LoraConfig, PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import SFTConfig

    from .encoder import EncoderTrainer
    from .trainer import JudgeTrainer

Parts = dict[str, "Dataset"]
PARTS: Final = ("train", "dev")

_FREE: Final = frozenset(
    {
        "data_seed", "disable_tqdm", "eval_on_start", "eval_steps", "eval_strategy",
        "gradient_checkpointing", "gradient_checkpointing_kwargs",
        "log_level", "logging_first_step", "logging_steps", "logging_strategy", "max_steps",
        "metric_for_best_model", "num_train_epochs", "per_device_eval_batch_size",
        "per_device_train_batch_size", "project", "report_to", "run_name", "save_steps",
        "save_total_limit", "torch_empty_cache_steps",
    }
)  # fmt: skip
"""Options that do not shape the weights, or that ``_plan`` adds in another form."""
_OF_STEPS: Final = ("eval_steps", "logging_steps")
"""Options that below 1 are a share of all steps."""


def fine_tune(settings: SFTSettings) -> dict[str, Any]:
    """Train the adapter, save it with its prompt settings; return the manifest.

    With several processes (``accelerate launch``) the first one writes and returns it, and the
    others return an empty dict.

    Raises:
        MissingError: the data, the model or a package is missing.
        InputError: no row fits ``max_length``.
        SettingsError: an option is unknown, settings contradict each other, or differ from those of
            the checkpoint in ``out``.
        EngineError: the model does not load.

    """
    data = Path(settings.data)  # checked first: the imports take long
    prompt = settings.prompt or prompt_settings_of(data)
    for part in PARTS:
        if not (data / f"{part}.jsonl").is_file():
            raise MissingError(f"{data / part}.jsonl: no such file; run gradegpt data first")
    _set_up(settings)
    from .encoder import load_encoder

    base = base_of(settings.model)
    tokenizer, model = (load_encoder if is_encoder(base) else load_base)(settings)
    parts = {part: _dataset(data / f"{part}.jsonl", tokenizer, settings, model) for part in PARTS}
    if settings.dev_rows:
        parts["dev"] = parts["dev"].select(range(min(settings.dev_rows, len(parts["dev"]))))
    plan = _plan(settings, len(parts["train"]))
    checkpoint = resume_point(settings.folder, plan)
    started = time.monotonic() - (0 if checkpoint is None else checkpoint.seconds)
    trainer = _trainer(settings, tokenizer, model, parts, plan, started)
    run = _train(trainer, checkpoint)
    # All processes gather the weights together where each holds a shard.
    whole = trainer.accelerator.get_state_dict
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    weights = whole(trainer.model_wrapped) if sharded else None
    if not trainer.is_world_process_zero():
        return {}
    # PEFT writes the base into the adapter; a local folder would be invalid on another machine.
    digests = {path.name: sha256_file(path) for path in sorted(Path(base).glob("*.safetensors"))}
    on_hub = "/" in settings.model and not Path(settings.model).is_dir()
    base = settings.base_name or (settings.model if on_hub else Path(base).name)
    seconds = time.monotonic() - started
    manifest = manifest_of(settings, base, parts, run, seconds) | {"base_sha256": digests}
    save_adapter(trainer.model, settings.folder / "adapter", prompt, manifest, weights)
    write_json(settings.folder / "manifest.json", manifest)
    return manifest


def check_options(settings: SFTSettings) -> None:
    """Check that TRL and PEFT have the options that are handed to them.

    Raises:
        SettingsError: an option is unknown.

    """
    from dataclasses import fields

    from peft import LoraConfig
    from trl import SFTConfig

    for name, of in (("sft", SFTConfig), ("lora", LoraConfig)):
        known = [field.name for field in fields(of) if field.init]
        for option in getattr(settings, name):
            if option not in known:
                nearest = suggest({"rank": "r"}.get(option, option), known)
                raise SettingsError(f"{name}.{option}: {of.__name__} has no such option{nearest}")


def _set_up(settings: SFTSettings) -> None:
    quiet_start()
    import datasets
    import torch
    from transformers import set_seed
    from transformers.integrations import get_available_reporting_integrations

    check_options(settings)
    reporters = {*get_available_reporting_integrations(), "none", "all"}
    wanted = settings.sft["report_to"]
    if unknown := {*([wanted] if isinstance(wanted, str) else wanted)} - reporters:
        raise MissingError(
            f"sft.report_to={unknown.pop()}: not installed, or unknown; "
            f"choose one of: {', '.join(sorted(reporters))}"
        )
    datasets.disable_progress_bars()
    set_seed(settings.sft["seed"])
    if not torch.cuda.is_available():
        keep_freed_memory()


def _dataset(
    path: Path,
    tokenizer: PreTrainedTokenizerBase,
    settings: SFTSettings,
    model: PreTrainedModel | None = None,
) -> Dataset:
    from datasets import Dataset

    from .encoder import encoder_rows

    limit = settings.sft["max_length"]
    if model is not None and _is_classifier(model):
        rows = list(encoder_rows(path, tokenizer, min(limit, longest(model.config, tokenizer))))
    else:
        rows = [*encode_file(path, tokenizer, limit, settings.chain_weight)]
    if not rows and path.stem == "train":
        raise InputError(f"{path}: no row fits max_length={limit}; raise it or shorten the prompts")
    return Dataset.from_list(rows)


def _trainer(
    settings: SFTSettings,
    tokenizer: PreTrainedTokenizerBase,
    model: PreTrainedModel,
    parts: Parts,
    plan: Plan,
    started: float = 0.0,
) -> JudgeTrainer | EncoderTrainer:
    from transformers.integrations import TensorBoardCallback

    from .callbacks import Pace, Stamp, Upkeep
    from .encoder import EncoderTrainer
    from .trainer import JudgeTrainer

    evaluates = settings.evaluates and len(parts["dev"]) > 0
    usual: dict[str, Any] = {
        "model": _continued(model, settings) if settings.adapter else model,
        "args": _arguments(settings, plan.steps, evaluate=evaluates),
        "train_dataset": parts["train"],
        "eval_dataset": parts["dev"] if len(parts["dev"]) else None,
        "processing_class": tokenizer,
        "callbacks": [Upkeep(settings.sft["save_steps"]), Pace(), Stamp(plan, started)],
    }
    peft_config = None if settings.adapter else _lora(settings, model)
    if _is_classifier(model):
        return EncoderTrainer(peft_config, **usual)
    trainer = JudgeTrainer(
        **usual,
        peft_config=peft_config,
        verdict_ids=_verdict_ids(tokenizer, settings),
        settings=settings,
    )
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback):
            callback.logging_dir = str(settings.folder / "logs")
    return trainer


def _verdict_ids(tokenizer: PreTrainedTokenizerBase, settings: SFTSettings) -> list[int]:
    """The tokens of the verdicts; with ``chain_weight`` one of each, that of ``<Yes>`` first.

    Raises:
        SettingsError: the tags differ in more than one token, which has no one logit.

    """
    ids = verdict_token_ids(tokenizer)
    if settings.chain_weight is None:
        return sorted(ids)
    if len(ids) != 2:
        raise SettingsError(
            f"chain_weight: in {settings.model} a tag has several tokens; leave it out"
        )
    yes = {*tokenizer(YES, add_special_tokens=False)["input_ids"]}
    return sorted(ids, key=lambda id_: id_ not in yes)


def _lora(settings: SFTSettings, model: PreTrainedModel) -> LoraConfig:
    from peft import LoraConfig

    options = dict(settings.lora)
    modules = options["target_modules"]
    if options.get("layers_to_transform") and modules == "all-linear":
        modules = linear_names(model)  # PEFT does not accept layer numbers with "all-linear"
    elif isinstance(modules, str) and modules != "all-linear":
        modules = modules.split(",")
    task = TASK if _is_classifier(model) else "CAUSAL_LM"
    return LoraConfig(task_type=task, **(options | {"target_modules": modules}))


def _is_classifier(model: PreTrainedModel) -> bool:
    return type(model).__name__.endswith("ForSequenceClassification")


def _continued(model: PreTrainedModel, settings: SFTSettings) -> PeftModel:
    """The model with the adapter that training starts from."""
    from peft import PeftModel
    from transformers.integrations import is_deepspeed_zero3_enabled

    folder = adapter_of(settings.adapter)
    # ZeRO-3 gathers parameters of one type alone; TRL makes a new adapter so, too.
    mixed = not is_deepspeed_zero3_enabled()
    with load_errors(folder):
        wrapped = PeftModel.from_pretrained(
            model, folder, is_trainable=True, autocast_adapter_dtype=mixed
        )
    found, wanted = wrapped.peft_config["default"], _lora(settings, model)
    # The base's name in the adapter may be unknown here, and PEFT would look it up on the hub.
    found.base_model_name_or_path = base_of(settings.model)
    for option in OF_ADAPTER:
        has, asked = getattr(found, option), getattr(wanted, option)
        if has != asked:
            raise SettingsError(
                f"lora.{option}={asked}: {folder} has {has}; set lora.{option}={_written(has)}"
            )
    return wrapped


def _written(value: Any) -> str:
    return "null" if value is None else str(value).replace(" ", "")


def _arguments(settings: SFTSettings, steps: int, *, evaluate: bool) -> SFTConfig:
    import torch
    from accelerate import PartialState
    from trl import SFTConfig

    on_gpu, options = torch.cuda.is_available(), dict(settings.sft)
    rows, passes = settings.passes(int(PartialState().num_processes))
    # The trainer compares a checkpoint's whole number with a share of the steps, and warns.
    options |= {n: math.ceil(options[n] * steps) for n in _OF_STEPS if options[n] < 1}
    # Every evaluated step is saved, as it may be the best; the callback ``Upkeep`` adds others.
    evaluation: dict[str, Any] = {
        "save_steps": options["eval_steps"],
        "metric_for_best_model": f"eval_{settings.metric}",
        "greater_is_better": settings.metric != "loss",
        "load_best_model_at_end": True,
    }
    if not evaluate:
        evaluation = {"eval_strategy": "no", "metric_for_best_model": None}
    usual = {
        "output_dir": str(settings.folder),
        "per_device_train_batch_size": rows,
        "gradient_accumulation_steps": passes,
        "completion_only_loss": True,
        # The rows are ids and labels already; the collator packs them.
        "dataset_kwargs": {"skip_prepare_dataset": True},
        # Autocast casts the base in every product; on a CPU it is loaded in its compute type.
        "bf16": options["bf16"] and on_gpu,
        "use_cpu": not on_gpu,
        "ddp_find_unused_parameters": False,
        "remove_unused_columns": False,  # weights and twins are read by the loss
        "include_num_input_tokens_seen": "non_padding",
        "dataloader_pin_memory": on_gpu,
        # The newest may be incomplete when a run is killed, and the best is kept besides.
        "save_total_limit": options.get("save_total_limit", 3),
    }
    try:
        return SFTConfig(**(options | usual | evaluation))
    except (ValueError, TypeError) as error:
        raise SettingsError(
            f"transformers rejects a setting: {str(error).splitlines()[0]}"
        ) from error


def _plan(settings: SFTSettings, rows: int) -> Plan:
    data, options = Path(settings.data), settings.sft
    shaping = {f"sft.{name}": value for name, value in options.items() if name not in _FREE}
    shaping |= {f"lora.{name}": value for name, value in settings.lora.items()} | {
        "share_prefix": settings.share_prefix,
        "qlora": settings.qlora,
        "verdict_weight": settings.verdict_weight,
        "data_seed": options.get("data_seed", options["seed"]),
        "model": name_with_digest(base_of(settings.model)),
        "rows_per_step": settings.rows_per_step,
        "train.jsonl": sha256_file(data / "train.jsonl"),
    }
    if settings.chain_weight is not None:
        shaping |= settings.model_dump(include={"chain_weight", "twin_weight", "twin_margin"})
    if settings.adapter:
        shaping["adapter"] = name_with_digest(adapter_of(settings.adapter))
    if settings.evaluates:  # the settings that chose the best step so far
        shaping |= {
            "metric_for_best_model": settings.metric,
            "dev_rows": settings.dev_rows,
            "dev.jsonl": sha256_file(data / "dev.jsonl"),
        }
    return Plan(shaping, settings.steps(rows))


def _train(trainer: JudgeTrainer | EncoderTrainer, checkpoint: Checkpoint | None) -> Run:
    """Train, or restore a finished run, and measure the adapter to save."""
    from transformers import PrinterCallback, ProgressCallback

    from .callbacks import Pace, restore

    for replaced in (PrinterCallback, ProgressCallback):  # by ``Pace``
        trainer.remove_callback(replaced)
    if checkpoint is not None and checkpoint.finished:
        restore(trainer, checkpoint)
        metrics: dict[str, Any] = {}
    else:
        resume = None if checkpoint is None else str(checkpoint.path)
        metrics = trainer.train(resume_from_checkpoint=resume).metrics
    state, by = trainer.state, trainer.args.metric_for_best_model
    best = None
    if trainer.args.load_best_model_at_end and state.best_global_step:
        best = {"step": state.best_global_step, "by": by, "value": state.best_metric}
        logged = [e for e in state.log_history if e["step"] == state.best_global_step and by in e]
        metrics |= logged[0]
    elif trainer.eval_dataset is not None:
        metrics |= trainer.evaluate()
    (pace,) = (c for c in trainer.callback_handler.callbacks if isinstance(c, Pace))
    return Run(
        steps=state.global_step,
        best=best,
        metrics={k: round(v, 5) for k, v in metrics.items() if isinstance(v, float)},
        parameters=trainer.model.get_nb_trainable_parameters(),
        tokens_per_second=pace.tokens_per_second,
        processes=trainer.args.world_size,
    )
