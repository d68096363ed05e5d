"""Shipped judges by name: their adapters, and where their bases come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradegpt.core import shipped
from gradegpt.core.errors import MissingError, SettingsError
from gradegpt.core.shipped import BASES, NANO, adapter_of, base_named_by, base_of, judges
from gradegpt.judges.build import _folders, build_judge
from gradegpt.judges.settings import JudgeSettings


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An adapter for a base on the hub, one for the built-in base, and that base."""
    monkeypatch.setattr(shipped, "_MODELS", tmp_path / "models")
    monkeypatch.delenv(BASES, raising=False)
    for name, base in (("small", "gradegpt-nano"), ("large", "maker/Large-Chat")):
        folder = tmp_path / "models" / name
        folder.mkdir(parents=True)
        (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
    (tmp_path / "models" / "gradegpt-nano").mkdir()
    return tmp_path / "models"


def test_the_name_of_a_judge_gives_its_base_and_its_adapter(models: Path) -> None:
    """The built-in base has a short name; other names are folders or hub names."""
    assert judges() == ("large", "small")
    assert base_of(NANO) == base_of("small") == str(models / "gradegpt-nano")
    assert adapter_of("small") == str(models / "small")
    assert (base_of("large"), adapter_of("large")) == ("maker/Large-Chat", str(models / "large"))
    assert (base_of("maker/Other"), adapter_of("./mine")) == ("maker/Other", "./mine")
    assert base_named_by(models / "small") == str(models / "gradegpt-nano")


def test_a_folder_of_bases_has_precedence_over_the_hub(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base that is not in it is an error."""
    monkeypatch.setenv(BASES, str(tmp_path / "bases"))
    with pytest.raises(MissingError, match=r"Large-Chat: there is no model, but GRADEGPT_BASES="):
        base_of("large")
    base = tmp_path / "bases" / "Large-Chat"
    base.mkdir(parents=True)
    (base / "config.json").write_text("{}")
    assert base_of("large") == base_named_by(models / "large") == str(base)
    assert base_of("maker/Large-Chat") == str(base)
    assert base_of("maker/Other") == "maker/Other"


@pytest.mark.parametrize(
    ("given", "base", "adapter"),
    [
        ({"model": "large"}, "maker/Large-Chat", "large"),
        ({"model": "maker/Other"}, "maker/Other", None),
        ({"model": "maker/Other", "adapter": "large"}, "maker/Other", "large"),
        ({"adapter": "large"}, "maker/Large-Chat", "large"),
        ({"model": "nano", "adapter": None}, "gradegpt-nano", None),
    ],
)
def test_a_judge_takes_its_own_adapter(
    models: Path, given: dict[str, str], base: str, adapter: str | None
) -> None:
    """Unless another is named, or none."""
    found = _folders(JudgeSettings.of(**given))
    assert found[0].endswith(base)
    assert (found[1] and Path(found[1]).name) == adapter
    assert models.is_dir()


@pytest.mark.parametrize(
    ("model", "message"), [("", "model: missing; use"), (NANO, "model: nano is no judge, but")]
)
def test_a_model_judge_needs_a_judge(models: Path, model: str, message: str) -> None:
    """The built-in base alone was never taught to judge; the error names what to use."""
    with pytest.raises(SettingsError, match=message):
        build_judge(JudgeSettings.of(kind="model", model=model))
    assert models.is_dir()


def test_without_the_weights_of_a_checkout(models: Path) -> None:
    """The error says what to do."""
    (models / "gradegpt-nano").rmdir()
    with pytest.raises(MissingError, match="the built-in base is not there; name another one"):
        base_of(NANO)
