"""Merging: one model that answers as base and adapter do, with the judge's prompt settings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradegpt.core.errors import EngineError, MissingError
from gradegpt.core.records import write_json
from gradegpt.core.schema import Message
from gradegpt.engines.files import prompt_settings_beside
from gradegpt.engines.local import LocalEngine
from gradegpt.judges.calibration import CALIBRATION_FILE, calibration_beside
from train.merge import app, merge

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
PROMPTS = [[Message(role="user", content=f"Is {n} the same as {n}?")] for n in range(4)]


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory, judge_run: Path) -> Path:
    """An adapter with a calibration file."""
    own = tmp_path_factory.mktemp("to-merge") / "adapter"
    shutil.copytree(judge_run / "adapter", own)
    write_json(own / CALIBRATION_FILE, {"judge": "m", "weights": {"text en": {}}})
    return own


def test_the_merged_model_answers_as_base_and_adapter_do(
    adapter: Path, base: Path, tmp_path: Path
) -> None:
    """The texts are equal to the adapter's and not to the base's."""
    merge(adapter, tmp_path / "whole", str(base / "model"), "float32")
    both = LocalEngine(str(base / "model"), str(adapter))
    whole = LocalEngine(str(tmp_path / "whole"))
    alone = LocalEngine(str(base / "model"))
    texts = [
        [made.text for made in engine.generate(PROMPTS, max_new_tokens=12)]  # type: ignore[union-attr]
        for engine in (both, whole, alone)
    ]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert prompt_settings_beside(str(tmp_path / "whole")) == prompt_settings_beside(str(adapter))
    assert (
        calibration_beside(str(tmp_path / "whole")) == calibration_beside(str(adapter)) is not None
    )
    assert json.loads((tmp_path / "whole" / "manifest.json").read_text())["dtype"] == "float32"


def test_what_is_no_adapter_is_an_error(base: Path, adapter: Path, tmp_path: Path) -> None:
    """The error comes before anything is loaded; an adapter of another base is refused, too."""
    with pytest.raises(
        MissingError, match=r"adapter_config\.json: does not exist; give an adapter"
    ):
        merge(base / "model", tmp_path / "out")
    with pytest.raises(EngineError, match="does not fit its base"):
        merge(adapter, tmp_path / "out", str(tmp_path))
    assert not (tmp_path / "out").exists()


def test_the_command_line_says_what_it_wrote(adapter: Path, base: Path, tmp_path: Path) -> None:
    """The output is required, and in bfloat16."""
    given = [str(adapter), "--base", str(base / "model")]
    assert CliRunner().invoke(app, given).exit_code == 2
    done = CliRunner().invoke(app, [*given, "-o", str(tmp_path / "whole")])
    assert (done.exit_code, done.output) == (
        0, f"wrote {tmp_path / 'whole'}: {base / 'model'} with its adapter, bfloat16\n",
    )  # fmt: skip
    assert json.loads((tmp_path / "whole" / "manifest.json").read_text())["dtype"] == "bfloat16"
