"""Find the prompt family that recognises your own template, or what the template lacks.

    python -m benchmarks.recognise FOLDER [answer=response target=reference ...]

A template is a text file with ``{question}``, ``{reference}`` and ``{response}``, or with other
names that are given as ``name=part``; other braces are unchanged. A line ``<|user|>`` separates a
system message from a user message. Each template is filled with six items in the five forms that
callers send, and counts as recognised where the same family finds the three parts in all thirty.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gradegpt.schema import Message
from serve.adapters import Ask, PromptError, find

PARTS = ("question", "reference", "response")
_SPLIT = "<|user|>\n"
_NAME = re.compile(r"\{(\w+)\}")


class Filled(NamedTuple):
    """A template filled with an item, in one of the forms that callers send."""

    label: str
    messages: list[Message]
    parts: tuple[str, str, str]


def fill(template: str, parts: tuple[str, str, str]) -> str:
    """The template with its three parts, in one pass: a part may hold braces."""
    values = dict(zip(PARTS, parts, strict=True))
    return _NAME.sub(lambda m: values.get(m[1], m[0]), template)


def items(template: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Plain, Chinese, LaTeX, code, a response that quotes the template itself, and a long one."""
    quoted = fill(template.replace(_SPLIT, ""), ("1+1=?", "7", "The answer is 7."))
    yield "plain", ("What is 2+2?", "4", "I think the answer is 4.")
    yield "Chinese", ("小明有三个苹果，又买了五个，一共几个？", "8个", "3+5=8，所以是8个。")
    yield "LaTeX", (r"Solve $x^2=2$.", r"\boxed{\pm\sqrt{2}}", r"$x=\pm\sqrt{2}$ {done}, 100\%.")
    yield "code", ("Which of\nA: 1\nB: 2\nis even?", "B", "Run\n\n```\n2 % 2\n```\n\nAnswer: B")
    yield "quoting", ("What is 2+2?", "4", f"My answer is 5.\n{quoted}\nThat is all.")
    yield "long", ("What is 1+2+3+4+5?", "15", "One more step, and on. " * 900 + "\n\nIt is 15.")


def filled(template: str) -> Iterator[Filled]:
    """Every item in every form."""
    for kind, parts in items(template):
        texts = [fill(text, parts) for text in template.split(_SPLIT)]
        roles = ("user",) if len(texts) == 1 else ("system", "user")
        chat = [Message(role=r, content=t) for r, t in zip(roles, texts, strict=True)]
        text = "\n\n".join(texts)
        bare = text.removeprefix("User: ").removesuffix(" Assistant:")
        forms = {
            "raw": f"User: {bare}\nAssistant:",
            "ChatML": f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n",
            "one line": " ".join(text.split()),
        }
        yield Filled(f"{kind}, chat", chat, parts)
        more = [Message(role="system", content="Mind the units."), *chat]
        yield Filled(f"{kind}, a sentence more", more, parts)
        for form, content in forms.items():
            yield Filled(f"{kind}, {form}", [Message(role="user", content=content)], parts)


def differs(ask: Ask, parts: tuple[str, str, str]) -> str:
    """The first part that differs from the item's; empty where all agree or the family lacks it."""
    item = ask.item()
    found = (item.question, "\n".join(item.reference), item.response)
    for name, was, now in zip(PARTS, parts, found, strict=True):
        lost = name == "question" and not now
        same = " ".join(was.split()) == " ".join(now.split())
        within = name == "question" and " ".join(was.split()) in " ".join(now.split())
        if not (lost or same or within):
            return f"the {name} is read as {now[:60]!r}"
    return ""


def recognised(template: str) -> tuple[str, list[str]]:
    """The family of the plain item, and the forms with an error."""
    family, wrong = "-", []
    for label, messages, parts in filled(template):
        try:
            ask = find(messages)
            complaint = differs(ask, parts)
        except PromptError as error:
            wrong.append(f"{label}: {error}")
            continue
        family = ask.adapter.name if family == "-" and not wrong else family
        if ask.adapter.name != family:
            complaint = f"is read as {ask.adapter.name}"
        if complaint:
            wrong.append(f"{label}: {complaint}")
    return family, wrong


def load(path: Path, names: dict[str, str]) -> str:
    """A template with our names for its parts.

    Raises:
        SystemExit: it has no field for a reference or a response.

    """
    text = path.read_text(encoding="utf-8").strip("\n")
    template = _NAME.sub(lambda m: "{" + names.get(m[1], m[1]) + "}", text)
    for part in ("reference", "response"):
        if "{" + part + "}" not in template:
            held = ", ".join(sorted(set(_NAME.findall(text)))) or "none"
            raise SystemExit(f"{path}: no {{{part}}} (it has: {held}); say which is: NAME={part}")
    return template


def main() -> None:
    """Print a line per template, with its first error below it, and the count."""
    folder, *given = sys.argv[1:]
    names = dict(pair.split("=", 1) for pair in given)
    paths = sorted(Path(folder).glob("*.txt"))
    good = 0
    for path in paths:
        family, wrong = recognised(load(path, names))
        good += not wrong
        print(f"{path.name:<40} {family:<28} {30 - len(wrong):>2} of 30")
        if wrong:
            print(f"    {wrong[0]}")
    print(f"{good} of {len(paths)} templates recognised in every form")


if __name__ == "__main__":
    main()
