"""Export: a folder that answers as base and adapter do, checked before it appears."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.errors import EngineError, MissingError, OutputError, SettingsError
from gradegpt.core.records import sha256_file
from gradegpt.engines.base import Generation
from gradegpt.engines.fast import FastEngine
from gradegpt.engines.files import prompt_settings_beside
from gradegpt.engines.local import LocalEngine
from gradegpt.engines.scripted import ScriptedEngine
from train.export import SUPPORTED, Quantization, app, builtin_prompts, export

NANO = Path(__file__).parents[2] / "models" / "gradegpt-nano"
pytestmark = [
    pytest.mark.skipif(not find_spec("onnxruntime_genai"), reason="needs the export's packages"),
    pytest.mark.filterwarnings(
        "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
    ),
]


@pytest.fixture
def short_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model never ends its reply, and forty tokens show what two hundred would."""
    monkeypatch.setattr("train.export._MAX_NEW_TOKENS", 40)


@pytest.fixture(scope="module")
def adapter(judge_run: Path) -> Path:
    """An adapter that answers differently from its base."""
    return judge_run / "adapter"


@pytest.mark.usefixtures("short_replies")
def test_an_exported_adapter_answers_as_it_does_on_its_base(
    adapter: Path, base: Path, tmp_path: Path
) -> None:
    """In float32 texts are equal; the folder has prompt settings and digests of the source."""
    out = tmp_path / "fast"
    manifest = export(
        adapter, out, base=str(base / "model"), quantization=Quantization.FLOAT32, check=2
    )
    prompts = builtin_prompts(PromptSettings())[:3]
    fast = FastEngine(str(out)).generate(prompts, max_new_tokens=16)
    slow = LocalEngine(str(base / "model"), str(adapter), device="cpu").generate(
        prompts, max_new_tokens=16
    )
    for one, other in zip(fast, slow, strict=True):
        assert isinstance(one, Generation)
        assert isinstance(other, Generation)
        assert one.text == other.text
    assert prompt_settings_beside(str(out)) == prompt_settings_beside(str(adapter))
    assert json.loads((out / "manifest.json").read_text()) == manifest
    assert manifest["digests"] == {
        "adapter_model.safetensors": sha256_file(adapter / "adapter_model.safetensors")
    }
    assert manifest["check"] == {"prompts": 2, "equal_texts": 2, "equal_verdicts": 2}


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    """Every file is equal; tested with the built-in base, as a random one is unstable."""
    for name in ("one", "other"):
        export(NANO, tmp_path / name, check=1)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"model.onnx", "tokenizer.json", "engine_config.json", "manifest.json"} <= {*files}
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "other"]


def _tiny(kind: str, folder: Path, base: Path) -> None:
    """A random model of that architecture with the base's tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base / "model")
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        kind, vocab_size=512, hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, initializer_range=1.0,
        tie_word_embeddings=False, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.mark.usefixtures("short_replies")
@pytest.mark.parametrize("kind", SUPPORTED)
def test_every_supported_architecture_writes_what_it_did(
    kind: str, base: Path, tmp_path: Path
) -> None:
    """The models have grouped heads, unlike the built-in model."""
    _tiny(kind, tmp_path / kind, base)
    manifest = export(tmp_path / kind, tmp_path / "out", quantization=Quantization.FLOAT32, check=2)
    assert manifest["check"]["equal_texts"] == 2


def test_another_architecture_is_refused_with_the_supported_ones(
    base: Path, tmp_path: Path
) -> None:
    """The error says what to do instead; nothing is written."""
    other = shutil.copytree(base / "model", tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    with pytest.raises(EngineError, match=r"'mamba' cannot be exported; supported: llama, .*qwen3"):
        export(other, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_four_bits_hold_the_built_in_bases_verdicts(tmp_path: Path) -> None:
    """In less than half of float32's size: the embedding, most of a small model, stays float32."""
    manifest = export(NANO, tmp_path / "small", quantization=Quantization.INT4, check=4)
    assert manifest["check"]["equal_verdicts"] >= 3
    in_float32 = 2 * (NANO / "model.safetensors").stat().st_size
    assert (tmp_path / "small" / "model.onnx").stat().st_size < in_float32 / 2


@pytest.mark.usefixtures("short_replies")
@pytest.mark.parametrize("quantization", [Quantization.FLOAT32, Quantization.INT8])
def test_an_export_with_other_texts_is_refused(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quantization: Quantization
) -> None:
    """Too few equal texts or verdicts are an error, and no folder is written."""
    engine = ScriptedEngine(lambda _: "<Yes>")
    monkeypatch.setattr("train.export.FastEngine", lambda *_, **__: engine)
    with pytest.raises(EngineError, match="on only 0 of 2 built-in prompts; nothing was written"):
        export(base / "model", tmp_path / "out", quantization=quantization, check=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("quantization", "passes"), [(Quantization.FLOAT32, False), (Quantization.INT8, True)]
)
def test_quantized_only_the_verdict_must_be_the_same(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    quantization: Quantization, passes: bool,
) -> None:  # fmt: skip
    """A gloss in other words is accepted when quantized, and refused in float32."""
    made = {"LocalEngine": "In English: four\n<No>", "FastEngine": "In English: 4\n<No>"}
    for name, text in made.items():
        engine = ScriptedEngine(lambda _, text=text: text)
        monkeypatch.setattr(f"train.export.{name}", lambda *_, engine=engine, **__: engine)
    if not passes:
        with pytest.raises(EngineError, match="the same texts on only 0 of 4"):
            export(base / "model", tmp_path / "out", quantization=quantization, check=4)
        return
    found = export(base / "model", tmp_path / "out", quantization=quantization, check=4)["check"]
    assert found == {"prompts": 4, "equal_texts": 0, "equal_verdicts": 4}


def test_what_cannot_be_exported_is_an_error(base: Path, tmp_path: Path) -> None:
    """The source is missing, the output exists, or a base is given for a whole model."""
    with pytest.raises(MissingError, match=r"config\.json: does not exist; give a model"):
        export(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(SettingsError, match="is a whole model; leave base out"):
        export(base / "model", tmp_path / "out", base="x")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    with pytest.raises(OutputError, match="exists already; choose another folder"):
        export(base / "model", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.usefixtures("short_replies")
def test_the_command_line_prints_the_agreement(base: Path, tmp_path: Path) -> None:
    """An empty output folder is filled."""
    (tmp_path / "out").mkdir()
    arguments = [str(base / "model"), "-o", str(tmp_path / "out"), "--check", "1"]
    arguments += ["--quantization", "float32"]  # a random model is unstable in int8
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "model, float32; of 1 prompts 1 equal texts, 1 equal verdicts" in done.output
    assert CliRunner().invoke(app, [*arguments, "--check", "99"]).exit_code == 2
    assert CliRunner().invoke(app, [str(base / "model")]).exit_code == 2


def test_the_output_may_still_be_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For one release, with a line that says the option."""
    monkeypatch.setattr("train.export.merge", lambda *_: {"base": "b"})
    monkeypatch.setattr("train.export.adapter_of", str)
    done = CliRunner().invoke(app, ["judge", str(tmp_path / "out"), "--merged"])
    assert done.exit_code == 0, done.output
    assert f"OUT: is now an option: -o {tmp_path / 'out'}" in done.output
