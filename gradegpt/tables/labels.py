"""A label in its usual forms -> a verdict: one table, and an error for anything else."""

from __future__ import annotations

import math
from typing import Final

from gradegpt.core.schema import Verdict

_WRITTEN: Final[dict[Verdict, tuple[str, ...]]] = {
    Verdict.CORRECT: ("correct", "true", "1", "1.0", "yes", "c", "pass", "right", "正确", "对"),
    Verdict.INCORRECT: ("incorrect", "false", "0", "0.0", "no", "i", "fail", "wrong", "错误", "错"),
    Verdict.INVALID: ("invalid", "无效"),
}
"""``C`` and ``I`` are inspect_ai's. Its ``P`` and ``N`` have no equivalent verdict."""
_READ: Final = {text: verdict for verdict, texts in _WRITTEN.items() for text in texts}
USABLE: Final = (
    "true or false, 1 or 0, yes or no, pass or fail, C or I, correct, incorrect, invalid; an empty "
    "cell has no label"
)


def read_label(value: object) -> Verdict | None:
    """The verdict of a label in any case; None where there is no label.

    No label is null in JSON, and an empty cell in a table.

    Raises:
        ValueError: the label has another form, such as 0.5.

    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    verdict = _READ.get(str(value).strip().casefold())
    if verdict is None:
        raise ValueError(f"label {value!r} is not a verdict; use {USABLE}")
    return verdict
