"""Public sets: their readers on the sources' own formats, the digest, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from data_gen import public
from data_gen.public import READERS, fetch, public_sets, question_place
from data_gen.settings import PublicSettings, load_data_settings
from gradegpt.core.errors import MissingError, OutputError
from gradegpt.core.records import read_objects

LINE = {
    "question": "How many?", "correct": ["4.0", 4.0], "pred": "4.1",
    "solution": "2+2\nThe answer is 4.1\n\nProblem:\nAnother",
}  # fmt: skip
EVOUNA = {
    "question": "who wrote it", "golden_answer": "Ann/Ann B.", "answer_fid": "Ann",
    "judge_fid": True, "answer_gpt4": "Bob", "judge_gpt4": None, "improper": False,
}  # fmt: skip
MRBEN = {
    "Question_UUID": "abcdefgh-1", "Question": "Which? ", "Options": "A: one \nB: two ",
    "Ground_Truth_Answer": "A", "Ground_Truth_Answer_Modified": "B", "Sampled_Model": "m",
    "Model_Solution_Steps": ["Step 1: Think.\n", "Solution: Choice_B"],
    "Model_Solution_Correctness": "correct",
}  # fmt: skip
BEST = [{"question_id": 3, "Best Answer1": "甲", "Best Answer2": "乙"}]
SAID = [{"question_id": 3, "question": "谁？", "response": "丙", "is_hallucination": True}]
ADS = {"question": "何谓？", "reference1": "此", "reference2": "", "answer": "此\n", "score": "6"}
GSM = {
    "question": "How much?", "ground_truth": "2*3=6\nA: 6",
    **{f"{size}_{kind}": {"solution": "A: 6", "is_correct": True}
       for size in ("6b", "175b") for kind in ("finetuning", "verification")},
}  # fmt: skip
TORA = {"idx": 5, "question": "How many?", "gt": "1000", "pred": ["1,000"], "code": ["print(1000)"]}
GAOKAO = {
    "question": "何值？", "answer": "3", "model_output": "3", "score": 5,
    "correction_score": [5, 5],
}  # fmt: skip
FIGURE = {"id": "7", "question": "How long?", "options": ["1", "2"], "answer": "B"}
SEEN = {"id": "7", "response": "It is 2.", "correct": True}
SEMEVAL = """<question><questionText> Why?</questionText><referenceAnswers>
<referenceAnswer>It is hot.</referenceAnswer><referenceAnswer>Heat.</referenceAnswer>
</referenceAnswers><studentAnswers><studentAnswer id="K.1" accuracy="correct">warm</studentAnswer>
<studentAnswer id="K.2" accuracy="contradictory">cold</studentAnswer></studentAnswers></question>"""
SAF = "<studentAnswer><response>{0} <b>b</b></response><score>{0}</score>{1}</studentAnswer>"
SAF_FILE = f"""<question><questionText>Why? </questionText>
<referenceAnswer> So.\n</referenceAnswer>{SAF.format(" 1", "")}{SAF.format(0.75, "")}
{SAF.format(0.5, "<response_feedback>Half. </response_feedback>")}</question>"""
STARS = [
    {"type": kind, "hint": hint, "stars": {"Correctness": stars},
     "dialog": [{"content": "几个？ "}, {"content": " 三个"}]}
    for kind, hint, stars in (("A", 3, 3), ("A", 3, 2), ("B", 3, 3), ("A", float("nan"), 3))
]  # fmt: skip
MCQ = [
    {"question": "选？", "standard_answer": ["A", "D"], "model_output": said, "model_answer": key}
    for said, key in (("选AD", ["A", "D"]), ("选AD", None), ("选A", "A"), ("不知", []))
]  # fmt: skip
WHO, LONG = 0.0953701104, 0.9310888557
"""The places of two questions: SHA-256 of whowroteit, and of 400 characters."""
LE = "1\t此\t彼\t0.0\n1\t此\t彼\t0.0\n1\t此\t此\t1.0\n"


@pytest.mark.parametrize(
    ("name", "texts", "rows"),
    [
        ("evouna", [("x/NQ.json", [EVOUNA])],
         [("evouna-nq-0000-fid", "who wrote it", "Ann/Ann B.", "Ann", True)]),
        ("halluqa_zh", [("HalluQA.json", BEST), ("y/m-7b_output_qa_prompt.json", SAID)],
         [("halluqa-m-7b-3", "谁？", "甲 / 乙", "丙", False)]),
        ("nq301_human",
         [("a.tsv", "id\tQuestion\tModel answer\tAcceptable?\n1\twho\tAnn\tYes\n"),
          ("b.jsonl", '{"question": "who", "answer": ["Ann", "A."]}\n')],
         [("nq301-0000", "who", "Ann / A.", "Ann", True)]),
        ("sas_zh", [("all.jsonl", json.dumps(ADS)), ("train.csv", LE), ("qa.csv", "1\t何物？\t此")],
         [("sas-ads-0000", "何谓？", "此", "此", None),
          ("sas-le-0001", "何物？", "此", "彼", False),
          ("sas-le-0002", "何物？", "此", "此", True)]),
        ("mrben", [("data/math.json", {"u": [MRBEN]})],
         [("mrben-math-abcdefgh-m", "Which?\nA: one \nB: two", "B",
           "Step 1: Think.\nSolution: Choice_B", True)]),
        ("gsm8k_gpt3_solutions", [("x.jsonl", json.dumps(GSM))],
         [(f"gsm8k-0000-{m}", "How much?", "6", "A: 6", True)
          for m in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")]),
        ("tora_gsm8k", [("o/tora-7b/gsm8k/t.jsonl", json.dumps(TORA))],
         [("tora-tora-7b-5", "How many?", "1000", "print(1000)", True)]),
        ("gaokaobench_human_scored",
         [(f"{n}.json", {"example": [GAOKAO] if n in (0, 24) else []}) for n in range(30)],
         [("gkbh-00000", "何值？", "3", "3", True)]),
        ("mathv_outputs", [("test.jsonl", json.dumps(FIGURE)), ("o/M-CoT.jsonl",
         json.dumps(SEEN) + "\n")],
         [("mathv-M-CoT-7", "How long?\nChoices: (A) 1 (B) 2", "(B) 2", "It is 2.", True)]),
        ("scientsbank",
         [(f"training/{part}/K.xml", SEMEVAL) for part in ("3way/sciEntsBank", "3way/beetle")],
         [("sciEntsBank-training-K.1", "Why?", ["It is hot.", "Heat."], "warm", True),
          ("sciEntsBank-training-K.2", "Why?", ["It is hot.", "Heat."], "cold", False)]),
        ("saf", [("x/1.1_A.xml", SAF_FILE)],
         [("saf-training-1.1_A-0", "Why?", ["So."], "1 b", True),
          ("saf-training-1.1_A-1", "Why?", ["So."], "0.75 b", None),
          ("saf-training-1.1_A-2", "Why?", ["So."], "0.5 b", False)]),
        ("llmeval2", [("x/Law_data.json", STARS)],
         [("llmeval2-Law_data-0", "几个？", "3", "三个", True),
          ("llmeval2-Law_data-1", "几个？", "3", "三个", None)]),
        ("gaokaobench_mcq", [("a.json", MCQ), ("b.json", {"example": [*MCQ, MCQ[0] | {
         "model_output": "选D"}]})],
         [("gkb-mcq-000105", "选？", "A D", "选AD", True),
          ("gkb-mcq-000106", "选？", "A D", "选A", False),
          ("gkb-mcq-000107", "选？", "A D", "不知", None),
          ("gkb-mcq-000108", "选？", "A D", "选D", True)]),
        ("theoremqa_outputs", [("m.jsonl", json.dumps(LINE) + "\n")],
         [("theoremqa-m-0", "How many?", "4.0", "2+2\nThe answer is 4.1", True)]),
    ],
)  # fmt: skip
def test_a_reader_reads_its_source(name: str, texts: list[Any], rows: list[Any]) -> None:
    """The id, question, reference, response and label of each row with a label or a score."""
    given = [(path, text if isinstance(text, str) else json.dumps(text)) for path, text in texts]
    fields = ("id", "question", "reference", "response", "label")
    assert [tuple(row[f] for f in fields) for row in READERS[name](given)] == rows


@pytest.mark.parametrize(
    ("wanted", "pred", "label"),
    [
        ((4.0, "4.0"), "4.1", True), ((4.0, "4.0"), "5", False), ((4.0, "4.0"), "four", None),
        ((None, "True"), "True", True), ((None, "True"), "False", False),
        ((None, "(c)"), "", False), ((None, "(c)"), "no idea", None),
        (([1, 2], "[1, 2]"), "[1, 2]", None),
    ],
)  # fmt: skip
def test_a_result_is_compared_by_its_value(
    wanted: tuple[Any, str], pred: str, label: bool | None
) -> None:
    """Numbers within 4 %, truth values and options by name; what cannot be compared has none."""
    row = LINE | {"correct": [wanted[1], wanted[0]], "pred": pred}
    (read,) = READERS["theoremqa_outputs"]([("m.jsonl", json.dumps(row) + "\n")])
    assert read["label"] is label


def test_rows_are_written_once_the_files_are_those_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Downloaded once, checked by digest; never seen questions apart, which only measure."""
    rows = [EVOUNA | {"question": f"question {n}"} for n in range(20)]
    path = tmp_path / "host" / public_sets()["evouna"].repository / public_sets()["evouna"].commit
    path.mkdir(parents=True)
    (path / "NQ.json").write_text(json.dumps(rows))
    monkeypatch.setattr(public, "_HOST", (tmp_path / "host").as_uri())
    known = public_sets()["evouna"].model_copy(update={"files": ("NQ.json",)})
    monkeypatch.setitem(public_sets(), "evouna", known)
    settings = PublicSettings(name="public", out=str(tmp_path / "out"), sets=("evouna",))
    with pytest.raises(OutputError, match="not the files of wangcunxiang/QA-Eval at 90007d39d4"):
        fetch(settings)
    digest = public.digest([tmp_path / "out" / "files" / "evouna" / "NQ.json"])
    monkeypatch.setitem(public_sets(), "evouna", known.model_copy(update={"sha256": digest}))
    (path / "NQ.json").unlink()
    counts = fetch(settings)
    written = [row for _, row in read_objects(tmp_path / "out" / "evouna.jsonl")]
    assert counts == {"evouna": len(written)}
    assert 0 < len(written) < 20
    assert all(question_place(row) >= 0.5 for row in written)
    unseen = PublicSettings(name="public", out=str(tmp_path / "out"), sets=("evouna",), unseen=True)
    assert fetch(unseen) == {"evouna.unseen": 20 - len(written)}
    left = [row for _, row in read_objects(tmp_path / "out" / "evouna.unseen.jsonl")]
    assert {r["question"] for r in (*left, *written)} == {r["question"] for r in rows}
    assert public.measures_only(str(tmp_path / "out" / "evouna.unseen.jsonl"))
    assert not public.measures_only(str(tmp_path / "out" / "evouna.jsonl"))
    assert written[0].items() >= {"label": True, "label_by": "human", "lang": "en"}.items()


@pytest.mark.parametrize(
    ("question", "reference", "place"),
    [("Who wrote it?", "Ann", WHO), ("WHO wrote_it", "", WHO), ("", "who wrote it", WHO),
     ("谁写的？" * 200, "", LONG), ("谁写的" * 140, "", LONG)],
)  # fmt: skip
def test_a_question_has_one_place(question: str, reference: str, place: float) -> None:
    """Of 400 letters and digits, without case; of the reference where there is no question."""
    made = question_place({"question": question, "reference": reference})
    assert made == pytest.approx(place, abs=1e-9)


def test_a_zip_is_read_and_the_manifest_tells_the_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows keep the source's own parts; what was fetched before and has no licence stays marked."""
    path = tmp_path / "files" / "beetle" / "semeval-3way.zip"
    path.parent.mkdir(parents=True)
    with ZipFile(path, "w") as files:
        files.writestr("test/3way/beetle/test-unseen-answers/K.xml", SEMEVAL)
    known = public_sets()["beetle"].model_copy(
        update={"sha256": public.digest([path]), "unseen": 0}
    )
    monkeypatch.setitem(public_sets(), "beetle", known)
    kept = {"llmeval2": {"use": public_sets()["llmeval2"].use}}
    (tmp_path / "manifest.json").write_text(json.dumps({"sets": kept}))
    settings = PublicSettings(name="public", out=str(tmp_path), sets=("beetle",))
    assert fetch(settings) == {"beetle": 2}
    assert public.measures_only(str(tmp_path / "llmeval2.jsonl"))
    assert not public.measures_only(str(tmp_path / "beetle.jsonl"))
    rows = [row for _, row in read_objects(tmp_path / "beetle.jsonl")]
    assert {row["split"] for row in rows} == {"test-unseen-answers"}
    feedback = [row["feedback"] for row in READERS["saf"]([("1.1_A.xml", SAF_FILE)])]
    assert feedback == ["", "", "Half."]


def test_a_set_or_file_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to do."""
    monkeypatch.setattr(public, "_HOST", tmp_path.as_uri())
    for name, what in (
        ("evuna", "did you mean 'evouna'"),
        ("?", "the sets are: evouna, "),
        ("evouna", "by other means"),
    ):
        with pytest.raises(MissingError, match=what):
            fetch(PublicSettings(name="public", out=str(tmp_path), sets=(name,)))
    with pytest.raises(MissingError, match="'saf' has no never-seen questions"):
        fetch(PublicSettings(name="public", out=str(tmp_path), sets=("saf",), unseen=True))


def test_the_recipe_fetches_every_set() -> None:
    """``gradegpt data public`` writes to data/public, where the recipes look."""
    settings = load_data_settings("configs/data_gen/public.yaml")
    assert isinstance(settings, PublicSettings)
    assert (settings.folder, settings.sets) == (Path("data/public"), ())
