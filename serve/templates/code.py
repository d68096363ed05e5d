"""The code of the few templates that data cannot express, by the name in their key ``code``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final, NamedTuple

from gradegpt.answers.json_list import listed
from gradegpt.answers.options import letters, options
from gradegpt.chains.chain import NO, YES, defuse, parse_prompt
from gradegpt.core.errors import InputError
from gradegpt.core.schema import AnswerType, Item, Judgement, Message, Outcome, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.claims import find_answer
from gradegpt.rules.compare.choice import by_text
from gradegpt.rules.profiles import LABELS, labels

from .reply import Fields, WrittenReply, reason


class PromptError(InputError):
    """A prompt that no template recognises, that several claim, or that cannot be judged."""

    code = "unusable_prompt"


def item_of(fields: Fields, references: Sequence[str] = ()) -> Item:
    """The item of the fields ``question``, ``reference`` and ``response``."""
    question, response = fields.get("question", ""), fields["response"]
    return Item(
        question=question, reference=tuple(references or [fields["reference"]]), response=response
    )


class TemplateCode(NamedTuple):
    """What a template does in code.

    ``item`` makes the item of the fields, ``values`` further values of a reply, and ``write`` the
    whole reply. ``extract`` replies the answer in the response instead of judging it.
    """

    item: Callable[[Fields], Item] = item_of
    values: Callable[[Judgement, Fields], Mapping[str, Any]] = lambda _, __: {}
    write: Callable[[Judgement, Fields], WrittenReply | None] | None = None
    extract: Callable[[Fields], str] | None = None


# Items.

_LIST_OF_ONE: Final = re.compile(r"""\[(['"])(?!.*\1\s*,\s*['"])(.*)\1\]""", re.DOTALL)
_SHORT: Final = 100
"""Characters of a line that may be one of several answers and no part of a long one."""


def _list_of_one(fields: Fields) -> Item:
    """OpenCompass writes its answers as a Python list, nearly always of one."""
    found = _LIST_OF_ONE.fullmatch(fields["reference"])
    return item_of(fields, [found[2]] if found else ())


def _answer_a_line(fields: Fields) -> Item:
    """Several acceptable answers come as one a line."""
    lines = fields["reference"].splitlines()
    several = all(line.strip() and len(line) <= _SHORT for line in lines)
    return item_of(fields, lines if several else ())


def _referenced(fields: Fields) -> Item:
    """The item of GradeGPT's own prompt, which may have several references, each in its frame."""
    labels = {"Question": "question", "Reference Answer": "reference", "Model Response": "response"}
    framed = [f"{label}: <{n}>\n{fields[n]}\n</{n}>\n" for label, n in labels.items()]
    prompt = Message(role="user", content="".join(framed) + "Judgment Result:")
    return parse_prompt([prompt]) or item_of(fields)


# Values of a reply.


def _of_hle(judgement: Judgement, fields: Fields) -> dict[str, Any]:
    """The confidence is that of the judged response, for a calibration error, never the judge's."""
    stated = re.findall(r"(?i)confidence\W{0,8}(\d{1,3})\b", fields["response"])
    return {
        "answer": " ".join((judgement.answer or "None").split()),
        "confidence": min(int(stated[-1]), 100) if stated else 100,
        "strict": True,
    }


def _kind_of_invalid(judgement: Judgement, _: Fields) -> dict[str, Any]:
    """CompassVerifier's third grade says why nothing could be graded."""
    kinds = {"response:loop": "REPETITIVE", "response:refusal": "REFUSAL"}
    return {"kind": kinds.get(judgement.reason, "INCOMPLETE")}


# Replies.


def _chain(judgement: Judgement, _: Fields) -> WrittenReply:
    """The chain where there is one, else its tag; no tag where there is no verdict."""
    if judgement.outcome is not Outcome.JUDGED:
        # A reason may quote the model; a tag in it must not be read as a verdict.
        why = f"{judgement.outcome.value}, {defuse(judgement.reason)}"
        return WrittenReply(f"No verdict was reached ({why}).")
    tag = YES if judgement.verdict is Verdict.CORRECT else NO
    return WrittenReply(tag, judgement.chain, reason(judgement))


_BREAKS_OUT: Final = re.compile(r"```|</?think>")
"""What would end the fence, or the part of a reply that is read, within an explanation."""


def _in_order(text: str) -> str:
    """The answers of a list as JSON or Python writes it as ``(1) 9; (2) 4``; else the text."""
    parts = listed(text, numbers=True)
    if len(parts) < 2:
        return parts[0] if parts else text
    return "; ".join(f"({n}) {part.strip()}" for n, part in enumerate(parts, 1))


def _atlas_item(fields: Fields) -> Item:
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


def _atlas(judgement: Judgement, _: Fields) -> WrittenReply | None:
    if judgement.outcome is not Outcome.JUDGED or judgement.verdict is None:
        return None
    said = labels(judgement.reason) or (LABELS[judgement.verdict],)
    why = reason(judgement)
    whole = None if not why or _BREAKS_OUT.search(why) else _fenced(said, why)
    return WrittenReply(_fenced(said, ""), whole, why)


# Answers instead of verdicts.

_HINT: Final = re.compile(
    r"(?P<list>Python\s+list)|(?P<all>all\s+correct\s+option)|(?P<letter>option(?:'s)?\s+letter)"
    r"|(?P<places>\w+)\s+decimal\s+place|(?P<integer>\binteger\b)"
)
_NUMBER: Final = re.compile(r"[-+−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
_LIST: Final = re.compile(r"\[[^\[\]]*\]")
_KINDS: Final = {
    "list": AnswerType.TUPLE, "all": AnswerType.MULTIPLE_CHOICE, "letter": AnswerType.SINGLE_CHOICE,
    "places": AnswerType.NUMBER, "integer": AnswerType.NUMBER,
}  # fmt: skip
_PLACES: Final = {"one": 1, "two": 2, "three": 3, "four": 4}


def _in_form(fields: Fields) -> str:
    """The answer as the hint asks for it; empty where the response gives none."""
    question, response = fields.get("question"), fields["response"]
    if question is None:  # the first blank line parts them, where the caller sets no label
        question, _, rest = response.partition("\n\n")
        response = rest or response
    hint = _HINT.search(question)
    kind = _KINDS[hint.lastgroup or ""] if hint else AnswerType.EXPRESSION
    answer = _plain(response, kind)
    match kind:
        case AnswerType.SINGLE_CHOICE | AnswerType.MULTIPLE_CHOICE:
            choices = options(question)  # by name or by their texts; else callers compare
            named = letters(answer, choices) or by_text(answer, choices)
            return ", ".join(sorted(named)) if named else answer
        case AnswerType.TUPLE:
            written = _LIST.findall(answer)
            numbers = [m[0].replace(",", "") for m in re.finditer(r"-?\d+(?:\.\d+)?", answer)]
            return written[-1] if written else f"[{', '.join(numbers)}]" if numbers else ""
        case AnswerType.NUMBER:
            return _rounded(answer, _PLACES.get(((hint and hint["places"]) or "").lower()))
        case _:
            return answer


def _plain(response: str, kind: AnswerType) -> str:
    found = find_answer(response, kind)
    return found.answer.strip(" .。$") if found else ""


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


def _letter(fields: Fields) -> str:
    """The letter of the only option that the response gives according to the rules, or ``Z``.

    First by letter and text, as an answer to multiple choice; else by the text alone.
    """
    question, response = fields["question"], fields["response"]
    text = re.sub(r"\(Z\) Failed\s*\Z", "", fields["options"])
    choices = options(text)
    lettered = {letter: f"{letter}. {option}" for letter, option in choices.items()}
    given = _given(f"{question}\n{text}", lettered, response) or _given(question, choices, response)
    return given[0] if len(given) == 1 else "Z"


def _given(question: str, references: Mapping[str, str], response: str) -> list[str]:
    items = [
        Item(id=letter, question=question, reference=(reference,), response=response)
        for letter, reference in references.items()
        if reference
    ]
    return [j.id for j in RuleJudge().judge(items) if j.verdict is Verdict.CORRECT]


_ECHO: Final = re.compile(
    r"(?i)(?:please )?(?:say|reply|respond|answer)\b.*?"
    r"((?:this is a )?test|ok|okay|hi|hello|pong)\W*(?: in one word| and nothing else)?\W*"
)
_PROBES: Final = {
    r"(?i)(?:what(?:'s| is) )?1": "2",
    r"(?i)ping": "pong",
    r"(?i)test|(?:this is )?(?:just )?a test": "The test has arrived.",
    r"(?i)wh|你是谁": "I am GradeGPT, a judge of answers.",
    "": "Hello! I am GradeGPT, a judge of answers.",
}
"""The beginnings of connection checks; all others are greetings."""


def _hello(fields: Fields) -> str:
    """What a chat model would say."""
    probe = " ".join(fields["response"].split())
    echo = _ECHO.fullmatch(probe)
    return echo[1] if echo else next(r for p, r in _PROBES.items() if re.match(p, probe))


CODE: Final[Mapping[str, TemplateCode]] = {
    "": TemplateCode(),
    "answer_a_line": TemplateCode(item=_answer_a_line),
    "atlas": TemplateCode(item=_atlas_item, write=_atlas),
    "chain": TemplateCode(write=_chain),
    # An empty reason is a parse error.
    "evalscope": TemplateCode(
        values=lambda found, _: {"why": reason(found) or f"Compared by {found.method}."}
    ),
    "gradegpt": TemplateCode(item=_referenced, write=_chain),
    "hello": TemplateCode(extract=_hello),
    "hle": TemplateCode(values=_of_hle),
    "in_form": TemplateCode(extract=_in_form),
    "kind_of_invalid": TemplateCode(values=_kind_of_invalid),
    "letter": TemplateCode(extract=_letter),
    "list_of_one": TemplateCode(item=_list_of_one),
    "or_null": TemplateCode(
        extract=lambda fields: _plain(fields["response"], AnswerType.EXPRESSION) or "null"
    ),
    "xbench": TemplateCode(
        values=lambda found, _: {"answer": found.answer or "无", "strict": True}
    ),
}
