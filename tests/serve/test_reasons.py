"""The words of the page for reason codes: every code of the library has some, in both languages."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gradegpt.core.reasons import SOURCE, in_words
from gradegpt.core.schema import AnswerType

ROOT = Path(__file__).parents[2]
SOURCES: Final = ("gradegpt/judges/*.py", "gradegpt/rules/**/*.py", "gradegpt/chains/chain.py")
ANY = "\0"
"""What stands for a value in a code."""
OTHER = {"utf-8", "time-limit", "output-limit", "final-sentence", "last-number"}
"""Words with a hyphen in the same modules that are no codes."""


def table() -> dict[str, list[str]]:
    return dict(json.loads(SOURCE.read_text(encoding="utf-8")))


def codes() -> Iterator[tuple[str, str]]:
    """Each code in the source, with its place; a value in an f-string is ``ANY``."""
    for path in sorted(found for pattern in SOURCES for found in ROOT.glob(pattern)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                skipped |= {id(part) for part in node.values}
        for node in ast.walk(tree):
            text = _text(node) if id(node) not in skipped else ""
            code = text.partition(": ")[0]
            if re.fullmatch(rf"[a-z_{ANY}-]+:[a-z0-9{ANY}-]+|[a-z0-9]+(-[a-z0-9]+)+", code):
                yield f"{path.name}:{getattr(node, 'lineno', 0)}", code


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            p.value if isinstance(p, ast.Constant) and isinstance(p.value, str) else ANY
            for p in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def has_words(code: str, keys: list[str]) -> bool:
    """Whether an entry fits the code, or the code with some value, or as the end of another."""
    types = "|".join([ANY, *AnswerType])
    for key in keys:
        pattern = re.escape(key).replace(r"\*", ".*").replace("<type>", f"(?:{types})")
        if re.fullmatch(pattern.replace("<labels>", f"(?:{ANY}|[ABC?,]+)"), code, re.DOTALL):
            return True
    as_pattern = re.escape(code).replace(re.escape(ANY), ".+")
    end = "" if ":" in code else "(?:.*:)?"
    return any(re.fullmatch(end + as_pattern, key) for key in keys)


def test_every_reason_code_in_the_source_has_words() -> None:
    """A new code in the rules or judges fails this test until the page has words for it."""
    keys = list(table())
    found = [(where, code) for where, code in codes() if code not in OTHER]
    assert len(found) > 80
    assert [(where, code) for where, code in found if not has_words(code, keys)] == []


def test_a_code_without_words_would_be_noticed() -> None:
    """The search is not so generous that everything has words."""
    keys = list(table())
    for code in ("response:bored", "number:nearly-equal", "sleepy-judge", f"code:{ANY}-of-none"):
        assert not has_words(code, keys), code


def test_both_languages_say_the_same_with_the_same_values() -> None:
    for code, said in table().items():
        english, chinese = (sorted(re.findall(r"\{\w+\}", text)) for text in said)
        assert english == chinese, code
        assert all(said), code


def test_a_code_is_put_into_words_with_its_values() -> None:
    """As on the page; a code without an entry has none."""
    assert [in_words(code) for code in ("single_choice:equal", "code:2-of-3-tests", "x")] == [
        "Single choice: the answers are equal.", "The program passes 2 of 3 tests.", "",
    ]  # fmt: skip
    filled = [code.replace("<type>", "number").replace("*", "7") for code in table()]
    assert all(in_words(code.replace("<labels>", "A,?")) for code in filled)


def test_a_table_says_them_in_chinese_as_the_page_does() -> None:
    """With the page's words for the types of answers."""
    assert in_words("single_choice:equal", chinese=True) == "单选：两个答案相等。"
    page = (ROOT / "serve/page/zh.js").read_text(encoding="utf-8")
    assert all(f'"type.{kind}": "{kind.in_chinese}"' in page for kind in AnswerType)
