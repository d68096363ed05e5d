"""The prompt and the chain: rendered and parsed here and nowhere else.

The structure follows CMMaTH, section 4, figure 9 and table 7: the prompt holds question, reference
answer and model response; the chain holds the key sentences, their English glosses, the type of the
reference answer, the answer found, the reason and the tag ``<Yes>`` or ``<No>``. The tag is last as
in the paper, or first: then one token is the verdict, and the chain explains the verdict given. The
words are our own. ``tests/golden/`` holds the exact text; training and serving use the same prompt.

Untrusted text is defused: a ``<`` that opens a frame or a verdict tag becomes ``‹``, one character
for one, so nothing in a response can close its frame or be read as a verdict, and offsets into the
response stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from gradegpt.chains.fit import Budget, Counter, cost, fit_middle, fit_response
from gradegpt.chains.prompts import prompt_text
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Message, Outcome, Row, Verdict
from gradegpt.core.settings import Settings

YES: Final = "<Yes>"
NO: Final = "<No>"

TagPlace = Literal["last", "first"]
"""Where the verdict tag stands in a chain."""
SYSTEM: Final = {
    (one, place): prompt_text(one if one is ChainFormat.OUTCOME else f"{one}.{place}")
    for one in ChainFormat
    for place in ("last", "first")
}

KEY: Final = "The model response gives its answer here: "
ALSO: Final = "And here: "
NO_KEY: Final = "The model response gives no answer that can be graded."
GLOSS: Final = "In English: "
REFERENCE: Final = "The reference answer "
GIVES: Final = "; the model response gives "
WHY: Final = "Reason: "
AGREE: Final = "The answers agree: "
MAX_WHY: Final = 200
"""Most characters of a reason."""
RESPONSE: Final = "Model Response: <response>\n"
"""The text before the response in a prompt. Prompts for one question are equal up to its end."""
_NO_ANSWER = "none"

OWN_TAG: Final = re.compile(r"(?i)</?(?:yes|no|question|reference|response|context)>")
"""The frames and verdict tags of prompts and chains."""
_OPENS_A_FRAME = re.compile(
    r"<(?=\s*/?\s*(?:yes|no|question|reference|response|context|s|[be]os(?:_token)?|pad|unk|mask|sop"
    r"|eop|(?:start|begin(?:ning)?|end)_of_\w{1,20}|(?:image|audio)_soft_token|im_(?:start|end)|用户"
    r"|AI|(?:reserved|unused|special|extra_id)_?\d+|(?:longcat_|tool_|(?:seed|minimax):)\w{1,20}"
    r"|role|arg_(?:key|value)|_(?:user|bot|start|end))\s*>"
    r"|[|｜]|</?SYS>>|\w{1,20}[|｜]>)"
    r"|\[(?=/?(?:INST|[gs]?MASK|CLS|SEP|PAD|UNK|[BE]OS|THINK|IMG\w{0,6}|(?:BEGIN_)?AUDIO|UNUSED\d+"
    r"|SYSTEM_PROMPT|MODEL_SETTINGS|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|ARGS|CALL_ID"
    r"|\|(?:system|user|assistant|tool|endofturn)\|)\]|e~\[)|\](?=~!?b[\[\]]|![dp]~\[)",
    re.IGNORECASE,
)
"""What opens a frame of the prompt, a verdict tag, or a control token of a model's template."""
_ALIKE: Final = {"<": "‹", "[": "［", "]": "］"}
_CJK = re.compile(r"[\u3400-\u9fff]")
# `(\w*)` rather than `(Yes|No)`: a narrower group would let an off-menu last tag backtrack to one
# that the reasoning mentions.
_LAST_TAG = re.compile(r"(?s).*<(\w*)>[\s.。]*\Z")
_FIRST_TAG = re.compile(r"\s*<(Yes|No)>(?:\s|\Z)")
_COMPARISON = re.compile(
    r"^The reference answer (?P<reference>.*) is an? (?P<type>[a-z ]+); "
    r"the model response gives (?P<answer>.*)\.$",
    re.MULTILINE,
)
# Defused text holds no closing tag, so the first one is the right one, and the atomic groups
# never try another: without them a crafted prompt of 20 kB takes seconds, by backtracking.
_FRAME = re.compile(
    r"Question: <question>\n(?>(?P<question>.*?)\n</question>\n)"
    r"(?:Context: <context>\n(?>(?P<context>.*?)\n</context>\n))?"
    r"Reference Answer: <reference>\n"
    r"(?>(?P<references>.*?)\n</reference>\n" + RESPONSE + r")"
    r"(?>(?P<response>.*?)\n</response>\n)Judgment Result:",
    re.DOTALL,
)
_NEXT_REFERENCE: Final = "\n</reference> or <reference>\n"


class PromptSettings(Settings):
    """How a prompt is made of an item. Stored with the weights that were trained with it."""

    chain_format: ChainFormat = ChainFormat.CROSS_LINGUAL
    verdict: TagPlace = "last"
    """Where the tag stands; where it is first, a judge not asked for reasons writes it alone."""
    budget: Budget = Budget()


class Chain(Row):
    """The parts of a chain. Without ``quotes`` the response has no gradable answer.

    ``glosses`` are as many as ``quotes``, or none; one is empty where its quote has no Chinese.
    ``why`` is the reason: a clause in English that says what agrees or differs.
    """

    verdict: Verdict
    quotes: tuple[str, ...] = ()
    glosses: tuple[str, ...] = ()
    reference_answer: str = ""
    answer_type: AnswerType | None = None
    answer: str | None = None
    why: str = ""

    @property
    def key_sentence(self) -> str | None:
        """The quotes, a line each."""
        return "\n".join(self.quotes) or None

    @property
    def is_glossed(self) -> bool:
        """Whether each Chinese quote has a gloss."""
        glosses = self.glosses or ("",) * len(self.quotes)
        pairs = zip(self.quotes, glosses, strict=True)
        return all(gloss or not needs_gloss(quote) for quote, gloss in pairs)


class ParsedChain(Row):
    """The result of parsing a judge's text: ``judged`` with a chain, or ``unparsed`` without."""

    outcome: Outcome
    chain: Chain | None = None
    reason: str = ""


def defuse(text: str) -> str:
    """Replace by ``‹``, ``［`` or ``］`` what could open a frame, a verdict tag or a control token.

    The length stays the same.
    """
    return _OPENS_A_FRAME.sub(lambda sign: _ALIKE[sign[0]], text)


def build_prompt(
    item: Item, settings: PromptSettings, count: Counter | None = None
) -> tuple[Message, ...]:
    """The one function that makes a prompt, for training, evaluation and serving.

    Texts are fitted by the estimate of ``chains.fit``, or by ``count``, which counts the tokens
    of a judge's own tokenizer, where the estimate is far too low.
    """
    # Of the defused text: the replacement of a ``<`` may take more tokens.
    budget, seen = settings.budget, None if count is None else lambda text: count(defuse(text))
    references = " or ".join(_references(item, budget.reference, seen))
    question = defuse(fit_middle(item.question, budget.question, seen))
    context = defuse(fit_middle(item.context or "", budget.question, seen))
    framed = f"Context: <context>\n{context}\n</context>\n" if item.context else ""
    response = defuse(fit_response(item.response, budget.response, seen))
    user = (
        f"Question: <question>\n{question}\n</question>\n{framed}"
        f"Reference Answer: {references}\n{RESPONSE}{response}\n</response>\nJudgment Result:"
    )
    system = Message(role="system", content=SYSTEM[settings.chain_format, settings.verdict])
    return system, Message(role="user", content=user)


def _references(item: Item, budget: int, count: Counter | None) -> Iterator[str]:
    """The accepted answers in their frames, as many as fit into four budgets.

    Those that occur in the response are first.
    """
    left = 4.0 * budget
    for index, reference in enumerate(_occurring_first(item.accepted, item.response)):
        framed = f"<reference>\n{defuse(fit_response(reference, budget, count))}\n</reference>"
        left -= cost(framed, count)
        if index and left < 0:
            return
        yield framed


def _occurring_first(accepted: Sequence[str], response: str) -> list[str]:
    """The answers that occur in the response, the longest first, then the others."""
    text = " ".join(response.casefold().split())

    def occurring_length(answer: str) -> int:
        words = " ".join(answer.casefold().split())
        return len(words) if words in text else 0

    return sorted(accepted, key=occurring_length, reverse=True)


def parse_prompt(messages: Sequence[Message]) -> Item | None:
    """The item in a GradeGPT prompt, or none if the last message is not one."""
    match = _FRAME.fullmatch(messages[-1].content) if messages else None
    parts = match.groupdict() if match else {}
    references = tuple(parts.pop("references", "").split(_NEXT_REFERENCE))
    return Item(**parts, reference=references) if all(r.strip() for r in references) else None


def needs_gloss(key_sentence: str) -> bool:
    """Whether a quoted sentence contains Chinese: the cross-lingual format then has a gloss."""
    return bool(_CJK.search(key_sentence))


def render_chain(chain: Chain, chain_format: ChainFormat, place: TagPlace = "last") -> str:
    """The text a judge writes. ``invalid`` is a ``<No>`` with the line ``NO_KEY``.

    Raises:
        ValueError: a cross-lingual chain whose Chinese quote has no gloss.

    """
    tag = YES if chain.verdict is Verdict.CORRECT else NO
    if chain_format is ChainFormat.OUTCOME:
        return tag
    glossed = chain_format is ChainFormat.CROSS_LINGUAL
    if glossed and not chain.is_glossed:
        raise ValueError(f"gloss: missing for {chain.quotes}; the cross-lingual format needs one")
    lines = [] if chain.quotes else [NO_KEY]
    for number, quote in enumerate(chain.quotes):
        lines.append(f"{ALSO if number else KEY}{on_one_line(quote)}")
        if glossed and needs_gloss(quote):
            lines.append(f"{GLOSS}{on_one_line(chain.glosses[number])}")
    given = f"{type_clause(chain.answer_type)}{on_one_line(chain.answer or _NO_ANSWER)}"
    lines.append(f"{REFERENCE}{on_one_line(chain.reference_answer)}{given}.")
    if why := as_reason(chain.why):
        lines.append(f"{WHY}{why}.")
    return "\n".join([tag, *lines] if place == "first" else [*lines, f"{AGREE}{tag}"])


def as_reason(text: str) -> str:
    """The text as a reason is written: one line, without ``<`` and the full stop at its end."""
    worded = re.sub(r"\s*<\s*", " is less than ", text.replace("<=", "≤"))
    return on_one_line(worded)[:MAX_WHY].rstrip(" .。")


def type_clause(kind: AnswerType | None) -> str:
    """The words between the two answers of a comparison."""
    words = (kind or AnswerType.TEXT).words
    return f" is {'an' if words[0] in 'aeiou' else 'a'} {words}{GIVES}"


def parse_chain(text: str) -> ParsedChain:
    """Read a judge's text.

    The verdict is the tag that ends the text or begins it; where both do, they have to be equal.
    Anything but ``<Yes>`` and ``<No>`` is unparsed, but behind a first tag it is text: an answer
    may be ``list<int>``. The verdict needs the tag alone; the other parts are read where they are
    as ``render_chain`` writes them, and are empty elsewhere.
    """
    tags = [match[1] for tag in (_FIRST_TAG, _LAST_TAG) if (match := tag.match(text))]
    tags = tags[:1] if tags[1:] and tags[1] not in ("Yes", "No") else tags
    if len({*tags}) != 1 or tags[-1] not in ("Yes", "No"):
        found = f"the last tag is <{tags[-1]}>" if tags else "no verdict tag"
        return ParsedChain(outcome=Outcome.UNPARSED, reason=f"chain:{found}")
    # Not splitlines(): a quote may hold a form feed, from an unescaped "\frac".
    lines = text.strip().split("\n")
    lines = lines[1:] if _FIRST_TAG.match(text) else lines
    quotes, glosses = _quotes_of(lines)
    comparison = _COMPARISON.search(text)
    verdict = Verdict.CORRECT if tags[0] == "Yes" else Verdict.INCORRECT
    if verdict is Verdict.INCORRECT and NO_KEY in lines[:1]:
        verdict = Verdict.INVALID
    reference, words, answer = comparison.groups() if comparison else ("", "", None)
    reasons = (line.removeprefix(WHY) for line in lines[-2:] if line.startswith(WHY))
    chain = Chain(
        verdict=verdict,
        quotes=quotes,
        glosses=glosses,
        reference_answer=reference,
        answer_type=next((one for one in AnswerType if one == words.replace(" ", "_")), None),
        answer=None if answer == _NO_ANSWER and not quotes else answer,
        why=next(reasons, "").removesuffix("."),
    )
    return ParsedChain(outcome=Outcome.JUDGED, chain=chain)


def _quotes_of(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The quotes at the beginning of a chain, and their glosses; no glosses where none has one."""
    quotes, glosses = list[str](), list[str]()
    for line in lines:
        if line.startswith(ALSO if quotes else KEY):
            quotes.append(line.removeprefix(ALSO if quotes else KEY))
            glosses.append("")
        elif quotes and not glosses[-1] and line.startswith(GLOSS):
            glosses[-1] = line.removeprefix(GLOSS)
        else:
            break
    return tuple(quotes), tuple(glosses) if any(glosses) else ()


def on_one_line(text: str) -> str:
    """The text, defused, with one blank for each run of white space."""
    return " ".join(defuse(text).split())
