"""Tools that write a row for each response.

Sources of the formats:

* verl, volcengine/verl, ``verl/trainer/ppo/ray_trainer.py`` (``_dump_generations``): rollouts and
  validation generations, ``<step>.jsonl`` of ``trainer.rollout_data_dir``.
* VLMEvalKit, open-compass/VLMEvalKit, ``vlmeval/dataset/image_mcq.py``, ``image_vqa.py`` and
  ``vlmeval/dataset/utils``: TSV, CSV or XLSX, with a column for each option and several answers as
  the text of a list. Images are not read: a judge compares the texts.
* lm-evaluation-harness, EleutherAI/lm-evaluation-harness, ``lm_eval/evaluator.py`` (a sample) and
  ``lm_eval/loggers/evaluation_tracker.py``: ``samples_<task>_<date>.jsonl``, written with
  ``--log_samples``. A document has a line for each filter; its metrics are columns. A response is
  judged once, with the old score of each filter, named as the harness does:
  ``exact_match,strict-match``.
* evalscope, modelscope/evalscope, ``evalscope/api/evaluator/cache.py`` (``ReviewResult``,
  ``ModelResult``) and ``api/metric/scorer.py``: ``reviews/<model>/<benchmark>_<subset>.jsonl``;
  ``predictions/...`` of the same name holds no reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from gradegpt.answers.options import LETTERS
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
_HITS: Final = ("hit", "score", "eval_score", "match")
"""The scores of VLMEvalKit's data sets."""
_SAMPLES: Final = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+$")
_QUESTIONS: Final = ("question", "problem", "query", "Question", "Problem", "input", "prompt")
_CONTEXTS: Final = ("context", "passage", "support")


def _verl(row: TableRow, where: str, task: str) -> LoggedFields:
    """A rollout or a generation of a validation."""
    return {
        "task": str(row.get("data_source") or task),
        "id": f"step{row['step']}/{where.rsplit(':', 1)[-1]}",
        "question": user_turn(row["input"]),
        "reference": listed(row.get("gts")),
        "response": row["output"],
        "metric": "score",
        "old": row["score"],
    }


def _vlmevalkit(row: TableRow, where: str, task: str) -> LoggedFields:
    """A prediction, with the columns ``A``, ``B``, ... as options below the question."""
    options = [row[letter] for letter in LETTERS if row.get(letter) not in _EMPTY]
    metric = next((name for name in _HITS if name in row), "")
    return {
        "id": row["index"],
        "question": with_options(row["question"], options),
        "context": None if row.get("hint") in _EMPTY else row["hint"],
        "reference": None if row["answer"] in _EMPTY else listed(row["answer"]),
        "response": row["prediction"],
        "metric": metric,
        "old": row.get(metric),
    }


def user_turn(prompt: str) -> str:
    r"""The user's turn in a prompt of a chat template, or the prompt where there is none.

    >>> user_turn("system\nBe brief.\nuser\nWhat is 2+2?\nassistant\n<think>\n\n</think>\n\n")
    'What is 2+2?'
    >>> user_turn("system\n\nBe brief.user\n\nWhat is 2+2?assistant\n\n")
    'What is 2+2?'
    """
    unmarked = next((found for form in _UNMARKED if (found := form.match(prompt))), None)
    return unmarked.group(1).strip() if unmarked else prompt


def _lm_eval(row: TableRow, where: str, task: str) -> LoggedFields | str:
    """A sample; options ranked by log-likelihood are left out, as they have no text."""
    response = _generated(row)
    if response is None:
        return "options ranked by log-likelihood: there is no text to grade"
    filtered = str(row.get("filter") or "none")
    metric = next((name for name in row.get("metrics") or () if name in row), "")
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
    return text(row["arguments"]["gen_args_0"]["arg_0"])


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
    keys: set[str],
    read: Callable[[TableRow, str, str], LoggedFields | str],
    table: bool = False,
    then: Callable[[Iterator[Read]], Iterator[Read]] = iter,
) -> Tool:
    """A tool whose first row has the ``keys``, and is read by ``read``."""

    def fits(found: Contents) -> bool:
        form = found.form == ("table" if table else "lines")
        return form and found.names >= keys

    def every(path: Path) -> Iterator[Read]:
        yield from then(each(rows_of(path), read, path.stem))

    return Tool(name, fits, every)


LM_EVAL: Final = _tool(
    "lm-evaluation-harness", {"doc", "target", "resps", "filtered_resps"}, read=_lm_eval, then=_once
)
VLMEVALKIT: Final = _tool(
    "VLMEvalKit", {"index", "question", "answer", "prediction"},
    read=_vlmevalkit, table=True,
)  # fmt: skip
EVALSCOPE: Final = _tool("evalscope", {"index", "sample_score"}, read=_evalscope)
VERL: Final = _tool("verl", {"input", "output", "score", "step"}, read=_verl)
