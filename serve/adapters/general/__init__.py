"""Reads judge prompts of no family: their fields by labels, their reply by what they ask for.

It answers only where both are unambiguous. The reply's field ``gradegpt`` says what was read.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from gradegpt.schema import Item, Judgement, Message, Verdict

from ...templates import WAYS_ON, Ask, PromptError, Template
from ...templates.code import item_of
from ...templates.frame import Framed, frames_of
from ...templates.reply import Fields as Values
from ...templates.reply import WrittenReply as Reply
from .choices import ContractError, MeaningError
from .contract import Contract, read_contract
from .fields import Fields, read_fields
from .items import FieldsError
from .statements import meanings

NAME: Final = "general"


def read(messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Ask:
    """The item that a prompt of no family asks to judge.

    Raises:
        PromptError: a field or the form of the reply is missing or not clear; the message says
            what was found.

    """
    try:
        above, fields = _fields(messages)
    except FieldsError as error:
        found = ", ".join(f"the {name}" for name in sorted(error.found)) or "no field"
        raise PromptError(f"{_UNKNOWN}: {error} (found: {found}); {WAYS_ON}") from error
    try:
        contract = _contract(above, fields, schema)
    except ContractError as error:
        found = ", ".join(f"the {name}" for name in sorted(fields.values))
        raise PromptError(f"{_UNKNOWN}: found {found}, but {error}; {WAYS_ON}") from error
    return _ask(fields, contract)


_UNKNOWN: Final = "the prompt belongs to no known family, and the general reader cannot use it"


def _fields(messages: Sequence[Message]) -> tuple[str, Fields]:
    """The text above the item, and the fields: of the user's last message, if it has all."""
    at = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    above, last = [*messages[:at], *messages[at + 1 :]], messages[at]
    if above and last.role == "user":
        own = [m.content for m in above if m.role in ("system", "developer", "user")]
        text, others = frames_of([last]), "\n\n".join(own)
        try:
            return others, read_fields(text, others)
        except FieldsError:
            pass
    return "", read_fields(frames_of(messages))


def _contract(above: str, fields: Fields, schema: Mapping[str, Any] | None) -> Contract:
    """The contract of all text outside the fields.

    A response may have written the end of the text, except for its last paragraph. So the text
    before it, and that with its last paragraph, must not say anything else. That yes or 1 is wrong
    must be said before it, or in the last line where there are no such words before it.
    """
    before = f"{above}\n{fields.before}"
    whole = read_contract(f"{before}\n{fields.after}", fields.examples, schema)
    if fields.trusted:
        return whole
    reverses = False
    last = fields.after.rstrip().rsplit("\n\n", 1)[-1]
    line = last.rsplit("\n", 1)[-1]
    for text, sure in (("", True), (line, True), (last, False)):
        try:
            part = read_contract(f"{before}\n{text}", fields.examples, schema)
        except MeaningError:
            if not text and whole.reverses:
                raise
            continue
        except ContractError:
            continue
        reverses = reverses or (part.reverses and sure)
        if not (part.agrees(whole) or _is_said(whole, before)):
            raise ContractError("what its words for right and wrong mean is said in two ways")
    if whole.reverses and not reverses:
        raise ContractError("a response may have written what its words mean")
    return whole


def _is_said(contract: Contract, text: str) -> bool:
    """Whether a text says what both words mean, beside others: "correct (1) or incorrect (0)"."""
    right, wrong = str(contract.right), str(contract.wrong)
    said = meanings(text, (right, wrong))
    return said[right] == {"right"} and said[wrong] == {"wrong"}


def _ask(fields: Fields, contract: Contract) -> Ask:
    template = _Found.model_construct(
        name=NAME,
        callers="prompts of no family",
        template="",
        reasoning_content=True,
        contract=contract,
    )
    shown = {
        "fields": fields.labels,
        "reply": {
            "correct": contract.text(Verdict.CORRECT), "incorrect": contract.text(Verdict.INCORRECT)
        },
    }  # fmt: skip
    return _Asked(template, Framed(fields.values, {}, [], [], ""), fields.values, shown)


class _Asked(Ask):
    @override
    def item(self) -> Item:
        """The item; a list of texts as the reference is several accepted answers."""
        item = item_of(self.fields)
        listed = _listed(self.fields["reference"])
        return item.model_copy(update={"reference": listed}) if listed else item


class _Found(Template):
    """What was found in a prompt, in the place of a template."""

    contract: Any

    @property
    @override
    def json_schema(self) -> dict[str, Any] | None:
        keys = self.contract.shape.keys if self.contract.shape else ()
        return {"properties": {key: {} for key in keys}} if keys else None

    @override
    def write(self, judgement: Judgement, fields: Values, *, as_json: bool = False) -> Reply | None:
        reply: Reply | None = self.contract(judgement, fields)
        return reply


def _listed(reference: str) -> tuple[str, ...]:
    if not reference.startswith(("['", '["')) or len(reference) > _LONGEST_LIST:
        return ()
    try:
        value = ast.literal_eval(reference)
    except (ValueError, SyntaxError):
        return ()
    texts = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    return tuple(value) if texts else ()


_LONGEST_LIST: Final = 10_000
