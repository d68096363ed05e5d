"""The prompt of a teacher: the judge's own prompt after instructions and few-shot examples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import yaml

from gradegpt.chains.chain import (
    AGREE,
    ALSO,
    GIVES,
    GLOSS,
    KEY,
    NO_KEY,
    REFERENCE,
    SYSTEM,
    WHY,
    PromptSettings,
    build_prompt,
    defuse,
)
from gradegpt.chains.fit import Budget
from gradegpt.chains.prompts import prompt_text
from gradegpt.chains.quote import MAX_QUOTE
from gradegpt.core.records import validate
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Message, Row

from ..phrases import TEXT

FORMAT: Final = ChainFormat.CROSS_LINGUAL
INSTRUCTIONS: Final = prompt_text("teacher").format(
    key=KEY, also=ALSO, no_key=NO_KEY, gloss=GLOSS, reference=REFERENCE, gives=GIVES, why=WHY,
    agree=AGREE, types=", ".join(kind.words for kind in AnswerType), most=MAX_QUOTE,
)  # fmt: skip
SHOWN: Final = Budget()
"""Token budget of an item in the prompt, in estimated tokens."""


class FewShot(Row):
    """A few-shot example: an item, and its chain exactly as ``render_chain`` writes it."""

    question: str
    reference: str
    response: str
    chain: str

    @property
    def item(self) -> Item:
        """The example as an item."""
        return Item(question=self.question, reference=(self.reference,), response=self.response)


@cache
def examples() -> tuple[FewShot, ...]:
    """The examples of ``few_shot.yaml``."""
    text = (TEXT / "few_shot.yaml").read_text(encoding="utf-8")
    loaded = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  BaseLoader makes strings only
    return tuple(validate(FewShot, example, "few_shot.yaml") for example in loaded)


def build_messages(item: Item) -> tuple[Message, ...]:
    """The system message, two turns for each example, and the item as the judge sees it.

    All items are written by ``build_prompt``, which escapes untrusted text.
    """
    prompt = PromptSettings(chain_format=FORMAT, budget=SHOWN)
    system = Message(role="system", content=f"{SYSTEM[FORMAT, 'last']}\n\n{INSTRUCTIONS}")
    turns = [
        message
        for example in examples()
        for message in (
            build_prompt(example.item, prompt)[-1],
            Message(role="assistant", content=example.chain),
        )
    ]
    return (system, *turns, build_prompt(item, prompt)[-1])


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
