"""The fast engine: the same tokens as ``LocalEngine``, without torch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from gradegpt.chains.chain import NO, YES, PromptSettings, build_prompt, parse_chain
from gradegpt.core.errors import EngineError, InputError, MissingError, SettingsError
from gradegpt.core.schema import ChainFormat, Item, Message
from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.chat import render_chat
from gradegpt.engines.constraint import NAME
from gradegpt.engines.exported import ENGINE_FILE, ExportedTokenizer, KVCache
from gradegpt.engines.fast import FastEngine
from gradegpt.engines.local import LocalEngine
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings
from tests.tiny import TEXTS, random_model

pytestmark = pytest.mark.skipif(
    not (find_spec("onnxruntime_genai") and find_spec("torch")),
    reason="needs the export's packages",
)

ROOT = Path(__file__).parents[2]
PROMPTS = [(Message(role="user", content=text),) for text in TEXTS]
ITEM = Item(reference=("3",), response="One. The answer is 3.")
CHAINS = [build_prompt(ITEM, PromptSettings()), build_prompt(ITEM, PromptSettings())]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rope = {"rope_type": "default", "rope_theta": 500.0}
    folder = tmp_path_factory.mktemp("tiny")
    return random_model(folder, max_position_embeddings=1024, rope_parameters=rope)


@pytest.fixture(scope="module")
def folder(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, exported in float32."""
    from train.export import Quantization, export

    out = tmp_path_factory.mktemp("exported") / "tiny"
    export(model, out, quantization=Quantization.FLOAT32, check=1)
    return out


@pytest.fixture(scope="module")
def local(model: Path) -> LocalEngine:
    return LocalEngine(str(model), device="cpu")


def same(ours: Sequence[Generation | EngineError], theirs: Sequence[object]) -> bool:
    """Whether texts and counts are equal, and probabilities up to rounding."""
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(one, Generation)
        assert isinstance(other, Generation)
        assert one[:3] == other[:3]
        # transformers returns None for an id without a token
        assert [t.text for t in one.tokens] == [t.text or "" for t in other.tokens]
        expected = [t.logprob for t in other.tokens]
        assert [t.logprob for t in one.tokens] == pytest.approx(expected, abs=1e-3)
    return True


def test_it_generates_the_same_as_the_local_engine(folder: Path, local: LocalEngine) -> None:
    """Texts, tokens, probabilities and counts, also for constrained prompts."""
    prompts = [*PROMPTS, *CHAINS]
    engine = FastEngine(str(folder))
    made = engine.generate(prompts, max_new_tokens=24)
    assert same(made, local.generate(prompts, max_new_tokens=24))
    assert len({m.text for m in made if isinstance(m, Generation)}) > 3


@pytest.mark.parametrize("text", [*TEXTS, "", "㐀😀", "因此" * 900])
def test_it_counts_tokens_as_the_local_engine_does(
    folder: Path, local: LocalEngine, text: str
) -> None:
    """So prompts are fitted equally; a text longer than the model's context gives no warning."""
    counted = FastEngine(str(folder)).count_tokens(text)
    assert counted == local.count_tokens(text)
    assert (counted > 0) is bool(text)


def test_forced_tokens_take_no_pass_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read with the next token that the model chooses."""
    passes: list[Sequence[int]] = []
    engine = FastEngine(str(folder))
    monkeypatch.setattr(KVCache, "read", _counting(KVCache.read, passes))
    (written,) = engine.generate(CHAINS[:1], max_new_tokens=200)
    assert isinstance(written, Generation)
    assert parse_chain(written.text).chain
    assert [t.logprob for t in written.tokens].count(0.0) > len(passes)
    assert len(passes) < written.completion_tokens / 2


def test_without_constraints_it_is_another_engine(folder: Path, model: Path) -> None:
    """The name differs, for caches; the texts are those of the unconstrained local engine."""
    constrained, free = FastEngine(str(folder)), FastEngine(str(folder), constrained=False)
    assert constrained.name == free.name + NAME
    theirs = LocalEngine(str(model), device="cpu", constrained=False)
    assert same(free.generate(CHAINS, max_new_tokens=9), theirs.generate(CHAINS, max_new_tokens=9))


def test_several_threads_may_call_it_at_once(folder: Path) -> None:
    """Each gets its own answers."""
    engine = FastEngine(str(folder))
    alone = [engine.generate([prompt], max_new_tokens=12) for prompt in PROMPTS * 3]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda p: engine.generate([p], max_new_tokens=12), PROMPTS * 3)
        for one, other in zip(together, alone, strict=True):
            assert same(one, other)


def test_an_empty_list_of_prompts_has_no_answers(folder: Path) -> None:
    """It is not an error."""
    engine = FastEngine(str(folder))
    assert engine.generate([], max_new_tokens=5) == []
    assert engine.tag_probabilities([]) == []


OUTCOMES = [
    build_prompt(
        Item(question="One? " * n, reference=("3",), response=f"The answer is {n}."),
        PromptSettings(chain_format=ChainFormat.OUTCOME),
    )
    for n in range(4)
]


@pytest.fixture(scope="module")
def tagging(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[LocalEngine, Path]:
    """A model that writes a tag, which depends on the prompt; local and exported."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from train.export import Quantization, export

    folder = tmp_path_factory.mktemp("tagging")
    tokenizer = AutoTokenizer.from_pretrained(model)
    loud = AutoModelForCausalLM.from_pretrained(model)
    yes, no = (tokenizer.convert_tokens_to_ids(tag) for tag in (YES, NO))
    with torch.no_grad():
        tag = loud.lm_head.weight[yes].clone() * 0.2
        loud.lm_head.weight *= 1e-4
        loud.lm_head.weight[yes], loud.lm_head.weight[no] = tag, -tag
    loud.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    export(folder, folder / "exported", quantization=Quantization.FLOAT32, check=1)
    return LocalEngine(str(folder), device="cpu"), folder / "exported"


def test_the_probability_of_a_tag_is_one_forward_pass(tagging: tuple[LocalEngine, Path]) -> None:
    """P(<Yes>) / (P(<Yes>) + P(<No>)) by the model's logits, in both engines."""
    import torch

    local, exported = tagging
    prompts = [*OUTCOMES, *PROMPTS]
    tokenizer = local._tokenizer
    yes, no = (tokenizer.convert_tokens_to_ids(tag) for tag in (YES, NO))
    ours, theirs = (e.tag_probabilities(prompts) for e in (FastEngine(str(exported)), local))
    seen = set()
    for prompt, one, other in zip(prompts, ours, theirs, strict=True):
        ids = tokenizer(render_chat(tokenizer, prompt), return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            logits = local._model(ids).logits[0, -1]
        assert isinstance(one, TagProbability)
        assert isinstance(other, TagProbability)
        assert one[1:] == other[1:] == (ids.shape[1], 1)
        expected = logits[[yes, no]].softmax(0)[0].item()
        assert [one.yes, other.yes] == pytest.approx([expected] * 2, abs=1e-4)
        seen.add(one.yes > 0.5)
    assert seen == {True, False}


def test_where_no_tag_would_be_written_there_is_a_probability_only_under_a_constraint(
    folder: Path, model: Path, local: LocalEngine
) -> None:
    """The likelier of two unlikely tags is no verdict of a model that may write anything."""
    prompts = [*OUTCOMES, *PROMPTS]
    free = LocalEngine(str(model), device="cpu", constrained=False)
    written = free.generate(prompts, max_new_tokens=1)
    assert not any(w.text in (YES, NO) for w in written if isinstance(w, Generation))
    for engine in (FastEngine(str(folder), constrained=False), free):
        assert engine.tag_probabilities(prompts) == [None] * len(prompts)
    for one, other in zip(
        FastEngine(str(folder)).tag_probabilities(prompts), local.tag_probabilities(prompts),
        strict=True,
    ):  # fmt: skip
        assert isinstance(one, TagProbability)
        assert isinstance(other, TagProbability)
        assert one.yes == pytest.approx(other.yes, abs=1e-3)


def test_shared_parts_of_prompts_are_read_once(
    folder: Path, local: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instructions with shots, and a question with several responses; the replies are the same."""
    shot = (*CHAINS[0], Message(role="assistant", content=YES))
    others = [
        build_prompt(ITEM.model_copy(update={"response": f"It is {n}."}), PromptSettings())
        for n in range(3)
    ]
    prompts = [*CHAINS, *others, *OUTCOMES, *((*shot, p[-1]) for p in OUTCOMES), *PROMPTS]
    engine = FastEngine(str(folder))
    expected = local.generate(prompts, max_new_tokens=8)
    for _ in range(2):
        assert same(engine.generate(prompts, max_new_tokens=8), expected)
    engine = FastEngine(str(folder), constrained=False)
    engine.generate(prompts[-1:], max_new_tokens=1)
    read: list[Sequence[int]] = []
    monkeypatch.setattr(KVCache, "read", _counting(KVCache.read, read))
    engine.generate([CHAINS[0]], max_new_tokens=1)
    first = engine._encode(CHAINS[0])
    assert [tuple(r) for r in read[:2]] == first[:2]  # the state held another conversation
    assert len(first) == 3
    read.clear()
    engine.generate(others, max_new_tokens=1)
    beginnings = [tuple(tokens)[:4] for tokens in read]
    assert beginnings == [engine._encode(prompt)[2][:4] for prompt in others]


def _counting(read: Callable[..., object], seen: list[Sequence[int]]) -> Callable[..., object]:
    def counted(self: KVCache, tokens: Sequence[int], past: int) -> object:
        seen.append(tokens)
        return read(self, tokens, past)

    return counted


def test_a_failure_of_the_library_is_an_error_in_its_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is returned and not raised; other prompts are answered."""
    engine = FastEngine(str(folder))
    read = KVCache.read
    first = [*engine._encode(PROMPTS[1])[0]]

    def failing(self: KVCache, tokens: Sequence[int], past: int) -> object:
        if [*tokens][: len(first)] == first:
            raise EngineError("the model: out of memory")
        return read(self, tokens, past)

    monkeypatch.setattr(KVCache, "read", failing)
    made = engine.generate(PROMPTS[:3], max_new_tokens=4)
    assert [type(m) for m in made] == [Generation, EngineError, Generation]
    assert "out of memory" in str(made[1])
    assert isinstance(engine.tag_probabilities(PROMPTS[1:2])[0], EngineError)


def test_a_prompt_longer_than_the_model_reads_is_an_error_in_its_place(folder: Path) -> None:
    """With both lengths; a prompt that just fits gets the remaining room."""
    engine = FastEngine(str(folder))

    def prompt(words: int) -> tuple[Message, ...]:
        return (Message(role="user", content="短" * words),)

    length = next(n for n in range(1, 1100) if len(engine._encode(prompt(n))[0]) >= 1018)
    made = engine.generate([prompt(length), prompt(1100)], max_new_tokens=100)
    assert isinstance(made[0], Generation)
    assert made[0].prompt_tokens + made[0].completion_tokens <= 1024
    assert isinstance(made[1], EngineError)
    assert "tokens, the model reads fewer than 1024" in str(made[1])


# --- chat templates without transformers ----------------------------------------------------------

TEMPLATES = {
    "blocks": "{% for m in messages %}\n  {% if m.role == 'user' %}\nU: {{ m.content }}\n"
    "  {% endif %}\n{% endfor %}\n{{ eos_token }}{% if add_generation_prompt %}A:{% endif %}",
    "controls": "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}"
    "{{ m.content | trim | upper }}{% endfor %}",
    "namespace": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
    "{{ ns.n }}{{ m.content.split('a')[-1].lstrip('\n') }}{% endfor %}",
    "json": "{{ messages | tojson }}{{ messages[0] | tojson(indent=2) }}",
    "thinking": "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>"
    "{% endif %}{{ messages[-1].content }}{{ date_string }}",
    "refusing": "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_a_chat_template_is_rendered_as_by_transformers(
    folder: Path, local: LocalEngine, tmp_path: Path, template: str
) -> None:
    """Byte for byte, with trimmed blocks, loop controls, JSON, markup and quotes."""
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "chat_template.jinja").write_text(template, encoding="utf-8")
    tokenizer = local._tokenizer
    ours = ExportedTokenizer(other, tokenizer.special_tokens_map)
    kept = tokenizer.chat_template
    tokenizer.chat_template = template
    try:
        for prompt in (*PROMPTS, *CHAINS, (Message(role="user", content="<b>'é'\"& 短</b>\t"),)):
            assert render_chat(ours, prompt) == render_chat(tokenizer, prompt)
    finally:
        tokenizer.chat_template = kept


@pytest.mark.parametrize(
    "text", ["The answer is 38 厘米。", "<Yes><|im_end|>", "  \n\n", "²½é", ""]
)
def test_tokens_are_those_of_transformers(folder: Path, local: LocalEngine, text: str) -> None:
    """Encoding and decoding, without special tokens in the text."""
    ours = ExportedTokenizer(folder, {})
    ids = local._tokenizer(text, add_special_tokens=False)["input_ids"]
    assert ours.encode(text) == ids
    assert ours.decode(ids) == local._tokenizer.decode(ids, skip_special_tokens=True)


# --- loading --------------------------------------------------------------------------------------


def test_judging_loads_neither_torch_nor_transformers(folder: Path) -> None:
    """From the settings to the judgement, on one core; the engine is chosen by the folder."""
    code = (
        "import os, sys\n"
        "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "from gradegpt.judges.build import build_judge\n"
        "from gradegpt.judges.settings import JudgeSettings\n"
        "from gradegpt.core.schema import Item\n"
        f"judge = build_judge(JudgeSettings.of(kind='model', model={str(folder)!r}))\n"
        "made = judge.judge([Item(reference=('3',), response='3')] * 9)\n"
        "assert made[0].method == 'model' and 'onnx:' in judge.fingerprint\n"
        "print(*{'torch', 'transformers'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )  # fmt: skip
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


def test_inconsistent_settings_are_errors(folder: Path, model: Path) -> None:
    """An adapter or another engine for an exported model; a model without an export."""

    def build(model: Path, **settings: object) -> None:
        values = {"kind": "model", "model": str(model), **settings}
        build_judge(JudgeSettings.of(**values))

    with pytest.raises(SettingsError, match=r"an exported model takes none; .*: gradegpt export"):
        build(folder, adapter="runs/x/adapter")
    with pytest.raises(SettingsError, match="was exported for 'onnx'"):
        build(folder, engine="transformers")
    with pytest.raises(MissingError, match=r"make the folder with: gradegpt export"):
        build(model, engine="onnx")


def test_files_that_do_not_load_are_an_error_of_one_line(folder: Path, tmp_path: Path) -> None:
    """Damaged weights, settings of another version, an invalid template."""
    torn = shutil.copytree(folder, tmp_path / "torn")
    (torn / "model.onnx").write_bytes(b"\x00" * 64)
    with pytest.raises(EngineError, match=r"torn: does not load: ") as caught:
        FastEngine(str(torn))
    assert "\n" not in str(caught.value)
    (torn / ENGINE_FILE).write_text('{"engine": "another"}')
    with pytest.raises(InputError, match=r"engine_config\.json: engine: "):
        FastEngine(str(torn))
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "chat_template.jinja").write_text("{% for %}")
    with pytest.raises(EngineError, match=r"chat_template\.jinja: cannot be read"):
        FastEngine(str(broken))


def test_a_missing_package_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingError, match=r"pip install 'gradegpt\[fast\]'"):
        FastEngine(str(folder))
