"""The same answer in another form, and near misses for problems that bring none of their own."""

from __future__ import annotations

import random
import re

from gradegpt.rules.compare import compare
from gradegpt.rules.kinds import letters, options
from gradegpt.rules.normalise import number, plain
from gradegpt.schema import CHOICE, AnswerType

_INTEGER = re.compile(r"(?<![\d.\\a-zA-Z_])\d+(?![\d.])")
_ANY_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def right_form(
    rng: random.Random, reference: str, kind: AnswerType, question: str, chinese: bool
) -> str:
    """The reference written another way that every grader accepts."""
    named = letters(reference) if kind in CHOICE else None
    if named:
        return _choice_form(rng, sorted(named), options(question), chinese)
    if kind is AnswerType.NUMBER and (value := number(reference)) is not None and not value.unit:
        return _number_form(rng, reference)
    return rng.choice([reference, f"${reference}$" if "$" not in reference else reference])


def wrong_form(
    rng: random.Random, reference: str, kind: AnswerType, question: str, chinese: bool
) -> str | None:
    """An answer that is not the reference, or none where that cannot be made sure."""
    named = letters(reference) if kind in CHOICE else None
    if named:
        listed = options(question)
        other = _other_letters(rng, named, sorted(listed) or list("ABCD"))
        return _choice_form(rng, other, listed, chinese)
    if kind is AnswerType.TRUE_FALSE:
        return None
    for _ in range(8):
        changed = _change_number(rng, reference)
        if changed is not None and plain(changed) != plain(reference):
            if kind is AnswerType.NUMBER and _same(reference, changed, kind) is not False:
                continue
            return changed
    return None


def _same(reference: str, changed: str, kind: AnswerType) -> bool | None:
    return compare(reference, changed, kind, tolerance="exact").same


def _choice_form(
    rng: random.Random, picked: list[str], listed: dict[str, str], chinese: bool
) -> str:
    if len(picked) > 1:
        joint = rng.choice(["", "", "、", ",", ", ", " ", "和" if chinese else " and "])
        return joint.join(picked)
    letter = picked[0]
    text = listed.get(letter, "")
    forms = [
        letter,
        letter,
        letter,
        f"({letter})",
        f"{letter}.",
        f"选项{letter}" if chinese else f"option {letter}",
    ]
    if text and "\n" not in text and len(text) <= 60:
        forms += [
            f"{letter}. {text}",
            f"{letter}：{text}" if chinese else f"({letter}) {text}",
            f"{letter}．{text}",
        ]
    return rng.choice(forms)


def _other_letters(rng: random.Random, named: frozenset[str], all_letters: list[str]) -> list[str]:
    rest = [letter for letter in all_letters if letter not in named]
    if len(named) == 1:
        return [rng.choice(rest)] if rest else ["E"]
    picked = sorted(named)
    action = rng.randrange(3)
    if action == 0 or not rest:
        picked.remove(rng.choice(picked))
    elif action == 1:
        picked.append(rng.choice(rest))
    else:
        picked[rng.randrange(len(picked))] = rng.choice(rest)
    return sorted(set(picked))


def _number_form(rng: random.Random, reference: str) -> str:
    forms = [reference, reference, f"${reference}$"]
    if re.fullmatch(r"-?\d+", reference):
        forms += [f"{reference}.0", f"{reference}.00"]
        if len(reference.lstrip("-")) > 3:
            forms += [f"{int(reference):,}", f"{int(reference):,}"]
    if simple := re.fullmatch(r"(-?)(\d+)/(\d+)", reference):
        forms += [
            f"{simple[1]}\\frac{{{simple[2]}}}{{{simple[3]}}}",
            f"${simple[1]}\\frac{{{simple[2]}}}{{{simple[3]}}}$",
        ]
    return rng.choice(forms)


def _change_number(rng: random.Random, text: str) -> str | None:
    places = list(_INTEGER.finditer(text)) or list(_ANY_NUMBER.finditer(text))
    if not places:
        return None
    place = rng.choice(places)
    return text[: place.start()] + _near(rng, place[0]) + text[place.end() :]


def _near(rng: random.Random, digits: str) -> str:
    if "." in digits:
        whole, _, part = digits.partition(".")
        return rng.choice(
            [
                f"{int(whole) + 1}.{part}",
                f"{whole}.{part[:-1]}{(int(part[-1]) + rng.randint(1, 8)) % 10}",
            ]
        )
    value = int(digits)
    moves = [value + 1, max(0, value - 1), value + rng.randint(2, 20), value * 2, value * 10]
    if len(digits) > 1:
        swapped = list(digits)
        i = rng.randrange(len(digits) - 1)
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
        moves += [int("".join(swapped))] * 2
        moves += [int(digits[:-1] + str((int(digits[-1]) + rng.randint(1, 9)) % 10))] * 2
    return str(rng.choice(moves))
