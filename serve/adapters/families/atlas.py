"""OpenCompass ATLAS: a fenced JSON list of judgements, ``A``, ``B`` or ``C`` a sub-question.

The score is 1 where every label is ``A``, so one entry says all that is read: the verdict on the
whole answer. Of a part alone nothing is said, as nothing was judged. The reference and the
response come as lists, one answer a sub-question; all are needed.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Final

from gradegpt.schema import Item, Judgement, Outcome, Verdict
from serve.adapters.adapter import Adapter, Fields
from serve.adapters.frame import Frame
from serve.adapters.reply import Reply, reason

_FRAME = Frame(
    r"<Original Question Begin>:?", "{question}", r"<Original Question End>",
    r"<Standard Answer Begin>:?", "{reference}", r"<Standard Answer End>",
    r"<Candidate's Answer Begin>:?", "{response}", r"<Candidate's Answer End>",
)  # fmt: skip
_LABELS: Final = {Verdict.CORRECT: "A", Verdict.INCORRECT: "B", Verdict.INVALID: "C"}
_BREAKS_OUT = re.compile(r"```|</?think>")
"""What would end the fence, or the part of a reply that is read, within an explanation."""


def _parts(reference: str) -> tuple[str, ...]:
    """The answers of a list as JSON or Python writes it, else the whole text."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(reference)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list) and found and all(str(part).strip() for part in found):
            return tuple(str(part) for part in found)
    return (reference,)


def _item(fields: Fields) -> Item:
    parts = _parts(fields["reference"])
    return Item(
        question=fields["question"],
        reference=parts,
        response=fields["response"],
        needs="all" if len(parts) > 1 else None,
        tolerance="atlas",
    )


def _fenced(label: str, why: str) -> str:
    entry = {"judgements": [{"label": label, "explanation": why}]}
    return f"```json\n{json.dumps(entry, ensure_ascii=False)}\n```"


def _write(judgement: Judgement, _: Fields) -> Reply | None:
    if judgement.outcome is not Outcome.JUDGED or judgement.verdict is None:
        return None
    label = _LABELS[judgement.verdict]
    why = reason(judgement)
    whole = None if not why or _BREAKS_OUT.search(why) else _fenced(label, why)
    return Reply(_fenced(label, ""), whole, why)


ADAPTERS = (
    Adapter(
        name="atlas",
        callers="OpenCompass ATLASLLMEvaluator",
        aside=False,
        frames=(_FRAME,),
        tags=(r"\"judgements\"", r"\"label\""),
        write=_write,
        item=_item,
        example="""Grade each part of the final answer: "A", "B" or "C". Reply in a JSON fence:
{"judgements": [{"label": "A", "explanation": "why"}]}

<Original Question Begin>
{question}
<Original Question End>

<Standard Answer Begin>
{reference}
<Standard Answer End>

<Candidate's Answer Begin>
{response}
<Candidate's Answer End>
""",
    ),
)
