"""The data card: ``README.md`` for a data hub, with the counts of the rows by their properties."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final

from gradegpt.core.records import whole_file
from gradegpt.core.schema import Verdict

from .phrases import TEXT

Facts = Sequence[Mapping[str, Any]]
"""The meta fields of each row."""

VERDICTS: Final = [verdict.value for verdict in Verdict]
_PROPERTIES: Final = ("origin", "pattern", "languages", "chain_format", "source")
_MARKUP: Final = re.compile(r"[\\`*<>|\[\]$~#&]|(?<![^\W_])_|_(?![^\W_])")
_REMOVED: Final = {
    "exact_duplicates": "equal to another row, blanks aside",
    "near_duplicates": "nearly equal to one of the same verdict and question, in runs of tokens",
    "contaminated": "sharing a run of tokens with an evaluation file",
}


def write_card(
    folder: Path, manifest: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
) -> None:
    """Write the card of ``rows`` (train and dev) into ``folder``; equal input gives equal bytes."""
    facts = collect(rows)
    settings, quality, counts = manifest["settings"], manifest["quality"], manifest["counts"]
    found = {lang for fact in facts for lang in (fact["lang"], fact["response_lang"])}
    # Numbers alone: paths belong to the machine that made the data.
    numbers = [(k, v) for k, v in settings.items() if isinstance(v, bool | int | float)]
    inputs = [(PurePath(path).name, sha[:16]) for path, sha in manifest["inputs"].items()]
    gaps = [(gap["cell"], gap["wanted"], gap["have"]) for gap in manifest["shortfalls"]]
    text = (TEXT / "card.md").read_text(encoding="utf-8").format(
        pretty_name=json.dumps(settings["name"], ensure_ascii=False),
        name=markdown(settings["name"]),
        languages=", ".join(lang for lang in ("zh", "en") if lang in found),
        version=manifest["version"],
        command=manifest.get("command") or "gradegpt data SETTINGS.yaml",
        settings=_table(("setting", "value"), numbers),
        inputs=_table(("input", "sha256"), inputs),
        train=counts.get("train", 0), dev=counts.get("dev", 0),
        balance=verdict_table(facts, "balance"),
        properties="\n".join(verdict_table(facts, name) for name in _PROPERTIES),
        disputed=quality["disputed"],
        labels=verdict_table(facts, "labelled_by"),
        left_out=_table(("rows", "why"), [(quality[name], why) for name, why in _REMOVED.items()]),
        shortfalls=_table(("target", "wanted", "have"), gaps),
        teacher=_table(("what", "value"), [*manifest.get("teacher", {}).items()]),
    )  # fmt: skip
    with whole_file(folder / "README.md") as out:
        out.write(text)


def collect(rows: Iterable[Mapping[str, Any]]) -> Facts:
    """The properties of the rows; ``balance`` is the answer type by the question's language."""
    metas = (row["meta"] for row in rows)
    return [
        meta
        | {
            "languages": f"{meta['lang']} question, {meta['response_lang']} response",
            "balance": f"{meta['answer_type']}, {meta['lang']}",
        }
        for meta in metas
    ]


def verdict_table(facts: Facts, name: str) -> str:
    """Rows of each value of a property by verdict, the most frequent value first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for fact in facts:
        counts[fact[name]][fact["verdict"]] += 1
    rows = [
        (value, n.total(), *(n[verdict] for verdict in VERDICTS), f"{n['correct'] / n.total():.1%}")
        for value, n in sorted(counts.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    ]
    return _table((name, "rows", *VERDICTS, "share correct"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The table in Markdown; "None." without rows."""
    if not (rows := [*rows]):
        return "None.\n"
    cells = [[_cell(cell) for cell in row] for row in [head, *rows]]
    cells.insert(1, ["---", *["---:"] * (len(head) - 1)])
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _cell(value: object) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if whole else markdown(str(value).replace("_", " "))


def markdown(text: str) -> str:
    r"""Text for a Markdown line or cell, with Markdown's special characters escaped.

    >>> print(markdown("a|b <Yes> single_choice _x_"))
    a\|b \<Yes\> single_choice \_x\_
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
