"""The sections of the card: text, figures, tables and code, the same on both pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any, Final

from pydantic import Field

from gradegpt.schema import Row

from ..phrases import read_words
from .collect import SHOWN, VERDICTS, Facts
from .parts import Code, Figure, Section, Table
from .plots import Interval
from .tables import (
    DASH,
    balance_table,
    count,
    length_table,
    ngram_table,
    percent,
    probe_table,
    types_of,
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
_RARE: Final = 100
_LABEL_LIMITS: Final = {
    "construction": "construction alone: as reliable as the generator's forms are.",
    "key": "the key alone, which compares final answers: a right one after wrong steps is correct.",
    "rules": "rules alone, which decide the easier answers.",
    "people": "people alone, with their errors.",
    "teacher": "a teacher model alone, and repeat its habits.",
}


class SectionText(Row):
    """The text of a section in ``text/card.yaml``; ``captions`` by the names of the plots."""

    title: str
    text: tuple[str, ...] = ()
    captions: dict[str, str] = Field(default={})
    code: tuple[Code, ...] = ()


def sections(
    facts: Facts, manifest: Mapping[str, Any], probe: list[Interval], drawn: Mapping[str, bytes]
) -> list[Section]:
    """Every section that has content, in order, with those of its figures that were drawn."""
    facets = ("origin", "pattern", "languages", "chain_format", "source")
    origins = _known(*(verdict_table(words(name), facts.facets[name]) for name in facets))
    made = (
        _made(manifest),
        _sizes(facts, manifest),
        _section("balance", tables=(balance_table(facts),)),
        _section("origins", tables=origins),
        _section("lengths", tables=(length_table(facts),)),
        _labels(facts, manifest),
        _probe(manifest, probe),
        _removed(manifest),
        _shortfalls(manifest),
        _teacher(manifest),
        _section("shown", shown=True) if any(kind in facts.shown for kind in SHOWN) else None,
        _section("loading"),
        _limits(facts),
    )
    return [
        section.model_copy(update={"figures": tuple(f for f in section.figures if f.name in drawn)})
        for section in made
        if section is not None
    ]


@cache
def _section_texts() -> dict[str, SectionText]:
    return read_words("card", SectionText)


def _section(name: str, **parts: Any) -> Section:
    """The section ``name`` with its text; ``parts`` replaces or adds fields."""
    section_text = _section_texts()[name]
    figures = tuple(Figure(name=f"{n}.png", caption=c) for n, c in section_text.captions.items())
    fields = {
        "title": section_text.title,
        "text": section_text.text,
        "figures": figures,
        "code": section_text.code,
    }
    return Section(**(fields | parts))


def _filled(name: str, **values: object) -> tuple[str, ...]:
    return tuple(text.format(**values) for text in _section_texts()[name].text)


def data_files(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Part -> file name, Parquet before JSON Lines; default names if no outputs are listed."""
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


def _table(*head: str, rows: Sequence[tuple[str, ...]], title: str = "") -> Table | None:
    """The table; none if it has no rows."""
    return Table(title=title, head=head, rows=tuple(rows)) if rows else None


def _made(manifest: Mapping[str, Any]) -> Section:
    settings = manifest.get("settings") or {}
    # Numbers alone: paths belong to the machine that made the data.
    numbers = [(k, str(v)) for k, v in settings.items() if isinstance(v, bool | int | float)]
    inputs = (manifest.get("inputs") or {}).items()
    files = [(PurePath(path).name, str(digest)[:16]) for path, digest in inputs]
    command = manifest.get("command") or "gradegpt data SETTINGS.yaml"
    version = manifest.get("version")
    return _section(
        "made",
        text=_filled("made", version=f" {version}" if version else ""),
        code=(Code(language="sh", text=command),),
        tables=_known(
            _table("setting", "value", rows=numbers, title="Settings"),
            _table("file", "sha256", rows=files, title="Inputs"),
        ),
    )


def _sizes(facts: Facts, manifest: Mapping[str, Any]) -> Section:
    counts, files = manifest.get("counts") or {}, data_files(manifest)
    rows = [(p, files.get(p, DASH), count(counts[p])) for p in PARTS if p in counts]
    verdicts = ", ".join(
        f"{count(facts.verdicts[v])} {v} ({percent(facts.verdicts[v] / facts.n)})"
        for v in VERDICTS
        if facts.verdicts[v]
    )
    text = _filled("sizes", rows=facts.n, verdicts=verdicts) if facts.n else ("No rows.",)
    return _section("sizes", text=text, tables=_known(_table("part", "file", "rows", rows=rows)))


def _labels(facts: Facts, manifest: Mapping[str, Any]) -> Section | None:
    table = verdict_table("labelled by", facts.facets["labelled_by"])
    disputed = (manifest.get("quality") or {}).get("disputed")
    if table is None and disputed is None:
        return None
    left_out = f" {disputed:,} rows on which they did not are left out." if disputed else ""
    return _section("labels", text=_filled("labels", left_out=left_out), tables=_known(table))


def _probe(manifest: Mapping[str, Any], probe: list[Interval]) -> Section | None:
    if not probe:
        return None
    found = manifest["quality"]["artifact_probe"]
    ngrams = [ngram_table(s, found[s]) for s in ("correct", "incorrect") if found.get(s)]
    return _section("artifact_probe", tables=(probe_table(probe), *ngrams))


def _removed(manifest: Mapping[str, Any]) -> Section | None:
    quality = manifest.get("quality") or {}
    left = [(words(n), f"{quality[n]:,}", what) for n, what in _REMOVED.items() if n in quality]
    table = _table("why", "rows", "what", rows=left)
    return _section("removed", tables=(table,)) if table else None


def _shortfalls(manifest: Mapping[str, Any]) -> Section | None:
    short = manifest.get("shortfalls")
    if short is None:
        return None
    rows = [
        (str(c["cell"]), *map(count, (c["wanted"], c["have"], c["wanted"] - c["have"])))
        for c in sorted(short, key=lambda c: (c["have"] - c["wanted"], str(c["cell"])))
    ]
    table = _table("cell", "wanted", "have", "missing", rows=rows)
    return _section("shortfalls", tables=(table,)) if table else _section("no_shortfalls")


def _teacher(manifest: Mapping[str, Any]) -> Section | None:
    rows = [(words(str(k)), str(v)) for k, v in (manifest.get("teacher") or {}).items()]
    table = _table("what", "value", rows=rows)
    return _section("teacher", tables=(table,)) if table else None


def _limits(facts: Facts) -> Section:
    """Limits of the data, as far as the counts show them."""
    return _section("limits", text=(*_limit_texts(facts), *_section_texts()["limits"].text))


def _limit_texts(facts: Facts) -> Iterator[str]:
    origins, labels = facts.facets["origin"], facts.facets["labelled_by"]
    synthetic = origins["synthetic"].total() if "synthetic" in origins else 0
    if synthetic:
        yield (
            f"{percent(synthetic / facts.n)} of the responses are written by the generator. They "
            "have the kinds of mistakes that it knows; models make others."
        )
    for name, what in _LABEL_LIMITS.items():
        if name in labels:
            yield f"{count(labels[name].total())} labels rest on {what}"
    rare = [words(kind) for kind in types_of(facts) if facts.balance[kind].total() < _RARE]
    if rare:
        yield f"Fewer than {_RARE} rows of each: {', '.join(rare)}. Expect little of a judge there."
