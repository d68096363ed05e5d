"""The trials before the first step: they accept real architectures, and refuse mixed rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import pytest

from gradegpt.core.errors import SettingsError
from tests.train.options import trainer_of, two_steps
from tests.train.test_loading import FAMILIES, dress, make_base

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
# Two queries share a key, as in every base of a recipe.
SHAPE: Final = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
SHARE: Final = {"share_prefix": True}
PRECISIONS: Final = pytest.mark.parametrize("bf16", [False, True], ids=["float32", "bfloat16"])

Made = Callable[..., Any]


@pytest.fixture
def made(
    base: Path, judge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Makes a trainer of a random base of an architecture."""
    from transformers import AutoTokenizer

    monkeypatch.setattr("train.loading.cpu_has_bf16", lambda: True)

    def make(name: str, shape: dict[str, Any] = SHAPE, **changes: Any) -> Any:
        family = FAMILIES.get(name, FAMILIES["qwen2"]._replace(architecture=name))
        tokenizer = dress(AutoTokenizer.from_pretrained(base / "model"), family)
        make_base(tmp_path / "model", tokenizer, family, **shape)
        return trainer_of(two_steps(tmp_path, judge_data, tmp_path / "out", **changes))

    return make


def widen(trainer: Any) -> None:
    """Draw biases and norms, which begin as 0 and 1, and let the logits span tens."""
    import torch

    with torch.no_grad():
        for name, weights in trainer.model.named_parameters():
            if name.endswith(("bias", "_norm.weight")):
                weights.add_(torch.randn_like(weights), alpha=0.3)
        trainer.model.get_output_embeddings().weight.mul_(100)
        logits = trainer.model(torch.arange(7, 25)[None]).logits
    assert logits.dtype == trainer.model.get_output_embeddings().weight.dtype
    assert logits.max() - logits.min() > 40


@PRECISIONS
@pytest.mark.parametrize(("name", "attention"), [("qwen2", "eager"), ("qwen3", "sdpa")])
def test_wide_logits_are_accepted(made: Made, name: str, attention: str, bf16: bool) -> None:
    """In every precision and attention, as the bound is not a number of logits."""
    trainer = made(name, bf16=bf16, attention=attention, **SHARE)
    widen(trainer)
    trainer._check_lines("share_prefix", trainer._lines)
    assert trainer.model.config._attn_implementation == attention


@PRECISIONS
@pytest.mark.parametrize(
    ("name", "sees"), [("qwen2", "every token before"), ("qwen3", "its own tokens alone")]
)
def test_attention_that_ignores_paths_is_refused(
    made: Made, name: str, sees: str, bf16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sees the row before, or lacks the prefix where a model splits lines by positions."""
    from transformers import AttentionInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    from train.prefix import attention

    trainer = made(name, bf16=bf16, **SHARE)
    widen(trainer)
    # Without a mask function the model makes no mask, so sdpa is causal over the whole line.
    AttentionInterface.register("whole_line", sdpa_attention_forward)
    ignores = {
        "every token before": lambda config: attention(config, "whole_line"),
        "its own tokens alone": lambda config: nullcontext(),
    }
    monkeypatch.setattr("train.trainer.prefix_attention", ignores[sees])
    with pytest.raises(SettingsError, match="own attention code; set share_prefix=false"):
        trainer._check_lines("share_prefix", trainer._lines)


def test_packing_is_refused_where_rows_see_each_other(made: Made) -> None:
    """An attention without a mask function is causal over the whole line."""
    from transformers import AttentionInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    from train.prefix import attention

    trainer = made("qwen3", packing=True)
    widen(trainer)
    trainer._check_lines("packing", trainer._lines)
    AttentionInterface.register("whole_line", sdpa_attention_forward)
    with (
        attention(trainer.model.config, "whole_line"),
        pytest.raises(SettingsError, match="own attention code; set packing=false"),
    ):
        trainer._check_lines("packing", trainer._lines)


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("gptj", {"rotary_dim": 8}, "own attention code"),
        ("gemma2", {}, "does not support capped scores"),
    ],
)
def test_architectures_that_do_not_share_prefixes_are_refused(
    made: Made, name: str, shape: dict[str, int], reason: str
) -> None:
    """GPT-J computes its own attention; Gemma 2 caps its scores, which sdpa does not."""
    with pytest.raises(SettingsError, match=reason):
        made(name, shape, **SHARE)
