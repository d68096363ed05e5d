"""``report.html``: one page for judged rows, labelled or not, which loads no other file."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any, Final

from gradegpt.errors import MissingError

from ..console import decimal, percent
from . import plots
from .numbers import RESULTS, Numbers, numbers
from .results import JudgedRows
from .rows import listed

_HERE: Final = Path(__file__).parent
_STYLE: Final = "page.css"
_SCRIPTS: Final = ("items.js", "page.js")


LISTED: Final = 5000
"""The usual number of items that a page lists: about 10 MB of ordinary rows."""


def render_page(results: JudgedRows, found: Numbers | None = None, *, most: int = LISTED) -> str:
    """The page of ``results``, with at most ``most`` items; equal results give equal bytes.

    Raises:
        MissingError: jinja2 is not installed.

    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise MissingError("the report page needs: pip install 'gradegpt[eval]'") from error
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "percent": percent,
        "decimal": decimal,
        "per_cent_of": lambda part, whole: f"{100 * part / whole:.1f}" if whole else "–",
    }
    style, script = _read(_STYLE), "".join(map(_read, _SCRIPTS))
    rows = listed(results, most)
    return environment.get_template("page.html.j2").render(
        results=results,
        numbers=found or numbers(results),
        plots=plots,
        judges=list(results.judges),
        words=[word.value for word in RESULTS],
        n_listed=len(rows),
        n_cut=sum("cut" in row for row in rows),
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=Markup(embedded({"name": results.name, "judges": list(results.judges), "rows": rows})),
    )


def embedded(value: Any) -> str:
    r"""JSON for a script element; without ``<``, no text in it can end that element.

    >>> print(embedded("</script>"))
    "\u003c/script>"
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which a content security policy allows an inline text."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
