"""Check a gloss, the English of a quote, as far as that is possible without a model.

A gloss by a judge, a teacher or a template is removed if its numbers, option letters, Latin names
or formulas differ from those of its quote, or if it has Chinese characters. The meaning of Chinese
words is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from gradegpt.answers.number import may_begin, spelled
from gradegpt.answers.text import fold
from gradegpt.chains.chain import Chain, needs_gloss

_FRACTION = re.compile(r"\\frac\s*\{(\d+)\}\s*\{(\d+)\}")
_DIGITS = re.compile(
    r"(?P<sign>(?<![A-Za-z0-9)\]}年月日])-|负|\b(?:minus|negative)\s+)?"
    r"(?P<size>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?)\s*"
    r"(?P<scale>[十百千]?[万亿]|(?:thousand|million|billion|trillion)\b)?(?P<month>月)?",
    re.IGNORECASE,
)
_HAN: Final = "零〇一二两三四五六七八九十百千万亿"
_NUMERAL = re.compile(
    rf"负?(?:[{_HAN}]+又)?[{_HAN}]+(?:点[{_HAN}]+)?(?:分之(?:[{_HAN}]+(?:点[{_HAN}]+)?|\d+(?:\.\d+)?))?|半"
)
_LONGEST: Final = 8
"""Most words of a number that is read."""
_PREFIXED = re.compile(r"[米克卡瓦焦帕伏安牛升]")
"""Units after a numeral to which its last sign may belong: 五千米 is five kilometres."""
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_ORDINALS: Final = {"first": 1, "second": 2}
"""Other ordinals are also fractions: a third is 1/3, the third is 3."""
_OPTION = re.compile(r"(?<![A-Za-z\\])[A-J]{1,6}(?![A-Za-z])")
_NAME = re.compile(rf"(?!{_OPTION.pattern})(?<![A-Za-z])[A-Za-z]{{2,}}")
_MARKUP = re.compile(r"^\s*[>#]+\s|\*\*|`|<eo[a-z]>")
_WORDS_TOO: Final = frozenset("AI")
"""Capital letters that are also English words."""
_CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")
_RELATION = re.compile(r"[=^\\<>≤≥√]")
_SIGNED = re.compile(r"[^\W_]")
"""What a formula has besides operations: a dot between parts of a name is none."""
_OPERATION = re.compile(r"[=^\\<>≤≥√+*/±·÷×]")
_EDGES: Final = " .,:;!?()[]*`'\""

_Values = frozenset[Fraction]
"""The possible values of one number, any of which may match."""


def faithful(quote: str, gloss: str) -> bool:
    """Whether the gloss has no Chinese, and its checkable content agrees with its quote.

    Numbers are compared by value, in digits or in words of either language.

    >>> faithful("所以次品率是八分之一。", "So the defect rate is 1/8.")
    True
    >>> faithful("所以次品率是八分之一。", "So it is 8 and 4.")
    False
    """
    if not gloss.strip() or needs_gloss(gloss):
        return False
    texts = (fold(_MARKUP.sub("", text)) for text in (quote, gloss))
    quoted, glossed = (_FRACTION.sub(r"\1/\2", text) for text in texts)
    return (
        _same_numbers(quoted, glossed)
        and _same_letters(quoted, glossed)
        and _names(quoted) <= _names(glossed)
        and _same_formulas(quoted, glossed)
    )


def checked(chain: Chain) -> Chain:
    """The chain, without the glosses that do not agree with their quotes."""
    pairs = zip(chain.quotes, chain.glosses, strict=False)
    kept = tuple(gloss if not gloss or faithful(quote, gloss) else "" for quote, gloss in pairs)
    return chain if kept == chain.glosses else chain.model_copy(update={"glosses": kept})


def _same_numbers(quote: str, gloss: str) -> bool:
    """Whether each number of the gloss is in the quote, and no required number is missing."""
    needed, free = _quoted(quote)
    given = [*_in_digits(gloss), *_in_words(gloss, seconds="秒" in quote)]
    free += _in_words(quote, seconds=False)
    known = frozenset[Fraction]().union(*needed, *free, {Fraction(1)})
    found = frozenset[Fraction]().union(*given)
    return all(one & known for one in given) and all(one & found for one in needed)


def _quoted(quote: str) -> tuple[list[_Values], list[_Values]]:
    """The required numbers of a quote, and optional ones: the 三 of 三角形, the 一 of 一定."""
    needed, free = [*_in_digits(quote)], list[_Values]()
    for match in _NUMERAL.finditer(_DIGITS.sub(lambda m: " " * len(m[0]), quote)):
        value = spelled(match[0])
        if value is None:
            free += [frozenset({v}) for c in match[0] if (v := spelled(c)) is not None]
        elif len(match[0]) == 1:
            free.append(frozenset({value}))
        elif match[0][-1] in "千百万" and _PREFIXED.match(quote, match.end()):
            short = spelled(match[0][:-1])
            free.append(frozenset({value, value if short is None else short}))
        else:
            percent = {value * 100} if "百分之" in match[0] else set[Fraction]()
            needed.append(frozenset({value, *percent}))
    return needed, free


def _in_digits(text: str) -> Iterator[_Values]:
    for match in _DIGITS.finditer(text):
        if match["month"]:
            continue  # 5月 is May
        top, _, bottom = match["size"].replace(",", "").partition("/")
        if bottom and not int(bottom):
            continue
        value = Fraction(top) / int(bottom or 1) * (-1 if match["sign"] else 1)
        scale = match["scale"]
        size = spelled(f"one {scale}") or spelled(f"一{scale}") if scale else None
        yield frozenset({value} if size is None else {value * size, value})


def _in_words(gloss: str, *, seconds: bool) -> Iterator[_Values]:
    """The numbers in English words: the longest runs of words that spell one."""
    words = [match[0].lower() for match in _WORD.finditer(gloss)]
    at = 0
    while at < len(words):
        word = words[at]
        ends = range(min(at + _LONGEST, len(words)), at, -1) if may_begin(word) else ()
        runs = ((end, spelled(" ".join(words[at:end]))) for end in ends)
        end, value = next(((e, v) for e, v in runs if v is not None), (at + 1, None))
        if value is not None:
            part = value.numerator == 1 and end == at + 1
            yield frozenset({value, Fraction(value.denominator)} if part else {value})
        elif word in _ORDINALS and not (word == "second" and seconds):
            yield frozenset({Fraction(_ORDINALS[word])})
        at = end


def _same_letters(quote: str, gloss: str) -> bool:
    quoted, glossed = (_OPTION.findall(text) for text in (quote, gloss))
    single = {letter for letter in glossed if len(letter) == 1}
    wanted = {*"".join(quoted)}
    return wanted <= {*"".join(glossed)} and single <= wanted | _WORDS_TOO


def _names(text: str) -> set[str]:
    return {name.lower() for name in _NAME.findall(text)}


def _same_formulas(quote: str, gloss: str) -> bool:
    """Whether each formula of the one occurs in the other, spaces aside."""
    quoted, glossed = ("".join(text.split()) for text in (quote, gloss))
    runs = (part for run in _CHINESE.split(quote) for part in re.split("[,;]", run))
    own = (
        "".join(part.strip(_EDGES).split())
        for part in runs
        if _OPERATION.search(part) and _SIGNED.search(part)
    )
    theirs = (part.strip(_EDGES) for part in gloss.split() if _RELATION.search(part))
    return all(part in glossed for part in own) and all(part in quoted for part in theirs)
