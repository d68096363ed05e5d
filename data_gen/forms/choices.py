"""Write options: by letter, position or text."""

from __future__ import annotations

from gradegpt.answers.options import HAN_ORDINALS, LETTERS, ORDINALS, options
from gradegpt.answers.text import CIRCLED
from gradegpt.answers.types import Options


def write_options(value: Options, form: str, joint: str, last: str, question: str = "") -> str:
    """The options in the given form.

    ``place``: by position; ``each``: each in brackets; ``circled``: statements as ①. Any other form
    is a template: ``{}`` is the letters, ``@`` the text of the option, ``#`` its letter, or the
    question number in an ordered answer.
    """
    named = value.letters
    if value.ordered:
        if "#" in form:
            return joint.join(form.replace("#", str(n)) + x for n, x in enumerate(named, start=1))
        return joint.join(named)
    listed = {k: t.strip(" ;；.。,，") for k, t in options(question).items()} if question else {}
    match form:
        case "place" if joint == "项" or joint == "个选项":
            return f"第{HAN_ORDINALS[LETTERS.index(named[0])]}{joint}"
        case "place":
            return f"the {ORDINALS[LETTERS.index(named[0])]} option"
        case "each":
            return joint.join(f"({x})" for x in named)
        case "circled":
            return joint.join(CIRCLED[int(x) - 1] for x in named)
        case _:
            pass
    shown = [listed[x] for x in named] if "@" in form else [*named]
    body = f"{joint.join(shown[:-1])}{last or joint}{shown[-1]}" if shown[1:] else shown[0]
    return form.replace("@", "{}").replace("#", named[0]).replace("{}", body)
