"""The data card: its counts and contents, and that all texts are escaped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_gen.card import collect, verdict_table, write_card
from gradegpt.core.schema import Verdict


def row(
    number: int, verdict: Verdict, *, lang: str = "en", response_lang: str = "", **meta: Any
) -> dict[str, Any]:
    """The part of a training row that the card reads."""
    values = {
        "id": f"r{number}", "verdict": verdict.value, "answer_type": "number", "lang": lang,
        "response_lang": response_lang or lang, "source": "made", "origin": "synthetic",
        "pattern": "hard_negative", "labelled_by": "construction+rules",
        "chain_format": "cross_lingual", **meta,
    }  # fmt: skip
    return {"prompt": [], "completion": [], "meta": values}


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    made = [
        row(n, verdict, lang=lang, origin=origin)
        for n in range(4)
        for verdict in Verdict
        for lang in ("zh", "en")
        for origin in ("real", "synthetic")
    ]
    return [*made, row(99, Verdict.CORRECT, lang="zh", response_lang="en")]


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "settings": {"name": "small", "seed": 3, "out": "/home/someone/data"},
        "inputs": {"/home/someone/graded.jsonl": "ab" * 32},
        "counts": {"train": 45, "dev": 4},
        "shortfalls": [{"cell": "zh/code", "wanted": 20, "have": 3}],
        "quality": {
            "exact_duplicates": 1234, "near_duplicates": 5, "contaminated": 0, "disputed": 17,
        },
        "teacher": {"model": "some-teacher"},
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, manifest: dict[str, Any], rows: list[dict[str, Any]]
) -> Path:
    path = tmp_path_factory.mktemp("card")
    write_card(path, manifest, rows)
    return path


def front_matter(readme: str) -> Any:
    return yaml.safe_load(readme.split("---\n")[1])


def test_the_page_has_every_section_and_no_path_of_the_machine(folder: Path) -> None:
    """Its front matter is what data hubs read: languages, files by part, no licence."""
    readme = (folder / "README.md").read_text("utf-8")
    matter = yaml.safe_load(readme.split("---\n")[1])
    assert matter["language"] == ["zh", "en"]
    assert matter["configs"][0]["data_files"] == [
        {"split": "train", "path": "train.jsonl"}, {"split": "dev", "path": "dev.jsonl"},
    ]  # fmt: skip
    assert "license" not in matter
    assert re.findall(r"^## (.*)$", readme, re.MULTILINE) == [
        "What this is", "Inputs", "Sizes", "Balance", "Origins and patterns", "Labels", "Left out",
        "Shortfalls", "Teacher", "How to load it", "Limits",
    ]  # fmt: skip
    assert all(text in readme for text in ("1,234", "zh/code", "graded.jsonl"))
    assert "/home/someone" not in readme


def test_a_name_cannot_write_into_the_page(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """Tags and table bars in a pattern or source are shown as text, on one line."""
    write_card(tmp_path, manifest, [row(1, Verdict.CORRECT, pattern="<img src=x>|`b`\n*[x](y)*")])
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert r"| \<img src=x\>\|\`b\` \*\[x\](y)\* |" in readme


def test_every_row_is_in_one_cell(rows: list[dict[str, Any]]) -> None:
    """The sums of the tables equal the number of rows."""
    facts = collect(rows)
    lines = {
        name: [line.strip("| ").split(" | ")[:2] for line in table.splitlines()[2:]]
        for name in ("origin", "balance")
        for table in [verdict_table(facts, name)]
    }
    assert lines["origin"] == [["synthetic", "25"], ["real", "24"]]
    assert lines["balance"] == [["number, zh", "25"], ["number, en", "24"]]
