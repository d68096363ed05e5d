"""Nothing is dropped silently: a sign that is not on the list of what may be left out counts."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from typing import Final

import pytest

from gradegpt.answers.read import read
from gradegpt.answers.text import LEFT_OUT, fold
from gradegpt.answers.types import CHOICE, AnswerType
from gradegpt.core.schema import Item, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.compare import compare

KINDS: Final = [kind for kind in AnswerType if kind not in CHOICE]
CATEGORIES: Final = ("Sm", "So", "Sc", "Sk", "Po")
COMMANDS: Final = """
    perp parallel cong sim simeq approx equiv neq in notin ni subset subseteq supset supseteq prec
    succ ll gg leq geq propto models vdash mid nmid bowtie asymp doteq to rightarrow leftarrow
    Rightarrow Leftrightarrow mapsto implies iff
    land lor wedge vee oplus otimes odot circ star bullet cup cap setminus pm mp div amalg uplus
    sqcup wr diamond dagger
"""
"""Relations and operators of LaTeX."""
ACCENTS: Final = """
    hat vec bar overline underline tilde dot ddot widehat widetilde overrightarrow check acute
    grave breve mathring not
"""
PRODUCTS: Final = "×*·∗"
"""Signs of a product, which may be left out in a formula."""


def symbols() -> Iterator[str]:
    """All symbols and punctuation marks of Unicode that may not be left out."""
    for sign in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(sign) not in CATEGORIES or sign in LEFT_OUT:
            continue
        folded = fold(sign).strip()
        listed = not folded or all(one in LEFT_OUT + PRODUCTS + "\\" for one in folded)
        if not listed and not any(one.isalnum() or unicodedata.combining(one) for one in folded):
            yield sign


def kinds_of_same(reference: str, answer: str) -> list[AnswerType]:
    """The types as which the two are called the same."""
    read_as = ((kind, read(reference, kind), read(answer, kind)) for kind in KINDS)
    return [kind for kind, wanted, given in read_as if compare(wanted, given).same]


def other(sign: str) -> str:
    """A sign that is no spelling of this one."""
    return "⊩" if fold(sign) != "⊩" else "⊪"


def test_every_symbol_of_unicode_counts() -> None:
    """``AB SIGN CD`` is neither ``AB CD`` nor ``AB`` with another sign, as text or formula."""
    signs = [*symbols()]
    assert len(signs) > 7_000
    kinds = (AnswerType.TEXT, AnswerType.EXPRESSION)
    others = {(text, kind): read(text, kind) for kind in kinds
              for text in ("AB CD", "AB ⊩ CD", "AB ⊪ CD")}  # fmt: skip
    for sign in signs:
        for kind in kinds if ord(sign) < 0x3000 else kinds[:1]:
            one, without = read(f"AB {sign} CD", kind), others["AB CD", kind]
            assert not compare(one, without).same, (sign, kind)
            assert not compare(without, one).same, (sign, kind)
            assert not compare(one, others[f"AB {other(sign)} CD", kind]).same, (sign, kind)


@pytest.mark.parametrize(
    "sign", ["⊥", "∥", "≌", "≠", "∉", "∧", "≢", "⊬", "♯", "@", "#", "±", "∘", "⇒"]
)
@pytest.mark.parametrize(
    ("left", "right"), [("x", "y"), ("AB", "CD"), ("甲", "乙"), ("salt", "air")]
)
def test_a_sign_counts_in_every_type(sign: str, left: str, right: str) -> None:
    """No type of answer calls texts with and without a sign, or with another, the same."""
    text = f"{left} {sign} {right}"
    for against in (f"{left} {right}", f"{left} {other(sign)} {right}"):
        assert kinds_of_same(text, against) == kinds_of_same(against, text) == []


@pytest.mark.parametrize("command", COMMANDS.split())
def test_a_command_between_names_counts(command: str) -> None:
    """Relations and operators of LaTeX may be neither left out nor exchanged."""
    text = f"AB \\{command} CD"
    for against in ("AB CD", "AB ⊩ CD", "AB \\between CD"):
        assert kinds_of_same(text, against) == kinds_of_same(against, text) == []


@pytest.mark.parametrize("accent", ACCENTS.split())
def test_an_accent_counts(accent: str) -> None:
    """Accents of LaTeX may be neither left out nor exchanged."""
    for name in ("a", "AB"):
        text = f"\\{accent}{{{name}}}"
        for against in (name, f"\\mathaccent{{{name}}}"):
            assert kinds_of_same(text, against) == kinds_of_same(against, text) == []


@pytest.mark.parametrize("text", ["{}'", "{}''", "{}′", "{}″", "{}^{{\\prime}}", "¬{}", "~{}"])
@pytest.mark.parametrize("name", ["p", "AB"])
def test_a_prime_or_negation_counts(text: str, name: str) -> None:
    """Primes and negations belong to a name."""
    text = text.format(name)
    assert kinds_of_same(text, name) == kinds_of_same(name, text) == []


@pytest.mark.parametrize(
    "command", ["neg", "lnot", "partial", "nabla", "forall", "exists", "angle"]
)
def test_a_command_before_a_name_counts(command: str) -> None:
    """Negations, quantifiers and derivatives by commands belong to a name."""
    for name in ("p", "AB"):
        text = f"\\{command} {name}"
        assert kinds_of_same(text, name) == kinds_of_same(name, text) == []


def test_a_factorial_counts() -> None:
    """The factorial of n is not n, and 5! not 5."""
    for number in ("n", "5", "(m+1)"):
        assert kinds_of_same(number, f"{number}!") == kinds_of_same(f"{number}!", number) == []


@pytest.mark.parametrize(
    "sign", ["⊥", "∥", "≌", "≠", "\\perp", "\\parallel", "\\cong", "\\neg", "\\hat"]
)
def test_the_judge_keeps_signs(sign: str) -> None:
    """The judge with all its steps calls no answer correct that lacks a sign or has another."""
    judge = RuleJudge()
    texts = (f"AB {sign} CD", "AB CD", "AB ⊩ CD")
    for reference in texts:
        for response in {*texts} - {reference}:
            for form in ("{}", "${}$", "The answer is {}.", "答案是{}。"):
                item = Item(reference=reference, response=form.format(response))
                assert judge.judge([item])[0].verdict is not Verdict.CORRECT, item


@pytest.mark.parametrize(
    ("one", "two"),
    [("AB ⊥ CD", "AB \\perp CD"), ("AB ∥ CD", "AB // CD"), ("AB ≌ CD", "AB ≅ CD"),
     ("AB ∽ CD", "AB \\sim CD"), ("p ∧ q", "p \\wedge q"), ("a ∉ M", "a \\notin M"),
     ("f'(x)", "f^{\\prime}(x)"), ("f″(x)", "f''(x)"), ("a ≤ b", "a ⩽ b")],
)  # fmt: skip
def test_spellings_of_one_sign_are_the_same(one: str, two: str) -> None:
    """Spellings in the table are one sign."""
    assert compare(read(one, AnswerType.TEXT), read(two, AnswerType.TEXT)).same
