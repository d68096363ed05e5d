"""Tell by which share or multiple something changed from what it came to.

Up by 200 % is three times what it was; a fall by 30 % leaves 70 %.
"""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.amounts import Amount
from gradegpt.answers.measures import SHARE
from gradegpt.answers.spoken import MULTIPLE

_CHANGED = re.compile(
    r"[增减降涨升跌翻]|\b(?:r[io]se|gr[eo]w|go(?:es|ne)? up|went up|f[ae]ll|drop|declin|increas"
    r"|decreas|reduc|cut)",
    re.IGNORECASE,
)
_BEFORE: Final = 30
_GREW = re.compile(
    r"\b(?:r[io]se|gr[eo]w|up|increas\w+|climbed|jumped|soared|gained)\b|[增涨升]|提高|扩大|多了?$",
    re.IGNORECASE,
)
_FELL = re.compile(
    r"\b(?:f[ae]ll|down|decreas\w+|reduced|dropped|declined|shrank|cut)\b|[减降跌缩]|少了?$",
    re.IGNORECASE,
)
_MORE = re.compile(r"\s*(?:more|higher|greater|larger|bigger|increase|rise|growth)\b")
_LESS = re.compile(r"\s*(?:less|lower|smaller|fewer|decrease|drop|fall|decline)\b")
"""Words around the share or the multiple by which something changed."""
_BY = re.compile(
    r"[%％‰倍成半翻]|分之|per ?cent|\btimes\b|fold\b|twice|thrice|doubl|tripl|quadrupl|half|third"
    r"|quarter|[a-z]ths?\b",
    re.IGNORECASE,
)
_TO_A_SHARE = re.compile(r"(?:[到至为剩]|\bto)\s*(?:about |just |only |约|仅)?\Z", re.IGNORECASE)
"""What makes a share that of the whole after a change, and not that of the change."""


def says_a_change(text: str) -> bool:
    """Whether a text has words of a growth or a fall, and those of a share or a multiple."""
    return bool(_BY.search(text)) and any(p.search(text) for p in (_GREW, _FELL, _MORE, _LESS))


def change(amount: Amount, text: str) -> int:
    """1 for the share or multiple by which something grew, -1 for that by which it fell, else 0."""
    before = re.split("[,，;；。]|\\. ", text[max(0, amount.start - _BEFORE) : amount.start])[-1]
    if _TO_A_SHARE.search(before):
        return 0
    said = before + text[amount.start : amount.end]
    grew = _GREW.search(said) or _MORE.match(text, amount.end)
    fell = _FELL.search(said) or _LESS.match(text, amount.end)
    return bool(grew) - bool(fell)


def as_multiple(amount: Amount, text: str) -> Amount:
    """A share as how many times the whole it makes: up by 200 % is three times."""
    if amount.measures != SHARE or amount.unit == 1:
        return amount
    turn = change(amount, text)
    value = 1 + turn * amount.value if turn else amount.value
    return amount._replace(measures=MULTIPLE, value=value)


def by_or_to(wanted: Amount, reference: str, said: list[Amount], response: str) -> bool:
    """Whether one says by which share something changed, and the other to which."""
    alike = [a for a in said if a.measures == wanted.measures] or said
    kinds = {wanted.measures, *(a.measures for a in alike)}
    if wanted.measures == SHARE and MULTIPLE in kinds:
        return not change(wanted, reference)
    if kinds != {SHARE} or not _CHANGED.search(response):
        return False
    to = {bool(_TO_A_SHARE.search(response, 0, a.start)) for a in alike}
    return to != {bool(_TO_A_SHARE.search(reference, 0, wanted.start))}
