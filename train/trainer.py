"""TRL's trainer with a faster loss in which the verdict tag can have a higher weight."""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import chain
from typing import Any, Final

import torch
from torch.nn.functional import cross_entropy, pad
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Sampler
from transformers.trainer_utils import EvalLoopOutput
from trl import SFTTrainer

from gradegpt.core.errors import SettingsError

from .prefix import attention, in_lines, lines, prefix_attention
from .rows import IGNORED, row_order
from .settings import SFTSettings

_OF_LOSS: Final = frozenset({"weights", "twins"})
"""Parts of a row that the loss reads and the model does not."""


class JudgeTrainer(SFTTrainer):  # type: ignore[misc]  # TRL is not followed, so its class is Any
    """``SFTTrainer`` whose training loss counts ``verdict_ids`` ``verdict_weight`` times.

    A verdict is one token in forty of a chain; with equal weights a small model learns to quote
    long before it learns to compare. The output head runs on supervised positions only: a prompt is
    most of a row and has no loss. With weight 1 the loss is TRL's own. The evaluation loss is
    unweighted and padded.

    With ``chain_weight`` rows have weights of their own (``rows.weighted``), and the loss is their
    mean. To it the margins of twins are added, pairs of a right and a wrong row in one line or
    padded batch; ``verdict_ids`` are then two, that of ``<Yes>`` first.

    The order of rows depends only on ``data_seed`` and the epoch, not on other random numbers or
    the number of processes, so that a resumed run sees the same rows.
    """

    data_collator: Any

    def __init__(
        self,
        *args: Any,
        verdict_ids: Sequence[int],
        settings: SFTSettings,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._verdict_ids = torch.tensor(verdict_ids, device=self.args.device)
        self._verdict_weight = settings.verdict_weight
        self._by_row = settings.chain_weight is not None
        self._twin_weight, self._twin_margin = settings.twin_weight, settings.twin_margin
        self._lines: Callable[..., Any] | None = _packed if settings.packing else None
        if settings.share_prefix:
            self._lines = partial(in_lines, limit=settings.sft["max_length"])
        if settings.share_prefix and self.accelerator.num_processes > 1:
            raise SettingsError("share_prefix: supports only one process; set share_prefix=false")
        # Where the weights are in shards, a process cannot compute alone.
        if self._lines is not None and not (self.is_fsdp_enabled or self.is_deepspeed_enabled):
            self._check_lines("packing" if settings.packing else "share_prefix", self._lines)

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Any:
        """Train line by line where prefixes are shared, so memory holds one line at a time."""
        if "spans" not in inputs:
            return super().training_step(model, inputs, num_items_in_batch)
        with prefix_attention(model.config):  # backward too: checkpointing runs forward in it
            return sum(
                super(JudgeTrainer, self).training_step(model, line, num_items_in_batch)
                for line in lines(inputs)
            )

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The weighted sum of the chains' token losses over their number, or that of the rows."""
        if return_outputs or not model.training:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        losses, targets, logits = self._token_losses(model, inputs)
        if self._by_row:
            kept = inputs["labels"][:, 1:] != IGNORED
            weights, twins = (inputs[name][:, 1:][kept] for name in ("weights", "twins"))
            margins = self._margins(logits, targets, twins) if self._twin_weight else 0.0
            loss = (losses * weights).sum() + self._twin_weight * margins
        else:
            weights = 1 + (self._verdict_weight - 1) * torch.isin(targets, self._verdict_ids)
            loss = (losses * weights).sum()
        total = targets.numel() if num_items_in_batch is None else num_items_in_batch
        loss = loss / torch.as_tensor(total).clamp(min=1)
        # The count is over all processes, and their losses are averaged.
        shares = self.args.average_tokens_across_devices and num_items_in_batch is not None
        return loss * self.accelerator.num_processes if shares else loss

    def _margins(
        self, logits: torch.Tensor, targets: torch.Tensor, twins: torch.Tensor
    ) -> torch.Tensor:
        """The sum of what right answers lack to the margin above their wrong twins."""
        kept = twins != 0
        yes, no = logits[kept][:, self._verdict_ids].float().unbind(1)
        right, numbers, value = targets[kept] == self._verdict_ids[0], twins[kept], yes - no
        pairs = right[:, None] & ~right & (numbers[:, None] == numbers)
        return (self._twin_margin - (value[:, None] - value)).clamp(min=0)[pairs].sum()

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: Any) -> Any:
        """The tokens, or the rows where each has a loss of its own."""
        if self._by_row:  # it counts labels, from the second on
            sizes = [_rows(batch) for batch in batch_samples]
            batch_samples = [{"labels": torch.zeros(1, rows + 1)} for rows in sizes]
        return super()._get_num_items_in_batch(batch_samples, device)

    def get_train_dataloader(self) -> Any:
        """The data loader, which may pack rows; evaluation uses padded rows."""
        padded = self.data_collator
        self.data_collator = self._lines or partial(_padded, padded)
        try:
            return super().get_train_dataloader()
        finally:
            self.data_collator = padded

    def evaluation_loop(
        self,
        dataloader: Any,
        description: str,
        prediction_loss_only: bool | None = None,
        ignore_keys: list[str] | None = None,
        metric_key_prefix: str = "eval",
    ) -> EvalLoopOutput:
        """``eval_loss`` per token of the chains, and ``eval_verdict_accuracy``.

        That is how often the right verdict is the likelier one after the row's own text: where a
        chain stands before its tag, after that chain. Both are means over all tokens, so they do
        not depend on the batch size or the number of processes; TRL's loss is a mean of batch
        means. No random numbers are drawn.
        """
        rows = dataloader.dataset
        self.model.eval()
        loss, tokens, right, verdicts = self._dev_sums(rows)
        found = {"loss": loss / tokens, "verdict_accuracy": right / verdicts}
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in found.items()}
        return EvalLoopOutput(None, None, metrics, len(rows))

    def _dev_sums(self, rows: Any) -> list[float]:
        """Losses and number of the tokens, right ones and number of the verdicts, over all rows."""
        order = sorted(range(len(rows)), key=lambda n: len(rows[n]["input_ids"]))
        own = order[self.args.process_index :: self.args.world_size]
        size = self.args.eval_batch_size
        total = torch.zeros(4, dtype=torch.float64, device=self.args.device)
        with torch.no_grad(), self.accelerator.autocast():
            for start in range(0, len(own), size):
                batch = self.data_collator([rows[n] for n in own[start : start + size]])
                inputs = self._prepare_inputs(batch)
                losses, targets, logits = self._token_losses(self.model, inputs)
                at = torch.isin(targets, self._verdict_ids)
                chosen = self._verdict_ids[logits[at][:, self._verdict_ids].argmax(1)]
                sums = (losses.double().sum(), len(losses), (chosen == targets[at]).sum(), at.sum())
                total += torch.stack([torch.as_tensor(value).to(total) for value in sums])
        sums_of_all: list[float] = self.accelerator.reduce(total, reduction="sum").tolist()
        return sums_of_all

    def _token_losses(
        self, model: Any, inputs: Any
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The loss of each supervised token, in float32, the token ids, and all logits."""
        inputs = {name: value for name, value in inputs.items() if name not in _OF_LOSS}
        labels = inputs.pop("labels")[:, 1:]
        # Attention is causal and padding is on the right, so no mask is needed.
        inputs.pop("attention_mask", None)
        supervised = labels != IGNORED
        with _head_on(self.model.get_output_embeddings(), pad(supervised, (0, 1))):
            logits = model(**inputs, use_cache=False).logits
        targets = labels[supervised]
        return cross_entropy(logits.float(), targets, reduction="none"), targets, logits

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Write no card at a checkpoint: the adapter's card is written at the end."""

    def _get_train_sampler(self, train_dataset: Any = None) -> RowSampler:
        rows = self.train_dataset if train_dataset is None else train_dataset
        return RowSampler(
            [len(ids) for ids in rows["input_ids"]],
            step_rows=self.args.train_batch_size
            * self.args.gradient_accumulation_steps
            * self.args.world_size,
            seed=self.args.seed if self.args.data_seed is None else self.args.data_seed,
            epoch=lambda: int(self.state.epoch or 0),
            twins=[max(numbers) for numbers in rows["twins"]] if self._twin_weight else (),
            grouped=self.args.train_sampling_strategy == "group_by_length",
        )

    def _send_telemetry(self) -> None:
        """Do not send TRL's telemetry: nothing leaves the machine without consent."""

    def _check_lines(self, setting: str, collate: Callable[..., Any]) -> None:
        """Refuse a model whose attention code does not keep the rows of a line apart."""
        prefix, first, second = [*range(7, 17)], [*range(1, 9)], [*range(20, 28)]
        line = collate([_prompt(prefix + first), _prompt(prefix + second)])
        model = self.model.get_base_model()
        own = model.config._attn_implementation
        if "spans" in line:
            (line,) = lines(line)
        with prefix_attention(model.config) if "paths" in line else nullcontext():
            found = self._last_logits(line)
        # Paths use sdpa. Eager attention also rounds its scores to bf16, by which it differs more
        # than two kernels of sdpa do.
        with attention(model.config, "sdpa" if model._supports_sdpa else own):
            alone = self._is_row_alone(found, prefix + second, prefix + first + second)
        if not alone:
            raise SettingsError(
                f"{setting}: {type(model).__name__} has its own attention code; set {setting}=false"
            )

    def _is_row_alone(self, found: torch.Tensor, row: list[int], seen: list[int]) -> bool:
        """Whether the logits ``found`` in a line are those of ``row``, and not of ``seen``.

        ``seen`` has the same last tokens after another row's. Distances are compared, as rounding
        grows with the logits: in bf16 it is 0.03 of the distance between the two for Qwen2.5 1.5B
        (flash and math kernels of sdpa), and a model that mixes rows is at about 0.7 or more.
        """
        alone, mixed = (
            self._last_logits({"input_ids": torch.tensor([ids])}) for ids in (row, seen)
        )
        return bool((found - alone).norm() <= 0.25 * (mixed - alone).norm())

    def _last_logits(self, inputs: dict[str, Any]) -> torch.Tensor:
        """The logits of the first line's last eight tokens ``[8, vocab]``, outside training."""
        unused = {"labels", "attention_mask", *_OF_LOSS}
        inputs = {name: v for name, v in inputs.items() if name not in unused}
        was_training = self.model.training
        self.model.eval()
        with torch.inference_mode():
            logits = self.model(**self._prepare_inputs(inputs), use_cache=False).logits
        self.model.train(was_training)
        return logits[0, -8:].float()


def _padded(collate: Any, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The padded batch with the rows' weights and twins, where they have any."""
    batch: dict[str, Any] = collate(rows)
    for name in _OF_LOSS & rows[0].keys():
        columns = [torch.tensor(row[name]) for row in rows]
        batch[name] = pad_sequence(columns, batch_first=True)
    return batch


def _packed(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The rows one after another ``[1, tokens]``: where the positions begin anew, a row begins."""
    made = {name: [*chain.from_iterable(row[name] for row in rows)] for name in rows[0]}
    made["position_ids"] = [n for row in rows for n in range(len(row["input_ids"]))]
    made["attention_mask"] = [1] * len(made["input_ids"])
    return {name: torch.tensor([values]) for name, values in made.items()}


def _rows(batch: dict[str, Any]) -> int:
    """The rows of a batch: shared, packed or padded."""
    if "spans" in batch:
        return len(batch["spans"])
    packed = "position_ids" in batch
    return int((batch["position_ids"] == 0).sum()) if packed else len(batch["labels"])


def _prompt(ids: list[int]) -> dict[str, list[int]]:
    """A row without a chain."""
    return {"input_ids": ids, "labels": [IGNORED] * len(ids)}


@contextmanager
def _head_on(head: Any, keep: torch.Tensor) -> Iterator[None]:
    """Run the output head on the kept positions ``[batch, length]`` only: logits ``[n, vocab]``.

    A hook rather than a call of the backbone, since wrappers for several GPUs need the model's own
    forward, which also scales or caps the logits where a model does so.
    """
    handle = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][keep],))
    try:
        yield
    finally:
        handle.remove()


class RowSampler(Sampler[int]):  # type: ignore[misc]  # nor is torch
    """``row_order`` of each epoch, by seed and epoch."""

    def __init__(
        self,
        lengths: Sequence[int],
        *,
        step_rows: int,
        seed: int,
        epoch: Callable[[], int],
        grouped: bool,
        twins: Sequence[int] = (),
    ) -> None:
        self._lengths, self._step_rows, self._seed = lengths, step_rows, seed
        self._epoch, self._grouped, self._twins = epoch, grouped, twins

    def __len__(self) -> int:
        return -(-len(self._lengths) // self._step_rows) * self._step_rows

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(f"{self._seed}:{self._epoch()}")
        return iter(
            row_order(self._lengths, self._step_rows, rng, grouped=self._grouped, twins=self._twins)
        )
