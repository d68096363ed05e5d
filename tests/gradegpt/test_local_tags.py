"""The tags' probabilities of the local engine: those of separate rows, however rows are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.schema import Message
from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.local import LocalEngine, TagTokens, _head_on
from tests.tiny import train_tokenizer

OPEN, YES, NO, CLOSE, END = 5, 6, 7, 8, 9
TAGS = TagTokens([OPEN, YES, CLOSE], [OPEN, NO, CLOSE])
WINDOW = 4
SYSTEM = [20, 21, 22, 23, 24, 25, END]
ROWS = {
    "common prefix": [[*SYSTEM, 30, END], [*SYSTEM, 31, 32, 33, 34, END], [*SYSTEM, 35, 36, END]],
    "no common prefix": [[30, 31, END], [40, 41, 42, 43, 44, 45, 46, END], [50, END]],
    "one row": [[*SYSTEM, 30, END]],
    "a row is the prefix": [[*SYSTEM, 31, 32, END], SYSTEM, [*SYSTEM, 33, END]],
    "equal rows": [[*SYSTEM, 30, END]] * 3,
    "one token": [[END], [END]],
    "other lengths": [[*SYSTEM, *range(30, 30 + n), END] for n in (9, 1, 17, 0, 4, 25, 2)],
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return train_tokenizer(["2+2=? The answer is 4."] * 9, vocab_size=320, max_length=128)


def engine_of(
    name: str, tokenizer: Any, *, constrained: bool = False, **options: Any
) -> LocalEngine:
    """A tiny random model that writes a tag, which depends on the row."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    config = AutoConfig.for_model(
        name, vocab_size=320, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, head_dim=16, max_position_embeddings=128,
        tie_word_embeddings=False, initializer_range=0.3, sliding_window=WINDOW, pad_token_id=0,
        bos_token_id=None, eos_token_id=END,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        write = model.get_output_embeddings().weight.zero_()
        write[OPEN], begun = _hidden(model, END), _hidden(model, OPEN)
        differs = 0.2 * torch.randn(32)
        write[YES], write[NO] = begun + differs, begun - differs
    engine = LocalEngine.of(model, tokenizer, **options)
    engine._constraints = engine._constraints if constrained else None
    return engine


def _hidden(model: Any, token: int) -> Any:
    """What of the mean last hidden state is due to the token, rather than to the other one."""
    import torch

    ends = ([[*SYSTEM, 30 + n, last] for n in range(9)] for last in (token, OPEN + END - token))
    own, other = (model.base_model(torch.tensor(ids))[0][:, -1].mean(0) for ids in ends)
    return own - other


def probabilities(
    engine: LocalEngine, rows: Sequence[list[int]], monkeypatch: pytest.MonkeyPatch
) -> list[Any]:
    monkeypatch.setattr(engine, "_encoded", lambda prompts: prompts)
    monkeypatch.setattr("gradegpt.engines.local.TagTokens", lambda *_: TAGS)
    return engine.tag_probabilities(rows)  # type: ignore[arg-type]


def alone(engine: LocalEngine, row: list[int]) -> float | None:
    """P(Yes) after the row, token by token and without any cache.

    What a constrained model writes before is that with which the tags begin.
    """
    import torch

    written: list[int] = []
    logits = torch.empty(0)
    with torch.inference_mode():
        while len(written) <= TAGS.shared:
            ids = torch.tensor([[*row, *written]])
            logits = engine._model(input_ids=ids, use_cache=False).logits[0, -1]
            written.append(TAGS.yes[len(written)] if engine._constraints else int(logits.argmax()))
    return TAGS.read(written, logits)


@pytest.mark.parametrize(("batch_size", "constrained"), [(2, True), (32, False)])
@pytest.mark.parametrize("name", ["qwen3", "gemma2", "mamba"])
def test_the_probabilities_are_those_of_separate_rows(
    name: str, batch_size: int, constrained: bool, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a sliding window that is shorter than a row, and with a recurrent state."""
    engine = engine_of(name, tokenizer, batch_size=batch_size, constrained=constrained)
    for kind, rows in ROWS.items():
        wanted = [alone(engine, row) for row in rows]
        assert not constrained or None not in wanted
        made = probabilities(engine, rows, monkeypatch)
        found = [p and p.yes for p in made]
        assert found == [w and pytest.approx(w, abs=1e-5) for w in wanted], kind
        assert all(p is None or p[1:] == (len(row), 2) for p, row in zip(made, rows, strict=True))


def test_where_the_model_would_not_begin_a_tag_there_is_no_probability(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the tags' first token is given to the model, and a tag would follow it."""
    engine = engine_of("qwen2", tokenizer)
    rows = [[*SYSTEM, 30, END], [*SYSTEM, 31, 32]]
    assert alone(engine, rows[1]) is None
    begun, other = probabilities(engine, rows, monkeypatch)
    assert isinstance(begun, TagProbability)
    assert other is None


def test_a_constrained_model_can_write_nothing_but_a_tag(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it would begin otherwise, the probability is that among the two tags."""
    rows = [[*SYSTEM, 30, END], [*SYSTEM, 31, 32]]
    free = probabilities(engine_of("qwen2", tokenizer), rows, monkeypatch)
    held = probabilities(engine_of("qwen2", tokenizer, constrained=True), rows, monkeypatch)
    assert held[0] == free[0]
    assert isinstance(held[1], TagProbability)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        # The prefix, then what is left of the rows and the first token of a tag.
        ("qwen2", [(1, 6), (2, 4), (1, 7)]),
        ("gemma2", [(2, 10), (1, 13)]),
    ],
)
def test_a_common_prefix_is_read_once(
    name: str, read: list[tuple[int, int]], tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where keys and values are all that the model remembers of it."""
    seen: list[tuple[int, ...]] = []
    engine = engine_of(name, tokenizer, batch_size=2)
    engine._model.get_input_embeddings().register_forward_pre_hook(
        lambda _, inputs: seen.append(tuple(inputs[0].shape))
    )
    rows = [[*SYSTEM[:6], *words, END] for words in ([30, 31, 32, 33, 34], [35, 36], [37])]
    probabilities(engine, rows, monkeypatch)
    assert seen == read


def test_the_question_of_many_responses_is_read_once(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of few are read with each row; the probabilities are those of separate rows."""
    monkeypatch.setattr("gradegpt.engines.local.MANY", 3)
    monkeypatch.setattr("gradegpt.engines.local.SHARED_TOKENS", 4)
    seen: list[tuple[int, ...]] = []
    engine = engine_of("qwen2", tokenizer)
    questions = {first: [*SYSTEM[:6], first, 41, 42, 43, 44] for first in (40, 50, 60)}
    counts = {40: 3, 50: 2, 60: 1}
    rows = [[*questions[q], 30 + n, END] for n in range(3) for q in counts if n < counts[q]]
    wanted = [alone(engine, row) for row in rows]
    engine._model.get_input_embeddings().register_forward_pre_hook(
        lambda _, inputs: seen.append(tuple(inputs[0].shape))
    )
    made = probabilities(engine, rows, monkeypatch)
    assert [p and p.yes for p in made] == [w and pytest.approx(w, abs=1e-5) for w in wanted]
    assert seen == [(1, 11), (3, 3), (1, 6), (3, 8)]


def test_a_batch_has_a_limit_of_tokens(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its padding; a longer row is a batch of its own."""
    monkeypatch.setattr("gradegpt.engines.local.BATCH_TOKENS", 12)
    engine = engine_of("qwen2", tokenizer, batch_size=3)
    lengths = [20, 1, 2, 3, 4, 5, 6, 7]
    batches = list(engine._batches([[0] * length for length in lengths]))
    assert [[lengths[at] for at in batch] for batch in batches] == [
        [1, 2, 3], [4, 5], [6], [7], [20],
    ]  # fmt: skip
    assert list(engine._batches([])) == []


def test_the_logits_of_the_tags_are_not_rounded_to_bfloat16() -> None:
    """The head runs on the kept positions only, and for the tags in float32."""
    import torch

    torch.manual_seed(0)
    head = torch.nn.Linear(32, 50, dtype=torch.bfloat16)
    hidden = 9 * torch.randn(2, 3, 32, dtype=torch.bfloat16)
    keep = torch.tensor([[True, False, False], [False, True, True]])
    with torch.inference_mode():
        with _head_on(head, keep, [4, 7]):
            found = head(hidden)
        wanted = head.float()(hidden.float())
    assert wanted.shape == (2, 3, 50)
    assert found.shape == (3, 50)
    assert torch.allclose(found[:, [4, 7]], wanted[keep][:, [4, 7]], rtol=1e-5, atol=1e-5)
    assert torch.allclose(found, wanted[keep], atol=0.1)


# --- precision ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("able", "small", "dtype"),
    [(True, 0, "bfloat16"), (False, 0, "float32"), (True, 10**9, "float32")],
    ids=["the CPU multiplies in bfloat16", "it does not", "a small model"],
)
def test_a_model_computes_in_bfloat16_where_the_cpu_does(
    able: bool, small: int, dtype: str, tokenizer: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The name says so, as other judgements may follow; both make chains and probabilities."""
    import torch

    engine_of("qwen2", tokenizer)._model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"amx_bf16": able})
    monkeypatch.setattr("gradegpt.engines.local.SMALL", small)
    engine = LocalEngine(str(tmp_path), device="cpu")
    assert engine._model.dtype == getattr(torch, dtype)
    assert engine.name.endswith("+bf16") == (dtype == "bfloat16")
    prompts = [(Message(role="user", content="2+2=?"),)]
    (made,) = engine.generate(prompts, max_new_tokens=2)
    assert isinstance(made, Generation)
    (made,) = probabilities(engine, ROWS["one row"], monkeypatch)
    wanted = alone(engine_of("qwen2", tokenizer), ROWS["one row"][0])
    assert made.yes == pytest.approx(wanted, abs=0.05)
