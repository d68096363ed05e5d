"""Readers of a final decision: anywhere and exact, in any case, the only one, the last one."""

from __future__ import annotations


def exact(reply: str) -> str:
    return "correct" if "Final Decision: Yes" in reply else "incorrect"


def any_case(reply: str) -> str:
    return "correct" if "final decision: yes" in reply.lower() else "incorrect"


def last(reply: str) -> str:
    """Without a decision, the last word."""
    said = reply.upper().strip()
    yes, no = said.rfind("FINAL DECISION: YES"), said.rfind("FINAL DECISION: NO")
    if max(yes, no) >= 0:
        return "correct" if yes > no else "incorrect"
    return "correct" if said.split()[-1:] == ["YES"] else "incorrect"


ORACLES = {"general_verifier": (exact, any_case, last), "reasoning360": (exact, last)}
