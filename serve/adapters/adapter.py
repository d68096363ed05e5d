"""One family of callers: how its prompts are recognised, and how replies are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from pydantic import ValidationError

from gradegpt.errors import EngineError, EngineTimeoutError, InputError
from gradegpt.mistakes import complaints
from gradegpt.schema import Item, Judgement, Message, Outcome, Verdict

from .frame import Frame, Framed, mark
from .reply import Reply, Writer, placed

Fields = Mapping[str, str]
WhenUndecided = Literal["incorrect", "guess", "error"]


class PromptError(InputError):
    """A prompt that no family recognises, that several claim, or that cannot be judged."""

    code = "unknown_prompt"


class NoVerdictError(InputError):
    """There is no verdict, and the caller's parser has no reply for that."""

    code = "no_verdict"


def item_of(fields: Fields) -> Item:
    """The item of the fields ``question``, ``reference`` and ``response``."""
    return Item(
        question=fields.get("question", ""),
        reference=(fields["reference"],),
        response=fields["response"],
    )


@dataclass(frozen=True)
class Adapter:
    r"""A family: the prompts that it sends and the replies that it parses.

    Args:
        name: One word in lower case, unique.
        callers: The programs that send such prompts.
        frames: The positions of the fields; each variant of the prompt has its own frame.
        write: Writes the reply for a judgement.
        example: A prompt of this family in our own words, with ``{question}``, ``{reference}`` and
            ``{response}`` for the fields of an item. A text, or a system and a user message.
        tags: Marks that the prompt must have outside its fields (``frame.mark``).
        without: Marks that it must not have, to distinguish families with the same frame.
        options: Patterns with one group, searched outside the fields, for what a caller may
            choose, such as its word for ``correct``; they become fields.
        item: Makes the item of the fields.
        extract: Instead of judging, returns the answer in the response.
        schema: The JSON schema of a reply when ``response_format`` requests one.
        write_json: Writes the reply in that case.
        reasoning_content: Whether reasons may be sent in this field: OpenCompass joins the two
            texts and parses the first letter.
        refuses: Why a prompt of this family cannot be judged, and what to do; such a family is
            recognised only for this error message.
        trials: The trials that a template of one's own has passed (``custom``).

    """

    name: str
    callers: str
    frames: tuple[Frame, ...]
    write: Writer
    example: str | tuple[str, str]
    tags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    item: Callable[[Fields], Item] = item_of
    extract: Callable[[Fields], str] | None = None
    schema: Mapping[str, Any] | None = None
    write_json: Writer | None = None
    reasoning_content: bool = True
    refuses: str = ""
    trials: tuple[str, ...] = ()

    def read(self, text: str) -> Ask | None:
        """The request in ``text``, if it is a prompt of this family."""
        for frame in self.frames:
            framed = frame.read(text)
            if framed is not None and self._is_ours(framed.rest):
                found = {name: mark(p).search(framed.rest) for name, p in self.options.items()}
                chosen = {name: match[1] for name, match in found.items() if match}
                return Ask(self, framed, {**framed.fields, **chosen})
        return None

    def prompt(self, question: str, reference: str, response: str) -> tuple[Message, ...]:
        """The example prompt with the given fields."""
        values = {"question": question, "reference": reference, "response": response}
        texts = (self.example,) if isinstance(self.example, str) else self.example
        roles = ("user",) if len(texts) == 1 else ("system", "user")
        return tuple(
            Message(role=role, content=placed(text, values))
            for role, text in zip(roles, texts, strict=True)
        )

    def _is_ours(self, rest: str) -> bool:
        return all(mark(tag).search(rest) for tag in self.tags) and not any(
            mark(tag).search(rest) for tag in self.without
        )


class Ask(NamedTuple):
    """A recognised prompt: its family and its fields."""

    adapter: Adapter
    framed: Framed
    fields: Fields
    read: Mapping[str, Any] | None = None
    """What the general reader found: the labels of the fields, and the replies."""

    def item(self) -> Item:
        """The item to judge.

        Raises:
            PromptError: a required field is empty, or the family cannot be judged.

        """
        if self.adapter.refuses:
            raise PromptError(f"{self.adapter.name}: {self.adapter.refuses}")
        try:
            return self.adapter.item(self.fields)
        except ValidationError as error:
            where = f"a prompt of {self.adapter.name} ({self.adapter.callers})"
            raise PromptError(f"{where}: {'; '.join(complaints(error))}") from error

    def extraction(self) -> Reply | None:
        """The reply of a family that asks for the answer and no verdict; None for all others."""
        return Reply(self.adapter.extract(self.fields)) if self.adapter.extract else None

    def reply(
        self, judgement: Judgement, *, undecided: WhenUndecided = "error", as_json: bool = False
    ) -> Reply:
        """The reply that the caller's parser reads as ``judgement``.

        Args:
            judgement: The judgement of ``item()``.
            undecided: The reply without a verdict where the caller has no reply for that
                (``verdict_without``).
            as_json: Whether the reply follows the family's JSON schema.

        Raises:
            EngineError: the judge's engine failed.
            NoVerdictError: there is no verdict, and ``undecided`` is ``error``.

        """
        if judgement.outcome is Outcome.FAILED:
            timeout = judgement.reason.startswith("engine:timeout")
            raise (EngineTimeoutError if timeout else EngineError)(judgement.reason)
        write = self.adapter.write_json if as_json else self.adapter.write
        if write is None:
            raise PromptError(f"{self.adapter.name}: has no JSON reply; leave response_format out")
        reply = write(judgement, self.fields)
        replied = str(judgement.verdict or Outcome.UNDECIDED)
        if reply is None:
            verdict = verdict_without(judgement, undecided, self.adapter.name)
            replied = verdict.value
            # Without its chain, which gives reasons for a verdict that the judge did not reach.
            judged = {"outcome": Outcome.JUDGED, "verdict": verdict, "withheld": None}
            reply = write(judgement.model_copy(update={**judged, "chain": None}), self.fields)
            assert reply is not None  # every family has a reply for every verdict
        why = reply.why if self.adapter.reasoning_content else ""
        return reply._replace(why=why, replied=replied)


def verdict_without(judgement: Judgement, undecided: WhenUndecided, where: str) -> Verdict:
    """The verdict to reply where ``judgement`` has none: incorrect, or the withheld verdict.

    ``guess`` is the verdict that the judge withheld as too uncertain, or else ``incorrect``.

    Raises:
        NoVerdictError: ``undecided`` is ``error``.

    """
    match undecided:
        case "incorrect":
            return Verdict.INCORRECT
        case "guess":
            return judgement.withheld or Verdict.INCORRECT
        case "error":
            raise NoVerdictError(
                f"{where}: no verdict was reached ({judgement.outcome.value}, {judgement.reason}), "
                "and the caller has no reply for that; start the server with undecided=incorrect "
                "to count it as wrong, or with undecided=guess for the judge's withheld verdict"
            )


def frames_of(messages: Sequence[Message]) -> str:
    """The text of a conversation, without the chat markup around raw prompts."""
    text = "\n\n".join(message.content for message in messages)
    inside = _HEAD.sub("", text, count=1)
    cut = max(0, len(inside) - _LONGEST_TAIL)
    return (inside[:cut] + _TAIL.sub("", inside[cut:], count=1)).removesuffix("/no_think")


_LONGEST_TAIL: Final = 1_000
"""Characters at the end of a prompt that the markup of a chat template may take."""
# Possessive: a run of blanks is read once, however long.
_HEAD: Final = re.compile(
    r"\A\s*+(?:(?:<s>|<bos>|<\|begin_of_text\|>)\s*+)?"
    r"(?:<\|im_start\|>\w+\s|<\|start_header_id\|>\w+<\|end_header_id\|>|<start_of_turn>\w+\s"
    r"|\[INST\]|(?:User|USER|Human|HUMAN|用户)\s*[:：])\s*"
)
_TAIL: Final = re.compile(
    r"(?<!\s)\s*+(?:(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>)\s*+)?"
    r"(?:<\|im_start\|>\w+|<\|start_header_id\|>\w+<\|end_header_id\|>|<start_of_turn>\w+"
    r"|\[/INST\]|(?:Assistant|ASSISTANT|助手)\s*+[:：])"
    r"(?:\s*+<think>\s*+(?:</think>)?)?\s*+\Z"
)
