"""Replies for a caller's parser: the words of each verdict, and the text around them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, Json, model_validator

from gradegpt.chains.chain import AGREE, ALSO, GLOSS, KEY, NO_KEY, REFERENCE, WHY
from gradegpt.core.schema import Judgement, Outcome, Verdict
from gradegpt.core.settings import Settings

from .frame import mark

Fields = Mapping[str, str]
ValueName = Literal["verdict", "why", "answer", "confidence", "strict"]


class WrittenReply(NamedTuple):
    """The reply to a caller.

    ``core`` is the shortest text that its parser reads as the verdict; ``whole`` also has the
    reason, where the parser permits it; ``why`` is the reason alone. ``replied`` is the verdict of
    the text, or ``undecided`` where the caller has its own reply for that.
    """

    core: str
    whole: str | None = None
    why: str = ""
    replied: str = ""


class ReplySettings(Settings):
    r"""The reply for each verdict.

    A word may contain a field: ``{positive}``. ``invalid`` defaults to ``incorrect``, for callers
    with two verdicts; ``undecided`` is the text for no verdict, if the caller has one. ``empty`` is
    whether the caller counts an empty reply apart from its verdicts, for ``undecided=refuse``.

    ``form`` is where the word is: alone (``words``), on the last line behind ``key`` (``line``), in
    ``\boxed{}`` (``boxed``), or in a JSON object under ``key`` (``json``). ``value`` is the type of
    that key's value, and ``because`` the key of a text with the reason. ``keys`` are all keys of an
    object in order, with the names of their values: ``{category: verdict, reason: why}``; the
    others come from ``code``. In another form such an object is for callers that ask for JSON
    alone. ``json_schema`` is JSON, where the object's own schema is another.

    ``around`` is a text with ``{verdict}`` and ``{why}``; a reason that matches ``hostile`` would
    be misread, and is left out.
    """

    correct: str = Field(min_length=1)
    incorrect: str = Field(min_length=1)
    invalid: str | None = None
    undecided: str | None = None
    empty: bool = False
    form: Literal["words", "line", "boxed", "json"] = "words"
    key: str = ""
    value: Literal["text", "number", "boolean"] = "text"
    because: str = ""
    keys: dict[str, ValueName] = Field(default_factory=dict)
    json_schema: Json[dict[str, Any]] | None = None
    around: str = "{verdict}"
    hostile: str = r"(?!)"

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        words = [word for word in (*self._words, self.undecided) if word]
        if len({word.strip() for word in words}) < len(words):
            raise ValueError("reply: two verdicts have the same word; give each its own")
        if self.form in ("line", "json") and not (self.key or self.keys):
            raise ValueError(f"reply.key: the form {self.form!r} requires it, such as verdict")
        if self.value != "text":
            for word in self._words:
                self.typed(word)
        mark(self.hostile)
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
        return self.form == "json"

    @property
    def schema_of_object(self) -> dict[str, Any] | None:
        """The JSON schema of the object; None where there is no such reply."""
        if not (self.is_json or self.keys):
            return None
        words = [self.typed(word) for word in self._words]
        kind = {"text": "string"}.get(self.value, self.value)
        enum = {} if any("{" in word for word in self._words) else {"enum": words}
        properties = {
            key: {"type": kind, **enum} if name == "verdict" else {"type": "string"}
            for key, name in self._named.items()
        }
        made = {"type": "object", "properties": properties, "required": [*properties]}
        return self.json_schema or made

    def word(self, judgement: Judgement) -> str | None:
        """The word for this judgement, if there is one."""
        match judgement.verdict:
            case Verdict.CORRECT:
                return self.correct
            case Verdict.INCORRECT:
                return self.incorrect
            case Verdict.INVALID:
                return self.incorrect if self.invalid is None else self.invalid
            case None:
                return self.undecided

    def write(
        self, judgement: Judgement, fields: Fields, more: Mapping[str, Any], *, as_json: bool
    ) -> WrittenReply | None:
        """The reply for a judgement, with ``more`` values; None where there is none without one."""
        word, why = self.word(judgement), reason(judgement)
        if word is None or (as_json and judgement.verdict is None):
            return None
        word = placed(word, {**fields, **more})
        if as_json or (self.is_json and judgement.verdict is not None):
            text = self._object(word, {"why": why, **more})
            return WrittenReply(
                text if as_json else placed(self.around, {"verdict": text}), why=why
            )
        core = word if self.is_json else self._in_form(word)
        values = {"why": why, **more}
        shown = {name: str(values[name]) for name in values if f"{{{name}}}" in self.around}
        misread = any(re.search(self.hostile, value) for value in shown.values())
        whole = None
        if why and "why" in shown and not misread:
            whole = placed(self.around, {**shown, "verdict": core})
        return WrittenReply(core, whole, why)

    def reads(self, text: str, word: str) -> bool:
        """Whether a caller of this form reads the word in a reply."""
        if self.is_json:
            read = json.loads(text)
            keys = [key for key, name in self._named.items() if name == "verdict"]
            return [read.get(key) for key in keys] == [self.typed(word)]
        if self.form == "line":
            text = text.rstrip().rsplit("\n", 1)[-1].partition(f"{self.key}: ")[2]
        boxed = re.findall(r"\\boxed\{(.*)\}", text)
        return word == ((boxed or [None])[-1] if self.form == "boxed" else text)

    def _in_form(self, word: str) -> str:
        return {"line": f"{self.key}: {word}", "boxed": f"\\boxed{{{word}}}"}.get(self.form, word)

    def _object(self, word: str, values: Mapping[str, Any]) -> str:
        if self.is_json and re.search(self.hostile, values["why"]):
            values = {**values, "why": ""}
        values = {**values, "verdict": self.typed(word)}
        named = {key: values.get(name) for key, name in self._named.items()}
        return json.dumps(named, ensure_ascii=False)

    @property
    def _named(self) -> Mapping[str, str]:
        """The name of each key's value."""
        because = {self.because: "why"} if self.because else {}
        return self.keys or {**because, self.key: "verdict"}

    @property
    def _words(self) -> list[str]:
        return [word for word in (self.correct, self.incorrect, self.invalid) if word]


def placed(template: str, values: Mapping[str, str]) -> str:
    r"""``template`` with each ``{name}`` of ``values`` replaced; ``\boxed{A}`` is unchanged."""
    return re.sub(r"\{(\w+)\}", lambda m: values[m[1]] if m[1] in values else m[0], template)


def reason(judgement: Judgement) -> str:
    """The reason in a few lines without a tag, from the chain."""
    if judgement.outcome is not Outcome.JUDGED:
        said = judgement.in_words() or judgement.reason
        return f"No verdict. {said}" if said else ""
    kept = (KEY, ALSO, NO_KEY, GLOSS, REFERENCE, WHY)
    lines = (judgement.chain or "").split("\n")
    shown = [line for line in lines if line.startswith(kept) and AGREE not in line]
    return "\n".join(re.sub(r"(?<!\.)\.\.$", ".", line) for line in shown)
