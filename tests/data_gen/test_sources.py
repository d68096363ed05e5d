"""Questions, references and outputs from the tables people have: nothing guessed, nothing lost."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.problems import Problem
from data_gen.sources import (
    Mapping,
    Outputs,
    Questions,
    files,
    load_mapping,
    read_outputs,
    read_problems,
    read_table,
)
from data_gen.sources.mapping import READY
from data_gen.sources.texts import dig, last_boxed, pick, steps, with_options, with_units
from gradegpt.errors import InputError, MissingError, SettingsError
from gradegpt.importers.labelled import split_of
from gradegpt.schema import Example, Item, Verdict
from gradegpt.settings import build_settings

SHAPES = Path(__file__).parent / "shapes"
SHAPE = {path.stem: str(path) for path in sorted(SHAPES.iterdir())}
PLAIN = Mapping(question=("question",), reference=("answer",))
Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: str) -> str:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return str(path)

    return written


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def problems(path: str, mapping: str | Mapping = PLAIN, **more: Any) -> list[Problem]:
    return list(read_problems(Questions(path=path, mapping=mapping, **more), Counter()))


def facts(mapping: str) -> list[tuple[str, str, str, str | None]]:
    read = problems(SHAPE[mapping], mapping)
    return [(p.lang, p.answer_type.value, p.reference, p.tolerance) for p in read]


# --- tables ---------------------------------------------------------------------------------------

ROWS = [{"question": "1+1=?", "answer": "2"}, {"question": '"甲,\n乙"？', "answer": "甲"}]


def parquet(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("t.jsonl", lines(ROWS), [":1", ":2"]),
        ("t.json", json.dumps(ROWS), [": row 1", ": row 2"]),
        ("object.json", json.dumps({"title": "x", "tags": [], "of": ROWS}), [": row 1", ": row 2"]),
        ("t.csv", 'question,answer\n1+1=?,2\n"""甲,\n乙""？",甲\n', [":2", ":3"]),
        ("t.tsv", 'question\tanswer\n1+1=?\t2\n\n"""甲,\n乙""？"\t甲\n', [":2", ":4"]),
        ("t.parquet", None, [": row 1", ": row 2"]),
    ],
)
def test_the_same_rows_come_from_every_kind_of_table(
    name: str, content: str | None, places: list[str], tmp_path: Path
) -> None:
    """Each with the file and the line or row where it stands."""
    path = tmp_path / name
    parquet(path) if content is None else path.write_text(content, encoding="utf-8")
    read = list(read_table(str(path)))
    assert [row for _, row in read] == ROWS
    assert [where for where, _ in read] == [f"{path}{place}" for place in places]


def test_a_json_object_may_hold_one_row_or_rows_by_their_ids(write: Write) -> None:
    """As MATH keeps a file a problem, and OpenCompass its predictions."""
    one = write("one.json", json.dumps(ROWS[0] | {"options": ["1", "2"]}))
    assert [row for _, row in read_table(one)] == [ROWS[0] | {"options": ["1", "2"]}]
    by_id = write("by_id.json", json.dumps({"7": {"prediction": "2"}}))
    assert [row for _, row in read_table(by_id)] == [{"id": "7", "prediction": "2"}]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.jsonl", '{"a": 1}\nno\n', "a.jsonl:2: not a JSON object"),
        ("a.json", '[\n{"a": 1},\n]', "a.json:3: not JSON"),
        ("a.json", "7", "a.json: a int; expected a list"),
        ("a.json", '[{"a": 1}, 2]', "a.json: row 2: a int"),
        ("a.json", '{"a": [{"x": 1}], "b": [{"x": 1}]}', "2 lists of rows"),
        ("a.csv", "q,a\n1,2\n1,2,3\n", "a.csv:3: 3 cells under 2 columns"),
        ("a.csv", 'q,a\n"x"y,2\n', "a.csv:2: not a readable table"),
        ("a.parquet", "PAR0", "a.parquet: not a readable Parquet file"),
        ("a.xlsx", "", "a.xlsx: no reader for '.xlsx'; save it as .jsonl"),
    ],
)
def test_a_broken_table_is_named_with_its_place(
    name: str, content: str, complaint: str, write: Write
) -> None:
    """The message says file, line or row, and what to do."""
    path = write(name, content)
    with pytest.raises(InputError) as caught:
        list(read_table(path))
    assert complaint in str(caught.value)


def test_a_pattern_names_its_files_in_order(write: Write, tmp_path: Path) -> None:
    """A path that matches nothing is missing, not empty."""
    paths = tuple(write(name, lines(ROWS)) for name in ("a.jsonl", "b.jsonl"))
    assert files(str(tmp_path / "*.jsonl")) == paths
    assert len(list(read_table(str(tmp_path / "*.jsonl")))) == 4
    for absent in ("*.csv", "c.jsonl"):
        with pytest.raises(MissingError, match="no such file"):
            files(str(tmp_path / absent))


class Hub(ModuleType):
    """A stand-in for ``datasets`` that serves the rows or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__("datasets")
        self.failure, self.asked = failure, ("", None)
        self.exceptions = type("exceptions", (), {"DatasetsError": type("E", (Exception,), {})})

    def load_dataset(self, name: str, config: str | None, *, streaming: bool) -> dict[str, Any]:
        assert streaming
        self.asked = (name, config)
        if self.failure:
            raise self.failure

        class Rows(list[dict[str, Any]]):
            features = ("question", "picture")

            def decode(self, enable: bool) -> list[dict[str, Any]]:
                assert not enable
                return ROWS

        return {"train": Rows([{"picture": "cannot be decoded"}]), "test": Rows()}


def test_a_hub_data_set_is_streamed_by_name_config_and_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of several splits one must be named: none is taken by default."""
    hub = Hub()
    monkeypatch.setitem(sys.modules, "datasets", hub)
    assert [row for _, row in read_table("hf:own/sums:main@train")] == ROWS
    assert hub.asked == ("own/sums", "main")
    with pytest.raises(InputError, match="name one of its splits: @train, @test"):
        list(read_table("hf:own/sums"))
    assert files("hf:own/sums") == ()


@pytest.mark.parametrize(
    ("failure", "error", "complaint"),
    [
        (ConnectionError("no\n route"), MissingError, r"\(no route\); check the name and the netw"),
        (ValueError("Config name is missing"), InputError, "Config name is missing; write hf:"),
    ],
)
def test_a_hub_that_does_not_answer_is_one_line(
    failure: Exception, error: type[Exception], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the data set, the cause and the way around."""
    monkeypatch.setitem(sys.modules, "datasets", Hub(failure))
    with pytest.raises(error, match=f"hf:own/sums: .*{complaint}"):
        list(read_table("hf:own/sums"))


@pytest.mark.parametrize(("path", "library"), [("t.parquet", "pyarrow"), ("hf:a/b", "datasets")])
def test_a_library_that_is_not_installed_is_named(
    path: str, library: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that installs it."""
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith(library):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingError, match=rf"needs {library}; .*gradegpt\[data\]"):
        list(read_table(path if path.startswith("hf:") else write(path, "")))


def test_importing_the_sources_loads_no_heavy_library() -> None:
    """They load when a table needs them."""
    heavy = "{'pyarrow', 'datasets', 'numpy', 'sympy'}"
    code = f"import sys, data_gen.sources; print({heavy} & {{*sys.modules}})"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.strip() == "set()"


# --- the ready mappings ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (
            "olympiadbench",
            [
                ("en", "number", "$19.6$ m", "olympiadbench:1e-1"),
                ("zh", "interval", r"$(1,+\infty)$", None),
                ("en", "multi_answer", "$3,-3$", None),
                ("en", "multi_answer", r"$\sqrt{k/g}$, $4.2$", None),
            ],
        ),
        (
            "olympicarena",
            [
                ("en", "single_choice", "B", None),
                ("zh", "multiple_choice", "AC", None),
                ("en", "number", "60 km/h", None),
                ("en", "multi_part", "(1) 1.25 m; (2) 0.5 s", None),
                ("en", "set", "{2, 3, 5}", None),
            ],
        ),
        ("gsm8k", [("en", "number", "8", None), ("en", "number", "1,500", None)]),
        (
            "math",
            [
                ("en", "number", r"\frac{3}{4}", None),
                ("en", "set", r"\{0, 1\}", None),
                ("en", "number", "4", None),
            ],
        ),
        ("cmath", [("zh", "number", answer, None) for answer in ("7", "0.8", "36")]),
        (
            "gaokao_bench",
            [
                ("zh", "single_choice", "A", None),
                ("zh", "multi_part", "(1) B; (2) C", None),
                ("zh", "number", "2", None),
            ],
        ),
        (
            "cmmath",
            [
                ("zh", "single_choice", "A", None),
                ("zh", "number", r"$$4\pi $$", None),
                ("zh", "single_choice", "A", None),
            ],
        ),
        (
            "tal_scq",
            [
                ("en", "single_choice", "B", None),
                ("zh", "single_choice", "A", None),
                ("en", "single_choice", "C", None),
            ],
        ),
        (
            "jsonl",
            [
                ("zh", "number", "9.6 m/s", "olympiadbench:5e-1"),
                ("zh", "single_choice", "B", None),
                ("en", "number", r"\frac{3}{4}", None),
                ("en", "multi_answer", "$4$, $-4$", None),
            ],
        ),
    ],
)
def test_a_ready_mapping_reads_its_data_set(
    mapping: str, expected: list[tuple[str, str, str, str | None]]
) -> None:
    """Language, answer type, reference and tolerance of every row that has a reference."""
    assert facts(mapping) == expected


def test_every_ready_mapping_has_a_shape_and_says_how_to_use_it() -> None:
    """A mapping without a test, or without an example line, is not ready."""
    ready = sorted(READY.glob("*.yaml"))
    assert [path.stem for path in ready] == sorted(SHAPE)
    for path in ready:
        head = [line for line in path.read_text(encoding="utf-8").splitlines() if line[0] == "#"]
        assert any(line.startswith("# questions: [{path: ") for line in head), path.stem
        load_mapping(path.stem)


def test_context_and_options_become_part_of_the_question() -> None:
    """What a judge needs to see stands there; options that it lists itself are not repeated."""
    in_context = problems(SHAPE["olympiadbench"], "olympiadbench")[1].question
    assert in_context == "已知函数 $f(x)=x^2-2x$.\n求 $f(x)$ 的单调递增区间."
    listed = problems(SHAPE["tal_scq"], "tal_scq")[0].question
    assert listed.splitlines()[1:] == ["A. $$32$$", "B. $$42$$", "C. $$43$$"]
    with_own, _, with_column = (p.question for p in problems(SHAPE["cmmath"], "cmmath"))
    assert with_own.count("A.") == 1
    assert with_column.endswith("\nA. 等腰三角形\nB. 平行四边形")


def test_solutions_come_as_steps_without_the_answer_line_and_pictures() -> None:
    """GSM8K's calculator notes go too; of several solutions the first is taken."""
    assert problems(SHAPE["gsm8k"], "gsm8k")[0].solution == (
        "The pens cost 3*4=$12.",
        "She gets 20-12=$8 back.",
    )
    assert problems(SHAPE["cmmath"], "cmmath")[0].solution[-1] == "故选A．"
    first, second, *_ = problems(SHAPE["olympiadbench"], "olympiadbench")
    assert first.solution == (r"It falls $\frac{1}{2} g t^2$.", "With $t=2$ this is $19.6$.")
    assert second.solution == ("由f'(x)=2x-2>0得x>1。", r"故所求区间为(1,+\infty)。")


@pytest.mark.parametrize(
    ("mapping", "left_out"),
    [
        ("olympiadbench", {"no_reference": 1, "placeholder": 1}),
        ("olympicarena", {"no_reference": 1}),
        ("gsm8k", {"no_reference": 1}),
        ("math", {"no_reference": 1}),
        ("cmmath", {"no_question": 1}),
        ("jsonl", {"other_language": 1}),
        ("cmath", {}),
    ],
)
def test_rows_left_out_are_counted_with_the_reason(mapping: str, left_out: dict[str, int]) -> None:
    """What was read is what was taken and what was left out."""
    counts: Counter[str] = Counter()
    taken = list(read_problems(Questions(path=SHAPE[mapping], mapping=mapping), counts))
    skipped = {k.split(":")[2]: n for k, n in counts.items() if k.startswith("skipped:")}
    assert skipped == left_out
    assert counts[f"read:{mapping}"] == len(taken) + sum(left_out.values())


def test_problems_have_ids_of_their_own_that_say_the_source() -> None:
    """A row without an id is named by its question, so that it keeps the name where rows move."""
    assert problems(SHAPE["olympicarena"], "olympicarena")[0].id == "olympicarena-P_1"
    read = problems(SHAPE["gsm8k"], "gsm8k", name="sums")
    assert [p.id for p in read] == [p.id for p in problems(SHAPE["gsm8k"], "gsm8k", name="sums")]
    assert len({p.id for p in read}) == len(read)


# --- mappings by hand -----------------------------------------------------------------------------


def one(write: Write, row: dict[str, Any], **mapping: Any) -> Problem:
    columns = {"question": "q", "reference": "a"} | mapping
    settings = {"path": write("one.jsonl", lines([row])), "mapping": columns}
    (problem,) = read_problems(build_settings(Questions, settings, "test.yaml"), Counter())
    return problem


def test_alternatives_are_accepted_each(write: Write) -> None:
    """The first is the reference, the others stand beside it, each once."""
    row = {"q": "Half of one?", "a": ["1/2", "0.5", "1/2"]}
    problem = one(write, row, several="alternatives")
    assert (problem.reference, problem.accepted) == ("1/2", ("0.5",))


def test_the_first_column_that_holds_something_is_taken(write: Write) -> None:
    """Blank cells and columns that are not there hold nothing."""
    row = {"q": "1+1=?", "final": " ", "meta": {"key": 2.0}}
    assert one(write, row, reference=["final", "gold", "meta.key"]).reference == "2"


def test_option_columns_are_listed_in_their_order(write: Write) -> None:
    """An empty option is none."""
    row = {"q": "Pick the even one.", "a": "B", "A": "3", "B": "4", "C": ""}
    problem = one(write, row, option_columns=["A", "B", "C"])
    assert problem.question == "Pick the even one.\nA. 3\nB. 4"
    assert problem.answer_type == "single_choice"


@pytest.mark.parametrize(
    ("error", "policy"),
    [("1e-3", "olympiadbench:1e-3"), (0.05, "olympiadbench:0.05"), (1e20, "olympiadbench:1e20")]
    + [(none, "relative:0.01") for none in (None, "", ",1e-5", "1e-1,2")],
)
def test_a_row_without_one_error_gets_the_tolerance_of_the_mapping(
    error: Any, policy: str, write: Write
) -> None:
    """Errors for several answers are no policy of the whole."""
    row = {"q": "Speed?", "a": "3.2", "e": error}
    assert one(write, row, error="e", tolerance="relative:0.01").tolerance == policy


@pytest.mark.parametrize(
    ("lang", "row", "expected"),
    [
        ("zh", {}, "zh"),
        ("detect", {"q": "Which of 甲 and 乙 is taller?"}, "zh"),
        ("detect", {}, "en"),
        ("l", {"l": "Chinese"}, "zh"),
        ("l", {"l": "EN"}, "en"),
        ("l", {"l": None}, "en"),
    ],
)
def test_the_language_is_fixed_stated_or_told_by_the_script(
    lang: str, row: dict[str, Any], expected: str, write: Write
) -> None:
    """A row that does not state its language is looked at."""
    assert one(write, {"q": "1+1=?", "a": "2"} | row, lang=lang).lang == expected


def test_an_answer_type_that_the_mapping_does_not_know_is_an_error(write: Write) -> None:
    """It is not guessed: the message names the row, the word and the setting."""
    row = {"q": "1+1=?", "a": "2", "t": "Numbr"}
    with pytest.raises(InputError, match=r"one\.jsonl:1: answer type 'Numbr' .*'answer_types'"):
        one(write, row, answer_type="t", answer_types={"Numerical": "number"})
    assert one(write, row, answer_type="t", answer_types={"*": "infer"}).answer_type == "number"


def test_a_mapping_is_a_name_a_file_or_columns(write: Write) -> None:
    """A wrong name or column is answered with the right ones."""
    path = write("own.yaml", "question: q\nreference: [a, b]\n")
    assert load_mapping(path).reference == ("a", "b")
    with pytest.raises(MissingError, match="did you mean 'olympiadbench'"):
        load_mapping("olympiad_bench")
    with pytest.raises(SettingsError, match=r"unknown setting '.*questoin'; did you mean 'quest"):
        build_settings(Questions, {"path": "a", "mapping": {"questoin": "q"}}, "gen.yaml")


def test_one_text_of_several_answers_takes_no_unit(write: Write) -> None:
    """Behind the last answer the unit would belong to that one alone."""
    row = {"q": "Both lengths?", "a": "3, 4", "u": "m", "many": True}
    assert one(write, row, unit="u", multiple="many").reference == "3, 4"
    assert one(write, row, unit="u").reference == "3, 4 m"


# --- questions ------------------------------------------------------------------------------------


def many(count: int) -> list[dict[str, Any]]:
    return [{"question": f"{n}+1=?", "answer": str(n + 1), "of": n % 2} for n in range(count)]


def test_split_limit_length_and_only_choose_among_the_rows(write: Write) -> None:
    """Each choice is counted, and the split is the one that every file of the project shares."""
    path = write("m.jsonl", lines([*many(40), {"question": "Why?", "answer": "x" * 301, "of": 0}]))
    counts: Counter[str] = Counter()
    asked = Questions(path=path, mapping=PLAIN, split="test", only={"of": ("0",)})
    read = list(read_problems(asked, counts))
    assert read
    assert all(split_of(p.question) == "test" for p in read)
    assert counts["skipped:m:not_asked_for"] == 20
    assert counts["skipped:m:long_reference"] == 1
    assert counts.pop("read:m") == 41
    assert len(read) + counts.total() == 41
    assert len(problems(path, limit=3)) == 3


def test_a_table_that_the_mapping_does_not_fit_is_an_error(write: Write) -> None:
    """Not an empty result: the columns that are there are named."""
    path = write("m.jsonl", lines([{"problem": "1+1=?", "answer": "2"}]))
    with pytest.raises(InputError, match=r"no row has a question .* columns: problem, answer\."):
        problems(path)


# --- outputs --------------------------------------------------------------------------------------


def outputs(write: Write, rows: list[dict[str, Any]], **more: Any) -> Outputs:
    questions = {"path": SHAPE["tal_scq"], "mapping": "tal_scq"}
    paths = [write("model-x.jsonl", lines(rows))]
    settings = {"paths": paths, "questions": questions, "response": "text"} | more
    return build_settings(Outputs, settings, "gen.yaml")


def read(settings: Outputs) -> tuple[list[tuple[Item, str]], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(read_outputs(settings, counts)), counts


def test_outputs_are_joined_by_id_or_by_the_question(write: Write) -> None:
    """With or without its options; the item is the question's, the response the model's."""
    rows = [
        {"key": "q001", "text": "The answer is B."},
        {"prompt": "小明有8个球 丢了3个 还剩多少个", "text": "选A"},
        {"prompt": "Which number is even?\nA. 3\nB. 7\nC. 10", "text": ""},
    ]
    found, counts = read(outputs(write, rows, id="key", question="prompt"))
    assert [(i.id, i.response, i.reference, lang) for i, lang in found] == [
        ("tal_scq-q001:model-x:0", "The answer is B.", ("B",), "en"),
        ("tal_scq-q002:model-x:0", "选A", ("A",), "zh"),
        ("tal_scq-q003:model-x:0", "", ("C",), "en"),
    ]
    assert found[0][0].question.endswith("C. $$43$$")
    assert counts == {"read:tal_scq": 3}


def test_several_models_and_samples_answer_a_question(write: Write) -> None:
    """A list holds samples, an object one response a model, and dots reach into both."""
    rows = [
        {"key": "q001", "by": "m1", "text": ["B", None, "C"]},
        {"key": "q001", "by": "m1", "text": {"m2": "A", "m3": ["B"]}},
        {"key": "q001", "by": "m4", "choices": [{"message": {"content": "B"}}]},
    ]
    settings = outputs(
        write, rows, id="key", model="by", response=["text", "choices.message.content"]
    )
    found, counts = read(settings)
    assert [(i.id.partition(":")[2], i.response, i.meta["model"]) for i, _ in found] == [
        ("m1:0", "B", "m1"),
        ("m1:2", "C", "m1"),
        ("m2:0", "A", "m2"),
        ("m3:0", "B", "m3"),
        ("m4:0", "B", "m4"),
    ]
    assert counts == {"read:tal_scq": 6, "skipped:tal_scq:no_response": 1}


@pytest.mark.parametrize(
    ("label", "verdict"),
    [(True, "correct"), (0, "incorrect"), ("False", "incorrect"), ("invalid", "invalid")],
)
def test_labelled_outputs_are_examples(label: Any, verdict: str, write: Write) -> None:
    """With verdict, language, source and who labelled; one without a label is an item."""
    rows = [{"key": "q002", "text": "A", "ok": label}, {"key": "q002", "text": "A", "ok": None}]
    settings = outputs(write, rows, id="key", label="ok", labelled_by="human", name="runs")
    ((example, _), (item, _)), _ = read(settings)
    assert isinstance(example, Example)
    assert (example.verdict, example.lang, example.source, example.labelled_by) == (
        Verdict(verdict),
        "zh",
        "runs",
        "human",
    )
    assert type(item) is Item


def test_a_list_of_labels_belongs_to_the_samples(write: Write) -> None:
    """One by one."""
    rows = [{"key": "q001", "text": ["B", "C"], "ok": [True, False]}]
    found, _ = read(outputs(write, rows, id="key", label="ok"))
    assert [i.verdict for i, _ in found if isinstance(i, Example)] == ["correct", "incorrect"]


def test_outputs_without_a_question_are_counted_and_nothing_else_is(write: Write) -> None:
    """An unknown id, and a question that was left out for a reason of its own."""
    rows = [{"key": key, "text": "x"} for key in ("q001", "q001", "q999")]
    _, counts = read(outputs(write, rows, id="key"))
    assert counts == {"read:tal_scq": 3, "skipped:tal_scq:unknown_question": 1}
    asked = {"path": SHAPE["tal_scq"], "mapping": "tal_scq", "only": {"qid": "2"}}
    found, counts = read(outputs(write, rows, id="key", questions=asked))
    assert not found
    assert counts["skipped:tal_scq:not_asked_for"] == 2


def test_a_question_that_two_problems_share_joins_neither(write: Write) -> None:
    """An answer to "which is right?" must not be graded against another question's options."""
    shared = [{"q": "Which is right?", "o": [a, "none"], "a": "A"} for a in ("1+1=2", "2+2=4")]
    columns = {"question": "q", "reference": "a", "options": "o"}
    asked = {"path": write("two.jsonl", lines(shared)), "mapping": columns}
    rows = [
        {"prompt": text, "text": "A"}
        for text in ("Which is right?", "Which is right? A. 2+2=4 B. none")
    ]
    found, counts = read(outputs(write, rows, question="prompt", questions=asked))
    assert [i.question.splitlines()[1] for i, _ in found] == ["A. 2+2=4"]
    assert counts["skipped:two:ambiguous_question"] == 1


@pytest.mark.parametrize(
    ("rows", "more", "complaint"),
    [
        ([{"key": "1", "text": "B"}], {}, r"no response matches .*model-x\.jsonl:1: '1'"),
        ([{"key": "q001"}], {}, r"model-x\.jsonl:1: no column .*'response'"),
        ([{"key": "q001", "text": "B", "ok": "maybe"}], {"label": "ok"}, "'maybe' is no verdict"),
    ],
)
def test_outputs_that_cannot_be_read_say_why(
    rows: list[dict[str, Any]], more: dict[str, Any], complaint: str, write: Write
) -> None:
    """Above all that none matches: a join by the wrong column must not end in an empty file."""
    with pytest.raises(InputError, match=complaint):
        read(outputs(write, rows, id="key", **more))


def test_outputs_must_name_what_joins_them(write: Write) -> None:
    """Neither id nor question is an error of the settings."""
    with pytest.raises(SettingsError, match="name the column of the question's 'id'"):
        outputs(write, [])


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solution", "boxed"),
    [
        (r"$\boxed{\frac{1}{\sqrt{2}}}$ it is", r"\frac{1}{\sqrt{2}}"),
        (
            r"not $\boxed{1}$ but $\boxed{\left\{ x \mid x>0 \right.}$",
            r"\left\{ x \mid x>0 \right.",
        ),
        (r"$\boxed 7$.", "7"),
        (r"\fbox{B}", "B"),
        (r"cut \boxed{1", None),
        ("no box", None),
    ],
)
def test_the_last_box_is_found_with_its_braces(solution: str, boxed: str | None) -> None:
    """Escaped braces open and close nothing."""
    assert last_boxed(solution) == boxed


@pytest.mark.parametrize(
    ("answers", "unit", "expected"),
    [
        (("3",), "m", ("3 m",)),
        (("3 m",), "m", ("3 m",)),
        (("$30^\\circ$",), "$^{\\circ}$", ("$30^\\circ$",)),
        (("3", "4"), "m", ("3 m", "4 m")),
        (("3", "4"), ["m", None], ("3 m", "4")),
        (("3", "4"), ["m"], ("3", "4")),
        (("3, 4",), "m,s", ("3, 4",)),
        (("3",), None, ("3",)),
    ],
)
def test_a_unit_is_put_behind_unless_it_is_there(
    answers: tuple[str, ...], unit: Any, expected: tuple[str, ...]
) -> None:
    """Units that nothing assigns to the answers are left out."""
    assert with_units(answers, unit) == expected


@pytest.mark.parametrize(
    "listed",
    [
        ["one", "two"],
        ["A. one", "(B) two"],
        {"A": "one", "B": "two"},
        {"label": ["A", "B"], "text": ["one", "two"]},
        [{"aoVal": "A", "content": "one"}, {"aoVal": "B", "content": "two"}],
        [[{"aoId": "x9", "aoVal": "A", "content": "one "}], [{"aoVal": "B", "content": "two"}]],
    ],
)
def test_options_of_any_shape_are_listed_alike(listed: Any) -> None:
    """Letter, full stop, text; a line each."""
    assert with_options("Pick.", listed) == "Pick.\nA. one\nB. two"


def test_an_option_that_begins_with_another_letter_keeps_it() -> None:
    """``J. Smith`` in the first place is no option J."""
    assert with_options("Who?", ["J. Smith", "B. Brown"]) == "Who?\nA. J. Smith\nB. Brown"


@given(
    st.lists(st.sampled_from(["因此 $x=1。5$。", "So $a. B$ holds. ", r"\[ y. \] ", "\n", "12. "]))
)
def test_steps_cut_no_formula_and_lose_no_word(pieces: list[str]) -> None:
    """Every step has its dollars in pairs; short solutions are kept whole, but for blanks."""
    found = steps("".join(["\\", *pieces]))
    assert all(
        step.count("$") % 2 == 0 and step.count(r"\[") == step.count(r"\]") for step in found
    )
    assert len(found) <= 12
    if len(pieces) <= 6:
        kept = "".join("".join(found).split())
        assert kept in "".join(("\\" + "".join(pieces)).split())


@given(st.dictionaries(st.text(min_size=1, max_size=5), st.integers() | st.none(), max_size=4))
def test_a_column_is_found_by_its_own_name(row: dict[str, Any]) -> None:
    """Even where the name has dots in it; a column that is not there is none, never an error."""
    for name, value in row.items():
        assert dig(row, name) == value
    assert pick(row, ["absent.0.x"]) is None
