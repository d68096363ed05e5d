"""What the card says: sections of text, figures, tables and code, the same on both pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from data_gen.card.closing import limits, loading
from data_gen.card.collect import SHOWN, VERDICTS, Facts
from data_gen.card.parts import Code, Figure, Section, Table
from data_gen.card.plots import Interval
from data_gen.card.tables import (
    DASH,
    balance_table,
    count,
    cue_table,
    length_table,
    percent,
    sign_table,
    verdict_table,
    words,
)

PARTS: Final = ("train", "dev")
_REMOVED: Final = {
    "exact_duplicates": "equal to another row, blanks aside",
    "near_duplicates": "nearly equal to one of the same verdict and question, in runs of tokens",
    "contaminated": "sharing a run of tokens with an evaluation file",
    "disputed": "labelled differently by two sources of labels",
}


def sections(
    facts: Facts, manifest: Mapping[str, Any], cue: list[Interval], drawn: Mapping[str, bytes]
) -> list[Section]:
    """Every section that has something to say, in order."""

    def figures(**captions: str) -> tuple[Figure, ...]:
        names = {f"{name}.png": caption for name, caption in captions.items()}
        return tuple(Figure(name=n, caption=c) for n, c in names.items() if n in drawn)

    return [
        section
        for section in (
            _made(manifest),
            _sizes(facts, manifest),
            Section(
                title="Balance",
                text=("Rows by answer type, language of the question and verdict.",),
                figures=figures(balance="Rows in each cell; the shade grows with the square root."),
                tables=(balance_table(facts),),
            ),
            Section(
                title="Origins and patterns",
                text=(
                    "Origin says who wrote the response: real ones come from models and people, "
                    "counterfactual rows pair a real response with another reference, synthetic "
                    "ones are written by the generator. Pattern says what kind of response it is.",
                ),
                figures=figures(
                    origins="Origins by verdict.",
                    patterns="The most frequent patterns by verdict.",
                ),
                tables=_known(
                    verdict_table("origin", facts.facets["origin"]),
                    verdict_table("pattern", facts.facets["pattern"]),
                    verdict_table("languages", facts.facets["languages"]),
                    verdict_table("chain format", facts.facets["chain_format"]),
                    verdict_table("source", facts.facets["source"]),
                ),
            ),
            Section(
                title="Lengths and places",
                text=(
                    "Where the lines of correct and incorrect lie on each other, the length of a "
                    "response, or the place of its answer, tells nothing about the verdict. "
                    "'Correct is longer' takes every pair of a correct and an incorrect response: "
                    "at 50 % neither tends to be the longer.",
                ),
                figures=figures(
                    lengths="Share of the responses up to each length, as the prompt shows them.",
                    positions="Share of the key sentences up to each place in the response.",
                ),
                tables=(length_table(facts),),
            ),
            _labels(facts, manifest),
            _cue(manifest, cue, figures(cue="Points with 95 % intervals, resampled by question.")),
            _removed(manifest),
            _shortfalls(manifest),
            _teacher(manifest),
            Section(
                title="Rows in full",
                text=(
                    "One row of each verdict, and one whose question and response differ in "
                    "language. The system message is left out.",
                ),
                shown=True,
            )
            if any(kind in facts.shown for kind in SHOWN)
            else None,
            loading(),
            limits(facts),
        )
        if section is not None
    ]  # fmt: skip


def data_files(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Part -> file name, Parquet before JSON Lines; by convention where no outputs are listed."""
    outputs = manifest.get("outputs")
    if outputs is None:
        return {part: f"{part}.parquet" for part in PARTS}
    names = {PurePath(path).name for path in outputs}
    files = {
        part: next((n for n in (f"{part}.parquet", f"{part}.jsonl") if n in names), None)
        for part in PARTS
    }
    return {part: name for part, name in files.items() if name is not None}


def _known(*tables: Table | None) -> tuple[Table, ...]:
    return tuple(table for table in tables if table is not None)


def _made(manifest: Mapping[str, Any]) -> Section:
    settings = manifest.get("settings") or {}
    # Paths are of the machine that made the data, and a card is read elsewhere: numbers alone.
    numbers = [(k, v) for k, v in settings.items() if isinstance(v, bool | int | float)]
    inputs = (manifest.get("inputs") or {}).items()
    command = manifest.get("command") or "python -m data_gen SETTINGS.yaml"
    version = manifest.get("version")
    return Section(
        title="What this is",
        text=(
            "Chat rows for training a judge: a question, a reference answer and a response go in; "
            "a chain comes out that quotes the sentence with the answer, puts a Chinese one into "
            "English, compares it with the reference and ends in <Yes> or <No>. An invalid "
            "response gives nothing that can be graded and ends in <No>.",
            f"Made by GradeGPT{f' {version}' if version else ''}. The same settings and inputs "
            "give the same bytes; manifest.json beside this card holds them all.",
        ),
        code=(Code(language="sh", text=command),),
        tables=_known(
            Table(
                title="Settings", head=("setting", "value"),
                rows=tuple((key, str(value)) for key, value in numbers),
            ) if numbers else None,
            Table(
                title="Inputs", head=("file", "sha256"),
                rows=tuple((PurePath(path).name, str(digest)[:16]) for path, digest in inputs),
            ) if inputs else None,
        ),
    )  # fmt: skip


def _sizes(facts: Facts, manifest: Mapping[str, Any]) -> Section:
    counts, files = manifest.get("counts") or {}, data_files(manifest)
    rows = [(p, files.get(p, DASH), count(counts[p])) for p in PARTS if p in counts]
    verdicts = ", ".join(
        f"{count(facts.verdicts[v])} {v} ({percent(facts.verdicts[v] / facts.n)})"
        for v in VERDICTS
        if facts.verdicts[v]
    )
    return Section(
        title="Sizes",
        text=(f"{facts.n:,} rows: {verdicts}." if facts.n else "No rows.",),
        tables=(Table(head=("part", "file", "rows"), rows=tuple(rows)),) if rows else (),
    )


def _labels(facts: Facts, manifest: Mapping[str, Any]) -> Section | None:
    table = verdict_table("labelled by", facts.facets["labelled_by"])
    disputed = (manifest.get("quality") or {}).get("disputed")
    if table is None and disputed is None:
        return None
    text = "What each verdict rests on. Two sources joined by + agreed."
    left_out = f"{disputed:,} rows on which they did not are left out." if disputed else ""
    return Section(title="Labels", text=(f"{text} {left_out}".rstrip(),), tables=_known(table))


def _cue(
    manifest: Mapping[str, Any], cue: list[Interval], figures: tuple[Figure, ...]
) -> Section | None:
    if not cue:
        return None
    found = manifest["quality"]["cue"]
    return Section(
        title="What the response alone gives away",
        text=(
            "A linear classifier over the words of the response, which sees neither question nor "
            "reference, fitted and measured on different questions. 50 % is guessing; what is "
            "above it can be learnt without comparing anything.",
        ),
        figures=figures,
        tables=(
            cue_table(cue),
            *(sign_table(s, found[s]) for s in ("correct", "incorrect") if found.get(s)),
        ),
    )


def _removed(manifest: Mapping[str, Any]) -> Section | None:
    quality = manifest.get("quality") or {}
    rows = tuple(
        (words(name), f"{quality[name]:,}", what)
        for name, what in _REMOVED.items()
        if name in quality
    )
    if not rows:
        return None
    return Section(title="Left out", tables=(Table(head=("why", "rows", "what"), rows=rows),))


def _shortfalls(manifest: Mapping[str, Any]) -> Section | None:
    short = manifest.get("shortfalls")
    if short is None:
        return None
    if not short:
        return Section(title="Shortfalls", text=("Every cell has the rows that were asked for.",))
    rows = tuple(
        (
            str(cell["cell"]),
            count(cell["wanted"]),
            count(cell["have"]),
            count(cell["wanted"] - cell["have"]),
        )
        for cell in sorted(short, key=lambda c: (c["have"] - c["wanted"], str(c["cell"])))
    )
    return Section(
        title="Shortfalls",
        text=("Cells with fewer rows than were asked for.",),
        tables=(Table(head=("cell", "wanted", "have", "missing"), rows=rows),),
    )


def _teacher(manifest: Mapping[str, Any]) -> Section | None:
    teacher = manifest.get("teacher")
    if not teacher:
        return None
    rows = tuple((words(str(key)), str(value)) for key, value in teacher.items())
    return Section(
        title="Teacher",
        text=("A model behind an API took part in labelling.",),
        tables=(Table(head=("what", "value"), rows=rows),),
    )
