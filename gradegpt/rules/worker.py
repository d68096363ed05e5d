"""A worker process that compares LaTeX formulas with SymPy, under a memory limit.

It reads a JSON pair per line from standard input and writes a JSON answer per line. Only
``gradegpt.rules.workers`` starts and kills it.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    """Serve until the input ends."""
    _limit_memory(int(sys.argv[1]))
    import sympy
    from latex2sympy2_extended import latex2sympy

    _write("ready")
    for line in sys.stdin:
        left, right = json.loads(line)
        try:
            same = _equal(sympy, latex2sympy(left), latex2sympy(right))
        except Exception as error:  # noqa: BLE001  any error of the grammar or SymPy means "not shown"
            _write({"same": None, "why": type(error).__name__})
        else:
            _write({"same": same})


def _write(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _limit_memory(megabytes: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))


def _equal(sympy: Any, left: Any, right: Any) -> bool | None:
    if left == right:
        return True
    if isinstance(left, sympy.Equality) and isinstance(right, sympy.Equality):
        ratio = sympy.simplify((left.lhs - left.rhs) / (right.lhs - right.rhs))
        return bool(ratio.is_number and ratio != 0) or None
    if not isinstance(left, sympy.Expr) or not isinstance(right, sympy.Expr):
        return None
    difference = left.equals(right)
    return None if difference is None else bool(difference)


if __name__ == "__main__":
    main()
