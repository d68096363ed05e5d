"""What is read in an item, once: what it asks for, and what its response commits to."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gradegpt.answers.answer import Answer
from gradegpt.answers.hidden import after_thought
from gradegpt.answers.options import LETTERS, SAID, only_lists, options
from gradegpt.answers.read import read
from gradegpt.answers.text import plain, tidy
from gradegpt.answers.types import Options
from gradegpt.core.schema import CHOICE, AnswerType, Item, Verdict
from gradegpt.rules.asked import asked
from gradegpt.rules.compare.choice import by_text
from gradegpt.rules.extract import COMMITTED, Found, How, counted, find_answer
from gradegpt.rules.reference import answer_kind, answer_places, reference_answers
from gradegpt.rules.rivals import Settled, settled
from gradegpt.rules.stance import disowned, hedges, said_right, takes_back
from gradegpt.rules.validity import (
    REASON,
    UNANSWERABLE,
    cut_off,
    declines_by_policy,
    denies,
    leaves_open,
    refuses,
    says_nothing,
    without_loop,
)

REFUSAL: Final = "response:refusal"
NOT_FOUND: Final = "response:no-answer-found"
ONE_OF_SEVERAL: Final = "response:one-of-several"
ONE_OF_NUMBERS: Final = "number:one-of-several"
_SAID: Final = (How.BOXED, How.ANNOUNCED)
_OFTEN_FIRST: Final = (AnswerType.TEXT, AnswerType.TRUE_FALSE)
"""Types whose answer is often at the beginning, so that it is there if the response is cut off."""
_SHORT: Final = 30
_LONG: Final = 1_000
_AT_THE_END: Final = 0.95
_ASKS_WRONG = re.compile(
    r"错误|不正确|不恰当|不符合|不属于|有误|\b(?:incorrect|wrong|false|not|except|least)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = 120
"""Most characters of a response that names an option by its text."""
_NAMES = re.compile(r"[a-z]{3}|[\u3400-\u9fff]")
"""What the text of an option has that is more than a number."""
_NOT_PLAINLY = re.compile(
    rf"{SAID}|\bI\b|[不没非无未错或但除吗?？]|\b(?:not?|or|but|except|nor|neither|none"
    r"|wrong|false|unlike|if|all|both|maybe|perhaps|might)\b|n['’]t\b|以上",
    re.IGNORECASE,
)
"""An option's letter, and words after which an option that is said may not be the chosen one."""
_TRUTH_FIRST = re.compile(
    r"\s*(?:答\s*[:：]\s*)?"
    r"(?:(?:th(?:is|e|at) (?:statement|claim|sentence) is|[这该此](?:个|句|道|种)?"
    r"(?:说法|话|命题|结论|判断|叙述|观点|题)是?)\s*(?P<said>true|false|correct|incorrect|wrong"
    r"|正确|错误|不正确|错|对|不对)(?:的|(?=[\s,.，。]))"
    r"|(?P<word>that(?:'s| is) (?:true|right|correct)(?=[,.!])"
    r"|(?:yes|no|true|false|[tf√×✓✗]|正确|错误|错|对|不对|不正确|否|是的|不是)(?=\s*[。.!！；;])"
    r"|(?:yes|no|true|false|[√×✓✗]|错误?|不对|否|是的?|不是|对的?|没错|正确|不正确)(?=\s*[,，]|\s+[-–—]\s)))",
    re.IGNORECASE,
)
_TRUTH_LAST = re.compile(
    r"\b(?:so|therefore|thus|hence),? \*{0,2}(?P<word>yes|no)\*{0,2}(?=\s*[,.])"
    r"(?!.*\n)",
    re.IGNORECASE,
)
"""A conclusion in the last line: "So no, it is not"."""
_TRUTH = re.compile(
    r"\b(?:yes|true|false|wait|actually|however)\b|但是|然而|不过|正确|错误|不对|更正",
    re.IGNORECASE,
)
"""Words after the first that may state something else."""
_CONDITION = re.compile(
    r"\s*[,，][^.。!！；;\n]*?(?:\b(?:but|only|unless|if|when|except|provided)\b|但|只有|除[非了]|如果|若|当)",
    re.IGNORECASE,
)
"""A condition in the sentence that begins with the word."""
_LAST_TEXT = re.compile(r"(?:[是为选]|\bis(?: the)?\b)\s*([^,，。.;；]{1,40})[。.!！]?\s*\Z")
_NEXT_QUESTION = re.compile(
    r"\n[ #*]{0,8}(?:Question|Problem|Exercise|Q|题目|问题|例题?)\s*\d*[\s*]*[:：]"
    r"|\s(?:Human|User|用户)\s?[:：]",
    re.IGNORECASE,
)
"""Where a base model goes on with another item of the kind it was shown."""
_BY_PLACE = re.compile(
    r"选(?:择|的是)?第[一二三四五]个?|第[一二三四五]个?(?:选项)?才?(?:是正确|是对|是答案|正确)"
    r"|(?:其余|其他|剩下的?)\S{0,4}?[全都均]选(?!项)|除了?\s?[A-J][^。；;]{0,10}外"
    r"|\b(?:right|correct|best|my) (?:answer|choice|option|one)\b[^.\n]{0,20}\bis (?:the )?"
    r"(?:first|second|third|fourth|last)\b",
    re.IGNORECASE,
)
"""Words that choose by place, or what is left: whatever letters stand beside them."""
_LEAST_OWN: Final = 20
"""Characters before a made-up question that may hold an answer."""
_LETTER_AND_TEXT = re.compile(
    rf"\W*(?P<letter>[{LETTERS}])[\s)）.、:：*]{{1,6}}(?P<text>[^\n。;；!！]{{1,80}}?)[.*\s]*(?:\Z|[\n。;；!！])"
)
_BARE_LETTER = re.compile(rf"\W*([{LETTERS}])\W*")
_LATER_THOUGHT = re.compile(r"<think(?:ing)?>(?s:.*?)(?:</think(?:ing)?>|\Z)", re.IGNORECASE)
_EITHER = re.compile(r"\d[\s$]*(?:或者?|\bor\b)[\s$]*(?:[a-zA-Z]\s*=\s*)?[-−]?\d")


class Reading(NamedTuple):
    """What an item says.

    ``response`` is what is shown of the response from ``begin`` on, where the reply begins after a
    thought, up to the end of the first repeat of a final loop (``looped``). ``found`` is the answer
    to which it comes, with its evidence and its place in ``response``; ``settled`` says
    whether that was chosen among several.
    """

    item: Item
    question: str
    references: tuple[Answer, ...]
    response: str
    begin: int
    looped: bool
    found: Found | None
    settled: Settled | None = None

    @property
    def kind(self) -> AnswerType:
        """The type of the reference."""
        return self.references[0].kind


class Decision(NamedTuple):
    """A verdict or None, its reason, and the answer and the reference by which it was made."""

    verdict: Verdict | None
    reason: str
    found: Found | None = None
    reference: Answer | None = None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def references_of(item: Item) -> tuple[Answer, ...]:
    """The accepted answers of an item, each read as its type."""
    question = asked(item)
    accepted = (answer for r in item.accepted for answer in reference_answers(r))
    return tuple(read(answer, answer_kind(item, answer), question) for answer in accepted)


def read_item(item: Item) -> Reading:
    """Read an item: its references, what its response shows, and the answer to which it comes."""
    question, references = asked(item), references_of(item)
    kind, begin = references[0].kind, after_thought(item.response)
    shown = _LATER_THOUGHT.sub(_blank, tidy(item.response[begin:]))
    once = without_loop(shown)
    response = shown if once is None else once
    found = find_answer(response, kind, answer_places(references[0].text, kind, question))
    first, own = found, None
    if found is None or found.how not in _SAID:
        found = _narrowed(response, found, kind, question)
    if found is not None and once is None and (found is first or kind is not AnswerType.NUMBER):
        own = settled(response, found, references, question)
        found = own.found or found if own else found
    return Reading(item, question, references, response, begin, once is not None, found, own)


def is_lettered(reading: Reading) -> bool:
    """Whether the answer found is the letter of an option, and the reference is none."""
    found = reading.found
    letter = _BARE_LETTER.fullmatch(found.answer) if found and reading.kind not in CHOICE else None
    return letter is not None and letter[1] in options(reading.question)


def as_choice(reading: Reading) -> Reading | None:
    """The same with the letter of the option whose text is the reference; None if there is none."""
    item, listed = reading.item, options(reading.question)
    if reading.kind in CHOICE or not listed or len(reading.references) > 1:
        return None
    letter = by_text(reading.references[0].text, listed)
    changed = {"reference": (letter,), "answer_type": AnswerType.SINGLE_CHOICE}
    return read_item(item.model_copy(update=changed)) if letter else None


def _narrowed(response: str, found: Found | None, kind: AnswerType, question: str) -> Found | None:
    """An answer that nothing announces, narrowed to what the question asks for.

    That is the number of a thing, the only option whose text is said, or a first word such as "No".
    """
    begun = None
    if kind is AnswerType.TRUE_FALSE:
        begun = _TRUTH_FIRST.match(response) or _TRUTH_LAST.search(response)
    if begun is not None and not (
        _TRUTH.search(response, begun.end()) or _CONDITION.match(response, begun.end())
    ):
        span = begun.span(begun.lastgroup or 0)
        found = Found(begun[begun.lastgroup or 0], *span, How.WHOLE, span)
    elif found is not None and kind is AnswerType.NUMBER:
        found = counted(response, found, question)
    elif found is not None and kind is AnswerType.SINGLE_CHOICE and len(response) <= _SENTENCE:
        texts = [plain(text) for text in options(question).values()]
        said = [text for text in texts if _NAMES.search(text) and text in plain(response)]
        if len(said) == 1 and not _NOT_PLAINLY.search(f"{response} {said[0]}"):
            found = found._replace(answer=said[0])
    return found


def without_comparison(reading: Reading) -> Decision | None:
    """What is decided before the answers are compared: there is none, or it is not its own."""
    response, found = reading.response, reading.found
    if says_nothing(response):
        return Decision(Verdict.INVALID, "response:empty")
    verbatim = response.strip() in {reference.text.strip() for reference in reading.references}
    reason = "" if verbatim else _no_answer(reading)
    if reason == REFUSAL and not declines_by_policy(response):
        return _declined(reading) or Decision(Verdict.INVALID, reason)
    if reason:
        return Decision(Verdict.INVALID, reason)
    if found is None:
        return Decision(None, NOT_FOUND)
    reason = _left_open(reading, found)
    return Decision(None, reason, found) if reason else None


def _has_another_text(response: str, found: Found, question: str) -> bool:
    """Whether the letter found stands before the text of another option: "(B) Saturn"."""
    listed = {letter: plain(text) for letter, text in options(question).items()}
    begin = response.rfind(found.answer, *found.clause)
    said = _LETTER_AND_TEXT.match(response, max(0, begin))
    named, ending = read(found.answer, AnswerType.SINGLE_CHOICE, question).value, ""
    if isinstance(named, Options) and (last := _LAST_TEXT.search(response)):
        ending = plain(last[1])
    texts = [(said["letter"], plain(said["text"]))] if said else []
    texts += [(letter, ending) for letter in (named.letters if isinstance(named, Options) else ())]
    return any(text and text in listed.values() and listed.get(letter, text) != text
               for letter, text in texts)  # fmt: skip


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


def _no_answer(reading: Reading) -> str:
    """The reason why the response is invalid; empty if it is not."""
    response, found, kind = reading.response, reading.found, reading.kind
    unsettled = found is None or found.how not in COMMITTED or found.how is How.WHOLE
    opened = unsettled or (found is not None and found.answer.startswith("\\boxed"))
    claimed = found.answer if found is not None and found.how in _SAID else response
    reason = ""
    if reading.looped and unsettled:
        reason = "response:loop"
    elif opened and kind not in _OFTEN_FIRST and cut_off(response):
        reason = "response:cut-off"
    elif leaves_open(claimed) or only_lists(claimed, reading.question):
        reason = "response:left-open"
    elif refuses(claimed):
        reason = REFUSAL
    return reason


def _declined(reading: Reading) -> Decision | None:
    """Where the reference says that there is no answer, or may say so; None where it does not."""
    response = reading.response
    denying = [r for r in reading.references if UNANSWERABLE.search(r.text)]
    means = UNANSWERABLE.search(response)  # needed where the reference is short
    same = next((r for r in denying if means or len(r.text) > _SHORT), None)
    reasoned = all(REASON.search(text) for text in (response, *(r.text for r in denying)))
    if same is not None and (takes_back(response) or hedges(response) or reasoned):
        return Decision(None, "response:not-its-own-answer")
    if same is not None:
        start = len(response) - len(response.lstrip())
        whole = Found(response.strip(), start, len(response.rstrip()), How.WHOLE, (0, 0))
        return Decision(Verdict.CORRECT, "text:unanswerable", whole, same)
    if reading.kind is AnswerType.TEXT and denies(r.text for r in reading.references):
        return Decision(None, "response:declines-and-reference-denies")
    return None


def _left_open(reading: Reading, found: Found) -> str:
    """The reason why the answer found is not the response's own or only one; empty if it is."""
    response, kind = reading.response, reading.kind
    asks_wrong = kind in CHOICE and _ASKS_WRONG.search(reading.question)
    if reading.settled is not None and reading.settled.found is None:
        return ONE_OF_SEVERAL
    if reading.settled is None and disowned(response, found):
        return "response:not-its-own-answer"
    if asks_wrong and said_right(response, found):
        return "choice:said-right-where-wrong-is-asked"
    if kind in CHOICE and found.how is not How.BOXED and _BY_PLACE.search(response):
        return "choice:not-by-letter"
    if kind in CHOICE and _has_another_text(response, found, reading.question):
        return "choice:letter-and-text-differ"
    more = _NEXT_QUESTION.search(response)
    if (
        more
        and len(response[: more.start()].strip()) > _LEAST_OWN
        and more.start() < found.clause[0]
    ):
        first = find_answer(response[: more.start()], kind)
        given = [read(one.answer, kind, reading.question).value for one in (first, found) if one]
        if len({*given}) > 1 or first is None:
            return "response:answers-another-question"
    either = kind is AnswerType.NUMBER and _EITHER.search(response, *found.clause)
    return ONE_OF_NUMBERS if either else ""
