"""The process that tries a template for ``serve.trying``, so that it can be killed.

It reads a JSON object from stdin and writes one to stdout: ``tried``, or an ``error`` of the
template. The server's modules are not imported here, so that it starts quickly.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from gradegpt.core.errors import SettingsError
from gradegpt.core.settings import parse_settings

from .templates import Template, is_shipped
from .templates.trials import chosen, tried

_NICE: Final = 5
"""A trial yields the cores to judging."""


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, or the error of the template.

    A template of the server with the same name is left out, as the new one would replace it.

    Raises:
        GradeGPTError: the server's own templates cannot be loaded any more.

    """
    templates = chosen(asked["adapters"], [Path(path) for path in asked["templates"]])
    try:
        template = parse_settings(Template, asked["template"], "template")
        others = [t for t in templates if is_shipped(t) or t.name != template.name]
        done = tried(template, others, "template", asked["prompt"])
    except SettingsError as error:
        return {"error": str(error)}
    return {"tried": done.model_dump(mode="json")}


def main() -> None:
    """Answer one request."""
    os.nice(_NICE)
    json.dump(answer(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
