"""evalscope reads exactly one JSON object with both keys; a parse error leaves the sample out."""

from __future__ import annotations

import json
import re


def _objects(text: str) -> list[str]:
    """The outermost pairs of braces outside strings."""
    found, depth, start = [], 0, 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"?|[{}]', text, re.DOTALL):
        if match[0] == "{":
            start = start if depth else match.start()
            depth += 1
        elif match[0] == "}" and depth:
            depth -= 1
            if not depth:
                found.append(text[start : match.end()])
    return found


def contract(reply: str) -> str | None:
    objects = _objects(reply)
    if len(objects) != 1:
        return None
    try:
        value = json.loads(objects[0])
    except json.JSONDecodeError:
        return None
    if not isinstance(value.get("reasoning"), str) or value.get("verdict") not in ("A", "B"):
        return None
    return "correct" if value["verdict"] == "A" else "incorrect"


def first_letter(reply: str) -> str | None:
    found = re.search(r"A|B", reply)
    return "correct" if found and found[0] == "A" else "incorrect"


def whole(reply: str) -> str | None:
    """VLMEvalKit asks again until it is one of two letters."""
    return {"A": "correct", "B": "incorrect"}.get(reply.strip())


ORACLES = {
    "evalscope": (contract,),
    "evalscope_letter": (first_letter,),
    "evalscope_letter_lines": (first_letter,),
    "evalscope_letter_rules": (whole,),
}
