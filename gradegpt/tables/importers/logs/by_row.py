"""Tools that write a row for each response, as data: the column of each field.

Sources of the formats:

* verl, volcengine/verl, ``verl/trainer/ppo/ray_trainer.py`` (``_dump_generations``): rollouts and
  validation generations, ``<step>.jsonl`` of ``trainer.rollout_data_dir``.
* OpenRLHF, OpenRLHF/OpenRLHF, ``openrlhf/cli/batch_inference.py`` (in releases before 0.9.8) and
  ``openrlhf/datasets/prompts_dataset.py`` (the column ``label``, which ``--data.label_key`` names).
  Batch inference itself writes no label; a row without one is left out.
* VLMEvalKit, open-compass/VLMEvalKit, ``vlmeval/dataset/image_mcq.py``, ``image_vqa.py`` and
  ``vlmeval/dataset/utils``: TSV, CSV or XLSX, with a column for each option and several answers as
  the text of a list. Images are not read: a judge compares the texts.
* lm-evaluation-harness, EleutherAI/lm-evaluation-harness, ``lm_eval/evaluator.py`` (a sample) and
  ``lm_eval/loggers/evaluation_tracker.py``: ``samples_<task>_<date>.jsonl``, written with
  ``--log_samples``. A document has a line for each filter; its metrics are columns. A response is
  judged once, with the old score of each filter, named as the harness does:
  ``exact_match,strict-match``.
* evalscope, modelscope/evalscope, ``evalscope/api/evaluator/cache.py`` (``ReviewResult``,
  ``ModelResult``) and ``api/metric/scorer.py``: ``reviews/<model>/<benchmark>_<subset>.jsonl``.
  ``predictions/...`` of the same name holds no reference; for such a file the reviews are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.answers.options import LETTERS
from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item
from gradegpt.tables import TableRow
from gradegpt.tables.importers.logs.reading import (
    Contents,
    LoggedFields,
    Read,
    Tool,
    each,
    listed,
    question_and_context,
    references,
    rows_of,
    text,
    with_options,
)

_END: Final = re.compile(r"(?:<\|im_end\|>|<\|eot_id\|>|<\|endoftext\|>|<end_of_turn>|</s>)\s*$")
"""A chat template's end of turn, which OpenRLHF's outputs keep."""
_MARKED: Final = re.compile(
    r"(?s)(?:<\|im_start\|>user\n|<\|start_header_id\|>user<\|end_header_id\|>\n*)"
    r"(.*?)(?:<\|im_end\|>|<\|eot_id\|>)"
)
_UNMARKED: Final = (
    # ChatML and Gemma
    re.compile(
        r"(?s)(?:^|.*?\n)user\n(.*)\n(?:assistant|model)\s*(?:<think>\s*(?:</think>\s*)?)?$"
    ),
    # Llama 3, whose turns end in a token alone
    re.compile(r"(?s).*?user\n\n(.*)assistant\n\n$"),
)
"""A prompt without special tokens, which verl leaves out: only the roles' names remain."""
_EMPTY: Final = (None, "", "nan")
_SAMPLES: Final = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+$")
_QUESTIONS: Final = ("question", "problem", "query", "Question", "Problem", "input", "prompt")
_CONTEXTS: Final = ("context", "passage", "support")
_METRICS: Final = ("exact_match", "acc", "em", "f1")
"""The metrics of versions of the harness that do not list theirs."""


class RowColumns(NamedTuple):
    """The columns of a tool's rows; of several the first that is not empty is used.

    ``id`` may use the row's columns and ``line``, its number; ``scores`` are the metrics.
    """

    id: str
    question: tuple[str, ...]
    reference: str
    response: tuple[str, ...]
    scores: tuple[str, ...]
    task: str = ""
    context: str = ""


def _mapped(fields: RowColumns, row: TableRow, where: str, task: str) -> LoggedFields:
    """A row by its columns, with the columns ``A``, ``B``, ... as options below the question."""
    scored = (name for name in fields.scores if name in row)
    # A tool's only score is in every row; of several, none may be.
    metric = fields.scores[0] if len(fields.scores) == 1 else next(scored, "")
    options = [row[letter] for letter in LETTERS if row.get(letter) not in _EMPTY]
    response = row[_first(row, fields.response)]
    reference, context = row.get(fields.reference), row.get(fields.context)
    return {
        "task": str(row.get(fields.task) or task),
        "id": fields.id.format_map(row | {"line": where.rsplit(":", 1)[-1]}),
        "question": with_options(user_turn(row[_first(row, fields.question)]), options),
        "context": None if context in _EMPTY else context,
        "reference": None if reference in _EMPTY else listed(reference),
        "response": _END.sub("", response) if isinstance(response, str) else response,
        "metric": metric,
        "old": row[metric] if metric else None,
    }


def _first(row: TableRow, names: tuple[str, ...]) -> str:
    return next((name for name in names if row.get(name) is not None), names[0])


def user_turn(prompt: str) -> str:
    r"""The last user turn in a prompt of a chat template, or the prompt where there is none.

    >>> user_turn("system\nBe brief.\nuser\nWhat is 2+2?\nassistant\n<think>\n\n</think>\n\n")
    'What is 2+2?'
    >>> user_turn("system\n\nBe brief.user\n\nWhat is 2+2?assistant\n\n")
    'What is 2+2?'
    """
    if turns := _MARKED.findall(prompt):
        return str(turns[-1]).strip()
    unmarked = next((found for form in _UNMARKED if (found := form.match(prompt))), None)
    return unmarked.group(1).strip() if unmarked else prompt


def _lm_eval(row: TableRow, where: str, task: str) -> LoggedFields | str:
    """A sample; options ranked by log-likelihood are left out, as they have no text."""
    response = _generated(row)
    if response is None:
        return "options ranked by log-likelihood: there is no text to grade"
    filtered = str(row.get("filter") or "none")
    metric = next((name for name in row.get("metrics") or _METRICS if name in row), "")
    own = "" if filtered == "none" else f",{filtered}"
    task = named[1] if (named := _SAMPLES.fullmatch(task)) else task
    doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
    return {
        "id": f"{task}/{row.get('doc_id', where)}{own if _samples(row)[1:] else ''}",
        "task": task,
        "question": _asked(row, doc),
        "context": next((doc[c] for c in _CONTEXTS if isinstance(doc.get(c), str)), None),
        "reference": row["target"],
        "response": response,
        "metric": metric + own,
        "old": row.get(metric),
    }


def _once(rows: Iterator[Read]) -> Iterator[Read]:
    """Of rows that differ in their scores alone, the first with all of them."""
    held: dict[tuple[str, str], Item] = {}
    for row in rows:
        if isinstance(row, str):
            yield row
            continue
        one, scores = held.setdefault((row.id, row.response), row), row.meta["old_scores"]
        if one is row:
            continue
        if scores.keys().isdisjoint(one.meta["old_scores"]):
            one.meta["old_scores"] |= scores
        else:  # the log repeats the row
            yield row
    yield from held.values()


def _samples(row: TableRow) -> list[Any]:
    first = (row.get("resps") or [None])[0]
    return first if isinstance(first, list) else [first]


def _generated(row: TableRow) -> str | None:
    """The generated text where there is one; of several, the filter's result."""
    samples = _samples(row)
    scored = samples if len(samples) == 1 else row.get("filtered_resps") or [None]
    return scored[0] if isinstance(scored[0], str) else None


def _asked(row: TableRow, doc: dict[str, Any]) -> str:
    """The document's own question with its options, else the prompt with its examples."""
    question = next((doc[q] for q in _QUESTIONS if isinstance(doc.get(q), str)), None)
    if question is not None:
        choices = doc.get("choices")
        return with_options(question, list(map(str, choices)) if isinstance(choices, list) else ())
    arguments = row.get("arguments")
    calls = list(arguments.values()) if isinstance(arguments, dict) else arguments or [None]
    call = calls[0]
    first = list(call.values()) if isinstance(call, dict) else call or [""]
    return text(first[0])


def _reviews(path: Path) -> Path:
    """The reviews of a file of evalscope, which may be their predictions.

    Raises:
        InputError: a file of predictions without its reviews.

    """
    _, first = next(rows_of(path))
    folders = path.absolute().parents
    if "sample_score" in first:
        return path
    if len(folders) > 1 and folders[1].name == "predictions":
        reviews = folders[1].parent / "reviews" / folders[0].name / path.name
        if reviews.is_file():
            return reviews
    what = "predictions hold no reference; give the file of the same name under reviews/"
    raise InputError(f"{path}: {what}")


def _evalscope(row: TableRow, where: str, task: str) -> LoggedFields:
    """A review; the old score is the benchmark's main one."""
    messages = row.get("messages") or []
    question, context = question_and_context(messages or row.get("input"))
    given = row["sample_score"].get("score") or {}
    values = given.get("value") or {}
    main = str(given.get("main_score_name"))
    metric = main if main in values else next(iter(values), "")
    accepted = references(row.get("target"))
    letters = all(len(answer) == 1 and answer.isalpha() for answer in accepted)
    last = messages[-1] if messages else {}
    written = text(last.get("content")) if last.get("role") == "assistant" else None
    prediction = given.get("prediction")
    return {
        "name": row["index"],
        "question": question,
        "context": context,
        "reference": accepted,
        "response": prediction if isinstance(prediction, str) else written,
        "metric": metric,
        "old": values.get(metric),
        "needs": "all" if letters else None,  # several options of one question belong together
    }


def _tool(
    name: str,
    *keys: set[str],
    read: Callable[[TableRow, str, str], LoggedFields | str],
    without: str = "",
    table: bool = False,
    file: Callable[[Path], Path] = Path,
    then: Callable[[Iterator[Read]], Iterator[Read]] = iter,
) -> Tool:
    """A tool whose first row has one of each set of ``keys``, and is read by ``read``."""

    def fits(found: Contents) -> bool:
        form = found.form == ("table" if table else "lines")
        return form and all(found.names & some for some in keys) and without not in found.names

    def every(path: Path) -> Iterator[Read]:
        yield from then(each(rows_of(file(path)), read, path.stem))

    return Tool(name, fits, every)


_VERL: Final = RowColumns("step{step}/{line}", ("input",), "gts", ("output",), ("score",),
                      task="data_source")  # fmt: skip
_OPENRLHF: Final = RowColumns("{line}", ("input", "prompt"), "label", ("output", "response"),
                          ("reward",), task="datasource")  # fmt: skip
_VLMEVALKIT: Final = RowColumns("{index}", ("question",), "answer", ("prediction",),
                            ("hit", "score", "eval_score", "match"), context="hint")  # fmt: skip

LM_EVAL: Final = _tool(
    "lm-evaluation-harness", {"doc"}, {"target"}, {"resps"}, {"filtered_resps"},
    read=_lm_eval, then=_once,
)  # fmt: skip
VLMEVALKIT: Final = _tool(
    "VLMEvalKit", {"index"}, {"question"}, {"answer"}, {"prediction"},
    read=partial(_mapped, _VLMEVALKIT), table=True,
)  # fmt: skip
EVALSCOPE: Final = _tool(
    "evalscope", {"index"}, {"sample_score", "model_output"}, read=_evalscope, file=_reviews,
)  # fmt: skip
VERL: Final = _tool(
    "verl", {"input"}, {"output"}, {"score"}, {"step"}, read=partial(_mapped, _VERL),
)  # fmt: skip
OPENRLHF: Final = _tool(
    "OpenRLHF", {"input", "prompt"}, {"output", "response"}, {"reward"},
    read=partial(_mapped, _OPENRLHF), without="score",
)  # fmt: skip
