"""Learn a template from two or more prompts of one pipeline: ``gradegpt serve.template learn``.

A pipeline's prompts differ only in the item: what they share is the template's text, found by
alignment, and what differs are the fields, named by the label before each (``wording.role_of``).
What is not clear is an error that names the option to give. The replies are the user's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import yaml
from pydantic import ValidationError

from gradegpt.core.errors import InputError
from gradegpt.core.mistakes import explain
from gradegpt.core.schema import Message

from .templates import Template
from .templates.frame import frames_of
from .wording import role_of

FIELDS: Final = ("question", "reference", "response")
_Numbers = Mapping[str, Sequence[int]]
"""By field, the numbers of the parts that it has, from 1; none where it has none."""
Shared = list[tuple[int, ...]]
"""Atoms that all prompts have, by their index in each."""

_CAPITALISED: Final = r"[A-Z一-鿿][\w'’ ()/-]{0,40}?[:：]"
# Labels: "- **Answer**: ", "Question: " without a value before it, a heading, "[Answer]:".
_AT_START: Final = re.compile(
    r"(?:[-#>\d. \t]{0,8}\*\*[^\n:：*]{1,60}(?:[:：]\*\*|\*\*\s*[:：])"
    r"|[-#*>\d.()\[{\"'“【_ \t]{0,8}[^\W\d](?:(?![,;.，；。]\s*"
    + _CAPITALISED
    + r")[^\n:：]){0,70}?"
    r"\s*[:：](?!//))[ \t]*"
    r"|#{1,6}[ \t][^\n]{1,80}$|[#=*-]{2,}[ \t]*\w[^\n]{0,60}?[#=*-]{2,}[ \t]*$"
)
_INSIDE: Final = re.compile(
    r"(?P<label></?[^<>\n]{2,60}>\s?[:：]?|,\s*\"\w+\"\s*:"
    r"|(?:\[[^\[\]\n\d'\"][^\[\]\n]{1,60}\]|【[^【】\n]{1,40}】|\*\*[^*\n]{2,60}\*\*)\s*[:：]?"
    r"|(?:(?<=\s)|[,;.，；。]\s*)" + _CAPITALISED + r"(?=[\s\"“'`\[]|$)"
    r"|(?<!\w)[A-Z]{2,}(?:[ _][A-Z]{2,})+(?!\w))|(?P<rule>-{3,}|={3,}|\*{3,}|~{3,}|`{3})"
)
_END: Final = re.compile(r"^\W*/|\bends?\b|结束", re.IGNORECASE)
_PART: Final = re.compile(
    r"\b(?:steps?|(?:final )?answer|solution|therefore|thus|so)\b|步骤|解|答|因此|综上|第.步|所以",
    re.IGNORECASE,
)
_QUOTES: Final = (
    ('"""', '"""'), ('"', '"'), ("'", "'"), ("“", "”"), ("「", "」"), ("['", "']"), ('["', '"]'),
    ("", ","), ("", "，"), ("", ";"),
)  # fmt: skip
_SHORT: Final = 30
"""The longest line that is a label by its words alone, such as ``Reference answer``."""
_FEW: Final = 3
"""Shared lines that values may begin with, and shared words that are too many to be by chance."""
_VALUE: Final = ("text", "label")
_NEAR: Final = 12
"""Atoms before the first field and behind the last that may belong to an item."""


class LearnError(InputError):
    """Prompts from which no template can be learnt without a guess."""


class Atom(NamedTuple):
    """A piece of a text; ``key`` is what is compared, without blanks, as callers join lines."""

    kind: Literal["break", "label", "rule", "text"]
    text: str
    start: int
    end: int
    key: str


def _atoms(text: str) -> list[Atom]:
    """The labels, line breaks and rules of a text, and the text between them."""
    found: list[Atom] = []

    def add(kind: Literal["break", "label", "rule", "text"], start: int, end: int) -> None:
        if kind == "break" or text[start:end].strip():
            found.append(Atom(kind, text[start:end], start, end, " ".join(text[start:end].split())))

    for line in re.finditer(r"\s*\n\s*|[^\n]+", text):
        at, end = line.span()
        if line[0].isspace():
            add("break", at, end)
            continue
        if label := _AT_START.match(line[0].rstrip()):
            add("label", at, at + label.end())
            at += label.end()
        elif len(line[0]) <= _SHORT and role_of(line[0]) and not _INSIDE.search(line[0]):
            add("label", at, end)
            continue
        for inside in _INSIDE.finditer(text, at, end):
            add("text", at, inside.start())
            add("label" if inside["label"] else "rule", *inside.span())
            at = inside.end()
        add("text", at, end)
    return found


def _shared(rows: Sequence[Sequence[Atom]]) -> Shared:
    """The atoms that all have, in order; both ends first, where no response can shift them."""
    shared: Shared = [(at,) for at in range(len(rows[0]))]
    for row in rows[1:]:
        ours, theirs = [rows[0][at[0]].key for at in shared], [atom.key for atom in row]
        most = min(len(ours), len(theirs))
        head = next((n for n in range(most) if ours[n] != theirs[n]), most)
        most -= head
        tail = next((n for n in range(most) if ours[-1 - n] != theirs[-1 - n]), most)
        a, b = len(ours) - tail, len(theirs) - tail
        middle = SequenceMatcher(None, ours[head:a], theirs[head:b], autojunk=False)
        blocks = [(head + i, head + j, size) for i, j, size in middle.get_matching_blocks()]
        every = [(0, 0, head), *blocks, (a, b, tail)]
        shared = [(*shared[i + n], j + n) for i, j, size in every for n in range(size)]
    return shared


def _runs(rows: Sequence[Sequence[Atom]]) -> list[Shared]:
    """The pieces of the template's text: shared atoms that follow each other in all prompts.

    One without a label between two values is text that the values have in common.
    """
    runs: list[Shared] = [[]]
    for at in [(-1,) * len(rows), *_shared(rows), tuple(len(row) for row in rows)]:
        if runs[-1] and any(b != a + 1 for a, b in zip(runs[-1][-1], at, strict=True)):
            runs.append([])
        runs[-1].append(at)
    if len(runs) == 1:
        raise LearnError("the prompts are equal; give prompts with different items")
    labelled = [run for run in runs[1:-1] if any(rows[0][a[0]].kind == "label" for a in run)]
    runs = [runs[0][1:], *labelled, runs[-1][:-1]]
    for before, after in pairwise(runs):
        _give_back(before, after, rows[0])
    return runs


def _give_back(before: Shared, after: Shared, atoms: Sequence[Atom]) -> None:
    """Remove from two pieces what the values between them share at their beginning and end."""
    own = [(n, atom) for n, at in enumerate(before) if (atom := atoms[at[0]]).kind in _VALUE]
    while own and own[-1][1].kind == "text":
        own.pop()
    while len(own) > 1 and role_of(own[-2][1].text) in FIELDS and _is_inside(own[-1][1].text):
        own.pop()  # "Response:" before "Step 1:", with which all responses begin
    label = own[-1] if own else None
    if label and role_of(label[1].text):
        values = [n for n in range(label[0] + 1, len(before)) if atoms[before[n][0]].kind in _VALUE]
        if 0 < len(values) <= _FEW:
            del before[values[0] :]
    while after and atoms[after[0][0]].kind == "text":
        del after[0]


def _is_inside(label: str) -> bool:
    """Whether it is a label that a question or a response may have inside."""
    return role_of(label) not in FIELDS and _PART.search(label) is not None


@dataclass
class Hole:
    """A part that differs: the label before it, its span and its text in each prompt, its field."""

    label: str
    spans: list[tuple[int, int]]
    values: list[str]
    name: str = ""

    @classmethod
    def of(cls, label: str, spans: Sequence[tuple[int, int]], texts: Sequence[str]) -> Hole:
        """The part at ``spans``; quotes around all values are the template's, and a last comma."""
        spans = [_stripped(text, *span) for text, span in zip(texts, spans, strict=True)]
        values = [text[start:end] for text, (start, end) in zip(texts, spans, strict=True)]
        for opening, closing in _QUOTES:
            long = len(opening) + len(closing)
            if all(
                len(v) >= long and v.startswith(opening) and v.endswith(closing) for v in values
            ):
                inner = [(start + len(opening), end - len(closing)) for start, end in spans]
                return cls.of(label, inner, texts)
        return cls(label, spans, values)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())


def _label(atoms: Sequence[Atom]) -> str:
    """The label nearest to the end, or a line of text that comes after it."""
    for atom in reversed(atoms):
        if atom.kind == "label" and not _END.search(atom.text):
            return atom.text.strip()
        if atom.kind == "text":
            return atom.text.strip() if len(atom.text) < 2 * _SHORT else ""
    return ""


class Aligned(NamedTuple):
    """Prompts side by side; ``same`` are the fields with a label before text that all have."""

    system: str
    texts: list[str]
    parts: list[Hole]
    same: list[str]


def align(prompts: Sequence[Sequence[Message]]) -> Aligned:
    """The parts in which prompts differ, in their order, which are numbered from 1.

    Raises:
        LearnError: the prompts do not differ.

    """
    if len(prompts) < 2:
        raise LearnError("one prompt does not show what changes; give two or more, of one pipeline")
    both = all([message.role for message in prompt] == ["system", "user"] for prompt in prompts)
    alike = both and len({prompt[0].content for prompt in prompts}) == 1
    texts = [frames_of(prompt[1:] if alike else prompt) for prompt in prompts]
    rows = [_atoms(text) for text in texts]
    runs = _runs(rows)
    parts = []
    for before, after in pairwise(runs):
        starts = [row[before[-1][j]].end if before else 0 for j, row in enumerate(rows)]
        ends = [row[after[0][j]].start if after else None for j, row in enumerate(rows)]
        spans = [
            (a, len(text) if b is None else b)
            for a, b, text in zip(starts, ends, texts, strict=True)
        ]
        parts.append(Hole.of(_label([rows[0][at[0]] for at in before]), spans, texts))
    return Aligned(prompts[0][0].content if alike else "", texts, parts, _same(runs, rows[0]))


def _same(runs: Sequence[Shared], atoms: Sequence[Atom]) -> list[str]:
    """The fields with a label before text, in the pieces around the parts that differ."""
    found = []
    for run in [runs[0][-_NEAR:], *runs[1:-1], runs[-1][:_NEAR]]:
        inside = [atom for at in run if (atom := atoms[at[0]]).kind in _VALUE]
        for one, other in pairwise(inside):
            ends = re.search(r"[:：\]>】]\s*$", one.text)
            if ends and (one.kind, other.kind) == ("label", "text"):
                found.append(role_of(one.text))
    return found


def _name(aligned: Aligned, chosen: _Numbers) -> None:
    """Name the parts: by the user's choice, by label, or by the one field that is left."""
    parts = aligned.parts
    for name, numbers in chosen.items():
        if any(number > len(parts) for number in numbers):
            raise LearnError(f"--field {name}: the parts that differ are {_listed(parts)}")
        for number in numbers:
            parts[number - 1].name = name
    for part in parts:
        role = role_of(part.label)
        if not part.name and role in FIELDS and role not in chosen:
            part.name = role
    weak = [part for part in parts if not part.name and role_of(part.label) == "answer"]
    left = [name for name in FIELDS[1:] if name not in {part.name for part in parts}]
    if len(weak) == len(left) == 1 and left[0] not in aligned.same:
        weak[0].name = left[0]


def _joined(aligned: Aligned, chosen: _Numbers) -> list[Hole]:
    """The parts, without those that a label inside a value has made: ``Step 1:`` in a response."""
    joined: list[Hole] = []
    for part in aligned.parts:
        last = joined[-1] if joined else Hole("", [], [])
        within = not part.name and _is_inside(part.label) and last.name in FIELDS[::2]
        if within or (part.name and part.name == last.name and part.name in chosen):
            spans = [(a, d) for (a, _), (_, d) in zip(last.spans, part.spans, strict=True)]
            joined[-1] = replace(Hole.of(last.label, spans, aligned.texts), name=last.name)
        else:
            joined.append(part)
    return joined


def _check(parts: Sequence[Hole], aligned: Aligned, chosen: _Numbers) -> None:
    """Refuse what is not clear, and name a field's repetitions, which have the same values."""
    listed = f"the parts that differ are {_listed(aligned.parts)}"
    for part in parts:
        _refuse_odd(part)
    for name in dict.fromkeys([*FIELDS, *(part.name for part in parts if part.name)]):
        same = [part for part in parts if part.name == name]
        for number, part in enumerate(same[1:], 2):
            if name in FIELDS and part.values != same[0].values:
                raise LearnError(
                    f"{listed}, and several could be the {name}; choose with --field "
                    f"{name}=NUMBER, or give more prompts"
                )
            part.name = f"{name}_{number}"
        if (
            name in FIELDS
            and not same
            and name not in chosen
            and (name != "question" or name in aligned.same)
        ):
            what = "is the same in all prompts" if name in aligned.same else "is not clear"
            raise LearnError(
                f"the {name} {what}; {listed}; give prompts that differ in it, or choose with "
                f"--field {name}=NUMBER (0 for none)"
            )
    if unclear := [part.label for part in parts if not part.name]:
        raise LearnError(
            f"it is not clear what {unclear[0]!r} is; {listed}; choose with --field NAME=NUMBER "
            f"(another name than {', '.join(FIELDS)} is not read; NAME=2-3 joins parts)"
        )


def _refuse_odd(part: Hole) -> None:
    """Refuse a part whose values are JSON, or have so much in common that it may be no value."""
    if re.match(r"[{,\s]*\"\w+\"\s*:", part.label):
        raise LearnError(
            "the item is written as JSON, which a template does not decode; send the fields to "
            "POST /v1/judge"
        )
    words = [value.split() for value in part.values]
    tail = [one[-1] for one in zip(*(w[-_FEW:] for w in words), strict=False) if len({*one}) == 1]
    head = [one[0] for one in zip(*(w[:_FEW] for w in words), strict=False) if len({*one}) == 1]
    for shared in (tail if part.name in FIELDS else [], head if part.name == "reference" else []):
        if len(shared) == _FEW:
            raise LearnError(
                f"the {part.name} has {' '.join(shared)!r} in all prompts, which may be text of "
                "the template; give a prompt without it, or write the template"
            )


def _listed(parts: Sequence[Hole]) -> str:
    return ", ".join(
        f"{number}. {part.label!r} {part.values[0][:_SHORT]!r}"
        for number, part in enumerate(parts, 1)
    )


def learn(
    prompts: Sequence[Sequence[Message]],
    name: str,
    reply: Mapping[str, Any],
    fields: _Numbers | None = None,
) -> Template:
    """The template of a pipeline's prompts, each of which it reads.

    Args:
        prompts: Two or more conversations with different items.
        name: The name of the template.
        reply: The settings of the reply.
        fields: The user's names for parts that differ.

    Raises:
        LearnError: something is not clear; the message says what, and which option to give.

    """
    aligned, chosen = align(prompts), fields or {}
    _name(aligned, chosen)
    parts = _joined(aligned, chosen)
    _check(parts, aligned, chosen)
    pieces = _filled(aligned.texts[0], parts, [f"{{{part.name}}}" for part in parts])
    made = {"name": name, "system": aligned.system, "template": "".join(pieces), "reply": reply}
    try:
        learnt = Template.model_validate(made)
    except ValidationError as error:
        raise LearnError(explain(error)) from error
    _read_back(learnt, aligned, parts)
    return learnt


def _filled(text: str, parts: Sequence[Hole], values: Sequence[str], at: int = 0) -> list[str]:
    """The pieces of a prompt and, between them, values for its parts."""
    pieces, done = [], 0
    for part, value in zip(parts, values, strict=True):
        pieces += [text[done : part.spans[at][0]], value]
        done = part.spans[at][1]
    return [*pieces, text[done:]]


def _read_back(learnt: Template, aligned: Aligned, parts: Sequence[Hole]) -> None:
    """Read every prompt again, also with another prompt in its response."""
    for at, text in enumerate(aligned.texts):
        own = {part.name: part.values[at] for part in parts}
        for response in (own["response"], f"It is 5.\n{aligned.texts[at - 1]}\nSo 5."):
            wanted = {n: response if n.startswith("response") else v for n, v in own.items()}
            filled = "".join(_filled(text, parts, list(wanted.values()), at))
            ask = learnt.read(f"{aligned.system}\n\n{filled}" if aligned.system else filled)
            wrong = [n for n in FIELDS if ask and n in own and ask.fields[n] != wanted[n]]
            if ask is None or wrong:
                quoting = "" if response == own["response"] else ", if a response quotes a prompt"
                raise LearnError(
                    f"the {wrong[0] if wrong else 'prompt'} would not be read back{quoting}; "
                    "give more prompts, or write the template"
                )


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as it is."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def as_yaml(template: Template) -> str:
    """The file of a template."""
    values = template.model_dump(mode="json", exclude_defaults=True)
    return yaml.dump(values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10_000)


def pipeline_of(prompt: Sequence[Message]) -> str:
    """The beginning of a prompt, by which those of different pipelines are kept apart."""
    return re.split(r"[:：\n]", frames_of(prompt).lstrip())[0][:_SHORT]
