"""GAIA and other searches as WebAgent, WebThinker and their descendants grade them: one word.

The words are those of the prompt; the reply is compared as a whole. Some put the prediction first.
"""

from __future__ import annotations

from serve.adapters.adapter import Adapter
from serve.adapters.frame import Frame
from serve.adapters.reply import Words

_WORDS = Words("{positive}", "{negative}")
_AS_JSON = r"(?i)\bjson\b"
_FRAME = Frame(
    r"Question:", "{question}", r"Labeled Answer:", "{reference}",
    r"Predicted Answer:", "{response}", r"(?:Did the model give|Are these answers) ",
)  # fmt: skip
_PREDICTION = Frame(
    r"Question:", "{question}", r"Model Predicted Answer:", "{response}",
    r"Labeled Answer:", "{reference}", r"Return '\w+' if",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="labeled_answer",
        callers="WebAgent (GAIA), MiroThinker, agents that copy their judge",
        frames=(_FRAME,),
        tags=(r"respond with \"\w+\" if",),
        without=(_AS_JSON,),
        options={
            "positive": r"respond with \"(\w+)\" if",
            "negative": r"or \"(\w+)\" if",
        },
        write=_WORDS,
        example="""Question: {question}

Labeled Answer: {reference}

Predicted Answer: {response}

Did the model give the labeled answer? Please respond with "Correct" if so, or "Incorrect" if not.
""",
    ),
    Adapter(
        name="labeled_answer_last",
        callers="WebThinker, OmniAtlas: the prediction before the labeled answer",
        frames=(_PREDICTION,),
        without=(_AS_JSON,),
        options={
            "positive": r"Return '(\w+)' if",
            "negative": r"otherwise return '(\w+)'",
        },
        write=_WORDS,
        example="""Question: {question}
Model Predicted Answer: {response}
Labeled Answer: {reference}
Return 'Correct' if they agree, otherwise return 'Incorrect'.""",
    ),
)
