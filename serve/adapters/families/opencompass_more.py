r"""OpenCompass judges without letters: chem_exam and SciReasoner.

chem_exam asks for a phrase or, as its evaluator is configured, for the share of the sub-questions
that are right, of which the last box is read. One verdict is a share where there is one question.
"""

from __future__ import annotations

import re
from typing import Final

from gradegpt.schema import Item

from ..adapter import Adapter, Fields, PromptError, item_of
from ..frame import Frame
from ..reply import Words

_CHEM = Frame(
    r"##Question##", "{question}", r"##Student's Answer##", "{response}",
    r"(?:The standard answer[^#]{0,60}: )?##Standard Answer##", "{reference}",
    r"Now, (?:based|please)",
)  # fmt: skip
_SCIREASONER = Frame(
    r"Reference answer:", "{reference}", r"Model answer:", "{response}",
    r"If correct, answer 'True'",
)  # fmt: skip
_SHARE = r"\\boxed\{+score\}"
_PART: Final = re.compile(r"(?m)^[ \t]*A\d+(?:\.\d+)?:")


def _one_question(fields: Fields) -> Item:
    """The item, if there is only one question."""
    if len(_PART.findall(fields["reference"])) > 1:
        raise PromptError(
            "chem_exam_share: the prompt asks for the share of right sub-questions, but there is "
            "one verdict; send each sub-question separately, or ask for **Correct Answer**"
        )
    return item_of(fields)


ADAPTERS = (
    Adapter(
        name="chem_exam",
        callers="OpenCompass chem_exam, yes or no",
        reasoning_content=False,
        frames=(_CHEM,),
        tags=(r"\*\*Correct Answer\*\*", r"\*\*Incorrect Answer\*\*"),
        write=Words("**Correct Answer**", "**Incorrect Answer**"),
        example="""A question of chemistry and an answer:
##Question##
{question}

##Student's Answer##
{response}

##Standard Answer##
{reference}

Now, based on this, reply **Correct Answer** or **Incorrect Answer**.""",
    ),
    Adapter(
        name="chem_exam_share",
        callers="OpenCompass chem_exam, share of right sub-questions",
        reasoning_content=False,
        frames=(_CHEM,),
        tags=(_SHARE,),
        write=Words(r"\boxed{1}", r"\boxed{0}", around="{why}\n{verdict}", hostile=r"boxed|NUMBER"),
        item=_one_question,
        example=r"""A question of chemistry and an answer:
##Question##
{question}

##Student's Answer##
{response}

##Standard Answer##
{reference}

Now, please give the share of right sub-questions as \boxed{score}.""",
    ),
    Adapter(
        name="scireasoner",
        callers="OpenCompass SciReasoner",
        reasoning_content=False,
        frames=(_SCIREASONER,),
        tags=(r"'Correct':",),
        write=Words("True", "False"),
        example="""'Correct': the conclusions are the same. 'Incorrect': they are not.
Reference answer: {reference}
Model answer: {response}
If correct, answer 'True', else 'False'.""",
    ),
)
