"""The prompt of a teacher: the judge's own prompt after instructions and few-shot examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.chains.chain import (
    AGREE,
    ALSO,
    GIVES,
    GLOSS,
    KEY,
    NO_KEY,
    REFERENCE,
    WHY,
    PromptSettings,
    build_prompt,
    defuse,
)
from gradegpt.chains.fit import Budget
from gradegpt.chains.prompts import prompt_text
from gradegpt.chains.quote import MAX_QUOTE
from gradegpt.chains.shots import MOST, example_turns
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Message

FORMAT: Final = ChainFormat.CROSS_LINGUAL
INSTRUCTIONS: Final = prompt_text("teacher").format(
    key=KEY, also=ALSO, no_key=NO_KEY, gloss=GLOSS, reference=REFERENCE, gives=GIVES, why=WHY,
    agree=AGREE, types=", ".join(kind.words for kind in AnswerType), most=MAX_QUOTE,
)  # fmt: skip
SHOWN: Final = Budget()
"""Token budget of an item in the prompt, in estimated tokens."""


def build_messages(item: Item) -> tuple[Message, ...]:
    """The system message, two turns for each example, and the item as the judge sees it.

    All items are written by ``build_prompt``, which escapes untrusted text.
    """
    prompt = PromptSettings(chain_format=FORMAT, budget=SHOWN)
    system, last = build_prompt(item, prompt)
    told = system.model_copy(update={"content": f"{system.content}\n\n{INSTRUCTIONS}"})
    return (told, *example_turns(item, prompt, MOST), last)


def gloss_messages(quote: str) -> tuple[Message, ...]:
    """The request for the English of one quote."""
    text = defuse(quote).replace("</text>", "‹/text>")
    return (
        Message(role="system", content=prompt_text("gloss")),
        Message(role="user", content=f"<text>{text}</text>"),
    )


def again(messages: Sequence[Message], reply: str, reason: str) -> tuple[Message, ...]:
    """The request to write a reply anew that could not be used."""
    what = _WRONG.get(reason, "It is not in the form asked for.")
    asked = f"{what} Write the whole reply again, in exactly the form asked for."
    turns = (Message(role="assistant", content=reply or "…"), Message(role="user", content=asked))
    return (*messages, *turns)


_WRONG: Final = {
    "teacher:quote-not-verbatim": "A quote is not in the model response character for character.",
    "teacher:answer-not-in-quote": "The answer is not in the words of the quotes.",
    "teacher:unknown-type": "The type is none of the list.",
    "teacher:gloss": "It is no faithful translation: numbers, letters, names or formulas differ, "
    "or it has Chinese characters.",
}
"""What a model is told of its reply, by the reason why it was rejected."""
