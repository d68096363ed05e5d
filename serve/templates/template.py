"""A caller's prompt and its reply as data: how it is recognised, read and answered.

    name: acme
    system: You compare answers.          # optional
    template: |
      Question: {question}
      Reference: {reference}
      Response: {response}
      Reply PASS or FAIL.
    reply: {correct: PASS, incorrect: FAIL}

``trials`` tries a template of one's own before it is used.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator

from gradegpt.core.errors import EngineError, EngineTimeoutError, InputError
from gradegpt.core.mistakes import complaints
from gradegpt.core.schema import Item, Judgement, Message, Outcome, Verdict
from gradegpt.core.settings import Settings

from .code import CODE, PromptError
from .frame import Frame, Framed, frame_of, frames_of, mark
from .reply import Fields, ReplySettings, WrittenReply, placed

FIELD: Final = re.compile(r"\{([a-z]{2}\w*)\}")
"""A field in the text of a template; ``{A}`` and the ``{2}`` of a fraction are text."""
_NEEDED: Final = ("reference", "response")
WhenUndecided = Literal["incorrect", "guess", "refuse"]


class NoVerdictError(InputError):
    """There is no verdict, and the caller's parser has no reply for that."""

    code = "no_verdict"


class Template(Settings):
    r"""A caller's prompt and its reply.

    ``template`` is the text as it is sent, with ``{reference}``, ``{response}`` and, where it has
    one, ``{question}``; any other ``{name}`` stands for text that changes and is not read.

    A prompt whose other text changes too is recognised by ``frames``, and ``template`` is an
    example of it. A frame has the marks between the fields (``frame.frame_of``); each variant of
    the prompt has its own. ``tags`` are marks that the prompt must have outside its fields, and
    ``without`` such that it must not have, to distinguish templates with the same frame.
    ``options`` are patterns that are searched outside the fields for what a caller may choose, such
    as its word for ``correct``; what their group matches becomes a field.

    ``callers`` are the programs that send such prompts. ``reasoning_content`` is whether reasons
    may be sent in this field: OpenCompass joins the two texts and parses the first letter.
    ``refuses`` is why such a prompt cannot be judged, and what to do, always or ``when`` its fields
    match these patterns. ``code`` names what is done in code (``code.CODE``).
    """

    command: ClassVar[str] = "serve.template"
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    callers: str = "a template of this server's settings"
    template: str
    system: str = ""
    frames: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    options: dict[str, str] = Field(default_factory=dict)
    reply: ReplySettings | None = None
    reasoning_content: bool = False
    refuses: str = ""
    when: dict[str, str] = Field(default_factory=dict)
    code: str = ""

    @model_validator(mode="after")
    def _has_fields(self) -> Self:
        if self.code not in CODE:
            raise ValueError(f"code: {self.code!r} is unknown; known are {', '.join(CODE)[2:]}")
        if any(f"{{{{{name}}}}}" in self.template for name in ("question", *_NEEDED)):
            raise ValueError(
                "template: has doubled braces; write the text as it is sent: {question}"
            )
        names = [piece[1:-1] for piece in self.pieces() if FIELD.fullmatch(piece)]
        for name in ("question", *_NEEDED):
            if names.count(name) > 1:
                raise ValueError(f"template: {{{name}}} occurs twice; it may occur once")
        missing = [name for name in _NEEDED if name not in names]
        if self.judges and missing:
            raise ValueError(f"template: has no {{{missing[0]}}}")
        for pattern in (*self.tags, *self.without, *self.options.values(), *self.when.values()):
            mark(pattern)
        _ = self._read_by  # an error where a frame is none
        if self.judges and self.reply is None:
            raise ValueError("reply: a template needs the reply for each verdict")
        return self

    def pieces(self) -> list[str]:
        """The fields, in braces, and the texts between them, in order."""
        messages = [Message(role="user", content=p) for p in (self.system, self.template) if p]
        text = frames_of(messages)  # as every prompt is read
        return [piece for piece in re.split(r"(\{[a-z]{2}\w*\})", text) if piece.strip()]

    @property
    def judges(self) -> bool:
        """Whether its prompts are judged, not refused, and not answered otherwise."""
        return (not self.refuses or bool(self.when)) and CODE[self.code].extract is None

    @property
    def json_schema(self) -> dict[str, Any] | None:
        """The JSON schema of a reply when ``response_format`` requests one."""
        return self.reply.schema_of_object if self.reply else None

    @cached_property
    def _read_by(self) -> list[Frame]:
        if self.frames:
            return [frame_of(frame) for frame in self.frames]
        return [Frame(*(p if FIELD.fullmatch(p) else literal(p) for p in self.pieces()))]

    def read(self, text: str) -> Ask | None:
        """The request in ``text``, if it is a prompt of this template."""
        for frame in self._read_by:
            framed = frame.read(text)
            if (
                framed is not None
                and all(mark(tag).search(framed.rest) for tag in self.tags)
                and not any(mark(tag).search(framed.rest) for tag in self.without)
            ):
                found = {name: mark(p).search(framed.rest) for name, p in self.options.items()}
                chosen = {name: match[match.re.groups] for name, match in found.items() if match}
                return Ask(self, framed, {**framed.fields, **chosen})
        return None

    def prompt(self, question: str, reference: str, response: str) -> tuple[Message, ...]:
        """The text of the template with the given fields."""
        values = {"question": question, "reference": reference, "response": response}
        texts = {"system": self.system, "user": self.template}
        return tuple(
            Message(role=role, content=placed(text, values)) for role, text in texts.items() if text
        )

    def write(
        self, judgement: Judgement, fields: Fields, *, as_json: bool = False
    ) -> WrittenReply | None:
        """The reply for a judgement; None where it has no verdict, and there is none for that."""
        code = CODE[self.code]
        if code.write is not None:
            return code.write(judgement, fields)
        more = code.values(judgement, fields)
        reply = self.reply
        return reply.write(judgement, fields, more, as_json=as_json) if reply else None


def literal(text: str) -> str:
    """A mark for a text of a template, in which line breaks may be blanks."""
    return r"\s+".join(re.escape(word) for word in text.split())


class Ask(NamedTuple):
    """A recognised prompt: its template and its fields."""

    template: Template
    framed: Framed
    fields: Fields

    def item(self) -> Item:
        """The item to judge.

        Raises:
            PromptError: a required field is empty, or the prompt cannot be judged.

        """
        template, matches = self.template, self.template.when.items()
        if template.refuses and all(re.search(p, self.fields.get(name, "")) for name, p in matches):
            raise PromptError(f"{template.name}: {placed(template.refuses, self.fields)}")
        try:
            return CODE[template.code].item(self.fields)
        except ValidationError as error:
            where = f"a prompt of {template.name} ({template.callers})"
            raise PromptError(f"{where}: {'; '.join(complaints(error))}") from error

    def extraction(self) -> WrittenReply | None:
        """The reply of a template that asks for the answer and no verdict; None for all others."""
        extract = CODE[self.template.code].extract
        return WrittenReply(extract(self.fields)) if extract else None

    def reply(
        self, judgement: Judgement, *, undecided: WhenUndecided = "refuse", as_json: bool = False
    ) -> WrittenReply:
        """The reply that the caller's parser reads as ``judgement``.

        Args:
            judgement: The judgement of ``item()``.
            undecided: The reply without a verdict where the caller has no reply for that
                (``verdict_without``).
            as_json: Whether the reply follows the template's JSON schema, which it must have.

        Raises:
            EngineError: the judge's engine failed.
            NoVerdictError: there is no verdict, ``undecided`` is ``refuse``, and the caller counts
                no empty reply.

        """
        check_judged(judgement)
        template = self.template
        reply = template.write(judgement, self.fields, as_json=as_json)
        replied = str(judgement.verdict or Outcome.UNDECIDED)
        if reply is None and undecided == "refuse" and template.reply and template.reply.empty:
            reply = WrittenReply("")
        elif reply is None:
            verdict = verdict_without(judgement, undecided, template.name)
            replied = verdict.value
            # Without its chain, which gives reasons for a verdict that the judge did not reach.
            judged = {"outcome": Outcome.JUDGED, "verdict": verdict}
            bare = judgement.model_copy(update=judged | dict.fromkeys(("withheld", "chain")))
            reply = template.write(bare, self.fields, as_json=as_json)
            assert reply is not None  # every template has a reply for every verdict
        why = reply.why if template.reasoning_content else ""
        return reply._replace(why=why, replied=replied)


def check_judged(judgement: Judgement, where: str = "") -> None:
    """Raise the error of a judge's engine that failed, ``EngineError`` or its timeout."""
    if judgement.outcome is Outcome.FAILED:
        timeout = judgement.reason.startswith("engine:timeout")
        raise (EngineTimeoutError if timeout else EngineError)(f"{where}{judgement.reason}")


def verdict_without(judgement: Judgement, undecided: WhenUndecided, where: str) -> Verdict:
    """The verdict to reply where ``judgement`` has none: incorrect, or the withheld verdict.

    ``guess`` is the verdict that the judge withheld as too uncertain, or else ``incorrect``.

    Raises:
        NoVerdictError: ``undecided`` is ``refuse``.

    """
    match undecided:
        case "incorrect":
            return Verdict.INCORRECT
        case "guess":
            return judgement.withheld or Verdict.INCORRECT
        case "refuse":
            raise NoVerdictError(
                f"{where}: no verdict was reached ({judgement.outcome.value}, {judgement.reason}), "
                "and the caller has no reply for that; start the server with undecided=incorrect "
                "to count it as wrong, or with undecided=guess for the judge's withheld verdict"
            )
