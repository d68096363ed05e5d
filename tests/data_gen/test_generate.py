"""A run: the same bytes for the same settings, no question in two splits, consistent counts."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from data_gen import shards
from data_gen.__main__ import app
from data_gen.candidates import Candidate
from data_gen.drawn import parametric
from data_gen.generate import generate
from data_gen.ngrams import Contamination
from data_gen.problems import bank
from data_gen.readings import Reading, digest_of, write_readings
from data_gen.seeds import candidates_of, seeds
from data_gen.settings import DataGenSettings
from gradegpt.chains.chain import parse_prompt
from gradegpt.core.errors import GradeGPTError, InputError, MissingError
from gradegpt.core.records import dump, read_objects, read_rows, sha256_file, write_rows
from gradegpt.core.schema import Item, TrainingRow, Verdict
from gradegpt.tables.importers.labelled import question_key, split_of

Make = Callable[..., dict[str, Any]]
MIXED = {"cross_lingual": 0.5, "judge_of_chain": 0.5}
FILES = {
    "train.jsonl", "dev.jsonl", "disputed.jsonl", "manifest.json", "README.md",
}  # fmt: skip


def generated(out: Path, **settings: Any) -> dict[str, Any]:
    """Make a small run into a folder and return its manifest."""
    values = {"name": "small", "bank": 0, "parametric": 30, "workers": 1}
    values |= settings
    return generate(DataGenSettings.model_validate(values | {"out": str(out)}))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a small run into a folder of ``tmp_path`` and return its manifest."""
    return lambda out="a", **settings: generated(tmp_path / out, **settings)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the settings of ``generated``, which no test changes."""
    out = tmp_path_factory.mktemp("plain")
    generated(out)
    return out


@pytest.fixture(scope="module")
def banked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with problems of the bank, too, which no test changes."""
    out = tmp_path_factory.mktemp("banked")
    generated(out, bank=1, parametric=10)
    return out


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two shards, which no test changes."""
    out = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", 30)
        generated(out, parametric=40)
    return out


@pytest.fixture
def graded_file(tmp_path: Path) -> Path:
    """A file of graded answers with the usual columns, in both languages."""
    rows = [
        {
            "id": str(n), "question": f"小明有{n}个苹果，又买了{n}个，一共多少个？",
            "reference": str(2 * n), "lang": "zh",
            "response": f"先相加。\n所以答案是{2 * n + n % 2}。", "label": n % 2 == 0,
            "label_by": "key",
        }
        for n in range(3, 43)
    ]  # fmt: skip
    write_rows(tmp_path / "graded.jsonl", rows)
    return tmp_path / "graded.jsonl"


def rows_of(folder: Path, part: str = "train") -> list[TrainingRow]:
    return list(read_rows(folder / f"{part}.jsonl", TrainingRow))


def questions(folder: Path, part: str) -> set[str]:
    items = [parse_prompt(row.prompt) for row in rows_of(folder, part)]
    return {question_key(item.question) for item in items if item is not None and item.question}


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def test_the_same_settings_give_the_same_bytes(banked: Path, make: Make, tmp_path: Path) -> None:
    """Rows and digests are equal, apart from the name of the folder."""
    first, second = manifest_of(banked), make("b", bank=1, parametric=10)
    for name in ("train.jsonl", "dev.jsonl"):
        assert (banked / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert first["outputs"] == second["outputs"]
    assert first["counts"] == second["counts"]


def test_another_seed_gives_other_rows(plain: Path, make: Make, tmp_path: Path) -> None:
    """Another seed changes the problems and their order."""
    make("b", seed=1)
    assert not {*map(str, rows_of(plain))} & {*map(str, rows_of(tmp_path / "b"))}


def test_candidates_do_not_depend_on_other_candidates() -> None:
    """Randomness is seeded by the row: a larger run makes all candidates of a smaller one."""

    def grown(**settings: Any) -> list[str]:
        chosen = DataGenSettings.model_validate({"name": "x", "bank": 0} | settings)
        return [dump(c) for seed in seeds(chosen, Counter()) for c in candidates_of(seed, chosen)]

    small, large = grown(parametric=30), grown(parametric=60, bank=1)
    assert len(small) > 40
    assert {*small} < {*large}


def test_counts_add_up(banked: Path) -> None:
    """Each row is counted once by split, verdict, language, type and source; digests match."""
    manifest = manifest_of(banked)
    counts = manifest["counts"]
    lines = {part: len(list(read_objects(banked / f"{part}.jsonl"))) for part in ("train", "dev")}
    assert {part: counts[part] for part in lines} == lines
    for group in ("verdict", "lang", "response_lang", "type", "source", "origin", "pattern"):
        found = sum(n for name, n in counts.items() if name.startswith(f"{group}:"))
        assert found == sum(lines.values()), group
    for name, digest in manifest["outputs"].items():
        assert digest == sha256_file(banked / name)
    assert {"train.jsonl", "dev.jsonl", "disputed.jsonl"} <= manifest["outputs"].keys()


def test_no_question_is_in_two_splits(make: Make, tmp_path: Path, graded_file: Path) -> None:
    """No question is in train and dev, and none of another split of its file is in either."""
    parts = {part: [{"path": str(graded_file), "split": part}] for part in ("train", "dev")}
    make(parametric=100, sources=parts["train"], unlabelled=parts["dev"], formats=MIXED)
    train, dev = questions(tmp_path / "a", "train"), questions(tmp_path / "a", "dev")
    assert len(dev) > 5
    assert not train & dev
    real = {
        question_key(row["question"]): split_of(row["question"])
        for _, row in read_objects(graded_file)
    }
    assert {real[q] for q in (train | dev) & real.keys()} == {"train", "dev"}


def test_avoided_questions_are_absent(plain: Path, make: Make, tmp_path: Path) -> None:
    """Questions of an evaluation file are left out, also with another spacing or case."""
    chosen = [p.question for p in parametric(60, seed=0)][:25]
    write_rows(tmp_path / "test.jsonl", [{"question": f"  {q.upper()} ?"} for q in chosen])
    manifest = make("some", avoid=[str(tmp_path / "test.jsonl")])
    avoided = {question_key(q) for q in chosen}
    everything = questions(plain, "train") | questions(plain, "dev")
    some = questions(tmp_path / "some", "train") | questions(tmp_path / "some", "dev")
    assert avoided & everything
    assert some <= everything - avoided
    assert len(some) > len(everything - avoided) * 0.8
    assert manifest["counts"]["left_out:evaluation_question"] >= len(avoided & everything)


def test_verdicts_are_balanced_in_every_cell(make: Make, tmp_path: Path) -> None:
    """Neither the answer type nor the language predicts the verdict."""
    make(parametric=100, balance={"rows": 120, "real": 0})
    cells: dict[tuple[str, str], Counter[bool]] = {}
    for row in [*rows_of(tmp_path / "a"), *rows_of(tmp_path / "a", "dev")]:
        cell = cells.setdefault((row.meta["lang"], row.meta["answer_type"]), Counter())
        cell[row.meta["verdict"] == "correct"] += 1
    assert len(cells) == 24
    for cell, found in cells.items():
        assert found[True] == pytest.approx(0.475 * found.total(), abs=1.5), cell


@pytest.mark.parametrize(
    "given",
    [
        {"sources": [{"path": "nofile.csv"}]}, {"readings": ["nofile.csv"]},
        {"avoid": ["nofile.csv"]},
    ],
)  # fmt: skip
def test_an_input_that_is_not_there_is_one_line(make: Make, given: dict[str, Any]) -> None:
    """For example before the public sets are fetched."""
    with pytest.raises(MissingError, match=r"^nofile\.csv: no such file; .*path"):
        make(**given)


def test_labels_that_disagree_are_disputed(make: Make, tmp_path: Path) -> None:
    """In a file of their own with all labels; a reading disputes as rules do, if unsure, too."""
    rows = [
        {"id": str(n), "question": f"What is {n} plus {n}?", "reference": str(2 * n), "lang": "en",
         "response": f"The answer is {2 * n}.", "label": n > 9, "label_by": "human"}
        for n in range(1, 60)
    ]  # fmt: skip
    write_rows(tmp_path / "rows.jsonl", rows)
    asked = ("question", "reference", "response")
    items = [Item.model_validate({name: row[name] for name in asked}) for row in rows[49:52]]
    read = zip(items, (Verdict.CORRECT, Verdict.INCORRECT, None), strict=True)
    write_readings(tmp_path / "read", [Reading(sha=digest_of(i), verdict=v) for i, v in read])
    given = {"sources": [{"path": str(tmp_path / "rows.jsonl")}], "readings": [f"{tmp_path}/read"]}
    manifest = make(parametric=60, **given)
    disputed = list(read_rows(tmp_path / "a" / "disputed.jsonl", Candidate))
    mine = {c.id: c.labels for c in disputed if c.origin == "real"}
    assert {*mine} == {f"rows:{n}" for n in (*range(1, 10), 51, 52)}
    assert mine["rows:3"] == {"people": "incorrect", "rules": "correct"}
    assert manifest["counts"]["disputed"] == len(disputed)
    assert not {*mine} & {row.meta["id"] for row in rows_of(tmp_path / "a")}


def test_guard_rows_and_trusted_labels_of_graded_answers(make: Make, tmp_path: Path) -> None:
    """Of other sources labels that nothing confirms are left out; guard rows keep the licence."""
    rows = [
        {"id": str(n), "question": f"Why does thing {n} fall?", "reference": "gravity pulls it",
         "response": f"Thing {n} has a weight.", "label": n % 2 == 0, "label_by": "human"}
        for n in range(60)
    ]  # fmt: skip
    for name in ("one", "two"):
        write_rows(tmp_path / f"{name}.jsonl", [r | {"id": f"{name}{r['id']}"} for r in rows])
    paths = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    sources = [{"path": path, "licence": "MIT"} for path in paths]
    given = {"agreeing": 2, "trusted": ["one", "one_guard"], "guard": 1, "twins": ["one"]}
    formats = {"outcome": 0.5, "cross_lingual": 0.5}
    make(parametric=0, sources=sources, formats=formats, balance={"correct": 0}, **given)
    made = rows_of(tmp_path / "a")
    sources_of = {row.meta["source"] for row in made}
    assert sources_of == {
        "one",
        "one_guard",
        "two_guard",
    }  # the rules confirm that some say nothing
    assert {row.meta["licence"] for row in made} == {"MIT"}
    assert all(("twins" in row.meta) is (row.meta["source"] == "one") for row in made)
    guards = [row for row in made if row.meta["source"] == "one_guard"]
    assert {row.meta["verdict"] for row in guards} == {"correct", "incorrect", "invalid"}


def test_workers_and_interruptions_do_not_change_the_bytes(
    whole: Path, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that dies leaves half of the shards; the next run reuses them."""
    made: list[int] = []
    original = shards.make_shard

    def dying(work: Any) -> int:
        if len(made) == 1:
            raise KeyboardInterrupt
        made.append(original(work))
        return made[-1]

    monkeypatch.setattr(shards, "SHARD", 30)
    monkeypatch.setattr(shards, "make_shard", dying)
    with pytest.raises(KeyboardInterrupt):
        make("b", parametric=40, workers=1)
    monkeypatch.setattr(shards, "make_shard", original)
    kept = list((tmp_path / "b").rglob("0*.jsonl"))
    assert len(kept) == 1
    before = kept[0].stat().st_mtime_ns
    stamps: list[int] = []
    rmtree = shutil.rmtree
    monkeypatch.setattr(
        shutil,
        "rmtree",
        lambda *a, **k: (stamps.append(kept[0].stat().st_mtime_ns), rmtree(*a, **k)),
    )
    again = make("b", parametric=40, workers=2)
    assert stamps == [before]
    assert again["outputs"] == manifest_of(whole)["outputs"]
    assert not (tmp_path / "b" / ".work").exists()


def test_nothing_shares_thirteen_tokens_with_an_evaluation_file(make: Make, tmp_path: Path) -> None:
    """No row shares thirteen tokens with an evaluation file, even inside a longer question."""
    bank_questions = [p.question for p in bank()][:80]
    stolen = [f"Before that: {q} And after that." for q in bank_questions]
    write_rows(tmp_path / "test.jsonl", [{"question": q, "reference": "1"} for q in stolen])
    manifest = make(bank=1, parametric=0, avoid=[str(tmp_path / "test.jsonl")])
    assert manifest["quality"]["contaminated"] > 20
    evaluation = Contamination(13)
    for text in stolen:
        evaluation.add(text)
    for row in [*rows_of(tmp_path / "a"), *rows_of(tmp_path / "a", "dev")]:
        item = parse_prompt(row.prompt)
        assert item is not None
        assert evaluation.hit(item.question) is None


def test_no_training_rows_is_an_error_and_writes_nothing(make: Make, tmp_path: Path) -> None:
    """A run without training rows raises an error, before a trainer would fail."""
    with pytest.raises(InputError, match="small: no training rows; name sources, bank"):
        make(parametric=0)
    assert [path.name for path in (tmp_path / "a").iterdir()] == [".work"]


def test_other_tools_can_load_the_rows(whole: Path, tmp_path: Path) -> None:
    """``datasets`` reads both splits with the same columns, prompt and completion as chat."""
    datasets = pytest.importorskip("datasets")
    files = {part: str(whole / f"{part}.jsonl") for part in ("train", "dev")}
    loaded = datasets.load_dataset("json", data_files=files, cache_dir=str(tmp_path / "cache"))
    assert loaded["train"].features == loaded["dev"].features
    assert loaded["train"].num_rows == len(rows_of(whole))
    first = loaded["train"][0]
    assert [m["role"] for m in first["prompt"]] == ["system", "user"]
    assert [m["role"] for m in first["completion"]] == ["assistant"]


def test_the_command_writes_the_folder_and_a_table(tmp_path: Path) -> None:
    """The command succeeds, and its errors have the exit codes of the project."""
    config = tmp_path / "c.yaml"
    config.write_text("name: tiny\nbank: 0\nparametric: 20\nworkers: 1\n")
    out = tmp_path / "made"
    done = CliRunner().invoke(app, [str(config), f"out={out}", "seed=5"])
    assert done.exit_code == 0, done.output
    assert {p.name for p in out.iterdir()} >= FILES
    assert f"wrote {out}/" in done.output.replace("\n", "")
    failed = CliRunner().invoke(app, [str(config), "parametric=0", f"out={tmp_path / 'none'}"])
    assert isinstance(failed.exception, GradeGPTError)


def test_the_command_says_what_a_small_set_lacks(tmp_path: Path) -> None:
    """No row for dev, and fewer rows than the recipe names."""
    asked = [q for n in range(40) if split_of(q := f"What is {n} plus {n}?") != "dev"]
    rows = [{"question": q, "reference": "4", "response": "It is 4.", "label": True} for q in asked]
    write_rows(tmp_path / "rows.jsonl", rows)
    config = tmp_path / "c.yaml"
    config.write_text(f"name: a\nsources: [{{path: {tmp_path}/rows.jsonl}}]\nworkers: 1\n")
    few = ["bank=0", "parametric=0", "balance.correct=0", "balance.rows=99", f"out={tmp_path}/a"]
    done = CliRunner().invoke(app, [str(config), *few])
    assert done.exit_code == 0, done.output
    assert f"fewer rows than the recipe asks for (rows): {len(asked)} of 99\n" in done.output
    assert "\ndev has no rows: 1 question in 20 belongs to it, here none;" in done.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_writes_the_same_bytes(whole: Path, make: Make, tmp_path: Path) -> None:
    """On Ray the rows are those of one process."""
    pytest.importorskip("ray")
    make("ray", parametric=40, on="ray")
    for name in ("train.jsonl", "dev.jsonl"):
        assert (tmp_path / "ray" / name).read_bytes() == (whole / name).read_bytes()
