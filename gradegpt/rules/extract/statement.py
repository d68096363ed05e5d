"""Sentences that say which option is chosen and nothing else: "It must be B, Mars.", "应该是C".

Every word of such a sentence is a known one, up to the letter; what follows the letter (the text of
the option, a reason) has no other letter and no word that denies, restricts or contrasts. So a
sentence such as "It can't be B" or "B is tempting" is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gradegpt.answers.options import SAID
from gradegpt.rules.extract.found import NEAR_THE_END

_NEAR: Final = 160
"""Characters at the end of a response in which a statement counts; so does its first sentence."""
_OPTION = (
    r"(?:option|choice|letter)?\s*[*$(\[{]{0,4}(?-i:(?P<%s>[A-HJ]))(?![A-Za-z'’])[*$)\]}]{0,4}"
)
_ADVERB = r"(?:clearly|obviously|definitely|certainly|surely|probably|likely|simply|just)"
_HEAD = (
    r"(?:(?:so|thus|hence|therefore|then|but|and|overall|ok|okay|well|indeed"
    r"|in (?:conclusion|summary)|(?:without|no) (?:a |any )?doubt"
    r"|i(?:'m| am) (?:(?:pretty|quite|fairly|very) )?(?:sure|confident|certain)(?: that)?"
    r"|(?:i|we) (?:can )?(?:think|believe|guess|feel|reckon|conclude|suppose|see)(?: that)?"
    rf"|it (?:seems|appears|follows)(?: that)?|{_ADVERB})\b\s*[,:]?\s*)*+"
)
_NOUN = r"(?:answer|option|choice|one|pick|guess|selection)"
_IS = (
    r"(?:\s*(?:['’]s|is|must be|has to be|should be|would be|will be|(?:could|can) only be)\b"
    rf"(?:\s+{_ADVERB})?|\s*[:–—-])"
)
_CHOOSE = (
    r"(?:go(?:ing)? (?:with|for)|choos(?:e|ing)|pick(?:ing)?|select(?:ing)?|opt for|say|write|tick)"
)
_VERB = (
    r"(?:(?:it|this|that|(?:(?:the|my) )?(?:(?:correct|right|best|final|only(?: possible)?) )?"
    rf"{_NOUN}){_IS}|(?:must|has to|should|(?:could|can) only) be"
    r"|(?:i|we)(?:['’](?:ll|d|m|re)| will| would| am| are)?(?: would)? " + _CHOOSE
    + rf"|(?:let me|let us|let['’]s) {_CHOOSE}|{_CHOOSE}|everything points to|(?:it )?looks like"
    r"|ans(?:wer)?\s*[.:]|final answer\s*[:–—-])"
)  # fmt: skip
_RIGHT = (
    rf"\s*(?:,[^,.\n]{{1,40}},\s*)?(?:it is|is(?:\s+{_ADVERB})?\s+(?:(?:the|my) )?"
    rf"(?:(?:only|correct|right|best|final|possible) ){{0,2}}(?:{_NOUN}|correct|right)\b)"
)
_SAID = r"(?:,?\s*(?:i (?:think|guess|believe)|i['’]d say|to me|for sure|no doubt|definitely))"
_BEGIN = (
    r"(?:\A|[\n。！!?？；;]|(?<=[\w)\]'\"*$])\.\s"
    r"|[,，]\s*(?=(?:and )?(?:so|hence|thus|therefore|but)\b))"
    r"[\s*_#>-]*+"
)
_END = (
    r"(?=\s*(?:[.!。！\n]|\Z)|\s*(?:[,:;–—-]|(?<=\))\s|\b(?:because|since|as|due to)\b)"
    r"(?P<rest>(?:[^.!?。！？\n]|\.(?=\d)){0,160}))"
)
_ENGLISH = re.compile(
    rf"{_BEGIN}(?P<head>{_HEAD})(?:{_VERB}\s*{_OPTION % 'said'}{_SAID}?|{_OPTION % 'right'}{_RIGHT}"
    rf"|{_OPTION % 'bare'}(?P<tail>{_SAID}|(?=\s*!))?)\s*{_END}",
    re.IGNORECASE,
)
_ZH_OPTION = r"[*$(\[（]{0,3}(?P<%s>[A-HJ])(?![A-Za-z])[*$)\]）]{0,3}\s*(?:选?项)?"
_ZH_HEAD = (
    r"(?:(?:所以|因此|综上(?:所述)?|故|那么?|那就|但是?|不过|显然|毫无疑问|我(?:个人)?(?:觉得|认为|猜|想|相信|会)"
    r"|[这本此]道?题|(?:我的|正确|最佳)?(?:答案|选项|选择)|正确的|最(?:合适|恰当|佳|好)的?"
    r"|应该|应当|应|肯定|一定|必定|必须|必然|只能|只可能|大概|多半|很可能)\s*[,，:：]?\s*)*+"
)
_CHINESE = re.compile(
    r"(?:\A|[\n。！!?？；;]|[,，]\s*(?=所以|因此|故|综上|但|不过|应|肯定|一定))[\s*_#>-]*+"
    rf"(?P<head>{_ZH_HEAD})(?:(?:就?是|为|(?:我们?)?就?选择?|[填写涂]入?)\s*(?:选项)?\s*"
    rf"{_ZH_OPTION % 'said'}"
    rf"|{_ZH_OPTION % 'bare'}(?P<tail>吧)?"
    rf"|{_ZH_OPTION % 'right'}(?:才|就)?是?(?:正确的?|对的|(?:正确|我的)?(?:答案|选项)))"
    r"(?:吧|了|啦)?(?=\s*(?:[.。!！\n]|\Z)|\s*[,，:：](?P<rest>[^。！!？?\n]{0,80}))"
)
_DENIES = re.compile(
    r"\b(?:but|not|no|never|however|although|though|yet|if|unless|n?or|wrong|incorrect|false|except"
    r"|while|whereas|instead|may|might|maybe|perhaps|actually|wait|neither|either|both|rather|were)\b"
    rf"|n['’]t\b|{SAID}|但|不|错|除|或|还是|如果|若|然而|却|本来|误|其实",
    re.IGNORECASE,
)
_LETTER = re.compile(SAID)
_SUPPOSED = re.compile(
    r"\b(?:if|suppose|unless|were|would have|either)\b|如果|假如|倘若|若|的话", re.IGNORECASE
)
_GROUPS: Final = ("said", "right", "bare")


def _others(text: str, match: re.Match[str]) -> bool:
    """Whether an option's letter occurs before the match, or nothing does."""
    return not text[: match.start()].strip() or _LETTER.search(text, 0, match.start()) is not None


def statements(text: str) -> Iterator[tuple[int, int, int]]:
    """The places of such statements: where the sentence begins, and its letter's start and end."""
    since = max(0, len(text) - _NEAR)
    for pattern in (_ENGLISH, *(() if text.isascii() else (_CHINESE,))):
        first = pattern.match(text) if 0 < since < NEAR_THE_END - _NEAR else None
        matches = [*([first] if first else []), *pattern.finditer(text, since)]
        said = any(match["right"] for match in matches)
        judged = {m["right"] for m in pattern.finditer(text)} if said else set()
        for match in matches:
            before = text[max(0, match.start() - 160) : match.start() + 1]
            sentence = re.split(r"[.。!！?？\n]", before)[-1]
            if _DENIES.search(match["rest"] or "") or _SUPPOSED.search(sentence):
                continue
            alone = match["bare"] and not match["head"] and match["tail"] is None
            if alone and (text[match.end("bare") :].strip(" .。*)]$") or _others(text, match)):
                continue  # without "so" or "I think" only as the end of a text without others
            if match["right"] and len(judged - {None}) > 1:
                continue  # options that are judged one by one: "A is right. … C is right."
            letter = next(name for name in _GROUPS if match[name])
            yield match.start(), *match.span(letter)
