"""Options: letters and statement numbers, one or several, by name, by place, or by their text."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence
from typing import Final

from data_gen.forms.base import Answer, distinct
from gradegpt.answers.options import is_set, letters, options, sequence
from gradegpt.rules.compare.choice import by_text
from gradegpt.schema import AnswerType

_ONE: Final = re.compile(r"[(（]?[A-H](?![a-z])[)）]?|[(（][1-9][)）]|[①-⑨]")
_LABELS: Final = re.compile(
    rf"(?:{_ONE.pattern})(?:[\s,、，;和与&]*(?:and\s+)?(?:{_ONE.pattern}))*\.?"
)
_LETTERED: Final = re.compile(
    r"(?P<open>[(（]?)[A-H](?P<close>[)）]?[.．、:：]?\s*)(?P<text>[^\s,、，;.)）].*)", re.DOTALL
)
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_HAN: Final = "一二三四五六七八"
_LETTERS: Final = "ABCDEFGH"
_LONGEST: Final = 60
_JOINTS: Final = ("", "", "、", ",", ", ", " and ", "和")
_NONE_ZH: Final = (
    "没有正确选项", "所有选项都不正确", "四个选项都不对", "没有符合题意的选项", "选项均不正确",
    "无", "本题无解", "题目有误，没有正确答案", "四个选项都没有问题", "无法确定",
)  # fmt: skip
_NONE_EN: Final = (
    "none of the options is correct", "no correct option", "None of the given choices",
    "none of these is correct", "None", "there is no solution", "cannot be determined",
)  # fmt: skip
"""Answers that choose no option, all of them as wrong."""


def labels(answer: Answer) -> list[str]:
    """The labels that the answer names, in the order of the alphabet; statement numbers as 1…9."""
    text = answer.text.strip()
    if _LABELS.fullmatch(text):
        found = [_bare(m[0]) for m in _ONE.finditer(text)]
        if found and all(c in _LETTERS for c in found) is any(c in _LETTERS for c in found):
            return sorted({*found})
    listed = options(answer.question)
    named = letters(text, listed) or by_text(text, listed)
    return sorted(named) if named else []


def _bare(label: str) -> str:
    label = label.strip("()（）")
    return str("①②③④⑤⑥⑦⑧⑨".index(label) + 1) if label in "①②③④⑤⑥⑦⑧⑨" else label


def in_order(text: str) -> tuple[str, ...]:
    """The options of several questions, ``B A D``; empty for what may be a set of options."""
    named = sequence(text)
    return () if is_set(named) else named


def same(rng: random.Random, answer: Answer) -> list[str]:
    """The same option or options, or that none is right."""
    if answer.text.strip() in (*_NONE_ZH, *_NONE_EN):
        return [*_NONE_ZH, *_NONE_EN]
    if ordered := in_order(answer.text):
        return _by_question(ordered)
    named = labels(answer)
    if not named:
        return []
    texts = _texts(answer.question)
    if named[0] not in _LETTERS:
        return _statements(named)
    return _single(named[0], texts, answer) if len(named) == 1 else _several(rng, named, texts)


def _by_question(ordered: Sequence[str]) -> list[str]:
    numbered = list(enumerate(ordered, start=1))
    made = [joint.join(ordered) for joint in (" ", ", ", "、", "; ", ",")]
    made += [joint.join(f"{n}. {x}" for n, x in numbered) for joint in (" ", "; ")]
    made += [" ".join(f"{n}.{x}" for n, x in numbered), " ".join(f"({n}) {x}" for n, x in numbered)]
    return made


def _another_order(rng: random.Random, ordered: Sequence[str]) -> list[str]:
    """Another option for one of the questions, or those of two exchanged."""
    others = []
    for n, chosen in enumerate(ordered):
        new = rng.choice([x for x in "ABCD" if x != chosen])
        others.append([*ordered[:n], new, *ordered[n + 1 :]])
        others.append([*ordered[:n], *ordered[n + 1 : n + 2], chosen, *ordered[n + 2 :]])
    return [" ".join(other) for other in others if other != [*ordered] and not is_set((*other,))]


def _texts(question: str) -> dict[str, str]:
    """The options' texts, where each is short and stands on one line."""
    listed = options(question)
    listed = {letter: text.strip(" ;；.。,，") for letter, text in listed.items()}
    short = all(text and "\n" not in text and len(text) <= _LONGEST for text in listed.values())
    return listed if short else {}


def _single(letter: str, texts: dict[str, str], answer: Answer) -> list[str]:
    made = [letter, f"({letter})", f"{letter}.", f"（{letter}）", f"{letter})", f"${letter}$"]
    made += [f"选项{letter}", f"选{letter}", f"{letter}项", f"{letter}选项"]
    made += [f"option {letter}", f"Option {letter}", f"choice {letter}", f"\\text{{{letter}}}"]
    made.append(chr(ord("Ⓐ") + ord(letter) - ord("A")))
    if options(answer.question):
        made += by_place(letter)
    if text := texts.get(letter, ""):
        made += [
            f"{letter}. {text}",
            f"({letter}) {text}",
            f"{letter}、{text}",
            f"{letter}：{text}",
        ]
        if list(texts.values()).count(text) == 1 and letters(text) is None:
            made += [text, f"{text.rstrip('.。')}{'.' if text.isascii() else '。'}"]
    return made


def by_place(letter: str) -> list[str]:
    """The option by its place among the others."""
    n = _LETTERS.index(letter)
    return [f"第{_HAN[n]}个选项", f"第{_HAN[n]}项", f"the {_ORDINALS[n]} option"]


def _several(rng: random.Random, named: list[str], texts: dict[str, str]) -> list[str]:
    turned = named[::-1]
    drawn = rng.sample(named, len(named))
    made = ["".join(named), "".join(turned), "".join(f"({n})" for n in named)]
    made += [joint.join(named) for joint in ("、", ",", ", ", " ", "，")]
    made += [", ".join(turned), "、".join(drawn), "选" + "".join(named)]
    made += [f"{'、'.join(named[:-1])}和{named[-1]}", f"{', '.join(named[:-1])} and {named[-1]}"]
    made += [f"选项{'、'.join(named)}", f"options {', '.join(named[:-1])} and {named[-1]}"]
    if len(named) < len(texts) and [*texts] == sorted(texts):
        rest = [n for n in texts if n not in named]
        if len(rest) == 1 and len(texts) > 3:
            made += [f"除{rest[0]}外都对", f"all except {rest[0]}"]
    told = [texts[n] for n in named if n in texts]
    short = sum(map(len, told)) <= 2 * _LONGEST
    if short and len(told) == len(named) and len({*texts.values()}) == len(texts):
        chinese = any(not t.isascii() for t in told)
        made.append("、".join(told) if chinese else f"{', '.join(told[:-1])} and {told[-1]}")
        made.append("; ".join(f"{n}. {texts[n]}" for n in named))
    return made


def _statements(named: list[str]) -> list[str]:
    circled = ["①②③④⑤⑥⑦⑧⑨"[int(n) - 1] for n in named]
    bracketed = [f"({n})" for n in named]
    made = ["".join(circled), "、".join(circled), "".join(bracketed), ", ".join(bracketed)]
    made += ["".join(reversed(circled)), "、".join(bracketed), "".join(f"（{n}）" for n in named)]
    if len(named) > 1:
        made.append(f"{', '.join(bracketed[:-1])} and {bracketed[-1]}")
    return made


# --- other options --------------------------------------------------------------------------------


def near(rng: random.Random, answer: Answer) -> list[str]:
    """Another option, two, or none; for several, one missing, one more, or another in a place."""
    if ordered := in_order(answer.text):
        return _another_order(rng, ordered)
    named = labels(answer)
    if not named:
        return []
    every = _every(answer, named)
    rest = [label for label in every if label not in named]
    if len(named) == 1 and answer.kind is AnswerType.SINGLE_CHOICE:
        made = [_styled(answer, named, [other]) for other in rest]
        if _LABELS.fullmatch(answer.text.strip()):
            made += _not_one(rng, named[0], rest, chinese=answer.chinese)
        return distinct(made)
    others = [[n for n in named if n != gone] for gone in named if len(named) > 1]
    others += [sorted([*named, more]) for more in rest]
    others += [sorted([*(n for n in named if n != gone), new]) for gone in named for new in rest]
    made = [new for other in others if (new := _styled(answer, named, other))]
    return rng.sample(made, min(len(made), 8))


def _not_one(rng: random.Random, letter: str, others: Sequence[str], *, chinese: bool) -> list[str]:
    """Now and then the option beside another one, or no option at all: neither chooses it."""
    if letter not in _LETTERS or not others:
        return []
    both = rng.choice(_JOINTS).join(sorted((letter, rng.choice(others))))
    none = rng.choice(_NONE_ZH if chinese else _NONE_EN)
    return [new for new, share in ((both, 0.5), (none, 0.4)) if rng.random() < share]


def _every(answer: Answer, named: list[str]) -> list[str]:
    listed = sorted(options(answer.question))
    if named[0] in _LETTERS:
        return listed or [c for c in _LETTERS if c <= max("D", *named)]
    return [str(n) for n in range(1, max(4, *map(int, named)) + 1)]


def _styled(answer: Answer, named: list[str], other: list[str]) -> str:
    """The other labels as the answer writes its own: letters, brackets and joints, or texts."""
    text, texts = answer.text.strip(), _texts(answer.question)
    if len(named) == 1 == len(other) and texts:
        if text == texts.get(named[0]):
            return texts.get(other[0], "")
        if lettered := _LETTERED.fullmatch(text):
            new = texts.get(other[0], "")
            return f"{lettered['open']}{other[0]}{lettered['close']}{new}" if new else ""
    found = list(_ONE.finditer(text))
    if len(found) != len(named) or [_bare(m[0]) for m in found if _bare(m[0]) in named] == []:
        return ""
    marks = [_like(found[0][0], label) for label in other]
    joints = [text[a.end() : b.start()] for a, b in itertools.pairwise(found)]
    first, last = (joints[0], joints[-1]) if joints else ("", "")
    body = last.join([first.join(marks[:-1]), marks[-1]]) if len(marks) > 1 else marks[0]
    return text[: found[0].start()] + body + text[found[-1].end() :]


def _like(shown: str, label: str) -> str:
    if shown in "①②③④⑤⑥⑦⑧⑨":
        return "①②③④⑤⑥⑦⑧⑨"[int(label) - 1]
    return shown.replace(_bare(shown), label)
