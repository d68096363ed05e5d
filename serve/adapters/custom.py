"""Templates of one's own: a YAML file with a caller's prompt and its reply becomes an adapter.

    name: acme
    system: You compare answers.          # optional
    template: |
      Question: {question}
      Reference: {reference}
      Response: {response}
      Reply PASS or FAIL.
    reply: {correct: PASS, incorrect: FAIL}

``trials`` tries a template before it is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from gradegpt.schema import Judgement, Message
from gradegpt.settings import Settings

from .adapter import Adapter, frames_of
from .frame import Frame
from .reply import Reply, Words, reason

FIELD: Final = re.compile(r"\{(\w+)\}")
"""A field in the text of a template."""
_NEEDED: Final = ("reference", "response")


class ReplySettings(Settings):
    r"""The reply for each verdict.

    ``form`` is where its word is: alone (``words``), on the last line behind ``key`` (``line``), in
    ``\boxed{}`` (``boxed``), or in a JSON object under ``key`` (``json``; ``schema`` for callers
    that send a ``response_format``). ``value`` is the type of that key's value, and
    ``because`` the key of a text with the reason.
    """

    correct: str = Field(min_length=1)
    incorrect: str = Field(min_length=1)
    invalid: str | None = None
    form: Literal["words", "line", "boxed", "json", "schema"] = "words"
    key: str = ""
    value: Literal["text", "number", "boolean"] = "text"
    because: str = ""

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        words = [self.correct, self.incorrect, *([self.invalid] if self.invalid else [])]
        if len({word.strip() for word in words}) < len(words):
            raise ValueError("reply: two verdicts have the same word; give each its own")
        if self.form in ("line", "json", "schema") and not self.key:
            raise ValueError(f"reply.key: the form {self.form!r} requires it, such as verdict")
        if self.value != "text":
            for word in words:
                self.typed(word)
        return self

    def typed(self, word: str) -> Any:
        """A word as the value of a JSON object."""
        if self.value == "text":
            return word
        kind = bool if self.value == "boolean" else int | float
        try:
            value = json.loads(word)
        except json.JSONDecodeError:
            value = None
        if not isinstance(value, kind) or (self.value == "number" and isinstance(value, bool)):
            raise ValueError(f"reply: {word!r} is no {self.value}; write it as in JSON")
        return value

    @property
    def is_json(self) -> bool:
        """Whether the reply is a JSON object."""
        return self.form in ("json", "schema")

    def __call__(self, judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
        """The reply for a judgement; None without a verdict."""
        word = Words(self.correct, self.incorrect, self.invalid).word(judgement)
        if word is None:
            return None
        return Reply(self.text(word, reason(judgement)), why=reason(judgement))

    def text(self, word: str, why: str = "") -> str:
        """The reply with a word."""
        if self.is_json:
            because = {self.because: why} if self.because else {}
            return json.dumps({**because, self.key: self.typed(word)}, ensure_ascii=False)
        return {"line": f"{self.key}: {word}", "boxed": f"\\boxed{{{word}}}"}.get(self.form, word)

    def read(self, text: str) -> str | None:
        """The word in a reply, as a caller of this form reads it."""
        if self.is_json:
            value = json.loads(text).get(self.key)
            return next((w for w in self._words if self.typed(w) == value), None)
        if self.form == "line":
            return text.rstrip().rsplit("\n", 1)[-1].partition(f"{self.key}: ")[2]
        boxed = re.findall(r"\\boxed\{(.*)\}", text)
        return (boxed[-1] if boxed else None) if self.form == "boxed" else text

    @property
    def _words(self) -> list[str]:
        return [word for word in (self.correct, self.incorrect, self.invalid) if word]


class Template(Settings):
    """A caller's prompt and its reply.

    ``template`` is the text as it is sent, with ``{reference}``, ``{response}`` and, where it has
    one, ``{question}``; any other ``{name}`` stands for text that changes and is not read.
    """

    command: ClassVar[str] = "serve.template"
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    template: str
    system: str = ""
    reply: ReplySettings

    @model_validator(mode="after")
    def _has_fields(self) -> Self:
        if "{{" in self.template or "}}" in self.template:
            raise ValueError(
                "template: has doubled braces; write the text as it is sent: {question}"
            )
        pieces = self.pieces()
        names = [piece[1:-1] for piece in pieces if FIELD.fullmatch(piece)]
        for name in ("question", *_NEEDED):
            if names.count(name) > 1:
                raise ValueError(f"template: {{{name}}} occurs twice; it may occur once")
        if missing := [name for name in _NEEDED if name not in names]:
            raise ValueError(f"template: has no {{{missing[0]}}}")
        for one, other in pairwise(pieces):  # also where a system message ends with a field
            if FIELD.fullmatch(one) and FIELD.fullmatch(other):
                raise ValueError(f"template: {one} {other}: text is needed between two fields")
        return self

    def pieces(self) -> list[str]:
        """The fields, in braces, and the texts between them, in order."""
        messages = [Message(role="user", content=p) for p in (self.system, self.template) if p]
        text = frames_of(messages)  # as every prompt is read
        return [piece for piece in re.split(r"(\{\w+\})", text) if piece.strip()]

    def adapter(self) -> Adapter:
        """The adapter of this template, which is not tried yet."""
        parts = [p if FIELD.fullmatch(p) else literal(p) for p in self.pieces()]
        properties: dict[str, Any] = {
            key: {} for key in (self.reply.because, self.reply.key) if key
        }
        return Adapter(
            name=self.name,
            callers="a template of this server's settings",
            frames=(Frame(*parts),),
            write=self.reply,
            write_json=self.reply if self.reply.is_json else None,
            example=(self.system, self.template) if self.system else self.template,
            schema={"type": "object", "properties": properties} if self.reply.is_json else None,
            reasoning_content=False,
        )


def literal(text: str) -> str:
    """A mark for a text of a template, in which line breaks may be blanks."""
    return r"\s+".join(re.escape(word) for word in text.split())
