"""Judged rows, the input of the report: items, judgements, labels, tags; of a run or of files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.app.run import MANIFEST
from gradegpt.core.errors import InputError, MissingError, SettingsError
from gradegpt.core.records import read_rows, sha256_file
from gradegpt.core.schema import Example, Item, Judgement, Outcome, Verdict
from gradegpt.judges.calibration import type_of
from gradegpt.judges.neighbours import BY_HAND
from gradegpt.judges.statistics import DRAWS
from gradegpt.tables import Form, Table, TableRow, form_of
from gradegpt.tables.classlist import by_answer
from gradegpt.tables.columns import LABEL
from gradegpt.tables.importers.logs.changed import was_right
from gradegpt.tables.inputs import USUAL, Reading, columns_in, placed
from gradegpt.tables.labels import labels_of
from gradegpt.tables.outputs import judgements_path

from ..judging import Judged
from ..scores import MODEL, ModelScores, scores
from ..settings import EvalSettings
from .whole import JudgedFile, JudgedTable, is_whole, read_whole

Tags = Mapping[str, tuple[str, ...]]
VIEWS: Final = ("source", "language", "answer type")
"""The tags by which ``report.json`` breaks every judge's metrics down."""
_UNNAMED: Final = "not stated"


def result_of(judgement: Judgement) -> str:
    """The verdict, or the outcome where there is none."""
    return (judgement.verdict or judgement.outcome).value


class JudgedRows(NamedTuple):
    """Rows with their judgements; ``items``, ``labels``, ``tags`` and judgements have one order.

    A row without a label has None. ``rows`` are those of the table ``source``. ``scores`` are those
    of the model that answered, by judge, where there are no labels.
    """

    name: str
    items: Sequence[Item]
    judges: Mapping[str, Sequence[Judgement]]
    labels: Sequence[Verdict | None]
    tags: Sequence[Tags]
    source: JudgedTable | None = None
    rows: Sequence[TableRow] = ()
    scores: Mapping[str, ModelScores] = {}
    bootstrap: int = DRAWS
    seed: int = 0
    note: str = ""
    """What the reader of the results has to know of how they were read."""

    @property
    def labelled(self) -> bool:
        """Whether any row has a label."""
        return bool({*self.labels} - {None})  # which is quick, as it is asked often

    @property
    def n_by_hand(self) -> int:
        """The verdicts of the first judge that are labels, instead of what it said."""
        return sum(judgement.method == BY_HAND for judgement in self.only)

    @property
    def only(self) -> Sequence[Judgement]:
        """The judgements of the first judge."""
        return next(iter(self.judges.values()))

    def row(self, n: int) -> dict[str, Any]:
        """A row as plain values, with every judge's result and reason."""
        item, label = self.items[n], self.labels[n]
        said = {name: judged[n] for name, judged in self.judges.items()}
        return {
            "id": item.id, "question": item.question, "reference": " / ".join(item.reference),
            "response": item.response, "label": label.value if label else "",
            **{name: result_of(one) for name, one in said.items()},
            **{f"{name} reason": one.reason for name, one in said.items()},
        }  # fmt: skip


def of_run(settings: EvalSettings, rows: Sequence[Item], runs: Sequence[Judged]) -> JudgedRows:
    """The results of an evaluation's judges, on labelled rows or on answers."""
    judges = {run.name: run.judgements for run in runs}
    scored = judges if settings.answers else {}
    return JudgedRows(
        name=settings.name,
        items=rows,
        judges=judges,
        scores={n: scores(rows, of, ks=settings.ks) for n, of in scored.items()},
        labels=[row.verdict if isinstance(row, Example) else None for row in rows],
        tags=[tags_of(row, _of_example(row)) for row in rows],
        bootstrap=settings.bootstrap,
        seed=settings.seed,
    )


def _of_example(row: Item) -> dict[str, str]:
    if not isinstance(row, Example):
        return {}
    return {"source": row.source or _UNNAMED, "language": row.lang or _UNNAMED}


def tags_of(item: Item, stated: Mapping[str, str]) -> Tags:
    """The tags that group a row: the ``stated`` ones, its kind of answer and its own tags."""
    common = {**stated, "answer type": type_of(item).words}
    one = {tag: (value,) for tag, value in common.items() if value}
    own = {tag: (v,) if isinstance(v, str) else v for tag, v in item.tags.items()}
    return one | own


OLD: Final = "old score"
"""The page's name of the judge whose verdicts are the scores of a log."""
_STATED: Final = {"source": "source", "lang": "language"}
"""Columns of a judged table that are tags of its rows."""


def read_judged(
    paths: Sequence[Path],
    *,
    items: Path | None = None,
    labels: Path | None = None,
    own_labels: bool = False,
    name: str = "",
    by: str = "",
    reading: Reading = USUAL,
) -> JudgedRows:
    """The results of several judges' files, all of the same rows in the same order.

    The rows are those of the first file's input, which its manifest names, or those of ``items``; a
    judged table may have them itself, as the server's page gives it back: without ``labels``, one
    of its own counts as the verdict, or with ``own_labels`` as a label; beside other ``labels`` it
    is not used, as corrections are no random draw. A judge has the name of its
    file, without the ending. ``by`` is a column of the rows that becomes a tag; ``reading`` is how
    ``items``, ``labels`` and such a table are read.

    Raises:
        SettingsError: ``reading`` is given, and nothing is read by it; or no row has ``by``.
        MissingError: a file, or the input that was judged, does not exist.
        InputError: the files have different rows, or no row has a label.

    """
    beside = LABEL in reading.columns and labels not in (None, *paths)
    files = [_file(path, reading.without(LABEL) if beside else reading) for path in paths]
    if own_labels and labels is None and any(files[0].labels):
        labels = paths[0]
    if reading != USUAL and not (items or labels or files[0].rows):
        how = "say how labels and --items are read; give one of them"
        raise SettingsError(f"--map, --sheet and --separator {how}")
    made = [file.judgements if labels else file.marked for file in files]
    judges = dict(zip(_names(paths), made, strict=True))
    ids = [judgement.id for judgement in next(iter(judges.values()))]
    for path, judgements in zip(paths, judges.values(), strict=True):
        if [j.id for j in judgements] != ids:
            raise InputError(
                f"{path}: differs from {paths[0]} in its items or their order; "
                "give files of the same rows"
            )
    source, rows = files[0].source, files[0].rows
    if not source or items:
        source, rows = _rows(paths[0], items, reading, ids)
    tagged = [(row, _tagged(row, item, by)) for row, item in rows]
    found = [item for _, item in tagged]
    tags = [tags_of(item, _stated(row, item)) for row, item in tagged]
    # Two judges' scores are listed by the model where rows name one.
    if by and not (len(paths) == 2 and by == MODEL) and not any(by in one for one in tags):
        names = ", ".join(dict.fromkeys(name for row, _ in tagged for name in row))
        what = f"no row has a column or a tag {by}; the columns are: {names}"
        raise SettingsError(f"--by {by}: {what}")
    scored = {} if labels else {
        name: scores(found, judged, by=by)
        for name, judged in judges.items()
    }  # fmt: skip
    metrics = max(([*item.meta.get("old_scores", ())] for item in found), key=len)
    for n, metric in enumerate(metrics):
        judges[f"{OLD}, {metric}" if metrics[1:] else OLD] = [_old(item, n) for item in found]
    given: Sequence[Verdict | None] = (labels and files[0].labels) or [None] * len(ids)
    (table, held), unread = source, not (labels or own_labels or files[0].rows)
    how = f"is not read; to measure by it: --labels {table.name}"
    note = f"{paths[0]}: {', '.join(held.labels)} {how}" if unread and held.labels else ""
    if labels and not (files[0].labels and labels == paths[0]):
        if n := sum(own is not None for own in given):
            note = f"{paths[0]}: its {n:,} labels are not used, only those of {labels}"
        given = labels_of(found, Table.of(labels, sheet=reading.sheet), reading.columns)
    return JudgedRows(
        name=name or " and ".join(_names(paths)),
        items=found,
        judges=judges,
        labels=given,
        tags=tags,
        source=source,
        rows=[row for row, _ in rows],
        scores=scored,
        note=note,
    )


def _names(paths: Sequence[Path]) -> list[str]:
    """The files' names without endings, with their folders' where two are alike."""
    stems = [path.stem for path in paths]
    if len(set(stems)) < len(stems):
        stems = [f"{path.resolve().parent.name}/{s}" for path, s in zip(paths, stems, strict=True)]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice:
        raise InputError(f"two files are called {twice}; give each judge its own file")
    return stems


def _record(path: Path) -> Path:
    """The file of the judgements: the file itself, or the one beside a judged table."""
    return judgements_path(path, form_of(path) or Form.JSONL)


def _file(path: Path, reading: Reading) -> JudgedFile:
    """The judgements of a file, with rows and labels where it has them itself."""
    whole = read_whole(path, reading) if is_whole(path) else None
    return whole if whole and whole.judgements else JudgedFile(_judgements(path))


def _judgements(path: Path) -> list[Judgement]:
    if not path.exists():
        raise MissingError(f"{path}: no such file; give what gradegpt judge wrote with -o")
    if not (record := _record(path)).exists():
        how = "run gradegpt judge FILE -o OUT, then report OUT"
        raise MissingError(f"{path}: has no judgements beside it; {how}")
    try:
        found: list[Judgement] = list(read_rows(record, Judgement))
    except InputError as error:
        raise InputError(f"{error}; give the output of gradegpt judge") from error
    if not found:
        raise InputError(f"{path}: no judgement; judge a file first: gradegpt judge FILE -o OUT")
    return found


def _rows(
    judged: Path, items: Path | None, reading: Reading, ids: Sequence[str]
) -> tuple[JudgedTable, list[tuple[TableRow, Item]]]:
    path, made_from = (
        (items, reading.without(LABEL)._asdict()) if items else _as_manifest_says(judged)
    )
    columns = made_from.get("columns")
    table = by_answer(Table.of(path, sheet=made_from.get("sheet", "")), columns=columns)
    held = columns_in(table, columns, separator=made_from.get("separator", ""))
    found = placed(table, held, skip_bad="set_aside" in made_from)
    rows = [(one.row, one.item) for one in found]
    if [item.id for _, item in rows] != ids:
        what = "holds other rows than were judged; give the file that was, with --items FILE"
        raise InputError(f"{path}: {what}")
    return (table, held), rows


def seconds_of(judged: Path) -> float | None:
    """The seconds that judging took, from the manifest; None where it does not say."""
    manifest = _manifest(judged)
    made: dict[str, Any] = (
        json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
    )
    return made.get("seconds")


def _manifest(judged: Path) -> Path:
    record = _record(judged)
    return record.with_name(record.name + MANIFEST)


def _as_manifest_says(judged: Path) -> tuple[Path, dict[str, Any]]:
    """The table that was judged, at its recorded path or else beside it, and how it was read."""
    manifest = _manifest(judged)
    how = "give the file that was judged, with --items FILE"
    if not manifest.is_file():
        raise MissingError(f"{manifest}: does not exist, so the judged file is unknown; {how}")
    made_from: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))["input"]
    path = Path(made_from["path"])
    if not path.is_file():
        path = judged.parent / path.name
    if not path.is_file():
        raise MissingError(f"{made_from['path']}: does not exist, but {judged} needs it; {how}")
    if sha256_file(path) != made_from["sha256"]:
        raise InputError(f"{path}: has changed since {judged} was made from it; {how}")
    return path, made_from


def _tagged(row: TableRow, item: Item, by: str) -> Item:
    """The item with the columns ``by`` and ``model``, or what its metadata say of them, as tags."""
    said = {tag: str(row.get(tag) or item.meta.get(tag) or "") for tag in (MODEL, by)}
    new = {tag: (value,) for tag, value in said.items() if tag and value}
    return item.model_copy(update={"tags": {**item.tags, **new}}) if new else item


def _stated(row: TableRow, item: Item) -> dict[str, str]:
    stated = {tag: str(row.get(column) or "") for column, tag in _STATED.items()}
    return stated | {"task": str(item.meta.get("task") or "")}


def _old(item: Item, n: int) -> Judgement:
    """A log's n-th score as a judgement: with a verdict where the score means right or wrong."""
    scores = [*item.meta.get("old_scores", {}).items()]
    metric, score = scores[n] if n < len(scores) else ("score", None)
    metric = metric or "score"
    right = was_right(score)
    verdict = None if right is None else Verdict.CORRECT if right else Verdict.INCORRECT
    return Judgement(
        id=item.id,
        outcome=Outcome.JUDGED if verdict else Outcome.UNDECIDED,
        verdict=verdict,
        method="log",
        reason=f"no {metric} in the log" if score is None else f"{metric}: {score:g}",
    )
