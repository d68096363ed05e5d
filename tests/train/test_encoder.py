"""An encoder as a base: trained by the same command, judged as any other judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradegpt import Item
from gradegpt.core.errors import SettingsError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Message, Verdict
from gradegpt.core.shipped import base_of
from gradegpt.engines.encoder import EncoderEngine, encoded, heads, load_base
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings
from tests.train.test_finetune import command, fast
from train.loading import is_encoder

pytestmark = pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
SAID = ("Somebody lost number {} on the way.", "Number {} came home safe and sound to her.")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A ModernBERT of two layers with random weights and the built-in base's tokenizer."""
    from transformers import AutoTokenizer, ModernBertConfig, ModernBertForMaskedLM

    folder = tmp_path_factory.mktemp("encoder") / "tiny-bert"
    tokenizer = AutoTokenizer.from_pretrained(base_of("nano"))
    config = ModernBertConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=2, pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
        eos_token_id=None, cls_token_id=None, sep_token_id=None, max_position_embeddings=512,
    )  # fmt: skip
    ModernBertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def judge(encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that ``gradegpt finetune`` made, of free text that the rules leave open."""
    folder = tmp_path_factory.mktemp("rows")
    rows = [
        {
            "question": f"What became of parcel {n}?",
            "reference": "It reached its owner in good order.",
            "response": SAID[n % 2].format(n),
            "label": "yes" if n % 2 else "no",
        }
        for n in range(120)
    ]
    write_rows(folder / "graded.jsonl", rows)
    options = ("sft.max_steps=60", "sft.learning_rate=5e-3", "data.guard=0")
    with pytest.MonkeyPatch.context() as patch:
        fast(patch)
        words = ("finetune", str(folder / "graded.jsonl"), "--base", encoder, *options)
        assert command(*words, "-o", str(folder / "mine")) == 0
    return folder / "mine"


def test_an_encoder_is_known_by_its_configuration(encoder: str) -> None:
    """By what it predicts, not by its name."""
    assert is_encoder(encoder)
    assert not is_encoder(base_of("nano"))


def test_it_learns_and_judges_with_a_probability(judge: Path) -> None:
    """The judge is its folder; the score is the verdict's probability, and there is no chain."""
    built = build_judge(JudgeSettings.of(kind="model", model=str(judge)))
    question, reference = "What became of parcel 900?", ("It reached its owner in good order.",)
    asked = [Item(question=question, reference=reference, response=t.format(900)) for t in SAID]
    wrong, right = built.judge(asked)
    assert (right.verdict, wrong.verdict) == (Verdict.CORRECT, Verdict.INCORRECT)
    assert right.score is not None
    assert right.score > 0.5
    assert right.key_sentence is None


def test_its_adapter_says_what_it_is(judge: Path) -> None:
    """The files beside the weights are those of any judge."""
    config = json.loads((judge / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["task_type"] == "SEQ_CLS"
    report = json.loads((judge / "report.json").read_text(encoding="utf-8"))
    names = [made["name"] for made in report["judges"]]
    assert names == ["rules", "tuned", "cascade", "cascade-all"]
    assert "the rules" in (judge / "README.md").read_text(encoding="utf-8")


def test_a_chain_is_refused(judge: Path, encoder: str) -> None:
    """Asked for one it says so, rather than give a verdict without; no reply is invented."""
    settings = JudgeSettings.of(kind="model", model=str(judge), chain_format="cross_lingual")
    with pytest.raises(SettingsError, match="writes no chain"):
        build_judge(settings)
    engine = EncoderEngine(encoder, str(judge))
    (error,) = engine.generate([[Message(role="user", content="?")]], max_new_tokens=8)
    assert "writes no chain" in str(error)


def test_a_long_prompt_is_cut_on_the_left(encoder: str) -> None:
    """The end of a response, where its answer stands, is kept."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    prompt = [Message(role="user", content="begin " * 50 + "the answer is 7")]
    (ids,) = encoded(tokenizer, [prompt], 8)
    assert len(ids) == 8
    assert tokenizer.decode(ids).endswith("the answer is 7")


def test_settings_of_language_models_are_refused(encoder: str, tmp_path: Path) -> None:
    """Before anything is loaded."""
    from train.encoder import load_encoder
    from train.settings import SFTSettings

    settings = SFTSettings(name="x", data=str(tmp_path), model=encoder, share_prefix=True)
    with pytest.raises(SettingsError, match=r"share_prefix: .* is an encoder"):
        load_encoder(settings)


@pytest.mark.parametrize(
    ("family", "trained"),
    [("Bert", ("classifier", "bert.pooler")), ("XLMRoberta", ("classifier",))],
)
def test_what_its_files_lack_is_trained_and_saved(
    family: str, trained: tuple[str, ...], tmp_path: Path
) -> None:
    """A pooler is made at random, as the head is; a missing layer is an error."""
    import transformers

    sizes = {"vocab_size": 32, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    config = getattr(transformers, f"{family}Config")(**sizes, num_attention_heads=1)
    masked = getattr(transformers, f"{family}ForMaskedLM")(config)
    masked.save_pretrained(tmp_path)
    assert heads(load_base(str(tmp_path))) == trained
    weights = {n: w for n, w in masked.state_dict().items() if "attention" not in n}
    masked.save_pretrained(tmp_path, state_dict=weights)
    with pytest.raises(ValueError, match="have no"):
        load_base(str(tmp_path))
