"""Several answers in one: the parts of a question, in order, and several answers, in any order."""

from __future__ import annotations

import random
import re
from typing import Final, NamedTuple

from data_gen.forms import atoms, collections, intervals, words
from data_gen.forms.base import HAN, Answer, distinct, in_math, undress
from gradegpt.rules.kinds import truth
from gradegpt.rules.normalise import fold
from gradegpt.rules.values import both_signs, split_top
from gradegpt.schema import AnswerType

_MARK: Final = re.compile(
    r"(?:^|(?<=[\s;；,，。]))(?:[(（]\s*(?:\d|[ivx]{1,3}|[a-f]|[一二三四五])\s*[)）]|\d[)）]|[a-d]\.\s)\s*"
    r"|[①-⑨]\s*|第[一二三四五六]空\s*[:：]?\s*|(?:^|(?<=[\s;,]))(?:first|second|third)\s*:\s*"
    r"|(?<=[\d)\]a-z])(?:[(（]\s*(?:[2-9]|[b-f]|[ivx]{2,3}|[二三四五])\s*[)）])\s*"
)
_TRAIL: Final = re.compile(r"[\s,，;；。]*$")
_CIRCLED: Final = "①②③④⑤⑥⑦⑧⑨"
_ORDINALS: Final = ("first", "second", "third")


class Parts(NamedTuple):
    """The parts of an answer, and the text before each and after the last."""

    between: list[str]
    parts: list[str]
    after: str

    def rebuilt(self, parts: list[str]) -> str:
        """The same marks with other parts; fewer parts take the first marks."""
        marked = zip(self.between, parts, strict=False)
        return "".join(mark + part for mark, part in marked) + self.after


def split_parts(text: str) -> Parts | None:
    """``(1) 3; (2) 5`` or ``3; 5``, as marks and parts."""
    marks = [m for m in _MARK.finditer(text) if _depth(text[: m.start()]) <= 0]
    if len(marks) > 1 and not text[: marks[0].start()].strip():
        starts = [m.end() for m in marks]
        ends = [*(m.start() for m in marks[1:]), len(text)]
        return _cut(text, starts, ends)
    for pattern in (r"\n+", r"\s*[;；]\s*", r"\s*[,，、]\s*"):
        pieces = _separated(text, pattern)
        if len(pieces) > 1:
            return _cut(text, [a for a, _ in pieces], [b for _, b in pieces])
    return None


def _depth(text: str) -> int:
    """How many brackets stand open at the end: (1, 2) holds no mark of a part."""
    return sum(map(text.count, "([{（")) - sum(map(text.count, ")]}）"))


def _separated(text: str, pattern: str) -> list[tuple[int, int]]:
    """The spans between separators that stand in no bracket."""
    signs = {"\n"} if "n" in pattern else {*pattern} - {*"\\s*[]"}
    pieces, at = [], 0
    for piece in split_top(text, "".join(sorted(signs))):
        pieces.append((at, at + len(piece)))
        at += len(piece) + 1
    return pieces


def _cut(text: str, starts: list[int], ends: list[int]) -> Parts | None:
    between, parts, at = [], [], 0
    for start, end in zip(starts, ends, strict=True):
        piece = text[start:end]
        body = _TRAIL.sub("", piece).strip()
        if not body:
            return None
        offset = start + piece.index(body)
        between.append(text[at:offset])
        parts.append(body)
        at = offset + len(body)
    return Parts(between, parts, text[at:])


def same_parts(rng: random.Random, answer: Answer) -> list[str]:
    """The parts with other marks, separators, and forms of each."""
    found = split_parts(answer.text)
    if found is None:
        return _only_part(rng, answer)
    made = _marked(found.parts)
    for n, part in enumerate(found.parts):
        forms = _part_forms(rng, answer, part)
        for form in rng.sample(forms, min(3, len(forms))):
            other = [*found.parts[:n], form, *found.parts[n + 1 :]]
            made += [found.rebuilt(other), rng.choice(_marked(other))]
    drawn = [rng.choice([p, *_part_forms(rng, answer, p)]) for p in found.parts]
    return [*made, *_marked(drawn)[:3]]


def _only_part(rng: random.Random, answer: Answer) -> list[str]:
    """One part where others are missing, with its mark."""
    mark = _MARK.match(answer.text)
    lead, part = (mark[0], answer.text[mark.end() :]) if mark else ("", answer.text)
    forms = _dispatch(rng, answer.part(part)) if part else []
    return [lead + form for form in forms]


def _part_forms(rng: random.Random, answer: Answer, part: str) -> list[str]:
    forms = _dispatch(rng, answer.part(part))
    return [f for f in forms if not {",", "，", ";", "；", "、", "\n"} & ({*f} - {*part})]


def _dispatch(rng: random.Random, part: Answer) -> list[str]:
    if collections.components(part.text) is not None:
        return collections.same_tuple(rng, part)
    if collections.elements(part.text) is not None:
        return collections.same_set(rng, part)
    if intervals.pieces(part.text) is not None:
        return intervals.same(rng, part)
    return atoms.inside(rng, part)


def _marked(parts: list[str]) -> list[str]:
    numbered = list(enumerate(parts, start=1))
    if len(parts) > len(_CIRCLED):
        return []
    made = [
        "; ".join(f"({n}) {p}" for n, p in numbered), "".join(f"（{n}）{p}" for n, p in numbered),
        " ".join(f"({n}) {p}" for n, p in numbered), "；".join(f"({n}){p}" for n, p in numbered),
        " ".join(f"{_CIRCLED[n - 1]} {p}" for n, p in numbered),
        "\n".join(f"({n}) {p}" for n, p in numbered), "\n".join(f"{n}) {p}" for n, p in numbered),
        "，".join(f"第{'一二三四五六七八九'[n - 1]}空{p}" for n, p in numbered), "\n".join(parts),
    ]  # fmt: skip
    if not any({";", "；"} & {*p} for p in parts):
        made += ["; ".join(parts), "；".join(parts)]
    if len(parts) <= len(_ORDINALS):
        told = zip(_ORDINALS, parts, strict=False)
        made.append(", ".join(f"{name}: {p}" for name, p in told))
    return made


def near_parts(rng: random.Random, answer: Answer) -> list[str]:
    """Another part in one place, two parts exchanged, or the last one missing."""
    found = split_parts(answer.text)
    if found is None:
        return atoms.near(rng, answer)
    parts = found.parts
    made: list[str] = []
    made += [
        found.rebuilt([*parts[:n], parts[n + 1], parts[n], *parts[n + 2 :]])
        for n in range(len(parts) - 1)
    ]
    for n, part in enumerate(parts):
        others = _near_part(rng, answer.part(part))[:4]
        made += [found.rebuilt([*parts[:n], other, *parts[n + 1 :]]) for other in others]
    missing = _TRAIL.sub("", found.between[0] + found.rebuilt(parts[:-1])[len(found.between[0]) :])
    return [*made, missing]


def _near_part(rng: random.Random, part: Answer) -> list[str]:
    if collections.components(part.text) is not None:
        return collections.near_tuple(rng, part)
    if collections.elements(part.text) is not None:
        return collections.near_set(rng, part)
    if intervals.pieces(part.text) is not None:
        return intervals.near(rng, part)
    return atoms.near(rng, part)


# --- several answers ------------------------------------------------------------------------------

_JOINT: Final = re.compile(
    r"\s*(?:(?:,(?!\d{3}(?!\d))|[，、;；])\s*(?:and|or|和|或)?|或者?|和|与|\\text\{\s*(?:or|and|或)\s*\}|,?\s+(?:or|and)\s+)\s*"
)
_NAME: Final = re.compile(r"(?P<name>[a-zA-Zα-ω])(?:_\{?\d\}?|[₁-₉])?\s*=\s*(?P<value>.+)")


class Answers(NamedTuple):
    """Several answers, the joints between them, and the name that each may carry."""

    items: list[str]
    joints: list[str]

    def rebuilt(self, items: list[str]) -> str:
        """The same joints around other answers; fewer take the last joint."""
        joints = self.joints[len(self.joints) - len(items) + 1 :] if len(items) > 1 else []
        joints = joints or self.joints[:1] * (len(items) - 1)
        while len(joints) < len(items) - 1:
            joints = [joints[0], *joints]
        return items[0] + "".join(j + i for j, i in zip(joints, items[1:], strict=True))


def split_answers(text: str) -> Answers | None:
    """The answers and what joins them; nothing inside brackets is a joint."""
    spans, depth, at = [], 0, 0
    while at < len(text):
        depth += (text[at] in "([{（") - (text[at] in ")]}）")
        match = _JOINT.match(text, at) if depth == 0 else None
        if match is not None and match.end() > at:
            spans.append(match.span())
            at = match.end()
        else:
            at += 1
    starts, ends = [0, *(b for _, b in spans)], [*(a for a, _ in spans), len(text)]
    items = [text[a:b].strip() for a, b in zip(starts, ends, strict=True)]
    return Answers(items, [text[a:b] for a, b in spans]) if spans and all(items) else None


def _values(items: list[str]) -> tuple[str, list[str]]:
    """The unknown's name that all carry, and the bare values, with ± as two."""
    named = [_NAME.fullmatch(item) for item in items]
    names = {m["name"] for m in named if m is not None}
    bare = [m["value"].strip() if m else item for m, item in zip(named, items, strict=True)]
    bare = [v[1:] if v[:1] == "+" else v for b in bare for v in both_signs(undress(b)[1])]
    return (names.pop() if len(names) == 1 else ""), distinct(bare)


def same_answers(rng: random.Random, answer: Answer) -> list[str]:
    """The answers in other orders, joined otherwise, named or bare, or under one sign."""
    found = split_answers(answer.text)
    items = found.items if found else [answer.text]
    name, values = _values(items)
    if len(values) < 2:
        return _dispatch(rng, answer.part(answer.text))
    formal = all(atoms.is_value(v) or collections.components(v) for v in values)
    if found is not None and (len(values) < len(items) or _is_phrase(items, formal=formal)):
        return [answer.text.replace("、", ", "), re.sub(r",\s*", ", ", answer.text)]
    made = [] if found is None else [found.rebuilt(items[::-1]), found.rebuilt(_drawn(rng, items))]
    orders = [values, values[::-1], _drawn(rng, values)]
    for order in orders:
        made += _joined(order, formal=formal, tuples="," in "".join(values))
    if name and formal:
        made += _with_name(name, values, answer)
    if formal:
        made += _one_sign(name, values)
        for n, value in enumerate(values):
            forms = atoms.formal(rng, answer.part(value))[:2]
            made += [", ".join([*values[:n], form, *values[n + 1 :]]) for form in forms]
    return made


def _is_phrase(items: list[str], *, formal: bool) -> bool:
    """Whether the order tells: "yes, no", or a date such as "May 4, 1919"."""
    told = any(truth(item) is not None for item in items)
    return told or (not formal and any(c.isdigit() for c in "".join(items)))


def _drawn(rng: random.Random, items: list[str]) -> list[str]:
    return rng.sample(items, len(items))


def _joined(items: list[str], *, formal: bool, tuples: bool) -> list[str]:
    """Words for people's language: 和 between Chinese words, ``and`` between others."""
    made = [", ".join(items)]
    if formal or HAN.search(items[0]):
        made += ["、".join(items), f"{'、'.join(items[:-1])}和{items[-1]}"]
    if formal or not HAN.search(items[0]):
        made.append(f"{', '.join(items[:-1])} and {items[-1]}")
    if formal:
        made += ["或".join(items), " or ".join(items), in_math(", ".join(items))]
        made.append(in_math(" \\text{ or } ".join(items)))
        made += [] if tuples else [f"{{{', '.join(items)}}}"]
    return made


def _with_name(name: str, values: list[str], answer: Answer) -> list[str]:
    each = [f"{name}={v}" for v in values]
    indexed = [f"{name}_{n}={v}" for n, v in enumerate(values, start=1)]
    small = [f"{name}{'₁₂₃₄₅₆₇₈₉'[n]}={v}" for n, v in enumerate(values[:9])]
    either = "或" if answer.chinese else " or "
    made = [either.join(each), ", ".join(each), either.join(each[::-1]), ", ".join(indexed)]
    made += ["，".join(small), in_math(",\\ ".join(indexed)), f"{name}={either.join(values)}"]
    return [
        *made,
        in_math(" \\text{ or } ".join(each)),
        " or ".join(e.replace("=", " = ") for e in each),
    ]


def _one_sign(name: str, values: list[str]) -> list[str]:
    if len(values) != 2 or values[0].lstrip("-") != values[1].lstrip("-"):
        return []
    size = values[0].lstrip("-")
    lead = f"{name}=" if name else ""
    return [f"{lead}±{size}", f"${lead}\\pm {size}$", f"{lead}-{size}, {lead}{size}"]


def _changed_inside(rng: random.Random, answer: Answer, found: Answers) -> list[str]:
    """The items changed in their places, where none may go or be exchanged."""
    made: list[str] = []
    for n, item in enumerate(found.items):
        others = words.near(rng, answer.part(item))[:3]
        made += [found.rebuilt([*found.items[:n], o, *found.items[n + 1 :]]) for o in others]
    return made


def near_answers(rng: random.Random, answer: Answer) -> list[str]:
    """One of the answers missing, another, or with the other sign."""
    found = split_answers(answer.text)
    if found is None:
        return atoms.near(rng, answer._replace(kind=AnswerType.EXPRESSION))
    items = found.items
    if _is_phrase(items, formal=all(map(atoms.is_value, items))):
        return _changed_inside(rng, answer, found)
    made: list[str] = []
    for n, item in enumerate(items):
        rest = [*items[:n], *items[n + 1 :]]
        made.append(found.rebuilt(rest))
        tuples = collections.components(item) is not None
        near = collections.near_tuple if tuples else atoms.near
        own = {fold(i) for i in items}
        others = [o for o in near(rng, answer.part(item)) if fold(o) not in own][:4]
        made += [found.rebuilt([*items[:n], other, *items[n + 1 :]]) for other in others]
    return made
