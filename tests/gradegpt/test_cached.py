"""The cached judge: the same judgements, and the inner judge only judges new items."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from gradegpt.core.errors import EngineError, OutputError
from gradegpt.core.schema import Example, Item, Judgement, Outcome, Verdict
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings

ITEM = Item(id="i", question="2+2=?", reference=("4",), response="The answer is 4.")


class Counting:
    """A judge that records the ids of its items; ``say`` makes its judgements."""

    name = "counting"

    def __init__(self, say: Callable[[Item], Judgement] | None = None, version: str = "1") -> None:
        self.asked: list[str] = []
        self.fingerprint = version
        self._say = say or self.correct

    @staticmethod
    def correct(item: Item) -> Judgement:
        return Judgement(
            id=item.id, outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, confidence=0.1 + 0.2,
            method="counting", reason="r", key_sentence="答案是 4。", answer="4",
            answer_type=None, chain="<Yes>", prompt_tokens=7, completion_tokens=1,
        )  # fmt: skip

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        self.asked += [item.id for item in items]
        return [self._say(item) for item in items]


def named(*names: str, item: Item = ITEM) -> list[Item]:
    return [item.model_copy(update={"id": name, "response": f"It is {name}."}) for name in names]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made" / "cache.sqlite"


def test_what_was_judged_once_is_not_judged_again(path: Path) -> None:
    """By the same judge or another one on the same file; every field is restored, in order."""
    inner = Counting()
    judge = CachedJudge(inner, path)
    first = judge.judge(named("a", "b"))
    assert judge.judge(named("b", "c", "a")) == inner.judge(named("b", "c", "a"))
    assert inner.asked[:3] == ["a", "b", "c"]
    assert (judge.hits, judge.misses) == (2, 3)
    judge.close()
    other = Counting()
    assert CachedJudge(other, path).judge(named("a", "b")) == first == other.judge(named("a", "b"))
    assert other.asked == ["a", "b"]  # by the line above alone
    assert judge.name == "counting"
    assert judge.fingerprint == "1"


def test_a_judgement_has_the_id_of_its_own_item(path: Path) -> None:
    """The id, ``meta`` and the label of an example are not part of the key."""
    inner = Counting()
    judge = CachedJudge(inner, path)
    judge.judge([ITEM])
    again = ITEM.model_copy(update={"id": "j", "meta": {"row": 7}})
    label = Example(verdict=Verdict.INCORRECT, **ITEM.model_dump() | {"id": "k"})
    assert [j.id for j in judge.judge([again, label])] == ["j", "k"]
    assert inner.asked == ["i"]


def test_any_other_difference_is_another_item(path: Path) -> None:
    """All other fields are part of the key."""
    changes = {"question": "2+3=?", "context": "c", "reference": ("4", "5"), "needs": "all"}
    items = [Item(**ITEM.model_dump() | {name: value}) for name, value in changes.items()]
    judge = CachedJudge(inner := Counting(), path)
    judge.judge([ITEM, *items])
    assert len(inner.asked) == 5


def test_another_fingerprint_is_another_judge(path: Path) -> None:
    """After new training, or with other settings, an item is judged again."""
    CachedJudge(Counting(), path).judge([ITEM])
    newer = Counting(version="2")
    CachedJudge(newer, path).judge([ITEM])
    assert newer.asked == ["i"]


def test_a_failure_is_not_stored_and_any_other_outcome_is(path: Path) -> None:
    """A failed item is judged again; ``unparsed`` is stored as an answer."""
    engine = ScriptedEngine([EngineError("gone"), "no verdict", "<Yes>"])
    judge = CachedJudge(ModelJudge(engine), path)
    rows = named("a", "b")
    assert [j.outcome for j in judge.judge(rows)] == ["failed", "unparsed"]
    assert [j.outcome for j in judge.judge(rows)] == ["judged", "unparsed"]
    assert [j.outcome for j in judge.judge(rows)] == ["judged", "unparsed"]
    assert (judge.hits, judge.misses) == (3, 3)


def test_equal_items_of_one_call_are_judged_once(path: Path) -> None:
    """Each gets its own id; an empty list needs no call."""
    inner = Counting()
    judge = CachedJudge(inner, path)
    twins = [ITEM.model_copy(update={"id": name}) for name in "xyz"]
    assert [j.id for j in judge.judge(twins)] == ["x", "y", "z"]
    assert inner.asked == ["x"]
    assert (judge.hits, judge.misses) == (2, 1)
    assert judge.judge([]) == []
    many = named(*map(str, range(1_200)))
    assert judge.judge(many) == judge.judge(many)
    assert len(inner.asked) == 1_201


def test_many_threads_share_one(path: Path) -> None:
    """Every answer is right, and the counts add up."""
    judge = CachedJudge(Counting(), path)
    rows = [named(*(str(n % 7 + k) for k in range(5))) for n in range(80)]
    with ThreadPoolExecutor(8) as pool:
        for asked, made in zip(rows, pool.map(judge.judge, rows), strict=True):
            assert made == [Counting.correct(item) for item in asked]
    assert judge.hits + judge.misses == 400
    assert judge.misses >= 11


def _fill(path: Path, start: int) -> int:
    judge = CachedJudge(Counting(), path)
    for n in range(start, start + 30):
        assert [j.id for j in judge.judge(named(str(n % 40)))] == [str(n % 40)]
    return judge.hits + judge.misses


def test_several_processes_share_a_file(path: Path) -> None:
    """Also when all of them start without a file."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(_fill, [path] * 4, range(0, 40, 10))) == [30] * 4
    inner = Counting()
    CachedJudge(inner, path).judge(named(*map(str, range(40))))
    assert inner.asked == []


def test_a_file_that_is_not_a_cache_is_an_error(tmp_path: Path) -> None:
    """Another program's database is not changed; the error of a damaged file says what to do."""
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE judgements (a)")
    before = foreign.read_bytes()
    with pytest.raises(OutputError, match=r"foreign\.sqlite: is a database of another kind"):
        CachedJudge(Counting(), foreign)
    assert foreign.read_bytes() == before
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to be looked at " * 20)
    with pytest.raises(
        OutputError, match=r"text\.sqlite: cannot be used as a cache.*choose another path"
    ):
        CachedJudge(Counting(), text)
    with pytest.raises(OutputError, match="cannot be used as a cache"):
        CachedJudge(Counting(), text / "inside")
    with pytest.raises(OutputError, match="cannot be used as a cache"):
        CachedJudge(Counting(), tmp_path)


def test_a_row_that_cannot_be_read_is_an_error(path: Path) -> None:
    """The item is not silently judged again, as more of the file may be damaged."""
    judge = CachedJudge(Counting(), path)
    judge.judge([ITEM])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE judgements SET judgement = '{\"id\": 1}'")
    with pytest.raises(OutputError, match=r"cannot be read .*delete the file"):
        judge.judge([ITEM])
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE judgements")
    with pytest.raises(OutputError, match="no such table"):
        judge.judge([ITEM])


def test_the_settings_name_a_file(path: Path) -> None:
    """A cache is a setting of any judge, with the judge's own fingerprint."""
    judge: Judge = build_judge(JudgeSettings.of(kind="rules", cache=path))
    assert isinstance(judge, CachedJudge)
    assert judge.fingerprint == RuleJudge().fingerprint
    assert judge.judge([ITEM]) == judge.judge([ITEM]) == RuleJudge().judge([ITEM])
    assert judge.hits == 1
