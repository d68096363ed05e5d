"""Public sets of graded answers, fetched by name: ``gradegpt data public sets=[evouna,halluqa]``.

``public.yaml`` lists the sets: files of a repository at a commit, checked by their SHA-256. A
reader makes rows of them: ``id, source, lang, question, reference, response, label, label_by``, in
the order of the digests of their ids; some have several references, the source's ``split`` or a
``feedback``. A file that already lies in ``<out>/files/<set>/`` is not downloaded.

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
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote
from urllib.request import urlopen
from xml.etree import ElementTree
from zipfile import ZipFile

import yaml
from pydantic import Field

from gradegpt.answers.options import LETTERS
from gradegpt.core.errors import MissingError, OutputError
from gradegpt.core.mistakes import suggest
from gradegpt.core.records import sha256_file, validate, whole_file, write_json, write_rows
from gradegpt.core.schema import Row
from gradegpt.core.settings import LOADER

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


class PublicSet(Row):
    """Where a set comes from, and how it is labelled: an entry of ``public.yaml``.

    ``sha256`` is the digest of the digests of its files, in their order, as hexadecimal digits.
    ``use`` is ``MEASURE`` where there is no licence: nothing may be trained on such a set.
    ``unseen`` is the share of the questions that was never seen. ``starts`` has the number of the
    first row of those files that do not go on from the file before, by their places.
    """

    repository: str
    commit: str
    sha256: str
    licence: str
    lang: str
    label_by: str
    files: tuple[str, ...]
    starts: dict[int, int] = Field(default_factory=dict)
    unseen: float = 0.5
    use: str = "train and measure"


@cache
def public_sets() -> dict[str, PublicSet]:
    """The sets by their names."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    known = yaml.load(text, LOADER)  # noqa: S506
    return {name: validate(PublicSet, value, name) for name, value in known.items()}


def fetch(settings: PublicSettings) -> dict[str, int]:
    """Write each of the sets as JSON Lines, and ``manifest.json``; return the rows of each file.

    Raises:
        MissingError: there is no such set, or a file cannot be downloaded.
        OutputError: the files are not those that the table of sets names.

    """
    folder, known = Path(settings.folder), public_sets()
    for name in settings.sets:
        if name not in known:
            near = suggest(name, [*known]) or f"; the sets are: {', '.join(known)}"
            raise MissingError(f"sets: there is no set {name!r}{near}")
        if settings.unseen and not known[name].unseen:
            raise MissingError(f"sets: {name!r} has no never-seen questions; leave it out")
    counts, made = {}, _fetched(folder / "manifest.json")
    told = ("repository", "commit", "sha256", "licence")
    for name in settings.sets or [s for s in known if known[s].unseen or not settings.unseen]:
        one = known[name]
        texts = _texts(name, one, folder / "files" / name)
        rows = [_row(row, one) for row in READERS[name](texts) if row["response"].strip()]
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
    except OSError as error:
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
    starts = public_sets()["gaokaobench_human_scored"].starts
    for file, (_, text) in enumerate(texts):
        number = starts.get(file, number)
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
    starts = public_sets()["gaokaobench_mcq"].starts
    for file, (_, text) in enumerate(texts):
        number, rows = starts.get(file, number), json.loads(text)
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
READERS: Final[dict[str, Reader]] = {
    "evouna": _evouna, "halluqa_zh": _halluqa, "nq301_human": _nq301, "sas_zh": _sas,
    "gaokaobench_human_scored": _gaokao, "mathv_outputs": _mathv, "mrben": _mrben,
    "gsm8k_gpt3_solutions": _gsm8k, "tora_gsm8k": _tora, "theoremqa_outputs": _theoremqa,
    "scientsbank": partial(_semeval, "sciEntsBank"), "beetle": partial(_semeval, "beetle"),
    "saf": _saf, "llmeval2": _llmeval, "gaokaobench_mcq": _mcq,
}  # fmt: skip
"""By the names of ``public.yaml``."""
