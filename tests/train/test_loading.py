"""Any chat model as a base: its turns, its tokens, and errors for unusable models.

``FAMILIES`` are tiny bases in the style of those that the recipes name; test_recipes trains them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pytest

from gradegpt.core.errors import EngineError, GradeGPTError, MissingError, SettingsError
from gradegpt.core.schema import Message, TrainingRow
from gradegpt.engines.base import Generation
from gradegpt.engines.chat import (
    control_tokens_beside,
    end_token_id,
    end_token_ids,
    render_chat,
    widened,
)
from gradegpt.engines.local import LocalEngine
from tests.train.options import settings_of
from train.loading import choose_pad_token, load_base, load_tokenizer
from train.rows import IGNORED, encode
from train.settings import SFTSettings

SYSTEM, USER, REPLY = "Grade it.", "Is 2 the answer?", "The answers agree: <Yes>"
PROMPT: Final = (Message(role="system", content=SYSTEM), Message(role="user", content=USER))
ROW: Final = TrainingRow(
    prompt=PROMPT, completion=(Message(role="assistant", content=REPLY),), meta={}
)
CHAT: Final = [m.model_dump() for m in (*PROMPT, *ROW.completion)]

_QWEN2: Final = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_QWEN3: Final = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and loop.last %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
    "{{ m.content }}<|im_end|>{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\n\n</think>\n\n' }}"
    "{% endif %}{% endif %}"
)
_LLAMA: Final = (
    "{{ bos_token }}{% if date_string is not defined %}"
    "{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>{{ '\n\n' }}"
    "{% if m.role == 'system' %}Today: {{ date_string }}{{ '\n\n' }}{% endif %}"
    "{{ m.content }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{{ '\n\n' }}"
    "{% endif %}"
)
_GEMMA: Final = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('no system turns') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}{{ '\n' }}"
    "{{ m.content | trim }}<end_of_turn>{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)


class Family(NamedTuple):
    """How the bases of a family write a chat, and their architecture by transformers' name."""

    template: str
    end: str
    architecture: str
    special: Mapping[str, str | None] = MappingProxyType({})
    added: tuple[str, ...] = ()
    more: Mapping[str, Any] = MappingProxyType({})


FAMILIES: Final = {
    "qwen2": Family(_QWEN2, "<|im_end|>", "qwen2"),
    "qwen3": Family(
        _QWEN3, "<|im_end|>", "qwen3", added=("<think>", "</think>"), more={"head_dim": 16}
    ),
    "llama": Family(
        _LLAMA, "<|eot_id|>", "llama",
        {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "pad_token": None},
        ("<|start_header_id|>", "<|end_header_id|>", "<|finetune_right_pad_id|>"),
    ),
    "gemma2": Family(
        _GEMMA, "<end_of_turn>", "gemma2",
        {"bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>"},
        ("<start_of_turn>", "<end_of_turn>"),
        {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 64},
    ),
}  # fmt: skip


def dress(tokenizer: Any, family: Family) -> Any:
    """Give a tokenizer the special tokens and the chat template of a family."""
    tokenizer.add_special_tokens({k: v for k, v in family.special.items() if v is not None})
    tokenizer.pad_token = family.special.get("pad_token", tokenizer.pad_token)
    thinks = [token for token in family.added if "think" in token]
    tokenizer.add_tokens(thinks)
    tokenizer.add_tokens([t for t in family.added if t not in thinks], special_tokens=True)
    tokenizer.chat_template = family.template
    return tokenizer


def make_base(folder: Path, tokenizer: Any, family: Family, **changes: Any) -> Path:
    """Two random layers of the family's architecture, with its tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    values = {
        "vocab_size": -(-len(tokenizer) // 64) * 64, "hidden_size": 32, "intermediate_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "max_position_embeddings": 2048, "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip
    config = AutoConfig.for_model(family.architecture, **{**values, **family.more, **changes})
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def dressed(base: Path) -> Callable[[str], Any]:
    """The tiny base's tokenizer as one of a family."""
    from transformers import AutoTokenizer

    return lambda name: dress(AutoTokenizer.from_pretrained(base / "model"), FAMILIES[name])


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory, base: Path) -> Path:
    """A base whose end-of-turn token differs from its end-of-text token."""
    from transformers import AutoTokenizer

    tokenizer = dress(AutoTokenizer.from_pretrained(base / "model"), FAMILIES["gemma2"])
    return make_base(tmp_path_factory.mktemp("gemma") / "model", tokenizer, FAMILIES["gemma2"])


def settings(model: Path | str, **changes: Any) -> SFTSettings:
    return settings_of(**{"name": "x", "data": "x", "model": str(model)} | changes)


# --- turns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_a_reply_ends_with_the_templates_end_token(
    dressed: Callable[[str], Any], name: str
) -> None:
    """It is supervised as the chain's last token; generation stops at it and at ``eos_token``."""
    tokenizer = dressed(name)
    end = end_token_id(tokenizer)
    assert tokenizer.convert_ids_to_tokens(end) == FAMILIES[name].end
    assert set(end_token_ids(tokenizer)) == {end, tokenizer.eos_token_id}
    encoded = encode(tokenizer, ROW)
    assert (encoded["input_ids"][-1], encoded["labels"][-1]) == (end, end)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "gemma2"])
def test_training_text_is_the_templates_text_of_the_chat(
    dressed: Callable[[str], Any], name: str
) -> None:
    """They agree up to the end token; an empty thinking block belongs to the prompt."""
    tokenizer = dressed(name)
    whole = tokenizer.apply_chat_template(CHAT, tokenize=False, date_string="26 Jul 2024")
    encoded = encode(tokenizer, ROW)
    assert whole.rstrip() == tokenizer.decode(encoded["input_ids"])
    supervised = [label for label in encoded["labels"] if label != IGNORED]
    assert tokenizer.decode(supervised) == REPLY + FAMILIES[name].end
    assert ("</think>" in render_chat(tokenizer, PROMPT)) == (name == "qwen3")


def test_the_date_in_a_template_is_always_the_same(dressed: Callable[[str], Any]) -> None:
    """The prompt must not change with the day, nor where a template asks for it in another form."""
    tokenizer = dressed("llama")
    assert "Today: 26 Jul 2024\n" in render_chat(tokenizer, PROMPT)
    tokenizer.chat_template = "{{ strftime_now('%Y-%m-%d') }}" + _QWEN2
    assert render_chat(tokenizer, PROMPT).startswith("2024-07-26<|im_start|>")


def test_the_date_is_in_the_fingerprint_of_a_model_that_is_told_it(
    base: Path, dressed: Callable[[str], Any], tmp_path: Path
) -> None:
    """A judgement says by its engine's name what the prompt said."""
    folder = shutil.copytree(base / "model", tmp_path / "model")
    names = [LocalEngine(str(folder), device="cpu").name]
    dressed("qwen2").save_pretrained(folder)
    path = folder / "chat_template.jinja"
    path.write_text("{{ strftime_now('%d %b %Y') }}" + _QWEN2, encoding="utf-8")
    names.append(LocalEngine(str(folder), device="cpu").name)
    assert [name.count("+2024-07-26") for name in names] == [0, 1]


def test_no_text_of_a_row_holds_a_control_token_of_its_tokenizer(
    dressed: Callable[[str], Any], tmp_path: Path
) -> None:
    """Special ones that no list has, and those of the template; other added tokens are usual.

    A server that is named with the model's folder gets the same text.
    """
    tokenizer = dressed("qwen3")
    tokenizer.add_tokens([">>ANSWER<<", "<|im_start|>"], special_tokens=True)
    tokenizer.add_tokens(["<table>", "  "])
    text = "a >>ANSWER<< b </think> c <table>  d <Yes>"
    chat = render_chat(tokenizer, [Message(role="user", content=text)])
    assert (shown := "a ＞>ANSWER<< b ＜/think> c <table>  d <Yes>") in chat
    tokenizer.save_pretrained(tmp_path)
    control = control_tokens_beside(str(tmp_path))
    assert control is not None
    assert widened(control, text) == shown
    assert (control_tokens_beside(None), control_tokens_beside("Qwen/Qwen3-14B")) == (None, None)


@pytest.mark.parametrize(
    "template",
    [_GEMMA, "{% for m in messages if m.role != 'system' %}[{{ m.content }}]{% endfor %}"],
    ids=["refused", "dropped"],
)
def test_a_template_without_system_turns_gets_its_text_in_the_users(
    dressed: Callable[[str], Any], template: str
) -> None:
    """Also if the template silently drops the system turn, which would lose the instructions."""
    tokenizer = dressed("gemma2")
    tokenizer.chat_template = template
    assert f"{SYSTEM}\n\n{USER}" in render_chat(tokenizer, PROMPT)
    assert render_chat(tokenizer, PROMPT[1:]).count(USER) == 1


def test_a_tokenizer_that_cannot_chat_is_refused(dressed: Callable[[str], Any]) -> None:
    """It has no template, a template without such turns, or no end token."""
    tokenizer = dressed("gemma2")
    tokenizer.chat_template = "{{ raise_exception('tools only') }}"
    with pytest.raises(EngineError, match="rejects a conversation of user: tools only"):
        render_chat(tokenizer, PROMPT)
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
    assert end_token_id(tokenizer) == tokenizer.eos_token_id
    tokenizer.eos_token = None
    with pytest.raises(EngineError, match="no token ends a reply"):
        end_token_id(tokenizer)
    tokenizer.chat_template = None
    with pytest.raises(EngineError, match="has no chat template; use the model's"):
        render_chat(tokenizer, PROMPT)


def test_generation_stops_at_the_end_of_a_turn(gemma: Path) -> None:
    """A model that only writes ``<end_of_turn>`` gives an empty text after one step."""
    engine = LocalEngine(str(gemma), device="cpu", constrained=False)
    end = end_token_id(engine._tokenizer)

    def only_end(_module: Any, _inputs: Any, output: Any) -> Any:
        output.logits[..., end] = 1e4
        return output

    engine._model.register_forward_hook(only_end)
    (made,) = engine.generate([PROMPT], max_new_tokens=4)
    assert isinstance(made, Generation)
    assert (made.text, made.completion_tokens) == ("", 0)


def test_decoding_is_greedy_with_any_generation_config(gemma: Path, tmp_path: Path) -> None:
    """A repetition penalty in ``generation_config.json`` would change quotes."""
    penalised = shutil.copytree(gemma, tmp_path / "model")
    path = penalised / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"repetition_penalty": 9.0}))
    texts = [
        LocalEngine(str(folder), device="cpu").generate([PROMPT], max_new_tokens=12)
        for folder in (gemma, penalised)
    ]
    assert texts[0] == texts[1]


# --- padding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "pad"), [("qwen3", "<|endoftext|>"), ("llama", "<|endoftext|>"), ("gemma2", "<pad>")]
)
def test_padding_is_no_token_that_ends_a_reply(
    dressed: Callable[[str], Any], name: str, pad: str
) -> None:
    """It is the tokenizer's pad token, or an unused token."""
    tokenizer = dressed(name)
    choose_pad_token(tokenizer)
    assert tokenizer.pad_token == pad
    assert tokenizer.pad_token_id != end_token_id(tokenizer)


def test_the_end_token_pads_where_there_is_no_other() -> None:
    """TRL's collator masks padding by position, so the end is supervised all the same."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"<Yes>": 0, "no": 1, "</s>": 2}, unk_token="no"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    template = "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="</s>", chat_template=template
    )
    choose_pad_token(tokenizer)
    assert tokenizer.pad_token_id == end_token_id(tokenizer) == 2


# --- loading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("has_bf16", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_a_base_of_another_family_loads(
    gemma: Path, monkeypatch: pytest.MonkeyPatch, has_bf16: bool, dtype: str
) -> None:
    """In bfloat16 where the CPU multiplies in it, with eager attention and a pad token."""
    monkeypatch.setattr("train.loading.cpu_has_bf16", lambda: has_bf16)
    tokenizer, model = load_base(settings(gemma, target_modules="q_proj,v_proj"))
    assert (type(model).__name__, str(model.dtype)) == ("Gemma2ForCausalLM", f"torch.{dtype}")
    assert model.config._attn_implementation == "eager"
    assert tokenizer.pad_token == "<pad>"


def test_long_rows_on_a_cpu_are_not_trained_eagerly(base: Path) -> None:
    """A score per pair of tokens needs too much memory; an explicit setting is kept."""
    eager = {"attention": "eager"}
    for length, stated, used in ((1024, {}, "eager"), (2048, {}, "sdpa"), (2048, eager, "eager")):
        _, model = load_base(settings(base / "model", max_length=length, **stated))
        assert model.config._attn_implementation == used


def _without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _cut(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-99])


def _configured(**values: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def _no_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


BROKEN: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "no weights": (_without("model.safetensors"), "does not load: .*no file named"),
    "cut weights": (_cut("model.safetensors"), "does not load: .*incomplete metadata"),
    "no tokenizer": (_no_tokenizer, "does not load: |no vocabulary"),
    "unknown architecture": (_configured(model_type="new"), "does not load: .*model type `new`"),
    "no decoder": (_configured(model_type="t5"), "t5 is no causal language model; use one"),
    "more layers than weights": (
        _configured(num_hidden_layers=3, layer_types=None), "missing or have another size",
    ),
    "other weights": (
        _configured(intermediate_size=96), "missing or have another size, such as .*; download",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", BROKEN)
def test_a_damaged_or_foreign_folder_is_an_error_of_one_line(
    gemma: Path, tmp_path: Path, case: str
) -> None:
    """Missing weights are never initialised at random."""
    broken = shutil.copytree(gemma, tmp_path / "model")
    damage, message = BROKEN[case]
    damage(broken)
    with pytest.raises(EngineError, match=message) as raised:
        load_base(settings(broken))
    assert str(raised.value).startswith(str(broken))
    assert "\n" not in str(raised.value)


def test_a_tokenizer_longer_than_the_embedding_is_refused(
    base: Path, dressed: Callable[[str], Any], tmp_path: Path
) -> None:
    """Its last tokens have no row in the embedding."""
    folder = shutil.copytree(base / "model", tmp_path / "model")
    tokenizer = dressed("qwen3")
    tokenizer.add_tokens([f"<extra-{n}>" for n in range(64)])
    tokenizer.save_pretrained(folder)
    with pytest.raises(EngineError, match=r"has ids up to \d+, but its embedding has 512 rows"):
        load_base(settings(folder))


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"model": "./nowhere"}, MissingError, "no such model folder; give a folder or a hub name"),
        ({"target_modules": "q_proj,v_prj"}, SettingsError, "'v_prj'; did you mean 'v_proj'"),
        ({"target_modules": "q_proj, v_proj"}, SettingsError, "has the name ' v_proj'"),
        ({"layers_to_transform": [0, 99]}, SettingsError, r"=\[0, 99\]: .* has layers 0 to \d"),
        ({"attention": "none"}, EngineError, "attn_implementation"),
    ],
    ids=["folder", "module", "blank", "layer", "attention"],
)
def test_a_setting_that_does_not_fit_is_named(
    gemma: Path, changes: dict[str, Any], kind: type[GradeGPTError], message: str
) -> None:
    """PEFT would train the modules that it finds and ignore the others."""
    with pytest.raises(kind, match=message):
        load_base(settings(**{"model": str(gemma)} | changes))


def test_missing_packages_are_named(gemma: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """QLoRA without bitsandbytes, flash attention without its package."""
    monkeypatch.setattr("train.loading.find_spec", lambda _: None)
    with pytest.raises(MissingError, match="qlora: bitsandbytes is not installed; pip install"):
        load_base(settings(gemma, qlora=True))
    with pytest.raises(MissingError, match="FlashAttention2"):
        load_base(settings(gemma, attention="flash_attention_2"))


def test_a_gpu_without_bfloat16_is_refused(gemma: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes before the weights are read."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    with pytest.raises(SettingsError, match=r"bf16: this GPU .*; set sft.bf16=false"):
        load_base(settings(gemma))


def test_the_built_in_base_loads_by_its_short_name() -> None:
    """It has its own tokens."""
    tokenizer = load_tokenizer(str(Path(__file__).parents[2] / "models" / "gradegpt-nano"))
    assert end_token_ids(tokenizer) == (tokenizer.eos_token_id,)
    assert tokenizer.pad_token == "<|endoftext|>"
