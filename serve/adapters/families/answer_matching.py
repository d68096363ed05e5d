"""Answer Matching: ``0`` or ``1`` in ``<answer>`` tags, or as a single digit.

Some of its scripts take the last tag, others the last digit.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"Question: \"", "{question}", r"\" Ground truth: \"", "{reference}", r"\" Response: \"",
    "{response}", r"\" Your job",
)  # fmt: skip
_HEAD = r"\"1\": "
_TAG = r"<answer>"
_EXAMPLE = """Does the response match the ground truth?
"0": it does not.
"1": it does.

Question: "{question}"
Ground truth: "{reference}"
Response: "{response}"

Your job is to compare. """

ADAPTERS = (
    Adapter(
        name="answer_matching",
        callers="Answer Matching",
        frames=(_FRAME,),
        tags=(_HEAD, _TAG),
        write=Words(
            "<answer>1</answer>",
            "<answer>0</answer>",
            around="{why}\n{verdict}",
            hostile=r"(?i)answer\s*>",
        ),
        example=_EXAMPLE + "End with <answer>0</answer> or <answer>1</answer>.",
    ),
    Adapter(
        name="answer_matching_digit",
        callers="Answer Matching, prompts that ask for a digit",
        frames=(_FRAME,),
        tags=(_HEAD,),
        without=(r"</\w+>",),
        write=Words("1", "0"),
        example=_EXAMPLE + 'Output "0" or "1" alone.',
    ),
)
