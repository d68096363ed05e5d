"""VLMEvalKit: which option is a response, for its multiple-choice data sets; ``Z`` for none.

The examples are in the frame of the task, so a frame begins at the last of them: the second, or the
third for BLINK, whose options end in "(Z) Failed". VLMEvalKit draws an option at random if there is
no usable reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gradegpt.answers.options import options
from gradegpt.judges import RuleJudge
from gradegpt.schema import Item, Verdict

from ..adapter import Adapter, Fields
from ..frame import Frame
from ..reply import Words

_EN = Frame(
    r"Your output: (?:Z Example 3|\(Z\) Example 4): Question:(?: <start>)?", "{question}",
    r"Options:", "{options}", r"(?:<end> )?Answer:(?: <start>)?", "{response}",
    r"(?:<end>\s*)?Your output:",
)  # fmt: skip
_ZH = Frame(
    r"输出: Z 例 3: 问题:", "{question}", r"选项:", "{options}", r"答案:", "{response}", r"输出:"
)
_NONE: Final = "Z"
_FAILED: Final = re.compile(r"\(Z\) Failed\s*\Z")


def chosen(fields: Fields) -> str:
    """The letter of the only option that the response gives according to the rules, or ``Z``.

    First by letter and text, as an answer to multiple choice; else by the text alone.
    """
    question, response = fields["question"], fields["response"]
    text = _FAILED.sub("", fields["options"])
    listed = options(text)
    lettered = {letter: f"{letter}. {option}" for letter, option in listed.items()}
    given = _given(f"{question}\n{text}", lettered, response) or _given(question, listed, response)
    return given[0] if len(given) == 1 else _NONE


def _given(question: str, references: Mapping[str, str], response: str) -> list[str]:
    items = [
        Item(id=letter, question=question, reference=(reference,), response=response)
        for letter, reference in references.items()
        if reference
    ]
    return [j.id for j in RuleJudge().judge(items) if j.verdict is Verdict.CORRECT]


ADAPTERS = (
    Adapter(
        name="option_match",
        callers="VLMEvalKit multiple choice",
        frames=(_EN, _ZH),
        tags=(r"Z",),
        write=Words("", ""),  # never written: the letter is the reply
        extract=chosen,
        example="""Which option is the answer? Z for none.
Example 2:
Question: Which animal barks?
Options: A. cat B. dog
Answer: A fish
Your output: Z
Example 3:
Question: {question}?
Options: A. 3 B. 4
Answer: {response}
Your output: """,
    ),
)
