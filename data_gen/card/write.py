"""Write the card: ``README.md`` for a data hub, ``card.html`` for a browser, plots for both."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gradegpt.errors import MissingError
from gradegpt.records import whole_file

from .collect import SHOWN, Facts, Shown, collect
from .parts import Section
from .plots import Interval, draw
from .sections import data_files, sections
from .tables import count

PLOTS: Final = "card"
"""Folder of the plots beside ``README.md``."""
_SIZES: Final = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
_MARKUP: Final = re.compile(r"[\\`*<>|\[\]$~#&]|(?<![^\W_])_|_(?![^\W_])")


def write_card(
    folder: str | Path, manifest: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
) -> None:
    """Write the card of ``rows`` (train and dev) into ``folder``; equal input gives equal bytes.

    Sections without data in the manifest are left out.

    Raises:
        InputError: a row is not a training row of a judge.
        MissingError: jinja2 or matplotlib is not installed.

    """
    folder = Path(folder)
    facts = collect(rows)
    probe = _probe_scores(manifest)
    plots = _draw(facts, probe)
    parts = sections(facts, manifest, probe, plots)
    (folder / PLOTS).mkdir(parents=True, exist_ok=True)
    for name, png in plots.items():
        (folder / PLOTS / name).write_bytes(png)
    for template, name in (("README.md.j2", "README.md"), ("card.html.j2", "card.html")):
        with whole_file(folder / name) as out:
            out.write(_render(template, facts, manifest, parts, plots))


def size_category(n: int) -> str:
    """The size category as data hubs name it.

    >>> size_category(999), size_category(1000), size_category(5_000_000)
    ('n<1K', '1K<n<10K', '1M<n<10M')
    """
    return next((name for limit, name in _SIZES if n < limit), "1M<n<10M")


def _draw(facts: Facts, probe: list[Interval]) -> dict[str, bytes]:
    try:
        return draw(facts, probe)
    except ImportError as error:
        raise MissingError("the data card needs: pip install 'gradegpt[data]'") from error


def _probe_scores(manifest: Mapping[str, Any]) -> list[Interval]:
    found = (manifest.get("quality") or {}).get("artifact_probe") or {}
    overall = [("all", found["overall"])] if found.get("overall") else []
    return [*overall, *sorted((found.get("by_language") or {}).items())]


def _render(
    template: str,
    facts: Facts,
    manifest: Mapping[str, Any],
    parts: list[Section],
    plots: Mapping[str, bytes],
) -> str:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingError("the data card needs: pip install jinja2") from error
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        # Markdown is escaped by its own filter; in HTML every text is untrusted.
        autoescape=template.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"count": count, "md": markdown, "fence": fence, "quoted": _quoted}
    return environment.get_template(template).render(
        name=(manifest.get("settings") or {}).get("name") or "GradeGPT judge data",
        n=facts.n,
        verdicts=facts.verdicts,
        languages=_languages(facts),
        size=size_category(facts.n),
        files=data_files(manifest),
        sections=parts,
        shown=_shown(facts),
        plots=PLOTS,
        images={name: base64.b64encode(png).decode() for name, png in plots.items()},
    )


def markdown(text: str) -> str:
    r"""Text for a Markdown line or cell, with Markdown's special characters escaped.

    >>> print(markdown("a|b <Yes> single_choice _x_"))
    a\|b \<Yes\> single_choice \_x\_
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def fence(text: str, language: str = "") -> str:
    """Text in a code fence that is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _languages(facts: Facts) -> list[str]:
    found = {lang for cells in facts.balance.values() for lang, _ in cells}
    found |= {lang for _, lang in facts.lengths}
    return [lang for lang in ("zh", "en") if lang in found]


def _shown(facts: Facts) -> list[Shown]:
    return [facts.shown[kind] for kind in SHOWN if kind in facts.shown]
