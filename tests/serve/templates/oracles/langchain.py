"""LangChain: a letter at either end of the reply; a grade by name, or its first or last word."""

from __future__ import annotations

import re

WORDS = {"CORRECT": "correct", "INCORRECT": "incorrect"}


def letter(reply: str) -> str | None:
    text = reply.strip()
    found = re.search(r"\s*(Y|N)\s*\Z", text) or re.search(r"\A\s*(Y|N)\b", text)
    return {"Y": "correct", "N": "incorrect"}[found[1]] if found else None


def grade(reply: str) -> str | None:
    named = re.search(r"(?i)grade:\s*(correct|incorrect)", reply.strip())
    if named:
        return named[1].lower()
    words = re.findall(r"\w+", reply.upper()) or [""]
    return WORDS.get(words[0], WORDS.get(words[-1]))


ORACLES = {
    "langchain_criteria": (letter,),
    "langchain_qa": (grade,),
    "langchain_qa_true_first": (grade,),
    "langchain_qa_professor": (grade,),
}
