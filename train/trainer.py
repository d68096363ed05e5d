"""TRL's trainer with a faster loss in which the verdict tag can weigh more than the rest."""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import cross_entropy
from trl import SFTTrainer

IGNORED = -100


class JudgeTrainer(SFTTrainer):  # type: ignore[misc]  # TRL is not followed, so its class is Any
    """``SFTTrainer`` whose training loss counts ``verdict_ids`` ``verdict_weight`` times.

    A verdict is one token in forty of a chain; with equal weights a small model learns to quote
    long before it learns to compare. The output head runs only from the first supervised position
    of the batch on: a prompt is most of a row and none of its loss. With weight 1 the loss is
    TRL's own. Evaluation loss stays TRL's, unweighted.
    """

    def __init__(
        self, *args: Any, verdict_ids: frozenset[int], verdict_weight: float, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._verdict_ids = torch.tensor(sorted(verdict_ids))
        self._verdict_weight = verdict_weight

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The weighted sum of the chains' token losses over their number of tokens."""
        if return_outputs or not model.training:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        inputs = dict(inputs)
        labels = inputs.pop("labels")
        first = int((labels != IGNORED).any(dim=0).int().argmax())
        keep = labels.shape[1] - max(first - 1, 0)
        logits = model(**inputs, use_cache=False, logits_to_keep=keep).logits[:, :-1].float()
        targets = labels[:, 1 - keep :]
        losses = cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=IGNORED, reduction="none"
        )
        is_verdict = torch.isin(targets, self._verdict_ids.to(targets.device))
        weights = 1 + (self._verdict_weight - 1) * is_verdict
        total = (targets != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        return (losses * weights).sum() / torch.as_tensor(total).clamp(min=1)
