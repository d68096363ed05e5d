"""Benchmark leakage: n-grams calculated by hand, a model that has memorised, the whole command."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import eval.protocol
from eval.asking import run_protocol
from eval.figures import ProtocolSummary, show_summary
from eval.leakage import (
    Continuing,
    Match,
    MemorisedItem,
    cut,
    edit_similarity,
    gram,
    leakage_of,
    leakage_protocol,
    rouge_l,
    starting_points,
    words,
)
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Item

HENS = "A farmer has 12 hens and each of them lays 5 eggs a week , so in 4 weeks there are 240 eggs"
TRAIN = "A train leaves at noon and goes 60 miles an hour until it has gone 180 miles , three hours"
TEXT = st.text("ab \n甲乙+1", max_size=12)


class ByHeart:
    """Continues memorised texts, with ``slip`` instead of some words, and no other texts."""

    name = "by-heart"
    limit = 1_000

    def __init__(self, read: Sequence[str], slip: Callable[[str], str] = str) -> None:
        self._read, self._slip = [words(text) for text in read], slip

    def tokens(self, text: str) -> list[str]:
        return words(text)

    def text(self, tokens: Sequence[str]) -> str:
        return "".join(tokens).strip()

    def continue_(self, prefixes: Sequence[Sequence[str]], n: int) -> Sequence[list[str]]:
        return [self._one([*prefix], n) for prefix in prefixes]

    def _one(self, prefix: list[str], n: int) -> list[str]:
        known = (r for r in self._read if r[: len(prefix)] == prefix)
        return [self._slip(word) for word in next(known, [])[len(prefix) :][:n]] or [" what"] * n


def measure(path: Path, out: Path, model: ByHeart) -> list[MemorisedItem]:
    return run_protocol(leakage_protocol(path, out, model), Continuing(model))


def value(summary: ProtocolSummary, name: str, group: str = "all") -> float | None:
    figure = summary.figures[group][name]
    return figure and figure.value


def items(path: Path, count: int = 1) -> Path:
    """Questions about hens and trains in turn, each with a solution."""
    rows = (
        {"id": f"q{n}", "question": (HENS, TRAIN)[n % 2], "reference": "7",
         "solution": "Add and add , then add once more",
         "tags": {"subject": ("farm", "rail")[n % 2]}}
        for n in range(count)
    )  # fmt: skip
    write_rows(path / "items.jsonl", rows)
    return path / "items.jsonl"


def known(n: int) -> str:
    """The whole text of an item."""
    return f"{(HENS, TRAIN)[n % 2]} Add and add , then add once more"


# --- n-grams --------------------------------------------------------------------------------------


def test_the_similarities_are_those_of_their_papers() -> None:
    """ROUGE-L's police and gunman (Lin 2004, section 3.1): 2/4; the docstrings have others."""
    assert edit_similarity("", "") == 1.0
    assert edit_similarity("", "ab") == 0.0
    assert rouge_l("police killed the gunman", "the gunman kill police") == 0.5
    assert rouge_l("周长是 38 厘米", "周长为 38 厘米") == pytest.approx(2 * 5 / 12)
    assert rouge_l("a", "") == 0.0
    assert rouge_l("\n", " ") == 1.0


@given(TEXT, TEXT)
def test_similarities_are_shares_alike_both_ways_and_1_for_the_same(one: str, other: str) -> None:
    """So an exact prediction counts for every kind."""
    for similarity in (edit_similarity, rouge_l):
        assert similarity(one, one) == 1.0
        assert 0 <= similarity(one, other) <= 1
        assert similarity(one, other) == pytest.approx(similarity(other, one))


def test_only_above_75_percent_is_predicted() -> None:
    """Three of four words are not enough; by letters the pair has 22 of 24, which is enough."""
    one, other = words("police killed the gunman"), words("police kill the gunman")
    found = gram(2, one, other, ByHeart([]))
    assert [found.hit(kind) for kind in Match] == [False, True, False]
    assert found.edit == pytest.approx(22 / 24)
    same = gram(2, one, one, ByHeart([]))
    assert [same.hit(kind) for kind in Match] == [True] * 3


def test_half_a_character_is_not_taken_for_another_half() -> None:
    """Two tokens with halves of different characters decode to the same sign."""

    class Halves(ByHeart):
        def text(self, tokens: Sequence[str]) -> str:
            return "\ufffd" * len(tokens)

    model = Halves([])
    assert not gram(2, ["\ue001"], ["\ue002"], model).exact
    assert gram(2, ["\ue001"], ["\ue001"], model).exact


@given(st.integers(0, 200), st.integers(1, 9), st.integers(1, 9))
def test_starting_points_are_distinct_and_every_n_gram_is_whole(
    length: int, k: int, n: int
) -> None:
    """They reach from the third token to the last n-gram; there are none in a short text."""
    found = starting_points(length, k, n)
    assert len(found) == len(set(found)) == (k if length - n - 2 >= k - 1 else 0)
    assert all(2 <= start <= length - n for start in found)
    if found and k > 1:
        assert (found[0], found[-1]) == (2, length - n)


def test_the_text_is_question_and_solution_else_steps_else_answer() -> None:
    """The context precedes the question, and the text is cut to the model's limit."""
    item, model = Item(question="Q?", reference=("4", "four"), response=""), ByHeart([])
    assert cut(item, model) == words("Q? 4; four")
    assert cut(item.model_copy(update={"steps": ("one", "two")}), model) == words("Q? one\ntwo")
    full = item.model_copy(update={"solution": "It is 4.", "context": "C.", "steps": ("x",)})
    assert cut(full, model) == words("C.\nQ? It is 4.")
    model.limit = 4
    assert cut(full, model) == ["C", ".", "\nQ"]


# --- a model and its items ------------------------------------------------------------------------


def test_what_a_model_has_memorised_is_leaked_and_nothing_else(tmp_path: Path) -> None:
    """Every n-gram of a memorised text is predicted, and none of another text."""
    rows = measure(items(tmp_path, 4), tmp_path / "rows.jsonl", ByHeart([known(0)]))
    assert [row.leaked for row in rows] == [True, False, True, False]
    assert [len(row.grams) for row in rows] == [5] * 4
    assert [g.start for g in rows[0].grams] == [2, 8, 14, 20, 26]  # of 31 words
    assert rows[0].grams[0].wanted == "has 12 hens and each"
    found = leakage_of(rows)
    share = found.figures["all"]["exact"]
    assert share is not None
    assert share.interval is not None
    assert (share.value, share.n) == (0.5, 20)
    assert share.interval.low < 0.5 < share.interval.high
    assert [value(found, "leaked", f"subject: {tag}") for tag in ("farm", "rail")] == [1, 0]


def test_a_change_of_format_is_seen_through_by_the_lenient_kinds_alone(tmp_path: Path) -> None:
    """In capitals no n-gram is exact, but all have the same words: any kind suffices."""
    model = ByHeart([known(0)], slip=str.upper)
    (row,) = measure(items(tmp_path), tmp_path / "rows.jsonl", model)
    assert [row.leaked_by(kind) for kind in Match] == [False, False, True]
    assert row.leaked


def test_what_is_too_short_is_counted_and_not_scored(tmp_path: Path) -> None:
    """An item that is too short for five n-grams is not scored."""
    write_rows(tmp_path / "items.jsonl", [{"question": "1+1?", "reference": "2"}])
    found = leakage_of(measure(tmp_path / "items.jsonl", tmp_path / "r.jsonl", ByHeart([])))
    assert (found.counts["items"], found.counts["too short"]) == (1, 1)
    assert set(found.figures["all"].values()) == {None}


def test_a_tag_is_printed_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    """``[/1]`` would be read as markup of the terminal library."""
    same = gram(2, ["x"], ["x"], ByHeart([]))
    row = MemorisedItem(id="a", n_tokens=9, grams=(same,), tags={"t": "[/1]"})
    show_summary(leakage_of([row]))
    assert "t: [/1]" in capsys.readouterr().out


# --- the command ----------------------------------------------------------------------------------


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows say which items are leaked; a model behind a server shows no tokens."""
    model = ByHeart([known(0)])
    monkeypatch.setattr("gradegpt.engines.local.LocalEngine", lambda *_, **__: model)
    out = tmp_path / "out.jsonl"
    words_ = ["leakage", str(items(tmp_path, 4)), "-o", str(out)]
    for more in ([], ["--model", "m", "--base-url", "http://x/v1"]):
        refused = CliRunner().invoke(eval.protocol.app, [*words_, *more]).exception
        assert "needs --model, and no --base-url" in str(refused)
    words_ += ["--model", "m"]
    done = CliRunner().invoke(eval.protocol.app, words_)
    assert done.exit_code == 0, done.output
    assert "items: 4\ntoo short: 0\nleaked, all n-grams predicted: 2" in done.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows if row["leaked"]] == ["q0", "q2"]
