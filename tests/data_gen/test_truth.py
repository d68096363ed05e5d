"""Every chain that is taught is true as far as a program can tell, whatever wrote it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from data_gen import seeds
from data_gen.__main__ import app
from data_gen.bilingual import facts
from data_gen.candidates import Candidate
from data_gen.generate import generate
from data_gen.problems import bank
from data_gen.readings import write_readings
from data_gen.settings import DataGenSettings, load_data_settings
from data_gen.truth import FLAWS, is_tag_alone, taught
from gradegpt.chains.chain import Chain, PromptSettings, parse_chain
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import ChainFormat, Item, Verdict
from tests.data_gen.answers import ANSWERS, READ, check_rows, rows_of
from tests.data_gen.teacher_parts import always, teacher_of
from tests.data_gen.teacher_server import ScriptedServer, serving
from tests.data_gen.test_teacher_replies import UNUSABLE

CROSS, SAME, TAG = ChainFormat.CROSS_LINGUAL, ChainFormat.JUDGE_OF_CHAIN, ChainFormat.OUTCOME
EACH = {"formats": {CROSS.value: 1, SAME.value: 1e-6, TAG.value: 1e-12}}
"""Each row is in the first format that fits it."""
CONFIGS = sorted((Path(__file__).parents[2] / "configs" / "data_gen").glob("*.yaml"))
MADE = map(load_data_settings, CONFIGS)
SHIPPED = [s for s in MADE if isinstance(s, DataGenSettings) and not s.sources]
"""The recipes that need no other data."""


def settings_of(tmp_path: Path, *, labelled: bool = True, **changes: Any) -> DataGenSettings:
    """The hand-made answers, with readings; nothing is drawn, balanced or generated."""
    label = (lambda a: {"label": a.right, "label_by": "human"}) if labelled else lambda _: {}
    rows = [dict(a.item) | label(a) | {"lang": "zh"} for a in ANSWERS]
    write_rows(tmp_path / "answers.jsonl", rows)
    write_readings(tmp_path / "readings.jsonl", READ)
    given = {
        "name": "real", "out": str(tmp_path / "out"), "readings": [f"{tmp_path}/readings.jsonl"],
        "bank": 0, "parametric": 0, "balance": {"correct": 0}, "workers": 1,
        "sources" if labelled else "unlabelled": [{"path": f"{tmp_path}/answers.jsonl"}],
        "prompt": {"budget": {"response": 90}},
    }  # fmt: skip
    return DataGenSettings.model_validate(given | changes)


def taught_by(server: ScriptedServer, cache: Path) -> dict[str, Any]:
    """Settings with a teacher instead of the readings."""
    teacher = {"model": "m", "base_url": server.base_url, "cache": str(cache)}
    teacher |= {"input_price": 1, "output_price": 1}
    return EACH | {"teacher": teacher, "readings": []}


@pytest.mark.parametrize(
    ("recipe", "place"),
    [pytest.param(r, p, id=r.name) for r, p in zip(SHIPPED, cycle(("last", "first")))],
)
def test_every_shipped_recipe_writes_true_rows(
    recipe: DataGenSettings, place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the bank, the generators and the bilingual facts, with the tag last or first."""
    monkeypatch.setattr(seeds, "bank", lambda: bank()[::4])
    monkeypatch.setattr(seeds, "facts", lambda: facts()[::4])
    small: dict[str, Any] = {"bank": 1, "parametric": 12, "bilingual": 1}
    small = {name: least for name, least in small.items() if getattr(recipe, name)}
    small |= {"balance": recipe.balance.model_copy(update={"rows": 100}), "workers": 1}
    small |= {"prompt": recipe.prompt.model_copy(update={"verdict": place}), "out": str(tmp_path)}
    generate(recipe.model_copy(update=small))
    assert check_rows(tmp_path, place)[CROSS] > 20


@pytest.mark.parametrize("place", ["last", "first"])
def test_real_answers_teach_a_readers_chain_or_their_tag_alone(place: Any, tmp_path: Path) -> None:
    """Word for word; an answer without a chain is counted by its flaw, of which each has a case."""
    prompt = {"budget": {"response": 90}, "verdict": place}
    counts = generate(settings_of(tmp_path, prompt=prompt, **EACH))["counts"]
    flaws = Counter(a.flaw for a in ANSWERS if a.flaw)
    assert {*flaws, "contradicted"} == FLAWS.keys()  # a label that rules contradict is disputed
    lacking = {f: counts[f"no_chain:{f}"] for f in flaws if f not in ("no_gloss", "same_answer")}
    assert lacking == {flaw: flaws[flaw] for flaw in lacking}
    assert check_rows(tmp_path / "out", place) == {CROSS: 9, SAME: 1, TAG: len(lacking)}
    rows = {row.meta["id"]: row.completion[-1].content for row in rows_of(tmp_path / "out")}
    for a in (a for a in ANSWERS if a.flaw in ("", "no_gloss")):
        chain = parse_chain(rows[f"answers:{a.item.id}"]).chain
        assert chain is not None
        assert (chain.verdict, chain.glosses) == (a.reading.verdict, a.reading.glosses)
        assert "|".join(chain.quotes) == a.quotes.replace("\n", " ")
        assert a.why in ("", chain.why)
    every = generate(settings_of(tmp_path))["counts"]  # each row has to be cross-lingual
    assert {f: every[f"left_out:{f}"] for f in flaws} == flaws


def test_a_chain_that_is_not_true_does_not_say_that_no_answer_is_given() -> None:
    """Where a response is called invalid and its answer was found, both are not taught."""
    said = Chain(verdict=Verdict.INVALID, quotes=("It is 7.",), answer="7")
    chain, flaw = taught(said, Item(reference=("8",), response="It is 7."), PromptSettings())
    assert (flaw, is_tag_alone(chain)) == ("not_in_grammar", True)


def test_a_teacher_is_enough_and_a_later_run_reads_what_it_said(tmp_path: Path) -> None:
    """Its readings give the same chains without a request, and glosses asked for alone."""
    script = teacher_of(lambda item: item.reference[0] in item.response, glosses=False)
    with serving(script) as server:
        first = settings_of(tmp_path, labelled=False, **taught_by(server, tmp_path / "a"))
        manifest = generate(first)
    assert {question[:6] for question in server.questions} >= {"<text>", "Questi"}
    assert manifest["teacher"]["cost"] > 0
    assert check_rows(tmp_path / "out")[CROSS] > 9
    again = {"readings": (f"{tmp_path}/out/readings.jsonl",), "teacher": None}
    generate(first.model_copy(update=again | {"out": str(tmp_path / "later")}))
    once, later = (
        {r.meta["id"]: (r.completion, r.meta["labelled_by"] == "rules") for r in rows_of(folder)}
        for folder in (tmp_path / "out", tmp_path / "later")
    )
    assert once == later


def test_a_teacher_that_disagrees_makes_a_dispute(tmp_path: Path) -> None:
    """Rows on which it disagrees with other labels are in their own file with all labels."""
    with serving(teacher_of(lambda _: False)) as server:
        generate(settings_of(tmp_path, check=1, **taught_by(server, tmp_path / "c")))
    disputed = {c.id: c for c in read_rows(tmp_path / "out" / "disputed.jsonl", Candidate)}
    said = [a for a in ANSWERS if "…" not in a.response]  # no quote goes across that
    assert {*disputed} == {f"answers:{a.item.id}" for a in said if a.right}
    assert {c.labels["teacher"] for c in disputed.values()} == {Verdict.INCORRECT}


def test_replies_that_could_not_be_used_are_counted_and_said(tmp_path: Path) -> None:
    """By their reasons, in the manifest and in the output; no chain is made of them."""
    reason = "teacher:quote-not-verbatim"
    with serving(always(UNUSABLE[reason])) as server:
        settings = settings_of(tmp_path, labelled=False, **taught_by(server, tmp_path / "c"))
        (tmp_path / "c.yaml").write_text(yaml.safe_dump(settings.model_dump(mode="json")))
        done = CliRunner().invoke(app, [str(tmp_path / "c.yaml")])
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    rejected = manifest["counts"][f"left_out:{reason}"]
    assert manifest["teacher"]["rejected"][reason] == rejected > 5
    said = f"the teacher's replies: {rejected} could not be used ({reason})"
    assert said in " ".join(done.output.split()), done.output
