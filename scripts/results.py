"""The current figures: summaries of reports, and the pages that are made from them.

    gradegpt eval configs/eval/open.yaml sample=100
    python -m scripts.results collect runs/open docs/results/open.json
    python -m scripts.results render      # docs/results/public.json: python benchmarks/public.py

``collect`` takes the figures of an evaluation's report (no rows) into a summary with its command,
date, versions and digests. ``render`` writes docs/RESULTS.md, the tables of figures in README.md
and the index of docs/experiments; a test compares these pages with the summaries. Figures that no
report has are written into a summary by hand and marked as recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import Field

from gradegpt.app.cli import run
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.records import sha256_file, validate, whole_file, write_json
from gradegpt.core.schema import Row

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

ROOT: Final = Path(__file__).parents[1]
_HEAD: Final = """# Results

This page has the figures that hold today. `python -m scripts.results render` makes it from the
summaries in [results/](results). The pages in [experiments/](experiments/README.md) describe how
the figures came about. "Collected" figures were taken from a report by a command. "Recorded"
figures were printed by the command shown and written down by hand. Some tables were measured with
earlier versions than the current ones; the signature below a table names the versions.

| term | meaning |
| --- | --- |
| rules | the deterministic judge, which extracts answers and compares their values |
| nano | `gradegpt-nano` (3.7M parameters), a fixture of the tests and no judge to use |
| chain; verdict only | a model's explanation that ends in the verdict; the verdict alone |
| cascade | several judges in order; each gets the rows still undecided or unsure |
| undecided | a row on which a judge gives no verdict |
| balanced accuracy | the mean of the accuracies on rows labelled correct and labelled incorrect |
| AUC | the area under the ROC curve of the judge's probability that a response is correct |
| `gaokao_eval_human`, ... | files of graded answers, which are not part of this project |
| signature | versions of the judges, and the first 16 hex digits of SHA-256 digests of the rows |
"""
_DIGITS: Final = 16
"""The digits of a SHA-256 digest that are shown."""
_COUNTS: Final = ("true_positive", "false_positive", "false_negative", "true_negative")
_SCORES: Final = ("coverage", "accuracy", "balanced_accuracy", "auc")
_OF_THE_NANO: Final = frozenset(
    (1, 2, 3, 5, 6, 7, 17, 19, 21, 22, 23, 27, 28, 31, 32, 33, 34, 35, 37, 38, *range(40, 49), 63)
)
"""The experiments that served the small model."""
_BLOCK: Final = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_UNSEEN: Final = ".unseen"
"""The end of a source's name whose rows were never seen (``data_gen.public``)."""
_PAGE: Final = re.compile(r"# (\d{3}) · (.+)\n\nDate: (\S+)\nStatus: (.+)\n")

Figures = dict[str, Any]
"""Named figures of a row; the figures of a judge are a nested dict."""


class Summary(Row):
    """One table of figures and how it was made.

    ``columns`` maps a heading to a format string over a row's figures, such as
    ``{model[auc]:.3f}``; ``readme`` is the same for the shorter table in README.md. ``recorded``:
    written by hand, not collected from a report.
    """

    title: str
    order: int
    date: str
    command: str
    recorded: bool
    note: str = ""
    signature: dict[str, str] = Field(default_factory=dict)
    first: str
    columns: dict[str, str]
    readme: dict[str, str] = Field(default_factory=dict)
    names: dict[str, str] = Field(default_factory=dict)
    rows: dict[str, Figures]


def table(summary: Summary, columns: Mapping[str, str], where: str) -> str:
    """The Markdown table of ``columns``, with a dash for an undefined figure.

    Raises:
        InputError: no row has a figure for a column.

    """
    cells = {
        name: [_cell(form, row) for row in summary.rows.values()] for name, form in columns.items()
    }
    for name, values in cells.items():
        if all(value == "–" for value in values):
            raise InputError(
                f"{where}: columns: {name!r}: no row has such a figure; correct its format"
            )
    lines = [[summary.first, *columns], ["---"] * (1 + len(columns))]
    lines += [
        [summary.names.get(key, key), *(cells[name][place] for name in columns)]
        for place, key in enumerate(summary.rows)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(form: str, row: Figures) -> str:
    """The figures of ``row`` in ``form``, or a dash where one is missing or undefined."""
    try:
        return form.format_map(_defined(row))
    except KeyError:
        return "–"


def _defined(figures: Figures) -> Figures:
    return {
        name: _defined(value) if isinstance(value, dict) else value
        for name, value in figures.items()
        if value is not None
    }


def summaries(root: Path) -> dict[str, Summary]:
    """All summaries by their file name, in their order on the page."""
    read = {path.stem: read_summary(path) for path in (root / "docs/results").glob("*.json")}
    return dict(sorted(read.items(), key=lambda named: (named[1].order, named[0])))


def read_summary(path: Path) -> Summary:
    """The summary in a file."""
    return validate(Summary, _json(path), str(path))


def _json(path: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingError(
            f"{path}: no such file; copy another summary, and let the run end first"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}; correct the file") from error
    return read


def pages(root: Path = ROOT) -> dict[Path, str]:
    """The text of every page that is made from summaries and experiments."""
    made = summaries(root)
    readmes = [page for page in (root / "README.md", root / "README.zh.md") if page.exists()]
    index = root / "docs/experiments/README.md"
    tables = _indices(root / "docs/experiments") | {
        name: table(one, one.readme, name) for name, one in made.items() if one.readme
    }
    return {
        root / "docs/RESULTS.md": _results(made),
        **{page: _filled(page, tables) for page in (*readmes, index)},
    }


def _filled(page: Path, tables: Mapping[str, str]) -> str:
    """The page with every ``<!-- table: NAME -->`` block replaced by the table of that name."""

    def one(block: re.Match[str]) -> str:
        if block[2] not in tables:
            raise InputError(f"{page}: no table {block[2]!r}; there are: {', '.join(tables)}")
        return f"{block[1]}\n{tables[block[2]]}\n{block[3]}"

    return _BLOCK.sub(one, page.read_text(encoding="utf-8"))


def _results(made: Mapping[str, Summary]) -> str:
    return _HEAD + "".join(_section(name, one) for name, one in made.items())


def _section(name: str, one: Summary) -> str:
    how = "recorded by hand in" if one.recorded else "collected from the report into"
    signed = "".join(f"- {key}: `{value}`\n" for key, value in one.signature.items())
    return (
        f"\n## {one.title}\n\n```\n{one.command}\n```\n\n"
        f"Measured on {one.date}, {how} [results/{name}.json](results/{name}.json).\n\n"
        f"{table(one, one.columns, name)}"
        + (f"\n{one.note}\n" if one.note else "")
        + (f"\n<details><summary>Signature</summary>\n\n{signed}\n</details>\n" if signed else "")
    )


def experiments(folder: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    """Every page of an experiment, with its number, title, date and status.

    Raises:
        InputError: a page does not begin with these lines.

    """
    for path in sorted(folder.glob("[0-9]*.md")):
        head = _PAGE.match(path.read_text(encoding="utf-8"))
        if head is None:
            raise InputError(f"{path}: begin with '# NNN · title', 'Date: ' and 'Status: ' lines")
        yield path, head


def _indices(folder: Path) -> dict[str, str]:
    """The experiments, and those about the small model that is now a fixture."""
    lines = {"index": "", "index-nano": ""}
    for path, h in experiments(folder):
        name = "index-nano" if int(h[1]) in _OF_THE_NANO else "index"
        lines[name] += f"| [{h[1]}]({path.name}) | {h[2]} | {h[3]} | {h[4]} |\n"
    head = "| | title | date | status |\n| --- | --- | --- | --- |\n"
    return {name: head + rows for name, rows in lines.items()}


def collected(folder: Path, before: Summary, prefix: str = "") -> Summary:
    """``before`` with the figures and the signature of the evaluation in ``folder``.

    Without ``prefix`` the figures of all judges are replaced; with it, those of this run are added
    under its judges' prefixed names. Where some sources were never seen, their figures are those
    of the judge ``unseen NAME`` in the rows of the same sets. The row ``all`` is the whole run; the
    row ``rest`` combines the sources that the summary does not name: scores of counts alone.

    Raises:
        InputError: the run has other rows than those before.

    """
    signature = _signature(folder, prefix)
    if prefix and before.signature.get("items") != signature["items"]:
        raise InputError(f"{folder}: judged other rows than the earlier runs; collect those again")
    rows = {key: dict(row) if prefix else _recorded(row) for key, row in before.rows.items()}
    for judge in _json(folder / "report.json")["judges"]:
        for part, sources in _parts(judge["views"]["source"]).items():
            for key, metrics in _by_row(judge["overall"], sources, list(rows)).items():
                rows[key][prefix + part + judge["name"]] = metrics
    made = datetime.fromtimestamp((folder / "manifest.json").stat().st_mtime, tz=UTC)
    return before.model_copy(
        update={
            "rows": rows, "recorded": False, "date": str(made.date()),
            "signature": before.signature | signature if prefix else signature,
        }
    )  # fmt: skip


def _signature(folder: Path, prefix: str) -> dict[str, str]:
    """The signature of the figures: rows, judges with weights and thresholds, versions."""
    manifest = _json(folder / "manifest.json")
    judges = {prefix + name: judge["fingerprint"] for name, judge in manifest["judges"].items()}
    inputs = {Path(path).name: digest[:_DIGITS] for path, digest in manifest["inputs"].items()}
    packages = ", ".join(f"{name} {version}" for name, version in manifest["packages"].items())
    items = sha256_file(folder / "items.jsonl")[:_DIGITS]
    return {"items": items} | judges | inputs | {"packages": packages}


def _recorded(row: Figures) -> Figures:
    """The figures of a row that belong to no judge."""
    return {name: value for name, value in row.items() if not isinstance(value, dict)}


def _parts(sources: Figures) -> dict[str, Figures]:
    """The sources, and under ``unseen`` those whose rows were never seen, by the set's name."""
    parts: dict[str, Figures] = {}
    for name, one in sources.items():
        part = "unseen " if name.endswith(_UNSEEN) else ""
        parts.setdefault(part, {})[name.removesuffix(_UNSEEN)] = one
    return parts


def _by_row(overall: Figures, sources: Figures, rows: Sequence[str]) -> dict[str, Figures]:
    found = {key: _figures(sources[key]) for key in rows if key in sources}
    if "all" in rows:
        whole = overall["n_items"] == sum(one["n_items"] for one in sources.values())
        found["all"] = _figures(overall) if whole else _together(list(sources.values()))
    if "rest" in rows:
        found["rest"] = _together([one for name, one in sources.items() if name not in rows])
    return found


def _figures(metrics: Mapping[str, Any]) -> Figures:
    interval = metrics["intervals"].get("balanced_accuracy", {})
    counts = {name: metrics[name] for name in ("n_items", "n_judged", *_COUNTS)}
    scores = {name: metrics.get(name) for name in _SCORES}
    return counts | scores | {"low": interval.get("low"), "high": interval.get("high")}


def _together(groups: Sequence[Mapping[str, Any]]) -> Figures:
    """The combined figures of several groups of rows, whose judged rows have both labels."""
    total = {name: sum(g[name] for g in groups) for name in ("n_items", "n_judged", *_COUNTS)}
    tp, fp, fn, tn = (total[name] for name in _COUNTS)
    balanced = (tp / (tp + fn) + tn / (tn + fp)) / 2 if tp + fn and tn + fp else None
    accuracy = (tp + tn) / total["n_judged"] if total["n_judged"] else None
    coverage = total["n_judged"] / total["n_items"] if total["n_items"] else None
    scores = {"coverage": coverage, "accuracy": accuracy, "balanced_accuracy": balanced}
    return total | {name: None if s is None else round(s, 6) for name, s in scores.items()}


@app.command()
def collect(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Such as runs/open.")],
    summary: Annotated[Path, typer.Argument(help="Such as docs/results/open.json.")],
    prefix: Annotated[
        str, typer.Option(help="A prefix of the judges' names, for another run of the same rows.")
    ] = "",
) -> None:
    """Write the figures of an evaluation into an existing summary; then render.

    The summary's title, command, columns and rows define the table: to start one, copy another and
    empty its rows, such as {"evouna": {}}. Row "all" is the whole run, "rest" all other sources.
    """
    made = collected(folder, read_summary(summary), prefix)
    write_json(summary, made.model_dump(mode="json", exclude_defaults=True))
    typer.echo(f"wrote {summary}; now: python -m scripts.results render")


@app.command()
def render() -> None:
    """Write RESULTS.md, README's tables and the index of experiments from the summaries."""
    for path, text in pages().items():
        with whole_file(path) as page:
            page.write(text)
        typer.echo(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    run(app, name="python -m scripts.results")
