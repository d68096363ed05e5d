"""Public sets of graded answers, fetched by name: ``gradegpt data public sets=[evouna,halluqa]``.

A set is some files of a repository at a commit, checked by their SHA-256, and a reader that makes
rows of them: ``id, source, lang, question, reference, response, label, label_by``, in the order of
the digests of their ids; some have several references, the source's ``split`` or a ``feedback``.
A file that already lies in ``<out>/files/<set>/`` is not downloaded.

A part of the questions of each set, chosen by a hash, was *never seen*: nothing was developed,
tuned or trained on it. They are left out, and ``unseen=true`` writes them alone, as
``<set>.unseen.jsonl``, which only measures.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen
from xml.etree import ElementTree
from zipfile import ZipFile

from gradegpt.answers.options import LETTERS
from gradegpt.core.errors import MissingError, OutputError
from gradegpt.core.mistakes import suggest
from gradegpt.core.records import sha256_file, whole_file, write_json, write_rows

from .settings import PublicSettings

_HOST: Final = "https://raw.githubusercontent.com"
_TIMEOUT_S: Final = 60.0
_KEY: Final = 400
"""The characters of a question that its hash is of."""

MEASURE: Final = "measure"
"""The use of a set that nothing may be trained on."""
GradedRow = dict[str, Any]
Reader = Callable[[Sequence[tuple[str, str]]], Iterator[GradedRow]]
"""Takes the names and texts of the files; a row without ``source``, ``lang`` and ``label_by``."""


class PublicSet(NamedTuple):
    """Where a set comes from, how it is labelled, and its reader.

    ``sha256`` is the digest of the digests of its files, in their order, as hexadecimal digits.
    ``use`` is ``MEASURE`` where there is no licence: nothing may be trained on such a set.
    ``unseen`` is the share of the questions that was never seen.
    """

    repository: str
    commit: str
    files: tuple[str, ...]
    sha256: str
    licence: str
    lang: str
    label_by: str
    read: Reader
    unseen: float = 0.5
    use: str = "train and measure"


def fetch(settings: PublicSettings) -> dict[str, int]:
    """Write each of the sets as JSON Lines, and ``manifest.json``; return the rows of each file.

    Raises:
        MissingError: there is no such set, or a file cannot be downloaded.
        OutputError: the files are not those that the table of sets names.

    """
    folder = Path(settings.folder)
    for name in settings.sets:
        if name not in SETS:
            raise MissingError(f"sets: there is no set {name!r}{suggest(name, [*SETS])}")
        if settings.unseen and not SETS[name].unseen:
            raise MissingError(f"sets: {name!r} has no never-seen questions; leave it out")
    counts, made = {}, _fetched(folder / "manifest.json")
    told = ("repository", "commit", "sha256", "licence")
    for name in settings.sets or [s for s in SETS if SETS[s].unseen or not settings.unseen]:
        one = SETS[name]
        texts = _texts(name, one, folder / "files" / name)
        rows = [_row(row, one) for row in one.read(texts) if row["response"].strip()]
        kept = [row for row in rows if (question_place(row) < one.unseen) is settings.unseen]
        kept.sort(key=lambda row: hashlib.sha256(row["id"].encode()).digest())
        stem = f"{name}.unseen" if settings.unseen else name
        write_rows(folder / f"{stem}.jsonl", kept)
        counts[stem] = len(kept)
        use = MEASURE if settings.unseen else one.use
        made[stem] = {key: getattr(one, key) for key in told} | {"use": use, "rows": len(kept)}
    write_json(folder / "manifest.json", {"stage": "data_gen", "sets": made})
    return counts


def question_place(row: GradedRow) -> float:
    """The place in [0, 1) of a row's question, or of its reference where there is none.

    The first 32 bits of the SHA-256 of its letters and digits in lower case, at most 400: so the
    rows were divided that the rules were developed on, before ``question_share`` was.
    """
    asked = row["question"] or " ".join(row["reference"])
    key = re.sub(r"[\W_]+", "", asked.lower())[:_KEY]
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 2**32


def _texts(name: str, one: PublicSet, folder: Path) -> list[tuple[str, str]]:
    paths = [folder / file for file in one.files]
    for file, path in zip(one.files, paths, strict=True):
        if not path.is_file():
            _download(f"{_HOST}/{one.repository}/{one.commit}/{quote(file)}", path)
    if (found := digest(paths)) != one.sha256:
        raise OutputError(
            f"{folder}: not the files of {one.repository} at {one.commit[:10]} (SHA-256 "
            f"{found[:10]}…, not {one.sha256[:10]}…); remove the folder to fetch {name} again"
        )
    return [text for path in paths for text in _unpacked(path)]


def _unpacked(path: Path) -> list[tuple[str, str]]:
    if path.suffix != ".zip":
        return [(str(path), path.read_text(encoding="utf-8-sig"))]
    with ZipFile(path) as files:
        return [(name, files.read(name).decode()) for name in files.namelist() if name[-1] != "/"]


def digest(paths: Sequence[Path]) -> str:
    """The digest of the digests of some files."""
    return hashlib.sha256("".join(map(sha256_file, paths)).encode()).hexdigest()


def measures_only(path: str) -> bool:
    """Whether a file is a fetched set without a licence to train on, by the manifest beside it."""
    of_set = _fetched(Path(path).with_name("manifest.json")).get(Path(path).stem, {})
    return bool(of_set.get("use") == MEASURE)


def _fetched(manifest: Path) -> dict[str, Any]:
    known = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
    return known.get("sets") or {}


def _download(url: str, path: Path) -> None:
    try:
        with urlopen(url, timeout=_TIMEOUT_S) as answer:
            text = answer.read()
    except (URLError, OSError) as error:
        raise MissingError(f"{url}: {error}; put the file at {path} by other means") from error
    with whole_file(path) as out:
        out.buffer.write(text)


def _row(row: GradedRow, one: PublicSet) -> GradedRow:
    known = {"source": one.repository, "lang": one.lang, "label_by": one.label_by}
    return {"id": row["id"]} | known | row


# --- readers --------------------------------------------------------------------------------------


def _evouna(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        which = PurePosixPath(path).stem.lower()
        for number, row in enumerate(json.loads(text)):
            for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
                said, label = row.get(f"answer_{system}"), row.get(f"judge_{system}")
                if said and label is not None and not row["improper"]:
                    yield {
                        "id": f"evouna-{which}-{number:04d}-{system}", "question": row["question"],
                        "reference": row["golden_answer"], "response": said, "label": label,
                    }  # fmt: skip


def _halluqa(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    (_, questions), *outputs = texts
    best = {
        row["question_id"]: " / ".join(
            text for key, text in row.items() if key.startswith("Best Answer") and text
        )
        for row in json.loads(questions)
    }
    for path, text in outputs:
        model = PurePosixPath(path).name.partition("_output")[0]
        for row in json.loads(text):
            number = row["question_id"]
            yield {
                "id": f"halluqa-{model}-{number}", "question": row["question"],
                "reference": best[number], "response": row["response"],
                "label": not row["is_hallucination"],
            }  # fmt: skip


def _nq301(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    (_, graded), *answered = texts
    known = [json.loads(line) for _, text in answered for line in text.splitlines()]
    answers = {row["question"]: " / ".join(row["answer"]) for row in known}
    for number, row in enumerate(csv.DictReader(io.StringIO(graded), delimiter="\t")):
        yield {
            "id": f"nq301-{number:04d}", "question": row["Question"],
            "reference": answers[row["Question"]], "response": row["Model answer"],
            "label": row["Acceptable?"] == "Yes",
        }  # fmt: skip


def _sas(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    (_, exams), (_, logistics), (_, asked) = texts
    for number, row in enumerate(map(json.loads, exams.splitlines())):
        points = float(row["score"])
        yield {
            "id": f"sas-ads-{number:04d}", "question": row["question"],
            "reference": " / ".join(row[k] for k in sorted(row) if k[:9] == "reference" and row[k]),
            "response": row["answer"].strip(),
            "label": True if points >= 9.5 else False if points <= 4 else None,
        }  # fmt: skip
    questions = {row[0]: row[1] for row in csv.reader(io.StringIO(asked), delimiter="\t")}
    graded = {(row[0], row[2]): row for row in csv.reader(io.StringIO(logistics), delimiter="\t")}
    for number, (key, reference, response, score) in enumerate(graded.values(), start=1):
        yield {
            "id": f"sas-le-{number:04d}", "question": questions[key], "reference": reference,
            "response": response,
            "label": True if float(score) == 1 else False if float(score) <= 0.3 else None,
        }  # fmt: skip


def _mrben(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        subject = PurePosixPath(path).stem
        for row in (row for rows in json.loads(text).values() for row in rows):
            said = re.sub(r"\n+", "\n", "\n".join(row["Model_Solution_Steps"]))
            chosen = re.findall(r"[Cc]hoice[_ :]*([A-J])\b", said)[-1:]
            right = row["Model_Solution_Correctness"] == "correct"
            reference = row["Ground_Truth_Answer_Modified"] or row["Ground_Truth_Answer"]
            yield {
                "id": f"mrben-{subject}-{row['Question_UUID'][:8]}-{row['Sampled_Model']}",
                "question": f"{row['Question'].strip()}\n{row['Options'].strip()}",
                "reference": reference, "response": said,
                "label": right if right is (chosen == [reference]) else None,
            }  # fmt: skip


def _gsm8k(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for number, row in enumerate(map(json.loads, texts[0][1].splitlines())):
        for model in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
            yield {
                "id": f"gsm8k-{number:04d}-{model}", "question": row["question"],
                "reference": row["ground_truth"].rpartition("A: ")[2],
                "response": row[model]["solution"], "label": row[model]["is_correct"],
            }  # fmt: skip


def _tora(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        model = PurePosixPath(path).parent.parent.name
        for row in map(json.loads, text.splitlines()):
            wanted, given = _number(row["gt"]), _number(row["pred"][0])
            yield {
                "id": f"tora-{model}-{row['idx']}", "question": row["question"],
                "reference": row["gt"], "response": row["code"][0],
                "label": given is not None and given == wanted,
            }  # fmt: skip


def _theoremqa(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        model = PurePosixPath(path).stem[:22]
        for number, row in enumerate(map(json.loads, text.split("\n")[:-1])):
            reference, value = row["correct"]
            yield {
                "id": f"theoremqa-{model}-{number}", "question": row["question"],
                "reference": str(reference), "label": _near(reference, value, str(row["pred"])),
                "response": _CONTINUED.sub(r"\1", row["solution"]).strip()[:4000],
            }  # fmt: skip


def _gaokao(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    number, seen = 0, set[tuple[str, str]]()
    for (_, text), start in zip(texts, _GAOKAO_STARTS, strict=True):
        number = start or number
        for row in json.loads(text)["example"]:
            asked, said, full = row["question"], row["model_output"], float(row["score"])
            if (asked, said) in seen:
                continue
            seen.add((asked, said))
            points = [float(point) for point in row["correction_score"] if point is not None]
            none = all(point <= full / 2 for point in points)
            yield {
                "id": f"gkbh-{number:05d}", "question": asked, "reference": row["answer"],
                "response": said,
                "label": True if {*points} == {full} else False if none else None,
            }  # fmt: skip
            number += 1


def _mathv(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    (_, questions), *outputs = texts
    known = {row["id"]: row for row in map(json.loads, questions.splitlines())}
    for path, text in outputs:
        for row in map(json.loads, text.split("\n")[:-1]):
            asked = known[row["id"]]
            texts_of = dict(zip(LETTERS, asked["options"], strict=False))
            shown = any(letter != text for letter, text in texts_of.items())
            listed = {x: f"({x}) {text}" for x, text in texts_of.items() if shown}
            choices = f"\nChoices: {' '.join(listed.values())}" if listed else ""
            yield {
                "id": f"mathv-{PurePosixPath(path).stem}-{row['id']}",
                "question": asked["question"] + choices,
                "reference": listed.get(asked["answer"], asked["answer"]),
                "response": row["response"], "label": row["correct"],
            }  # fmt: skip


def _semeval(which: str, texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        if f"/3way/{which}/" in path:
            asked = ElementTree.fromstring(text)
            (split,) = re.findall("training|test-[a-z-]+", path)
            for said in asked.iter("studentAnswer"):
                yield {
                    "id": f"{which}-{split}-{said.get('id')}",
                    "question": _said(asked, "questionText"),
                    "reference": [_said(one) for one in asked.iter("referenceAnswer")],
                    "response": _said(said), "label": said.get("accuracy") == "correct",
                    "split": split,
                }  # fmt: skip


def _saf(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        asked = ElementTree.fromstring(text)
        for number, said in enumerate(asked.iter("studentAnswer")):
            share = float(_said(said, "score"))
            yield {
                "id": f"saf-training-{PurePosixPath(path).stem}-{number}",
                "question": _said(asked, "questionText"),
                "reference": [_said(one) for one in asked.iter("referenceAnswer")],
                "response": _said(said, "response"),
                "label": True if share == 1 else False if share <= 0.5 else None,
                "feedback": _said(said, "response_feedback"),
            }  # fmt: skip


def _llmeval(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    for path, text in texts:
        for number, row in enumerate(json.loads(text)):
            asked, said = (str(turn["content"]).strip() for turn in row["dialog"])
            if row["type"] == "A" and row["hint"] == row["hint"]:  # not a NaN
                yield {
                    "id": f"llmeval2-{PurePosixPath(path).stem}-{number}", "question": asked,
                    "reference": str(row["hint"]).strip(), "response": said,
                    "label": {3: True, 1: False}.get(row["stars"]["Correctness"]),
                }  # fmt: skip


def _mcq(texts: Sequence[tuple[str, str]]) -> Iterator[GradedRow]:
    number, seen = 0, set[tuple[str, str]]()
    for file, (_, text) in enumerate(texts):
        number, rows = _MCQ_STARTS.get(file, number), json.loads(text)
        for row in rows["example"] if isinstance(rows, dict) else rows:
            asked, said = row["question"], row["model_output"]
            if (asked[:80], said) in seen:
                continue
            seen.add((asked[:80], said))
            key, chosen = row["standard_answer"], row.get("model_answer")
            yield {
                "id": f"gkb-mcq-{number:06d}", "question": asked, "reference": " ".join(key),
                "response": said, "label": "".join(chosen) == "".join(key) if chosen else None,
            }  # fmt: skip
            number += 1


def _said(element: ElementTree.Element, child: str = ".") -> str:
    found = element.find(child)
    return "" if found is None else "".join(found.itertext()).strip()


def _near(reference: str, value: object, given: str) -> bool | None:
    """Whether a number is within 4 % of the value, or a truth value or option is the same."""
    number = _number(given)
    if not given or isinstance(value, list):
        return None if given else False
    if isinstance(value, int | float):
        return None if number is None else abs(number - value) <= 0.04 * abs(value)
    same = given.strip("()") == reference.strip("()")
    truths = ("True", "False")
    return same if same or (reference in truths and given in truths) or number else None


def _number(text: object) -> float | None:
    with suppress(ValueError):
        return float(str(text).replace(",", "").lstrip("$"))
    return None


_CONTINUED: Final = re.compile(r"(?s)(The answer is[^\n]*|(?=\n\nProblem:)).*")
"""What a base model writes after its answer: more problems, and their solutions."""
_HALLUQA_MODELS: Final = (
    "abab5.5-chat", "baichuan-13b-base", "baichuan-13b-chat", "baichuan-7b-base",
    "baichuan2-13b-base", "baichuan2-13b-chat", "baichuan2-7b-base", "baichuan2-7b-chat",
    "chatglm-6b", "chatglm2-6b", "chatglm_pro", "gpt-3.5-turbo-0613", "gpt-4-0613",
    "qwen-14b-chat", "qwen-14b", "qwen-7b-chat", "qwen-7b", "sparkdesk", "xverse-13b-chat",
    "xverse-13b", "xverse-7b-chat", "xverse-7b",
)  # fmt: skip
_GAOKAO_RUNS: Final = tuple(
    f"result/gpt-3.5-turbo_{kind}/gpt-3.5-turbo_{kind}_{run}/gpt-3.5-turbo_2010-2022_{name}.json"
    for kind, name, runs in (
        ("主观题", "History_Open-ended_Questions", "213"),
        ("主观题", "Math_I_Open-ended_Questions", "231"),
        ("主观题", "Math_II_Open-ended_Questions", "231"),
        ("主观题", "Biology_Open-ended_Questions", "231"),
        ("主观题", "Political_Science_Open-ended_Questions", "231"),
        ("填空题", "Math_I_Fill-in-the-Blank", "13"), ("填空题", "Math_II_Fill-in-the-Blank", "32"),
        ("主观题", "Physics_Open-ended_Questions", "13"),
        ("填空题", "Math_I_Fill-in-the-Blank", "2"), ("填空题", "Math_II_Fill-in-the-Blank", "1"),
        ("主观题", "Physics_Open-ended_Questions", "2"),
        ("主观题", "Chemistry_Open-ended_Questions", "3"),
        ("主观题", "Geography_Open-ended_Questions", "132"),
        ("主观题", "Chemistry_Open-ended_Questions", "21"),
    )
    for run in runs
)  # fmt: skip
_GAOKAO_STARTS: Final = [{15: 1886, 24: 2877}.get(file, 0) for file in range(len(_GAOKAO_RUNS))]
"""The number of a file's first row; 0 goes on. Between them are files of another kind."""
_MCQ_RUNS: Final = {
    "4": "Results/gpt_4_0314_obj/gpt-4-0314_2010-2022_{0}",
    "G": "Data/Objective_Questions/gemini-pro_2010-2022_{0}",
    "e": "result/gpt-3.5-turbo_选择题/gpt-3.5-turbo_选择题_4/gpt-3.5-turbo_2010-2022_{0}",
    "c": "result/gpt-3.5-turbo_选择题/gpt-3.5-turbo_选择题_{2}/gpt-3.5-turbo_2010_2022{1}",
    "t": "result/text-davinci-003_选择题/text-davinci-003_选择题_{2}/text-davinci-003_2010_2022{1}",
    "m": "result/moss_选择题/moss_Multiple-choice_Questions_{2}/moss_2010-2022_{0}",
}
_MCQ_SUBJECTS: Final = {
    "b": ("Biology_MCQs", "生物全国卷选择题"), "c": ("Chemistry_MCQs", "化学全国卷选择题"),
    "f": ("Physics_MCQs", "物理全国卷选择题"), "g": ("Geography_MCQs", "地理全国卷选择题"),
    "h": ("History_MCQs", "历史全国卷选择题"), "m": ("Chinese_Modern_Lit", "语文全国卷现代文阅读"),
    "l": ("Chinese_Lang_and_Usage_MCQs", "语文全国卷语言文字运用选择题"),
    "p": ("Political_Science_MCQs", "政治全国卷选择题"), "x": ("Math_I_MCQs", "理数全国卷选择题"),
    "y": ("Math_II_MCQs", "文数全国卷选择题"),
}  # fmt: skip
_MCQ_ORDER: Final = """
4b 4c 4l 4m 4g 4h 4y 4x 4f 4p ep c3p c1p t1p t3p t2p Gp eh c1h c3h m3p m1p m2p Gh t1h t3h t2h Gx c3x
c1x ex m3h m2h m1h ec c1c Gy c3c ey c1y c3y Gc t2x t1x t3x c1b eb c3b t1c t2c t3c Gb t1y t2y t3y t2b
t1b t3b Gm c1m em c3m m1m m3c m1c m3x m2c m1x m2x Gl m3b m3y m1b m2b m1y m2y c1l c3l el t3l c2l t1l
t2l m3g m1g m2g ef c3f c1f m3l m1l m2l Gf t1f t3f t2f m3f m1f m2f Gg c1g eg c3g t1g t3g t2g
"""
_MCQ_FILES: Final = tuple(
    f"{_MCQ_RUNS[code[0]].format(*_MCQ_SUBJECTS[code[-1]], code[1])}.json"
    for code in _MCQ_ORDER.split()
)
"""Made of model, run and subject, in the order of the numbers of their rows."""
_MCQ_STARTS: Final = {
    0: 105, 4: 618, 10: 1781, 17: 4776, 46: 11146, 50: 11745, 52: 12088, 53: 12336, 55: 12802,
    93: 15699, 94: 15799, 96: 16797, 100: 17040,
}  # fmt: skip
"""The number of the first row of those files that do not go on from the file before."""
_SAF_FILES: Final = tuple(
    f"data/training/english/{question}.xml" for question in (
        "10.1_TC", "10.2_TC", "10.3_TC", "12.1_PE", "12.2_PE", "12.3_PE", "2.1_DLL", "2.2_DLL",
        "2.3_DLL_v1.1", "4.1_LM_v1.0", "4.2_LM_v1.0", "4.3_LM", "6.1_IPP", "6.2_IPP", "6.3_IPP",
        "8.1_MM", "8.2_MM", "8.3_MM",
    )
)  # fmt: skip
_LLMEVAL_FILES: Final = tuple(
    f"results/human-score/{subject}_data.json" for subject in (
        "Biological_Science", "Chemistry", "Chinese_Language_and_Literature", "Computer_Science",
        "Economics", "Foreign_Languages", "Law", "Mathematics", "Medicine", "Optics", "Physics",
        "Social_Science",
    )
)  # fmt: skip
_SEMEVAL: Final = (
    "myrosia/semeval-2013-task7", "5157c69f914e8c581045c03e98f96398d40a91b8",
    ("semeval-3way.zip",), "161f4791659b580155b8ed9a97fb8ae10d5c76b256060faf061ee5e4d1e32f7d",
    "CC-BY-SA-3.0", "en", "human",
)  # fmt: skip
_MATHV_MODELS: Final = (
    "closed-source/GPT/GPT4-CoT (Text Only)",
    "closed-source/GPT/ChatGPT3.5-CoT (Text+Image Caption)", "closed-source/Gemini/Gemini-Pro-CoT",
    "closed-source/Gemini/Gemini-Pro", "closed-source/Qwen/Qwen-VL-Max-CoT",
    "closed-source/Qwen/Qwen-VL-Max", "closed-source/Qwen/Qwen-VL-Plus",
    "open-source/Internlm/InternLM-XComposer2-VL-CoT",
    "open-source/Internlm/InternLM-XComposer2-VL", "open-source/LLavA/LLaVA-v1.5-13B",
    "open-source/LLavA/LLaVA-v1.5-7B", "open-source/Sphinx/SPHINX-MoE",
    "open-source/Sphinx/SPHINX-v2", "open-source/ShereGPT4V/ShareGPT4V-13B",
    "open-source/ShereGPT4V/ShareGPT4V-7B",
)  # fmt: skip
_OPEN: Final = "Chinese_LLMs_outputs/open_generation/"

SETS: Final = {
    "evouna": PublicSet(
        "wangcunxiang/QA-Eval", "90007d39d4ef0720984f80d56a586c66d6241e70",
        ("EVOUNA/NQ.json", "EVOUNA/TQ.json"),
        "ad6926c84f99c5ef6a6ed15f9bcb17e1bba722de09a448a7062009579b5041f2",
        "Apache-2.0", "en", "human", _evouna,
    ),
    "halluqa_zh": PublicSet(
        "OpenMOSS/HalluQA", "7e5c67398d7fee013c37ec1d6afafa76f9836180",
        ("HalluQA.json", f"{_OPEN}baichuan53b_output.json", f"{_OPEN}ernie_bot_output.json",
         *(f"{_OPEN}{model}_output_qa_prompt.json" for model in _HALLUQA_MODELS)),
        "bcf287e4fc583767251fc812019249c8249ce0aabe9059c1a8b4abd13fa747e7",
        "Apache-2.0", "zh", "gpt-4 (five votes against the best answers)", _halluqa,
    ),
    "nq301_human": PublicSet(
        "ehsk/OpenQA-eval", "8b9317d0f0c92b52e1c71c0168dff74b5f76a5f4",
        ("data/NQ301_human.tsv", "data/model_outputs/NQ301_text-davinci-003_zeroshot.jsonl"),
        "6d1604315eededabf755f81267feaae3c5210bdf065464f4b8c5e3fc0f5d450a",
        "MIT", "en", "human (two annotators, one adjudicator)", _nq301,
    ),
    "sas_zh": PublicSet(
        "aleversn/SAS-Datasets", "9e1a866d58edaa0d78af374d2f3529a10d72239a",
        ("ADS/all.jsonl", "LE/train.csv", "LE/qa.csv"),
        "2e82520ec16f2c48385d7a726a099ef1ad65af88b2a1a112df81bf84a1cd3141",
        "Apache-2.0", "zh", "teacher's score", _sas,
    ),
    "gaokaobench_human_scored": PublicSet(
        "OpenLMLab/GAOKAO-Bench", "c214b47c7046d4ef048c77f0a7c5b545dc8d337b", _GAOKAO_RUNS,
        "ae4e98463960a500d9415e62715c0b727c5029134b9e67d13e410f4416f267eb",
        "Apache-2.0", "zh", "teachers' scores", _gaokao,
    ),
    "mathv_outputs": PublicSet(
        "mathllm/MATH-V", "a1f5cc3add200c0cd080fad463e500f44ef1fb41",
        ("data/test.jsonl", *(f"outputs/{model}.jsonl" for model in _MATHV_MODELS)),
        "1cbadd975653546ac9f82b036cc2cff21bbf4495720c35170ce93a378eacb051",
        "MIT", "en", "rule", _mathv, unseen=0.3,
    ),
    "mrben": PublicSet(
        "dvlab-research/Mr-Ben", "6eb1eca8861be411838c7c1c189dba208c140e06",
        tuple(f"data/{s}.json" for s in ("biology", "chemistry", "math", "medicine", "physics")),
        "1d1474f9eb7a1975f833eae68c4dacce794478153acb7d657311ceb137220e5c",
        "MIT", "en", "human, agreeing with the key", _mrben,
    ),
    "gsm8k_gpt3_solutions": PublicSet(
        "openai/grade-school-math", "3101c7d5072418e28b9008a6636bde82a006892c",
        ("grade_school_math/data/example_model_solutions.jsonl",),
        "c0665c9320d465c7c056cbcf34b8790bbdd412972db0c22037cc36030c70ec25",
        "MIT", "en", "exact number", _gsm8k, unseen=0.3,
    ),
    "tora_gsm8k": PublicSet(
        "microsoft/ToRA", "213c1c995038c73fab10343814df7a42f990f026",
        tuple(f"src/outputs/llm-agents/{model}-v1.0/gsm8k/test_tora_-1_seed0_t0.0_s0_e1319.jsonl"
              for model in ("tora-code-34b", "tora-70b")),
        "2f902714ea0c773d4af68a8650808651b7398aa907d3dc09b705dd03bcdd89bf",
        "MIT", "en", "exact number", _tora, unseen=0.3,
    ),
    "theoremqa_outputs": PublicSet(
        "TIGER-AI-Lab/TheoremQA", "acfc9686aa9b49f3c8f189364a9a9ee9c53da039",
        tuple(f"outputs/{model}.jsonl" for model in (
            "Mistral_7B_Base_V0.2_5shots_mistral", "Mistral_7B_v0.1_5shots_mistral",
            "internlm2_20b_5shots_short", "internlm2_math_20b_5shots_short",
        )),
        "7f72d7c374bbbdbe58636c7a4db2c4f56184a71dfe0153c6feaea6b61f8f02f3",
        "MIT", "en", "numbers within 4 %", _theoremqa, unseen=0.3,
    ),
    "scientsbank": PublicSet(*_SEMEVAL, partial(_semeval, "sciEntsBank"), unseen=0),
    "beetle": PublicSet(*_SEMEVAL, partial(_semeval, "beetle")),
    "saf": PublicSet(
        "SebOchs/SAF", "09949e912d266777a752ac7d51cfcddb4b3f6978", _SAF_FILES,
        "7740822a75431c2b62c39734e590795d8f1dcf70cc66d67e91fb8686d5beef44",
        "MIT", "en", "human score", _saf, unseen=0,
    ),
    "llmeval2": PublicSet(
        "llmeval/LLMEval-2", "6f9289307b191bded9797c672a9f172e4b6a784a", _LLMEVAL_FILES,
        "05d0a56f73d9b0232cd8b022e92278f4d04eef72ddbd8579d4e7402edf287694",
        "none stated", "zh", "human stars", _llmeval, unseen=0, use=MEASURE,
    ),
    "gaokaobench_mcq": PublicSet(
        "OpenLMLab/GAOKAO-Bench", "c214b47c7046d4ef048c77f0a7c5b545dc8d337b", _MCQ_FILES,
        "3bd7206bf4e7b6937338a8674e9eba14aea4bcccebe388941b8fcd06e56073dd",
        "Apache-2.0", "zh", "exact letter key", _mcq, unseen=0.2,
    ),
}  # fmt: skip
