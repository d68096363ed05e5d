"""The data card: ``README.md`` for a data hub, with the counts of the rows by their properties."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Final, TypeAlias

from gradegpt.core.records import whole_file
from gradegpt.core.schema import AnswerType, Row, Verdict

from .phrases import read_words

Facts: TypeAlias = Any
"""A ``pandas.DataFrame`` with the meta fields of each row."""

VERDICTS: Final = [verdict.value for verdict in Verdict]
_PROPERTIES: Final = ("origin", "pattern", "languages", "chain_format", "source")
_DASH: Final = "–"
_MARKUP: Final = re.compile(r"[\\`*<>|\[\]$~#&]|(?<![^\W_])_|_(?![^\W_])")
_REMOVED: Final = {
    "exact_duplicates": "equal to another row, blanks aside",
    "near_duplicates": "nearly equal to one of the same verdict and question, in runs of tokens",
    "contaminated": "sharing a run of tokens with an evaluation file",
    "disputed": "labelled differently by two sources of labels",
}


class CardText(Row):
    """The text of a section in ``text/card.yaml``."""

    title: str
    text: tuple[str, ...] = ()
    code: str = ""


def write_card(
    folder: Path, manifest: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
) -> None:
    """Write the card of ``rows`` (train and dev) into ``folder``; equal input gives equal bytes."""
    facts = collect(rows)
    with whole_file(folder / "README.md") as out:
        out.write("\n".join(_lines(manifest, facts)) + "\n")


def collect(rows: Iterable[Mapping[str, Any]]) -> Facts:
    """The properties of the rows."""
    import pandas as pd

    facts = pd.DataFrame([row["meta"] for row in rows])
    languages = facts["lang"] + " question, " + facts["response_lang"] + " response"
    return facts.assign(languages=languages)


# --- the lines of the page ------------------------------------------------------------------------


def _lines(manifest: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    name = manifest["settings"]["name"]
    yield from _front_matter(name, facts)
    yield f"\n# {markdown(name)}\n"
    yield from _made(manifest)
    yield from _counts(manifest, facts)
    yield from _quality(manifest, facts)
    yield from _section("loading")
    yield from _section("limits")


def _front_matter(name: str, facts: Facts) -> Iterator[str]:
    yield f"---\npretty_name: {json.dumps(name, ensure_ascii=False)}\nlanguage:"
    found = {*facts["lang"], *facts["response_lang"]}
    yield from (f"- {lang}" for lang in ("zh", "en") if lang in found)
    yield "task_categories:\n- text-generation\n- text-classification"
    yield "tags:\n- llm-as-a-judge\n- answer-grading\n- gradegpt"
    yield "configs:\n- config_name: default\n  data_files:"
    yield from (f"  - split: {part}\n    path: {part}.parquet" for part in ("train", "dev"))
    yield "---"


def _made(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from _section("made", version=f" {manifest['version']}")
    command = manifest.get("command") or "gradegpt data SETTINGS.yaml"
    yield f"```sh\n{command}\n```\n"
    # Numbers alone: paths belong to the machine that made the data.
    settings = manifest["settings"].items()
    yield from _table(
        ("setting", "value"), [(k, v) for k, v in settings if isinstance(v, bool | int | float)]
    )
    files = [(PurePath(path).name, sha[:16]) for path, sha in manifest["inputs"].items()]
    yield from _table(("input", "sha256"), files)


def _counts(manifest: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    verdicts = facts["verdict"].value_counts()
    shares = {v: verdicts[v] / len(facts) for v in VERDICTS if v in verdicts}
    told = (f"{verdicts[v]:,} {v} ({share:.1%})" for v, share in shares.items())
    yield from _section("sizes", rows=len(facts), verdicts=", ".join(told))
    counts = manifest["counts"]
    parts = [(p, f"{p}.parquet", f"{counts[p]:,}") for p in ("train", "dev") if p in counts]
    yield from _table(("part", "file", "rows"), parts)
    yield from _section("balance")
    yield from balance_table(facts)
    yield from _section("origins")
    for name in _PROPERTIES:
        yield from verdict_table(facts, name)


def _quality(manifest: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    quality = manifest["quality"]
    disputed = quality["disputed"]
    left_out = f" {disputed:,} rows on which they did not are left out." if disputed else ""
    yield from _section("labels", left_out=left_out)
    yield from verdict_table(facts, "labelled_by")
    if (probe := quality.get("artifact_probe")) and probe["low"] is not None:
        told = "{balanced_accuracy:.1%} ({low:.1%} to {high:.1%})".format(**probe)
        yield from _section("artifact_probe", rows=probe["n"], accuracy=told)
        for side in ("correct", "incorrect"):
            rows = [
                (g["ngram"], f"{g['weight']:+.2f}", f"{g['n']:,}", f"{g['share_correct']:.0%}")
                for g in probe[side]
            ]
            head = (f"predicts {side}", "weight", "responses", "of them correct")
            yield from _table(head, rows)
    yield from _section("removed")
    removed = [(_words(name), _count(quality[name]), what) for name, what in _REMOVED.items()]
    yield from _table(("why", "rows", "what"), removed)
    gaps = [(c["cell"], _count(c["wanted"]), _count(c["have"])) for c in manifest["shortfalls"]]
    yield from _section("shortfalls" if gaps else "no_shortfalls")
    yield from _table(("cell", "wanted", "have"), gaps)
    if spent := manifest.get("teacher"):
        yield from _section("teacher")
        yield from _table(("what", "value"), [(_words(k), str(v)) for k, v in spent.items()])


# --- tables ---------------------------------------------------------------------------------------


def verdict_table(facts: Facts, name: str) -> Iterator[str]:
    """Rows of each value of a property by verdict, the most frequent value first."""
    import pandas as pd

    counts = pd.crosstab(facts[name], facts["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    rows = [
        (_words(value), _count(sum(row)), *map(_count, row), f"{row[0] / sum(row):.1%}")
        for value, row in zip(counts.index, counts.to_numpy().tolist(), strict=True)
    ]
    rows.sort(key=lambda row: -int(row[1].replace(",", "")))
    yield from _table((_words(name), "rows", *VERDICTS, "share correct"), rows)


def balance_table(facts: Facts) -> Iterator[str]:
    """Answer types by language of the question and verdict, with totals."""
    import pandas as pd

    columns = [(lang, v) for lang in facts["lang"].value_counts().index for v in VERDICTS]
    counts = pd.crosstab(facts["answer_type"], [facts["lang"], facts["verdict"]])
    counts = counts.reindex(columns=pd.MultiIndex.from_tuples(columns), fill_value=0)
    counts = counts.reindex([kind.value for kind in AnswerType if kind.value in counts.index])
    counts.loc["all"] = counts.sum()
    rows = [
        (_words(kind), *map(_count, row), _count(sum(row)))
        for kind, row in zip(counts.index, counts.to_numpy().tolist(), strict=True)
    ]
    yield from _table(("answer type", *(f"{lang} {v}" for lang, v in columns), "rows"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The table in Markdown; nothing without rows."""
    if rows := [*rows]:
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        yield "\n".join(f"| {' | '.join(markdown(str(cell)) for cell in row)} |" for row in lines)
        yield ""


@cache
def _texts() -> dict[str, CardText]:
    return read_words("card", CardText)


def _section(name: str, **values: object) -> Iterator[str]:
    """The heading, text and code of a section, filled with ``values``."""
    section = _texts()[name]
    yield f"## {section.title}\n"
    yield from (f"{markdown(text.format(**values))}\n" for text in section.text)
    if section.code:
        yield f"```python\n{section.code}\n```\n"


def markdown(text: str) -> str:
    r"""Text for a Markdown line or cell, with Markdown's special characters escaped.

    >>> print(markdown("a|b <Yes> single_choice _x_"))
    a\|b \<Yes\> single_choice \_x\_
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def _count(n: int) -> str:
    return f"{n:,}" if n else _DASH


def _words(name: str) -> str:
    return name.replace("_", " ")
