"""Duplicates are those of reading all candidates in order."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_gen import duplicates
from data_gen.candidates import Candidate, texts_of
from data_gen.duplicates import exact_key, signature
from data_gen.selection import chosen_rows
from data_gen.settings import DataGenSettings
from data_gen.shards import write_shard
from data_gen.sift import Sifted, read_rows_of, sift
from gradegpt.chains.chain import Chain
from gradegpt.core.schema import ChainFormat, Item, Verdict

WORDS = [a + b for a in "bcdfgklm" for b in ("ar", "en", "il", "on", "ut")]
THRESHOLD = 0.8


def settings_of(**others: object) -> DataGenSettings:
    values = {"name": "x", "workers": 1, "formats": {ChainFormat.OUTCOME: 1}}
    values |= {"near_duplicate": THRESHOLD}
    return DataGenSettings.model_validate(values | others)


def candidate(n: int, words: list[str], question: int, verdict: Verdict) -> Candidate:
    response = " ".join(words)
    return Candidate(
        id=f"row-{n}", item=Item(question=f"q{question}?", reference="a", response=response),
        chain=Chain(verdict=verdict, reference_answer="a"),
        lang="en", response_lang="en", source="s", origin="real", pattern="p",
        group=f"q{question}?", labels={"people": verdict},
    )  # fmt: skip


def drawn(rng: random.Random, count: int) -> list[Candidate]:
    """Candidates of which most are an earlier one with some words changed, or none."""
    made: list[list[str]] = []
    rows = []
    for n in range(count):
        if made and rng.random() < 0.8:
            # Of the latest rows: chains in which each is near the one before, but not the first.
            words = list(rng.choice(made[-6:] if rng.random() < 0.5 else made))
            for _ in range(rng.randrange(3)):
                words[rng.randrange(len(words))] = rng.choice(WORDS)
        else:
            words = rng.choices(WORDS, k=60)
        made.append(words)
        verdict = rng.choice([Verdict.CORRECT, Verdict.CORRECT, Verdict.INCORRECT])
        rows.append(candidate(n, words, rng.randrange(2), verdict))
    return rows


def one_by_one(rows: list[Candidate], most: int) -> list[str]:
    """The rule as it is stated: every row in order, compared with each row that is kept."""
    seen, kept, fates = set[bytes](), list[tuple[str, Any]](), []
    for row in rows:
        key = exact_key("\0".join(texts_of(row.item)))
        name, own = f"{row.verdict}{row.group}", signature("\n".join(texts_of(row.item)))
        equal = [own == other for its, other in kept if its == name]
        matches = [e.mean() for e in equal if e.reshape(8, 8).all(axis=1).any()]
        if key in seen:
            fates.append("exact")
        elif max(matches, default=0) >= THRESHOLD:
            fates.append("near")
        else:
            fates.append("kept")
            if len(matches) < most:
                kept.append((name, own))
        seen.add(key)
    return fates


def sifted(
    rows: list[Candidate], tmp_path: Path, per_shard: int, settings: DataGenSettings
) -> Sifted:
    paths = []
    for at in range(0, len(rows), per_shard):
        paths.append(tmp_path / f"{at:05d}.jsonl")
        write_shard(rows[at : at + per_shard], settings, paths[-1])
    return sift(paths, settings, lambda *_: None)


@pytest.mark.parametrize(("seed", "most"), [(0, 64), (1, 64), (2, 3), (3, 1)])
def test_the_rows_are_those_that_the_rule_keeps(
    seed: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains of near duplicates and templates included, however the rows are divided."""
    rows = drawn(random.Random(seed), 300)
    monkeypatch.setattr(duplicates, "MAX_MATCHES", most)
    expected = one_by_one(rows, most)
    assert min(Counter(expected).values()) > 5
    assert len(Counter(expected)) == 3
    result = sifted(rows, tmp_path, 17, settings_of())
    kept = [row.id for row, fate in zip(rows, expected, strict=True) if fate == "kept"]
    shards = result.keys.groupby("shard")["row"]
    read = [c.id for n, its in shards for c in read_rows_of(result.paths[n], {*its.tolist()})]
    assert read == kept
    assert result.counts["left_out:exact_duplicate"] == expected.count("exact")
    assert result.counts["left_out:near_duplicate"] == expected.count("near")


def test_every_candidate_has_one_fate_that_is_counted(tmp_path: Path) -> None:
    """Disputed rows are kept apart, whole; rows without a verdict are counted by their reason."""
    rows = drawn(random.Random(4), 12)
    rows[3] = rows[3].model_copy(
        update={"labels": {"people": Verdict.CORRECT, "rules": Verdict.INCORRECT}}
    )
    rows[5] = rows[5].model_copy(update={"chain": None, "labels": {}})
    rows[6] = rows[6].model_copy(update={"chain": None})
    teacher = {"model": "m", "base_url": "http://127.0.0.1:1", "cache": "x"}
    result = sifted(rows, tmp_path, 5, settings_of(teacher=teacher))
    assert [Candidate.model_validate_json(line).id for line in result.disputed] == ["row-3"]
    reasons = ("disputed", "left_out:unlabelled", "left_out:unsettled")
    assert [result.counts[name] for name in reasons] == [1, 1, 1]
    left_out = sum(n for name, n in result.counts.items() if name.startswith("left_out:"))
    assert len(result.keys) + left_out + 1 == result.counts["answers"] == 12


def test_no_candidates_are_sifted_to_none(tmp_path: Path) -> None:
    """Neither without shards nor with shards that hold nothing is there an error."""
    assert len(sifted([], tmp_path, 5, settings_of()).keys) == 0
    write_shard([], settings_of(), tmp_path / "empty.jsonl")
    empty = sift([tmp_path / "empty.jsonl"], settings_of(), lambda *_: None)
    assert {part: len(keys) for part, keys in chosen_rows(empty.keys, settings_of()).items()} == {
        "train": 0, "dev": 0,
    }  # fmt: skip
