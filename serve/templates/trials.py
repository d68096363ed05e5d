"""Trials of a template of one's own, which passes all of them before it is used.

Built-in items must be read back from it as they were put in, every reply must be read as its
verdict, and no other template may claim its prompts, nor it theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gradegpt.core.errors import SettingsError
from gradegpt.core.mistakes import suggest
from gradegpt.core.schema import Judgement, Outcome, Verdict
from gradegpt.core.settings import load_settings

from . import GUIDE, TEMPLATES
from .code import CODE
from .frame import frames_of
from .reply import Fields, placed
from .template import FIELD, Template, literal

_SHOWN: Final = 60
"""Characters of a line in a message."""
_ITEMS: Final = {
    "a right response": ("What is 2+2?", "4", "The answer is 4."),
    "a wrong response": ("What is 2+2?", "4", "The answer is 5."),
    "a response without an answer": ("What is 2+2?", "4", "None"),
    "Chinese": ("二加二等于几？", "4", "二加二等于4。"),
    "several lines": ("Which?\nA. 1\nB. 2", "B", "I compare.\n\n1. A is odd.\n2. B: yes"),
    "a response that quotes the template": ("What is 2+2?", "4", "It is 5.\n{quoted}\nSo 5."),
}
_REPLIES: Final = {verdict: f"the reply for {verdict.value}" for verdict in Verdict}
_ALONE: Final = "no other family"
TRIALS: Final = (*_ITEMS, *_REPLIES.values(), _ALONE)
"""The names of all trials."""


def tried(template: Template, others: Sequence[Template], where: str) -> dict[str, str]:
    """What was wrong in each trial of a template beside others; an empty text where nothing was.

    Raises:
        SettingsError: another one has its name; the message begins with ``where``.

    """
    if any(template.name == other.name for other in others):
        raise SettingsError(
            f"{where}: name: {template.name!r} is taken; give it another ({GUIDE} lists all)"
        )
    return {
        **{name: _read_back(template, *item) for name, item in _ITEMS.items()},
        **{name: _reply_error(template, verdict) for verdict, name in _REPLIES.items()},
        _ALONE: _ambiguous(template, others),
    }


def checked(path: Path, others: Sequence[Template]) -> Template:
    """The template of a file, which passed all trials.

    Raises:
        MissingError: there is no such file.
        SettingsError: the file is not a template, or a trial failed.

    """
    template: Template = load_settings(Template, path)
    refuse_failed(tried(template, others, str(path)), str(path))
    return template


def refuse_failed(trials: Mapping[str, str], where: str) -> None:
    """Raise ``SettingsError`` where one of the ``tried`` went wrong."""
    for name, error in trials.items():
        if error:
            raise SettingsError(f"{where}: {name}: {error}")


def chosen(names: Sequence[str], files: Sequence[Path] = ()) -> tuple[Template, ...]:
    """The templates of these names, or all, and those of files.

    Raises:
        MissingError: a template's file does not exist.
        SettingsError: an unknown name, or a template that failed a trial.

    """
    known = {template.name: template for template in TEMPLATES}
    for name in names:
        if name not in known:
            hint = suggest(name, list(known)) or f"; {GUIDE} lists them"
            raise SettingsError(f"adapters: {name!r} is unknown{hint}")
    templates = [known[name] for name in names] if names else [*TEMPLATES]
    for path in files:
        templates.append(checked(path, templates))
    return tuple(templates)


def _read_back(template: Template, question: str, reference: str, response: str) -> str:
    quoted = frames_of(template.prompt("1+1=?", "7", "It is 7."))
    response = placed(response, {"quoted": quoted})
    ask = template.read(frames_of(template.prompt(question, reference, response)))
    if ask is None:
        return "the template does not recognise its own prompt"
    put_in = {"question": question, "reference": reference, "response": response}
    for name, value in put_in.items():
        found = ask.fields.get(name, value)
        if found != value:
            read = f"the {name} {value[:40]!r} is read as {found[:40]!r}"
            return f"{read}; put text around {{{name}}}"
    return ""


def reply_to(template: Template, verdict: Verdict, *, as_json: bool = False) -> str | None:
    """The reply for a verdict, and None where the template has none."""
    reply = template.write(_judged(verdict), _fields(template), as_json=as_json)
    return reply.core if reply else None


def _reply_error(template: Template, verdict: Verdict) -> str:
    """What is wrong with a reply; one that is written in code has tests of its own."""
    reply, code = template.reply, CODE[template.code]
    if reply is None or code.write is not None:
        return ""
    fields, judged = _fields(template), _judged(verdict)
    word = placed(str(reply.word(judged)), {**fields, **code.values(judged, fields)})
    written = str(reply_to(template, verdict, as_json=reply.is_json))
    return "" if reply.reads(written, word) else f"{written!r} is not read as {word!r}"


def _judged(verdict: Verdict) -> Judgement:
    return Judgement(id="", outcome=Outcome.JUDGED, verdict=verdict, method="trial")


def _fields(template: Template) -> Fields:
    ask = template.read(_text(template))
    return ask.fields if ask else dict.fromkeys(("question", "reference", "response"), "")


def _ambiguous(template: Template, others: Sequence[Template]) -> str:
    """The first template whose prompt this one recognises, or that recognises its prompt."""
    for other in others:
        if template.read(_text(other)) is not None:
            return f"the template also recognises the prompts of {other.name}; add more of its text"
        if other.read(_text(template)) is not None:
            also = f"{other.name} also recognises this prompt"
            return f"{also}; disable it with 'adapters', or use it"
    return ""


def _text(template: Template) -> str:
    return frames_of(template.prompt("What is 2+2?", "4", "It is 4."))


def difference(template: Template, prompt: str) -> str:
    """The first line of a template that a prompt does not have behind those before it."""
    at, texts = 0, [piece for piece in template.pieces() if not FIELD.fullmatch(piece)]
    for line in (line.strip() for text in texts for line in text.splitlines() if line.strip()):
        found = re.compile(literal(line)).search(prompt, at)
        if found is None:
            shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
            return f"the prompt has no {shown!r} where the template has it; compare the two texts"
        at = found.end()
    return "the prompt has text where the template has none; compare the two texts"
