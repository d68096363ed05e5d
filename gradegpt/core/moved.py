"""What was removed or renamed, or is sought by another name, with what to use instead."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from gradegpt.core.errors import SettingsError

MOVED_COMMANDS: Final[dict[str, str]] = {
    "data.labelled": "is now a kind of rows: gradegpt data labelled path=FILE out=DIR",
    "eval.consistency": "is gradegpt eval FILE changes=[all]",
    "eval.convert": "is gradegpt report OLD NEW -o report.json -o differ.csv -o report.html",
    "eval.errors": "is gradegpt eval.protocol errors FILE --judgements JUDGED -o OUT",
    "eval.leakage": "is gradegpt eval.protocol leakage FILE -o OUT",
    "eval.panel": "is gradegpt eval FILE panel=majority",
    "eval.parts": "is gradegpt eval.protocol parts FILE -o OUT",
    "eval.rubric": "is gradegpt eval.protocol rubric FILE [--rubrics RUBRICS] -o OUT",
    "eval.scores": "is gradegpt report JUDGED [--items FILE] -o scores.json",
    "eval.steps": "is gradegpt eval.protocol steps FILE -o OUT",
    "train.average": "was removed; train to the end of the schedule, and take the last step",
    "train.lexical": "was removed with the lexical judge; a model judges what the rules leave open",
    "train.base": "was removed; give gradegpt train any chat model, or the built-in base nano",
    "export": "was removed; a judge runs from its folder. For one model: gradegpt train.merge",
    "certify": "is gradegpt eval LABELLED --certify FLOOR",
    "view": "is gradegpt report JUDGED --open",
    "serve.keys": "was removed; give the keys by gradegpt serve --api-key, or in GRADEGPT_API_KEY",
}
"""By the name of a removed command: what to use."""
_SFT: Final = {
    "seed": "seed", "data_seed": "data_seed", "max_length": "max_length", "max_steps": "max_steps",
    "epochs": "num_train_epochs", "batch_size": "per_device_train_batch_size",
    "gradient_accumulation": "gradient_accumulation_steps",
    "eval_batch_size": "per_device_eval_batch_size", "learning_rate": "learning_rate",
    "warmup_ratio": "warmup_steps", "weight_decay": "weight_decay",
    "lr_scheduler": "lr_scheduler_type", "optim": "optim", "max_grad_norm": "max_grad_norm",
    "bf16": "bf16", "attn_implementation": "model_init_kwargs.attn_implementation",
    "gradient_checkpointing": "gradient_checkpointing", "torch_compile": "torch_compile",
    "eval_steps": "eval_steps, or sft.eval_strategy=no for 0",
    "best_by": "metric_for_best_model", "save_steps": "save_steps",
    "logging_steps": "logging_steps", "report_to": "report_to",
    "group_by_length": "train_sampling_strategy=group_by_length or random",
}  # fmt: skip
_LORA: Final = {
    "lora_rank": "r", "lora_alpha": "lora_alpha", "lora_dropout": "lora_dropout",
    "lora_layers": "layers_to_transform, a list of layers", "target_modules": "target_modules",
    "use_dora": "use_dora", "use_rslora": "use_rslora",
}  # fmt: skip
NEEDLESS_OPTIONS: Final = {
    "--ignore-extra": "is not needed any more: columns that hold no field are left alone"
}
MOVED_SETTINGS: Final[dict[str, dict[str, str]]] = {
    "": {"ignore_extra": NEEDLESS_OPTIONS["--ignore-extra"]},
    "data": {
        "counterfactuals": "name the source in 'crossed': its answers get other right references",
        "dev_rows": "strata take 400 rows of other questions for dev",
        "drills": "drills were for the built-in judge, which was removed",
        "longer": "all rows have the budget of 'prompt'",
        "outputs": "name a table with question, reference and response as 'unlabelled'",
        "responses_per_question": "two responses are written to a question",
        "teacher.agree": "more than half of the replies must agree",
        "teacher.requests_per_minute": "lower concurrency; the wait that a server asks for is kept",
        "teacher.temperature": "several samples are drawn at 0.7, or as extra_body says",
        "quality": "set near_duplicate and longest alone; card: false measures no artifacts",
        "repeats": "it was for kind: base, which was removed",
    },
    "train": {old: f"it is now sft.{new}" for old, new in _SFT.items()}
    | {old: f"it is now lora.{new}" for old, new in _LORA.items()}
    | {
        "packing": "it was removed; rows of similar length share a batch, which pads little",
        "threads": "set the environment variable OMP_NUM_THREADS",
        "push_to_hub": "upload the adapter with: hf upload REPOSITORY runs/NAME/adapter",
        "hub_private_repo": "upload the adapter with: hf upload REPOSITORY runs/NAME/adapter",
        "resume": "remove the folder of the run to restart it",
        "logging_dir": "logs are in the folder of the run",
        "early_stop": "it was removed; set sft.max_steps",
        "interpolate": "it was removed; train on with a lower sft.learning_rate",
        "drills": "it was removed; give more rows",
    },
    "eval": {
        "chunk": "rows are written as they are judged",
        "disagreements": "the page lists them",
        "listed": "gradegpt report JUDGED --most N lists more items",
    },
    "eval.ablation": dict.fromkeys(
        ("batch_size", "max_new_tokens"), "a setting of every judge, in 'judge'"
    ),
    "serve": {
        "general": "gradegpt serve.template learn makes a template of two prompts",
        "judge.api_key": "export the key as OPENAI_API_KEY",
        "log_requests": "set log=requests",
        "log_content": "set log=content",
        "judge.threads": "set OMP_NUM_THREADS, or give the process fewer cores",
        "judge.device": "choose GPUs by CUDA_VISIBLE_DEVICES, which is empty for the CPU",
        "judge.structured_outputs": "set judge.constrained",
        "judge.stop_confidence": "it is 0.97, or min_confidence where that is higher",
        "api_keys": "give the keys by --api-key, or in GRADEGPT_API_KEY",
        "state": "batches are answered by gradegpt serve.batch",
        "max_file_bytes": "batches are answered by gradegpt serve.batch",
        "max_batch_lines": "batches are answered by gradegpt serve.batch",
        "batch_concurrency": "batches are answered by gradegpt serve.batch",
        "max_reward_items": "a request has at most max_queue rewards",
        "max_held_bytes": "it is 64 times max_body_bytes",
        "max_response_characters": "max_body_bytes limits a request",
        "max_prompt_characters": "max_body_bytes limits a request",
    },
}
"""By command and the name of a removed setting: what to use."""
MOVED_OPTIONS: Final[dict[str, dict[str, str]]] = {
    "": {"--out": "--output"},
    "eval.references": {
        f"--{field.replace('_', '-')}": f"--map {field}="
        for field in ("question", "context", "reference", "answer_type", "unit", "solution")
    },
}
"""By command of a stage, "" for all, and old name: the new option, such as ``--map unit=``."""


def refuse_moved(command: str) -> None:
    """Raise a ``SettingsError`` with what to use where a command was removed."""
    if command in MOVED_COMMANDS:
        raise SettingsError(f"gradegpt {command}: {MOVED_COMMANDS[command]}")


def renamed(command: str, arguments: Sequence[str]) -> Iterator[str]:
    """The arguments with the new names of options; a line on stderr says each of them."""
    names = MOVED_OPTIONS[""] | MOVED_OPTIONS.get(command, {}) if command else {}
    before = ""
    for argument in arguments:
        if argument in NEEDLESS_OPTIONS:
            sys.stderr.write(f"{argument}: {NEEDLESS_OPTIONS[argument]}\n")
            continue
        old, equals, value = argument.partition("=")
        if old not in names:
            yield before + argument
            before = ""
            continue
        sys.stderr.write(f"{old}: is now {names[old]}\n")
        option, _, before = names[old].partition(" ")
        yield option
        if equals:
            yield before + value
            before = ""
