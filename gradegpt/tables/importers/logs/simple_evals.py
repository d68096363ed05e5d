"""simple-evals: ``<eval>_<model>_allresults.json`` and the HTML report.

Source of the format: openai/simple-evals, ``common.py`` (``HTML_JINJA``, ``make_report``) and
``simple_evals.py``. The JSON's ``convos`` hold neither reference nor score: in both forms these are
only in the HTML of each example. Its texts are escaped, so no response can be read as markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gradegpt.core.errors import InputError
from gradegpt.tables.importers.logs.contents import Contents, contents_of, document
from gradegpt.tables.importers.logs.rows import LoggedFields, Read, Tool, each, question_and_context

_MESSAGE: Final = re.compile(r'(?s)<div class="message (\w+)">.*?<pre>(.*?)</pre>')
_FIELD: Final = r"(?s)<p>{}: (.*?)</p>"
_REPORT: Final = "<h3>Prompt conversation</h3>"


def fits(file: Contents) -> bool:
    """Whether the file is all results of an eval, or their report."""
    report = file.form == "html" and _REPORT in file.value
    return report or file.is_document("score", "metrics", "htmls", "convos")


def read(path: Path) -> Iterator[Read]:
    """Every example that was compared with a correct answer."""
    rows = ((f"{path}: example {n}", example) for n, example in enumerate(_examples(path)))
    yield from each(rows, _read, path.stem)


def _read(example: str, where: str, task: str) -> LoggedFields:
    messages = [
        {"role": role, "content": html.unescape(text)} for role, text in _MESSAGE.findall(example)
    ]
    question, context = question_and_context(messages[:-1])
    last = messages[-1] if messages else {}
    return {
        "name": where.rsplit(" ", 1)[-1],
        "question": question,
        "context": context,
        "reference": _field("Correct Answer", example),
        "response": last["content"] if last.get("role") == "assistant" else None,
        "metric": "score",
        "old": _field("Score", example),
    }


def _examples(path: Path) -> list[str]:
    if contents_of(path).form != "html":
        return [example or "" for example in document(path)["htmls"]]
    try:
        report = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error.reason})") from error
    return [_REPORT + example for example in report.split(_REPORT)[1:]]


def _field(name: str, example: str) -> str | None:
    found = re.search(_FIELD.format(name), example)
    return html.unescape(found.group(1)) if found else None


SIMPLE_EVALS: Final = Tool(
    "simple-evals", "JSON with score, metrics, htmls and convos, or its HTML report", fits, read
)
