"""What is read in an item, once: what it asks for, and what its response commits to."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from gradegpt.answers.answer import Answer
from gradegpt.answers.hidden import after_thought
from gradegpt.answers.options import options
from gradegpt.answers.read import read
from gradegpt.answers.text import tidy
from gradegpt.core.schema import CHOICE, AnswerType, Item, Verdict
from gradegpt.rules.claims import Found, How, find_answer
from gradegpt.rules.cues import cue
from gradegpt.rules.reference import answer_places, asked, kind_of, reference_answers
from gradegpt.rules.validity import without_loop

SAID: Final = (How.BOXED, How.ANNOUNCED)
_SHORT: Final = 30
_LONG: Final = 1_000
_AT_THE_END: Final = 0.95
_TRUTH_FIRST = re.compile(
    r"\s*(?:答\s*[:：]\s*)?(?P<of>(?:th(?:is|e|at) (?:statement|claim|sentence) is"
    r"|[这该此](?:个|句|道|种)?(?:说法|话|命题|结论|判断|叙述|观点|题)是?)\s*)?"
    r"(?P<word>(?:that(?:'s| is) )?(?:true|right|correct)|yes|no|false|incorrect|wrong|[tf√×✓✗]"
    r"|正确|错误?|不正确|不对|否|不是|是的?|对的?|没错)"
    r"(?(of)(?=的|[\s,.，。])|(?=的?\s*[,，。.!！；;]|\s+[-–—]\s))",
    re.IGNORECASE,
)
_TRUTH_LATER = cue("qualified truth")
_LATER_THOUGHT = re.compile(r"<think(?:ing)?>(?s:.*?)(?:</think(?:ing)?>|\Z)", re.IGNORECASE)


class Reading(NamedTuple):
    """What an item says.

    ``response`` is what is shown of the response from ``begin`` on, where the reply begins after a
    thought, up to the end of the first repeat of a final loop (``looped``). ``found`` is the answer
    to which it comes, with its evidence and its place in ``response``.
    """

    item: Item
    question: str
    references: tuple[Answer, ...]
    response: str
    begin: int
    looped: bool
    found: Found | None

    @property
    def kind(self) -> AnswerType:
        """The type of the reference."""
        return self.references[0].kind

    @property
    def is_lettered(self) -> bool:
        """Whether the answer found is the letter of an option, and the reference is none."""
        if self.found is None or self.kind in CHOICE:
            return False
        return "".join(filter(str.isalnum, self.found.answer)) in options(self.question)


@lru_cache(maxsize=4096)
def _references(
    accepted: tuple[str, ...], question: str, stated: AnswerType | None, all_of: bool
) -> tuple[Answer, ...]:
    answers = [answer for text in accepted for answer in reference_answers(text)]
    kinds = [kind_of(answer, question, stated, all_of=all_of) for answer in answers]
    return tuple(read(a, kind, question) for a, kind in zip(answers, kinds, strict=True))


def read_item(item: Item) -> Reading:
    """Read an item: its references, what its response shows, and the answer to which it comes."""
    question, all_of = asked(item), item.needs == "all" and len(item.reference) > 1
    references = _references(item.accepted, question, item.answer_type, all_of)
    kind, begin = references[0].kind, after_thought(item.response)
    shown = tidy(item.response[begin:])
    if "<think" in shown:
        shown = _LATER_THOUGHT.sub(lambda thought: " " * len(thought[0]), shown)
    once = without_loop(shown)
    response = shown if once is None else once
    places = answer_places(references[0].text, kind, question)
    inside = once is not None and shown[len(once) - 1 : len(once) + 1]  # BBBBBB is not B
    found = None if inside and inside.isascii() and inside.isalpha() else find_answer(
        response, kind, places, question
    )  # fmt: skip
    unsaid = found is None or found.how not in SAID
    first = _TRUTH_FIRST.match(response) if unsaid and kind is AnswerType.TRUE_FALSE else None
    if first is not None and not _TRUTH_LATER.match(response, first.end()):
        found = Found(first["word"], *first.span("word"), How.WHOLE, first.span("word"))
    return Reading(item, question, references, response, begin, once is not None, found)


def signs_of(reading: Reading, verdict: Verdict) -> tuple[str, ...]:
    """What bears on whether a verdict is right, apart from the rule that gives it.

    How the answer was given, whether it ends the response, the lengths of both, a thought before it
    and the type of answer. What is hedged or revised gets no verdict.
    """
    response, found = reading.response, reading.found
    marks = {
        verdict.value: True,
        f"{verdict.value} {found.how.value if found else 'none'}": True,
        "not at the end": found is not None and found.end < _AT_THE_END * len(response),
        "long answer": found is not None and len(found.answer) > _SHORT,
        "long response": len(response) > _LONG,
        "after a thought": reading.begin > 0,
        reading.kind.words: True,
    }
    return tuple(mark for mark, has in marks.items() if has)
