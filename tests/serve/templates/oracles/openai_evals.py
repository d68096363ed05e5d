"""openai/evals: the first line, or the last, that begins or ends with a choice.

Without one, ``fact`` counts the sample as invalid; ``closedqa`` gives the lower score.
"""

from __future__ import annotations

from collections.abc import Callable

_MEANS = {"A": "correct", "B": "correct", "C": "correct", "D": "incorrect", "E": "correct"}


def _choice(choices: str, *, from_the_end: bool) -> Callable[[str], str | None]:
    def read(reply: str) -> str | None:
        lines = reply.strip().split("\n")
        for line in reversed(lines) if from_the_end else lines:
            text = line.strip().strip(".()'\"")
            for letter in choices:
                if text.startswith(letter) or text.endswith(letter):
                    return letter
        return None

    return read


def _fact(read: Callable[[str], str | None]) -> Callable[[str], str | None]:
    return lambda reply: _MEANS.get(read(reply) or "")


def _closed(read: Callable[[str], str | None]) -> Callable[[str], str | None]:
    return lambda reply: "correct" if read(reply) == "Y" else "incorrect"


ORACLES = {
    "openai_evals_fact": tuple(_fact(_choice("ABCDE", from_the_end=e)) for e in (True, False)),
    "openai_evals_closedqa": tuple(_closed(_choice("YN", from_the_end=e)) for e in (True, False)),
}
