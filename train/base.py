"""Pre-train the built-in base from scratch: ``gradegpt train.base configs/train/nano-base.yaml``.

A plain loop on torch alone, so that it runs on a CPU or on any machine with a GPU: tokenizer from
the corpus, rows batched by length, bf16 autocast, Muon for the matrices and AdamW for the other
weights, warmup, then linear decay to zero over the last part or all of the steps. A stopped run
resumes from the last checkpoint with the same command.
"""

from __future__ import annotations

import json
import random
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gradegpt import options
from gradegpt.chain import SYSTEM
from gradegpt.cli import run
from gradegpt.engines.files import PROMPT_FILE
from gradegpt.errors import InputError
from gradegpt.machine import cpu_has_bf16, trim
from gradegpt.records import sha256_file, whole_file, write_json
from gradegpt.settings import load_settings

from .batches import Row, batches, encode_pairs, read_pairs, stream, tensors
from .card import base_card
from .memory import TRIM_EVERY, keep_freed_memory
from .rows import prompt_settings_of
from .settings import BaseSettings
from .tokenizer import train_tokenizer

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def pretrain(settings: BaseSettings) -> dict[str, Any]:
    """Make tokenizer and model, train, save to ``<out>/model``; return the manifest."""
    import torch

    keep_freed_memory()
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    out = Path(settings.folder)
    texts = {part: read_pairs(Path(settings.data) / f"{part}.jsonl") for part in ("train", "dev")}
    tokenizer = _tokenizer(settings, texts["train"], out)
    texts["dev"] = texts["dev"][: settings.dev_rows]
    rows = {part: encode_pairs(values, tokenizer, settings) for part, values in texts.items()}
    if not rows["train"]:
        raise InputError(f"{settings.data}: no row fits max_length={settings.max_length}; raise it")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = _model(settings, tokenizer).to(device)
    started = time.monotonic()
    metrics = _train(model, rows["train"], rows["dev"], settings, out)
    # Shipped in bf16, at half the size, and fine-tuned in it, so the adapter fits what is shipped.
    model.to(torch.bfloat16).save_pretrained(out / "model")
    tokenizer.save_pretrained(out / "model")
    prompt = prompt_settings_of(Path(settings.data))
    write_json(out / "model" / PROMPT_FILE, prompt.model_dump(mode="json"))
    manifest = {
        "stage": "train.base",
        "settings": settings.model_dump(mode="json"),
        "data": {part: sha256_file(Path(settings.data) / f"{part}.jsonl") for part in texts},
        "parameters": sum(p.numel() for p in model.parameters()),
        "minutes": round((time.monotonic() - started) / 60, 1),
        "torch": torch.__version__,
        **metrics,
    }
    with whole_file(out / "model" / "README.md") as card:
        card.write(base_card(manifest))
    write_json(out / "manifest.json", manifest)
    return manifest


def _tokenizer(
    settings: BaseSettings, pairs: list[tuple[str, str]], out: Path
) -> PreTrainedTokenizerFast:
    from transformers import AutoTokenizer

    saved = out / "tokenizer"
    if not (saved / "tokenizer.json").exists():
        # The judge's instructions are in every prompt of the adapter, so their words get tokens.
        corpus = [f"{prompt}{reply}" for prompt, reply in pairs] + [*SYSTEM.values()] * 200
        made = train_tokenizer(corpus, settings.vocab_size, settings.max_position_embeddings)
        made.save_pretrained(saved)
    return AutoTokenizer.from_pretrained(saved)


def _model(settings: BaseSettings, tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=-(-len(tokenizer) // 64) * 64,
        hidden_size=settings.hidden_size,
        intermediate_size=settings.intermediate_size,
        num_hidden_layers=settings.num_hidden_layers,
        num_attention_heads=settings.num_attention_heads,
        num_key_value_heads=settings.num_attention_heads,
        head_dim=settings.head_dim,
        max_position_embeddings=settings.max_position_embeddings,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        # On a CPU plain matrix products beat the fused kernel's backward pass
        # (docs/experiments/019-cost-of-a-training-step.md).
        attn_implementation="sdpa" if torch.cuda.is_available() else "eager",
    )
    return Qwen3ForCausalLM(config)


def _train(
    model: Qwen3ForCausalLM, train: list[Row], dev: list[Row], settings: BaseSettings, out: Path
) -> dict[str, Any]:
    import torch

    optimizers = _optimizers(model, settings)
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(o, lambda s: _schedule(s, settings)) for o in optimizers
    ]
    step, tokens = _resume(out, model, optimizers, schedules)
    steps = islice(stream(train, settings), step, None)
    metrics: dict[str, Any] = {}
    log = (out / "log.jsonl").open("a", encoding="utf-8", buffering=1)
    clock, since = time.monotonic(), tokens
    columns = (
        TextColumn("train.base"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with log, Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=settings.max_steps, completed=step, note="")
        for batch in steps:
            loss, _ = _loss(model, batch, settings)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                schedule.step()
            step, tokens = step + 1, tokens + sum(len(r.ids) for r in batch)
            rate = (tokens - since) / (time.monotonic() - clock)
            bar.update(task, completed=step, note=f"loss {loss.item():.3f} {rate:,.0f} tok/s")
            record = {
                "step": step,
                "loss": round(loss.item(), 4),
                "grad_norm": round(norm.item(), 3),
                "tokens": tokens,
            }
            if step % settings.eval_every == 0 or step == settings.max_steps:
                metrics = _evaluate(model, dev, settings) | {
                    "tokens": tokens,
                    "tokens_per_second": round(rate),
                }
                record |= metrics
                bar.console.print(f"step {step}: {metrics}")
            log.write(json.dumps(record) + "\n")
            if step % TRIM_EVERY == 0:
                trim()
            if step % settings.save_every == 0:
                _save(out, model, optimizers, schedules, step, tokens)
    return metrics


def _schedule(step: int, settings: BaseSettings) -> float:
    warm = min(1.0, (step + 1) / settings.warmup_steps)
    left = max(0.0, 1 - step / settings.max_steps)
    return warm * min(1.0, left / settings.decay)


def _optimizers(model: Qwen3ForCausalLM, settings: BaseSettings) -> list[torch.optim.Optimizer]:
    import torch

    matrices = [
        p
        for n, p in model.named_parameters()
        if p.ndim == 2 and "embed" not in n and "lm_head" not in n
    ]
    chosen = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [
        torch.optim.Muon(
            matrices,
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(rest, lr=settings.learning_rate, weight_decay=0.0, betas=(0.9, 0.95)),
    ]


def _loss(
    model: Qwen3ForCausalLM, batch: list[Row], settings: BaseSettings
) -> tuple[torch.Tensor, torch.Tensor]:
    """The weighted mean loss, and whether each verdict tag of the batch was predicted."""
    import torch

    batch_ = tensors(batch, model.config.pad_token_id, pack=settings.pack, device=model.device)
    fast = model.device.type != "cpu" or cpu_has_bf16()
    with torch.autocast(model.device.type, torch.bfloat16, enabled=settings.bf16 and fast):
        # Rows are padded on the right and attention is causal: no mask is needed, and padded
        # positions have weight 0.
        logits = model(
            input_ids=batch_.ids[:, :-1],
            position_ids=None if batch_.positions is None else batch_.positions[:, :-1],
            use_cache=False,
        ).logits
    losses = torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), batch_.ids[:, 1:].flatten(), reduction="none"
    )
    weights = batch_.weights[:, 1:].flatten()
    rows, places = batch_.verdicts.unbind(1)
    hits = logits[rows, places - 1].argmax(-1) == batch_.ids[rows, places]
    return (losses * weights).sum() / weights.sum(), hits


def _evaluate(
    model: Qwen3ForCausalLM, dev: list[Row], settings: BaseSettings
) -> dict[str, float | None]:
    """The loss and the share of predicted verdict tags; None where no row has a tag."""
    import torch

    model.eval()
    losses, hits = [], []
    with torch.inference_mode():
        for batch in batches(dev, settings.batch_tokens, random.Random(0)):
            loss, hit = _loss(model, batch, settings)
            losses.append(loss.item())
            hits += hit.tolist()
    model.train()
    return {
        "dev_loss": round(sum(losses) / len(losses), 4) if losses else None,
        "dev_verdicts": round(sum(hits) / len(hits), 4) if hits else None,
    }


def _save(out: Path, model: Any, optimizers: Any, schedules: Any, step: int, tokens: int) -> None:
    import torch

    state = {
        "model": model.state_dict(),
        "optimizers": [o.state_dict() for o in optimizers],
        "schedules": [s.state_dict() for s in schedules],
        "step": step,
        "tokens": tokens,
    }
    temporary = out / "checkpoint.tmp"
    torch.save(state, temporary)
    temporary.replace(out / "checkpoint.pt")


def _resume(out: Path, model: Any, optimizers: Any, schedules: Any) -> tuple[int, int]:
    import torch

    path = out / "checkpoint.pt"
    out.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return 0, 0
    state = torch.load(path, map_location=model.device, weights_only=True)
    model.load_state_dict(state["model"])
    for target, saved in zip(
        [*optimizers, *schedules], [*state["optimizers"], *state["schedules"]], strict=True
    ):
        target.load_state_dict(saved)
    return int(state["step"]), int(state["tokens"])


@app.command()
def main(
    config: Annotated[Path, options.config("nano-base")],
    overrides: Annotated[list[str] | None, options.changes("max_steps, out, seed, ...")] = None,
) -> None:
    """Pre-train the built-in base from scratch and save it to <out>/model.

    A stopped run resumes from the last checkpoint with the same command.
    """
    settings = load_settings(BaseSettings, config, overrides or ())
    manifest = pretrain(settings)
    typer.echo(
        f"wrote {settings.folder}/model: {manifest['parameters']:,} parameters, "
        f"{manifest['minutes']} minutes"
    )


if __name__ == "__main__":
    run(app, name="gradegpt train.base")
