"""The prompt of a question: how to reason, and how to write an answer of its type.

The kinds are those of the papers (CMMaTH, tables 10 and 11; OlympiadBench, figure 3; OlympicArena,
figure 15, table 10 and appendix C.6; ATLAS, prompt E.1); the wording is this project's own, so
scores are close to the papers' and not identical.
"""

from __future__ import annotations

from enum import StrEnum

from gradegpt.chains.chain import needs_gloss
from gradegpt.chains.prompts import prompt_phrases
from gradegpt.core.schema import AnswerType, Item, Message
from gradegpt.judges.calibration import type_of


class PromptStyle(StrEnum):
    """How a model is asked to reason.

    ``direct``: no instruction (OlympiadBench, OlympicArena). ``steps``: numbered ``<STEP1>``, as
    process-level scores need them (OlympicArena, C.6). ``english``: in English, for any language of
    the question (CMMaTH, En-CoT). ``cross_lingual``: the question is first understood sentence by
    sentence in its own language (CMMaTH, CLP). ``json``: final answers as a JSON list, one for each
    sub-question (ATLAS, E.1).
    """

    DIRECT = "direct"
    STEPS = "steps"
    ENGLISH = "english"
    CROSS_LINGUAL = "cross_lingual"
    JSON = "json"


def prompt(
    item: Item, style: PromptStyle = PromptStyle.DIRECT, unit: str = ""
) -> tuple[Message, ...]:
    """The conversation that asks the item's question, in the question's language.

    ``unit``: the unit of the answer. The item's ``context``, such as earlier parts, comes first.
    """
    phrases = prompt_phrases("answer", chinese=needs_gloss(item.question))
    kind = type_of(item)
    if style is PromptStyle.JSON:
        last = phrases["json"]
    elif kind is AnswerType.CODE:
        last = phrases["code"]
    else:
        last = phrases["box"].format(form=phrases["form"][kind])
    parts = (
        item.context or "",
        item.question,
        phrases["think"].get(style, ""),
        phrases["unit"].format(unit=unit) if unit else "",
        last,
    )
    return (Message(role="user", content="\n\n".join(part for part in parts if part)),)
