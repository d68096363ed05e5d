"""OpenCompass ATLAS: a fenced JSON list of judgements, ``A``, ``B`` or ``C`` a sub-question.

The reference and the response come as lists, one answer a sub-question, in order; all are needed.
The score is 1 where every label is ``A``. A judge with the profile ``atlas`` says a label for each
sub-question; of any other one entry says all that is read, the verdict on the whole: of a part
alone nothing is said, as nothing was judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gradegpt.rules.profiles.atlas import LABELS, labels, listed
from gradegpt.schema import AnswerType, Item, Judgement, Outcome

from ..adapter import Adapter, Fields
from ..frame import Frame
from ..reply import Reply, reason

_FRAME = Frame(
    r"<Original Question Begin>:?", "{question}", r"<Original Question End>",
    r"<Standard Answer Begin>:?", "{reference}", r"<Standard Answer End>",
    r"<Candidate's Answer Begin>:?", "{response}", r"<Candidate's Answer End>",
)  # fmt: skip
_BREAKS_OUT = re.compile(r"```|</?think>")
"""What would end the fence, or the part of a reply that is read, within an explanation."""


def _in_order(text: str) -> str:
    """The answers of a list as JSON or Python writes it as ``(1) 9; (2) 4``; else the text."""
    parts = listed(text, numbers=True)
    if len(parts) < 2:
        return parts[0] if parts else text
    return "; ".join(f"({n}) {part.strip()}" for n, part in enumerate(parts, 1))


def _item(fields: Fields) -> Item:
    reference, response = fields["reference"], fields["response"]
    several = len(listed(reference, numbers=True)) > 1
    return Item(
        question=fields["question"],
        reference=(_in_order(reference),),
        response=_in_order(response) if several else response,
        answer_type=AnswerType.MULTI_PART if several else None,
        tolerance="atlas",
    )


def _fenced(said: Sequence[str], why: str) -> str:
    entries = [{"label": label, "explanation": why} for label in said]
    return f"```json\n{json.dumps({'judgements': entries}, ensure_ascii=False)}\n```"


def _write(judgement: Judgement, _: Fields) -> Reply | None:
    if judgement.outcome is not Outcome.JUDGED or judgement.verdict is None:
        return None
    said = labels(judgement.reason) or (LABELS[judgement.verdict],)
    why = reason(judgement)
    whole = None if not why or _BREAKS_OUT.search(why) else _fenced(said, why)
    return Reply(_fenced(said, ""), whole, why)


ADAPTERS = (
    Adapter(
        name="atlas",
        callers="OpenCompass ATLASLLMEvaluator",
        reasoning_content=False,
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
