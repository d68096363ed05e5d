"""A run with a teacher, which labels unlabelled rows and may disagree with other labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data_gen.candidates import Candidate
from data_gen.generate import generate
from data_gen.settings import DataGenSettings
from gradegpt.chains.chain import Chain, needs_gloss, parse_prompt, render_chain
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import AnswerType, ChainFormat, Message, TrainingRow, Verdict
from tests.data_gen.teacher_server import Say, ScriptedServer, serving

NAMES = ("osmosis", "friction", "inertia", "erosion", "diffusion", "convection")

LONG = (
    "Several processes come to mind when one reads this question slowly.\n"
    "Of these I would name {}, by which the whole may be explained and all that follows from it."
)


def reply(body: dict[str, Any], _count: int) -> Say:
    """A chain as a good teacher writes it, except that it never accepts "convection"."""
    item = parse_prompt([Message.model_validate(m) for m in body["messages"]])
    assert item is not None
    named = item.reference[0] in item.response and item.reference[0] != "convection"
    key = item.response.splitlines()[-1]
    chain = Chain(
        verdict=Verdict.CORRECT if named else Verdict.INCORRECT,
        key_sentence=key,
        gloss="It says so." if needs_gloss(key) else None,
        reference_answer=item.reference[0],
        answer_type=AnswerType.TEXT,
        answer=key,
    )
    return Say(render_chain(chain, ChainFormat.CROSS_LINGUAL))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(reply) as running:
        yield running


def settings_of(tmp_path: Path, server: ScriptedServer, **teacher: Any) -> DataGenSettings:
    """Twelve ungraded answers that the rules leave undecided, and six that the rules decide."""
    rows = [
        {"id": f"{right}-{name}", "question": f"Which process is no. {n}?", "reference": name,
         "response": LONG.format(name if right else "evaporation"),
         "label": None, "lang": "en"}
        for n, name in enumerate(NAMES) for right in (True, False)
    ]  # fmt: skip
    write_rows(tmp_path / "ungraded.jsonl", rows)
    return DataGenSettings.model_validate(
        {
            "name": "taught",
            "out": str(tmp_path / "out"),
            "bank": 0,
            "parametric": 12,
            "workers": 1,
            "card": False,
            "balance": {"real": 0.5},
            "unlabelled": [{"path": str(tmp_path / "ungraded.jsonl")}],
            "teacher": {
                "models": [{"model": "m", "input_price": 1, "output_price": 1}],
                "base_url": server.base_url,
                "cache": str(tmp_path / "replies.sqlite"),
                **teacher,
            },
        }
    )


def test_a_teacher_labels_unlabelled_rows(tmp_path: Path, server: ScriptedServer) -> None:
    """Its chains are in the rows and in the counts, and its cost is in the manifest."""
    manifest = generate(settings_of(tmp_path, server))
    rows = [
        row
        for part in ("train", "dev")
        for row in read_rows(tmp_path / "out" / f"{part}.jsonl", TrainingRow)
        if row.meta["source"] == "ungraded"
    ]
    taught = [row for row in rows if "teacher" in row.meta["labelled_by"]]
    assert len(taught) >= 5
    for row in taught:
        right = "evaporation" not in row.completion[0].content
        assert (row.meta["verdict"] == "correct") is (right and "convection" not in str(row))
    assert manifest["teacher"]["cost"] > 0
    assert "run" not in manifest["teacher"]


def test_a_teacher_that_disagrees_makes_a_dispute(tmp_path: Path, server: ScriptedServer) -> None:
    """Rows on which the teacher disagrees with other labels are in no training file."""
    settings = settings_of(tmp_path, server).model_copy(update={"check": 1.0, "parametric": 4})
    generate(settings)
    disputed = list(read_rows(tmp_path / "out" / "disputed.jsonl", Candidate))
    against = [c for c in disputed if "teacher" in c.labels]
    assert against
    assert all(len({v is Verdict.CORRECT for v in c.labels.values()}) == 2 for c in against)
