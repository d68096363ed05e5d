"""Answer extraction for MathVista, MathVerse and MME-Reasoning: the answer is wanted, no verdict.

The examples are in the frame of the task, so a frame begins at the last of them. MathVista's
question opens with a hint on the form of the answer, and the answer is given in that form.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from gradegpt.answers.options import letters, options
from gradegpt.rules.compare.choice import by_text
from gradegpt.rules.extract import find_answer
from gradegpt.schema import AnswerType

from ..adapter import Adapter, Fields
from ..frame import Frame
from ..reply import Words

_LAST_EXAMPLE = r"Extracted answer: B(?!\w)"
_MATHVISTA = (
    Frame(_LAST_EXAMPLE, "{question}", r"Model respon\w*:", "{response}", r"Extracted answer:"),
    Frame(_LAST_EXAMPLE, "{response}", r"Extracted answer:"),
)
_MATHVERSE = Frame(r"\b7\. Model response:\s*'?", "{response}", r"'?(?<!\s)\s+Extracted [Aa]nswer:")
_MME = Frame(
    r"following response: Question:", "{question}", r"Model Response:", "{response}",
    r"Extracted answer: You should only output the answer",
)  # fmt: skip
_HINT: Final = re.compile(
    r"(?P<list>Python\s+list)|(?P<all>all\s+correct\s+option)|(?P<letter>option(?:'s)?\s+letter)"
    r"|(?P<places>\w+)\s+decimal\s+place|(?P<integer>\binteger\b)"
)
_NUMBER: Final = re.compile(r"[-+−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
_LIST: Final = re.compile(r"\[[^\[\]]*\]")
_PLACES: Final = {"one": 1, "two": 2, "three": 3, "four": 4}
_NO_VERDICT: Final = Words("", "")
"""Never written: what is extracted is the reply."""


def in_form(fields: Fields) -> str:
    """The answer as the hint asks for it; empty where the response gives none."""
    question, response = fields.get("question"), fields["response"]
    if question is None:  # the first blank line parts them, where the caller sets no label
        question, _, rest = response.partition("\n\n")
        response = rest or response
    hint = _HINT.search(question)
    match hint.lastgroup if hint else None:
        case "letter":
            return _option(response, question, AnswerType.SINGLE_CHOICE)
        case "all":
            return _option(response, question, AnswerType.MULTIPLE_CHOICE)
        case "list":
            return _listed(_plain(response, AnswerType.TUPLE))
        case "integer":
            return _rounded(_plain(response, AnswerType.NUMBER), None)
        case "places" if hint is not None:
            places = _PLACES.get(hint["places"].lower())
            return _rounded(_plain(response, AnswerType.NUMBER), places)
        case _:
            return _plain(response, AnswerType.EXPRESSION)


def or_null(fields: Fields) -> str:
    """The answer, or ``null`` as MathVerse writes it."""
    return _plain(fields["response"], AnswerType.EXPRESSION) or "null"


def _plain(response: str, kind: AnswerType) -> str:
    found = find_answer(response, kind)
    return found.answer.strip(" .。$") if found else ""


def _option(response: str, question: str, kind: AnswerType) -> str:
    """The letters, by name or by the text of an option; else the text, which callers compare."""
    answer = _plain(response, kind)
    listed = options(question)
    named = letters(answer, listed) or by_text(answer, listed)
    return ", ".join(sorted(named)) if named else answer


def _listed(answer: str) -> str:
    written = _LIST.findall(answer)
    numbers = [m[0].replace(",", "") for m in re.finditer(r"-?\d+(?:\.\d+)?", answer)]
    return written[-1] if written else f"[{', '.join(numbers)}]" if numbers else ""


def _rounded(answer: str, places: int | None) -> str:
    """The first number of the answer; an integer is written as one, and never made from another."""
    ratio = re.match(r"\s*(-?\d+)\s*/\s*(\d+)\s*(?:\D|\Z)", answer)
    number = _NUMBER.search(answer)
    if ratio and int(ratio[2]):
        value = Decimal(ratio[1]) / Decimal(ratio[2])
    elif number:
        value = Decimal(number[0].replace(",", "").replace("−", "-"))
    else:
        return ""
    if places is not None:
        return f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):f}"
    return str(int(value)) if value == value.to_integral_value() else f"{value:f}"


ADAPTERS = (
    Adapter(
        name="mathvista_extract",
        callers="MathVista extract_answer, VLMEvalKit and lmms-eval MathVista",
        frames=_MATHVISTA,
        tags=(r"Hint:",),
        write=_NO_VERDICT,
        extract=in_form,
        example="""Give the answer in the form that the hint asks for.

Hint: provide the correct option letter.
Question: Which is even? (A) 3 (B) 4

Model response: It is (B).

Extracted answer: B

{question}

Model response: {response}

Extracted answer: """,
    ),
    Adapter(
        name="mathverse_extract",
        callers="MathVerse extract_answer, VLMEvalKit and lmms-eval MathVerse",
        frames=(_MATHVERSE,),
        tags=(r"Extracted [Aa]nswer: null",),
        write=_NO_VERDICT,
        extract=or_null,
        example="""Give the answer in a model response.

6.
Model response: 'No idea.'
Extracted Answer: null

7.
Model response: '{response}'
Extracted Answer: """,
    ),
    Adapter(
        name="mme_reasoning_extract",
        callers="VLMEvalKit MME-Reasoning, choices and open questions",
        frames=(_MME,),
        write=_NO_VERDICT,
        extract=in_form,
        example="""Extract the answer.
Example:
    Question: Which is even? (A) 3 (B) 4
    Model Response: It is (B).
    Extracted answer: B

Now of the following response:
    Question: {question}
    Model Response: {response}
    Extracted answer:
    You should only output the answer.
""",
    ),
)
