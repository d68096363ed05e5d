"""Styles of texts, truth values and options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gradegpt.answers.answer import Answer
from gradegpt.answers.options import options
from gradegpt.answers.types import AnswerType, Options

from .style import Style, vary
from .write import HAN, variants

_MAX_OPTION: Final = 60
_MAX_TEXTS: Final = 80
"""Most characters of several option texts; a longer answer would not be read as a choice."""
_MAX_NAME: Final = 12
_SAYS: Final = re.compile(r"[，；、：\s是为]|^[因先会不向能有使]")
"""Signs that a Chinese text is a statement rather than a name."""
_SENTENCE: Final = re.compile(
    r"^(?:it|it's|this|that|he|she|they|there|the answer)\b|\w+ (?:is|are|was|were) ", re.IGNORECASE
)
TRUTHS: Final = (
    "正确|错误", "对|错", "√|×", "是|否", "成立|不成立", "True|False", "true|false", "T|F",
    "Yes|No", "correct|incorrect", "Correct|Incorrect", "right|wrong", "TRUE|FALSE", "yes|no",
    "说法正确|说法错误", "这个说法是对的|这个说法是错的", "该命题成立|该命题不成立",
    "The statement is true.|The statement is false.", "It is true|It is false",
    "That is correct.|That is incorrect.",
)  # fmt: skip
"""Pairs of words for true and false."""
_SINGLE: Final = (
    "{}", "({})", "{}.", "（{}）", "{})", "${}$", "选项{}", "选{}", "{}项", "{}选项", "option {}",
    "Option {}", "choice {}", "\\text{{}}", "选{}。",
)  # fmt: skip
_SEVERAL: Final = (
    ("", ""), ("、", ""), (",", ""), (", ", ""), (" ", ""), ("，", ""), ("、", "和"),
    (", ", " and "),
)  # fmt: skip
_KEYED: Final = (
    ("#. ", " "), ("#. ", "; "), ("#.", " "), ("(#) ", " "), ("", " "), ("", ", "), ("", "、"),
    ("", "; "), ("", ","),
)  # fmt: skip


def of_words(answer: Answer) -> Iterator[Style]:
    """A text in quotation marks or a short sentence, with synonyms for its trend."""
    said = answer.text
    yield Style()
    if answer.kind is AnswerType.CODE or not said or len(said) > _MAX_OPTION or "\n" in said:
        return
    frames = _in_chinese(said) if HAN.search(said) else _in_english(said)
    yield from vary([Style()], variant=range(variants(said)), form=("{}", *frames))


def _in_chinese(said: str) -> tuple[str, ...]:
    if variants(said) > 1 and len(said) < 5:
        return ("{}。", "“{}”", *(() if said[0] == "会" else ("会{}", "{}了")))
    named = len(said) <= _MAX_NAME and not _SAYS.search(said)
    return ("{}。", "“{}”", *(("是{}", "是{}。", "即{}") if named else ()))


def _in_english(said: str) -> tuple[str, ...]:
    if variants(said) > 1 and len(said.split()) < 4 and said.split()[0].endswith(("s", "es")):
        return ("{}.", '"{}"', "It {}", "it {}.")
    is_sentence = _SENTENCE.search(said)
    return ("{}.", '"{}"', *(() if is_sentence else ("It is {}", "It's {}.", "that is {}")))


def of_options(value: Options, question: str) -> Iterator[Style]:
    """Options by letter, position, text or exception; answer keys of several questions."""
    listed = options(question)
    if value.ordered:
        yield from (Style(form=form, joint=joint) for form, joint in _KEYED)
        return
    if value.letters[0].isdigit():
        yield from vary([Style()], form=("circled", "each"), joint=("", "、", ", "))
        return
    if len(value.letters) == 1:
        yield from vary([Style()], form=_SINGLE)
        if listed:
            yield from vary([Style(form="place")], joint=("个选项", "项", ""))
        if _is_named_by_its_text(value.letters[0], listed):
            yield from vary([Style()], form=("@", "@.", "#. @", "(#) @", "#、@", "#：@"))
        return
    every = [Style(joint=joint, last=last) for joint, last in _SEVERAL]
    yield from vary(every, form=("{}", "选{}", "选项{}"))
    yield Style(form="each", joint="")
    yield Style(form="options {}", last=" and ")


def _is_named_by_its_text(letter: str, listed: Mapping[str, str]) -> bool:
    """Whether the options' texts are short and distinct, so that one can name its option."""
    short = all(0 < len(t) <= _MAX_OPTION and "\n" not in t for t in listed.values())
    brief = len(listed.get(letter, "")) + 4 < _MAX_TEXTS
    return short and brief and len({*listed.values()}) == len(listed) and letter in listed
