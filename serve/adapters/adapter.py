"""One family of callers: how its prompts are known, and how it is answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from pydantic import ValidationError

from gradegpt.errors import EngineError, EngineTimeoutError, InputError
from gradegpt.judges.calibration import BELOW_THRESHOLD
from gradegpt.records import complaints
from gradegpt.schema import Item, Judgement, Message, Outcome, Verdict

from .frame import Frame, Framed, mark, shown
from .reply import Reply, Writer, placed

Fields = Mapping[str, str]
WhenUndecided = Literal["refuse", "incorrect"]


class PromptError(InputError):
    """A prompt that no family knows, that several claim, or that cannot be judged."""

    code = "unknown_prompt"


class NoVerdictError(InputError):
    """Nothing was decided, and the caller's parser reads whatever it gets as a verdict."""

    code = "no_verdict"


def item_of(fields: Fields) -> Item:
    """The item of fields that are called ``question``, ``reference`` and ``response``."""
    return Item(
        question=fields.get("question", ""),
        reference=(fields["reference"],),
        response=fields["response"],
    )


@dataclass(frozen=True)
class Adapter:
    r"""A family: what it sends and what it reads.

    Args:
        name: One word in lower case, unique.
        callers: Who sends such prompts.
        frames: Where the fields stand; variants of the prompt have one each.
        write: What its parser reads for a judgement.
        example: A prompt of this family in our own words; ``{question}``, ``{reference}`` and
            ``{response}`` stand for an item's. A text, or a system and a user message.
        tags: What must also stand in the prompt, outside of its fields (``frame.mark``).
        without: What must not: it tells the family from another of the same frame.
        options: Patterns with one group, looked for outside of the fields: what a caller may
            choose, such as the word that it wants for ``correct``; they become fields.
        item: The item of the fields.
        extract: Instead of judging: the answer in the response, for callers who want just that.
        schema: The JSON schema that a reply follows when ``response_format`` asks for one.
        write_json: What is written then.
        aside: Whether the reasons may go beside the content, as ``reasoning_content``: OpenCompass
            reads the two as one text, and its first letter.
        refuses: Why a prompt of this family cannot be judged, and what to do: it is told apart
            only so that the caller learns that.

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
    aside: bool = True
    refuses: str = ""

    def read(self, text: str) -> Ask | None:
        """What ``text`` asks, if it is of this family."""
        for frame in self.frames:
            framed = frame.read(text)
            if framed is not None and self._is_ours(framed.rest):
                found = {name: mark(p).search(framed.rest) for name, p in self.options.items()}
                chosen = {name: match[1] for name, match in found.items() if match}
                return Ask(self, framed, {**framed.fields, **chosen})
        return None

    def missing(self, text: str) -> tuple[float, list[str]]:
        """The share of this family's marks that ``text`` lacks, at best, and which."""
        tags = [tag for tag in map(mark, self.tags) if tag.search(text) is None]
        best = min((frame.missing(text), len(frame.marks)) for frame in self.frames)
        lacks = [*best[0], *map(shown, tags)]
        return len(lacks) / (best[1] + len(self.tags)), lacks

    def prompt(self, question: str, reference: str, response: str) -> tuple[Message, ...]:
        """The example around an item of one's own."""
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
    """A prompt that was understood: whose it is, and what stands in it."""

    adapter: Adapter
    framed: Framed
    fields: Fields

    def item(self) -> Item:
        """What is to be judged.

        Raises:
            PromptError: a field is empty that must not be, or the family cannot be served.

        """
        if self.adapter.refuses:
            raise PromptError(f"{self.adapter.name}: {self.adapter.refuses}")
        try:
            return self.adapter.item(self.fields)
        except ValidationError as error:
            where = f"a prompt of {self.adapter.name} ({self.adapter.callers})"
            raise PromptError(f"{where}: {'; '.join(complaints(error))}") from error

    def extraction(self) -> Reply | None:
        """The reply of a family that wants the answer and no verdict; none for all others."""
        return Reply(self.adapter.extract(self.fields)) if self.adapter.extract else None

    def reply(
        self, judgement: Judgement, *, undecided: WhenUndecided = "refuse", as_json: bool = False
    ) -> Reply:
        """What the caller's parser reads as ``judgement``.

        Args:
            judgement: The judgement of ``item()``.
            undecided: What to do where nothing was decided and the caller has no word for that:
                refuse, or say that the response is incorrect.
            as_json: By the family's JSON schema.

        Raises:
            EngineError: the judge could not be asked.
            NoVerdictError: nothing was decided, and ``undecided`` refuses.

        """
        if judgement.outcome is Outcome.FAILED:
            timeout = judgement.reason.startswith("engine:timeout")
            raise (EngineTimeoutError if timeout else EngineError)(judgement.reason)
        write = self.adapter.write_json if as_json else self.adapter.write
        if write is None:
            raise PromptError(f"{self.adapter.name}: has no JSON form; leave response_format out")
        reply = write(judgement, self.fields)
        if reply is None and undecided == "incorrect":
            wrong = {"outcome": Outcome.JUDGED, "verdict": Verdict.INCORRECT}
            reply = write(judgement.model_copy(update=wrong), self.fields)
        if reply is None:
            abstains = judgement.reason.startswith(BELOW_THRESHOLD)
            raise NoVerdictError(
                f"{judgement.outcome.value} ({judgement.reason}), and {self.adapter.name} has no "
                "word for that; start the server with undecided=incorrect to count it as wrong"
                + (", or with judge.abstain=false to let the model guess" if abstains else "")
            )
        return reply if self.adapter.aside else reply._replace(why="")


def frames_of(messages: Sequence[Message]) -> str:
    """The text of a conversation, without what raw prompts wrap around it."""
    text = "\n\n".join(message.content for message in messages)
    inside = _TAIL.sub("", _HEAD.sub("", text, count=1), count=1)
    return inside.removesuffix("/no_think")


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
