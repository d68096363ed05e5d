"""A table of labelled answers -> training rows: ``gradegpt data labelled path=graded.csv out=DIR``.

Every row is used, or named with its reason in ``left_out.jsonl``: nothing is balanced or drawn. A
question belongs to one split. A row teaches the verdict tag and, where a chain can be written that
agrees with the label, the chain. Beside them stand guard rows, with words to the grader or a
response that says nothing: a judge of a few hundred plain answers would call those correct.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import typer

from gradegpt.app.console import report_columns
from gradegpt.chains.chain import Chain
from gradegpt.core.errors import InputError
from gradegpt.core.records import read_rows, sha256_file, whole_file, write_json, write_rows
from gradegpt.core.schema import ChainFormat, Example, Item, Judgement, TrainingRow, Verdict
from gradegpt.tables import Table, TableRow
from gradegpt.tables.columns import dig
from gradegpt.tables.importers.labelled import Source, item_key, source_of, unreadable
from gradegpt.tables.inputs import check_input
from gradegpt.tables.labels import read_label

from .asking import with_teacher
from .candidates import Candidate, as_taught, by_rules, labels_agree, training_row
from .guards import guard_of
from .readings import Reading, digest_of, read_readings, write_readings
from .real import chain_for
from .settings import LabelledSettings
from .teacher import Teacher
from .truth import is_tag_alone, stated

LEAST_ROWS: Final = 40
LEAST_QUESTIONS: Final = 8
_NO_QUESTION: Final = (
    "no column of questions: the judge reads the reference and the response alone; to name it: "
    "--map question=COLUMN"
)
_REMEDY: Final = "--map label=COLUMN reads another column, --skip-bad leaves such rows out"
_DEV_SHARE: Final = 0.2
_UNLABELLED: Final = "no label"
SHEET: Final = "to_label.csv"
"""Held-out answers for a person to label, where a teacher labelled the others."""
Splits = dict[str, list[Example]]
LeftOut = dict[str, str]


def prepare(settings: LabelledSettings) -> dict[str, Any]:
    """Write training rows, the examples of each split and the manifest; return the manifest.

    Raises:
        MissingError: a file is not there.
        InputError: a row cannot be read; no labels, one class, or too few rows or questions.

    """
    folder = settings.folder
    with nullcontext() if settings.teacher is None else Teacher(settings.teacher) as teacher:
        parts, left_out = _parts(settings, teacher)
        candidates, readings = _candidates(parts["train"], settings, teacher)
        spent = teacher.meter.summary() if teacher else {}
    chains = [c.chain for c in candidates if c.chain and not is_tag_alone(c.chain)]
    glossed = sum(chain.is_glossed for chain in chains)
    # The format in which the judge explains itself: with a gloss where most chains have one.
    mostly = 2 * glossed >= len(chains)
    chain_format = ChainFormat.CROSS_LINGUAL if mostly else ChainFormat.JUDGE_OF_CHAIN
    rows_taught = [row for candidate in candidates for row in _taught(candidate, settings)]
    if sheet := parts.pop("sheet", []):
        _write_sheet(folder / SHEET, sheet)
    if teacher is not None:
        write_readings(folder / "readings.jsonl", readings)
    made = (guard_of(e, settings.guard, settings.seed) for e in parts["train"])
    guards = [_tag_row(_with_tag(e), settings) for e in made if e is not None]
    mixed = [row for data in settings.mix for row in read_rows(f"{data}/train.jsonl", TrainingRow)]
    rows = [*rows_taught, *guards, *mixed]
    random.Random(settings.seed).shuffle(rows)
    for part, examples in parts.items():
        write_rows(folder / "examples" / f"{part}.jsonl", examples)
    write_rows(folder / "left_out.jsonl", left_out)
    write_rows(folder / "train.jsonl", rows)
    write_rows(folder / "dev.jsonl", (_tag_row(_with_tag(e), settings) for e in parts["dev"]))
    ruled = [(j, e) for e in (*parts["train"], *parts["dev"]) if (j := by_rules(e)).verdict]
    disputed = [_disputed(j, e) for j, e in ruled if not _agree(j.verdict, e)]
    disputed.sort(key=lambda row: -row["confidence"])
    write_rows(folder / "disputed.jsonl", disputed)
    flaws = Counter(c.flaw for c in candidates if c.flaw)
    manifest = {
        "stage": "data_gen",
        "settings": settings.model_dump(mode="json")
        | {"formats": {ChainFormat.OUTCOME.value: 1.0, chain_format.value: 0.5}},
        "inputs": {path: sha256_file(path) for path in (settings.path, settings.test) if path},
        "left_out": dict(sorted(Counter(row["why"] for row in left_out).items())),
        "counts": {part: len(examples) for part, examples in parts.items()}
        | {"chains": len(chains), "guards": len(guards), "mixed": len(mixed), "rows": len(rows)}
        | {"glossed": glossed, "sheet": len(sheet)},
        "no_chain": dict(flaws.most_common()),
        "teacher": spent,
        "labelled_by": dict(Counter(e.labelled_by for e in parts["train"])),
        "questions": {part: len(set(map(item_key, e))) for part, e in parts.items()},
        "chain_format": chain_format.value,
        "rules": {"decided": len(ruled), "agree": len(ruled) - len(disputed)},
        "disputed": [row["id"] for row in disputed],
    }
    write_json(folder / "manifest.json", manifest)
    return manifest


def _parts(
    settings: LabelledSettings, teacher: Teacher | None = None
) -> tuple[Splits, list[LeftOut]]:
    """The examples of each split, and the rows that are left out.

    Where a teacher gave the labels, ``sheet`` has the held-out rows instead of ``test``.
    """
    examples, left_out = read_labelled(settings.path, settings, teacher)
    parts = _split(examples, settings)
    if settings.test is not None:
        parts["test"], more = read_labelled(settings.test, settings)
        held = set(map(item_key, parts["test"]))
        for part in ("train", "dev"):
            why = "its question is in the test file"
            more += [_left_out(settings.path, e, why) for e in parts[part] if item_key(e) in held]
            parts[part] = [e for e in parts[part] if item_key(e) not in held]
        left_out += more
    # A teacher's verdicts measure nothing.
    why = "a teacher's label, and its question is held out for the test"
    left_out += [_left_out(settings.path, e, why) for e in parts["test"] if _by_teacher(e)]
    parts["test"] = [e for e in parts["test"] if not _by_teacher(e)]
    for part in ("train", "dev", "test"):
        if parts[part] or part != "test":
            _check_classes(parts[part], f"{settings.path}: {part}")
    return parts, left_out


def _by_teacher(example: Example) -> bool:
    return example.labelled_by == "teacher"


def _write_sheet(path: Path, rows: Sequence[Example]) -> None:
    """Write answers as a table with an empty column ``label``, without a teacher's verdicts."""
    with whole_file(path, encoding="utf-8-sig") as out:
        table = csv.writer(out)
        table.writerow(("id", "question", "reference", "response", "label"))
        for row in rows:
            given = json.dumps(row.reference, ensure_ascii=False)
            reference = row.reference[0] if len(row.reference) == 1 else given
            table.writerow((row.id, row.question, reference, row.response, ""))


def read_labelled(
    path: str, settings: LabelledSettings, teacher: Teacher | None = None
) -> tuple[list[Example], list[LeftOut]]:
    """The labelled rows of a table, and those that are left out.

    Of equal rows the first is kept, and none of rows that differ in nothing but their label. A
    teacher labels the rows without a label; each says by whom it was labelled.

    Raises:
        MissingError: there is no such file.
        InputError: a row is no item, its label has another form, or there is no label.

    """
    reading = settings.model_dump(include={"columns", "skip_bad", "separator"})
    checked = check_input(Table.of(path, sheet=settings.sheet), **reading)
    report_columns(checked)
    if (label := checked.columns.label(path)) is None and teacher is None:
        have = f"the columns are: {', '.join(checked.columns.names)}"
        raise InputError(
            f"{path}: no column of labels; name it: --map label=COLUMN, or let a model "
            f"label the rows: gradegpt finetune --teacher MODEL; {have}"
        )
    if not (checked.columns.fields.get("question") or "question" in settings.columns):
        typer.echo(f"{path}: {_NO_QUESTION}", err=True)
    source, left_out = source_of(checked, label or ""), list[LeftOut]()
    alike: dict[tuple[str, ...], list[tuple[str, Example]]] = {}
    rows = [*checked.placed()]
    given = [_verdict(row, where, source, label, settings) for where, _, row, _ in rows]
    by_teacher = [n for n, (_, why) in enumerate(given) if teacher and why == _UNLABELLED]
    if teacher is not None and by_teacher:
        items = [rows[n][1] for n in by_teacher]
        typer.echo(teacher.estimate(items), err=True)
        for n, label_ in zip(by_teacher, teacher.label(items), strict=True):
            given[n] = label_.verdict, f"the teacher gave no verdict ({label_.reason})"
    for n, (where, item, row, _) in enumerate(rows):
        verdict, why = given[n]
        if verdict is None:
            left_out.append(_left_out(where, item, why))
            continue
        known = {"labelled_by": "teacher" if n in by_teacher else "people"}
        known |= {"lang": str(row.get("lang") or "")}
        example = Example(**dict(item), verdict=verdict, source=source.label, **known)
        key = (item_key(item), *item.accepted, "", item.response)
        alike.setdefault(key, []).append((where, example))
    kept = list[Example]()
    for same in alike.values():
        agree = labels_agree({where: e.verdict for where, e in same})
        kept += [same[0][1]] if agree else []
        contradicted = "the same answer is labelled both correct and not correct"
        why = "repeats an earlier row" if agree else contradicted
        left_out += [_left_out(where, e, why) for where, e in same[1 if agree else 0 :]]
    return _with_own_ids(kept), left_out


def _verdict(
    row: TableRow, where: str, source: Source, label: str | None, settings: LabelledSettings
) -> tuple[Verdict | None, str]:
    """The verdict of a row's label, or why it has none."""
    try:
        verdict = read_label(dig(row, label)) if label else None
    except ValueError as error:
        if settings.skip_bad:
            return None, "its label is not a verdict"
        raise InputError(f"{unreadable(error, where, source, label or '')}; {_REMEDY}") from error
    return verdict, "" if verdict else _UNLABELLED


def _left_out(where: str, item: Item, why: str) -> LeftOut:
    return {"row": where, "id": item.id, "why": why}


def _with_own_ids(examples: Sequence[Example]) -> list[Example]:
    """The examples, with numbers behind the ids that several have."""
    several = Counter(e.id for e in examples)
    return [
        e if several[e.id] == 1 else e.model_copy(update={"id": f"{e.id}#{n}"})
        for n, e in enumerate(examples, 1)
    ]


def _split(examples: Sequence[Example], settings: LabelledSettings) -> Splits:
    """The splits, question by question in the order of a hash: test first, then dev, then train.

    Raises:
        InputError: too few rows or questions, or one class.

    """
    questions: dict[str, list[Example]] = {}
    for example in examples:
        questions.setdefault(item_key(example), []).append(example)
    if len(examples) < LEAST_ROWS or len(questions) < LEAST_QUESTIONS:
        raise InputError(
            f"{settings.path}: {len(examples)} labelled answers to {len(questions)} questions; a "
            f"judge is trained and measured on at least {LEAST_ROWS} answers to {LEAST_QUESTIONS} "
            "questions, and 300 make a good one. Rows without a label can be labelled by a large "
            "model: gradegpt finetune --teacher MODEL. To measure a judge on what there is: "
            f"gradegpt eval {settings.path}"
        )
    _check_classes(examples, settings.path)
    taught_all = all(map(_by_teacher, examples))
    sheet = min(settings.test_share, settings.sheet_rows / len(examples))
    test, held = ("sheet", sheet) if taught_all else ("test", settings.test_share)
    shares = {test: 0.0 if settings.test else held, "dev": _DEV_SHARE}
    parts: Splits = {"train": [], "dev": [], "test": [], test: []}
    by_hash = {hashlib.sha256(f"{settings.seed}:{key}".encode()).digest(): key for key in questions}
    for _, key in sorted(by_hash.items()):
        open_ = (part for part, share in shares.items() if len(parts[part]) < share * len(examples))
        parts[next(open_, "train")] += questions[key]
    return parts


def _check_classes(rows: Sequence[Example], what: str) -> None:
    right = sum(e.verdict is Verdict.CORRECT for e in rows)
    if right in (0, len(rows)):
        label = "correct" if right else "not correct"
        raise InputError(
            f"{what}: all {len(rows)} labels are {label!r}; label answers of the other kind too"
        )


def _candidates(
    rows: Sequence[Example], settings: LabelledSettings, teacher: Teacher | None
) -> tuple[list[Candidate], list[Reading]]:
    """The answers with their chains, or why they have none, and a teacher's readings.

    A chain is a reader's, the evidence of rules that decide alike, or a teacher's. A label stays,
    whoever contradicts it.
    """
    if settings.format == "tag":
        return [*map(_with_tag, rows)], []
    known, readings = read_readings(settings.readings), list[Reading]()
    made = [as_taught(_with_chain(e, known), settings.prompt) for e in rows]
    if teacher is not None:
        answered, readings = with_teacher(made, teacher)
        made = [
            as_taught(new.model_copy(update={"labels": old.labels}), settings.prompt)
            if labels_agree(new.labels)
            else old
            for old, new in zip(made, answered, strict=True)
        ]
    sides: defaultdict[str, set[bool]] = defaultdict(set)
    for candidate, example in zip(made, rows, strict=True):
        sides[stated(candidate.chain, example)].add(example.verdict is Verdict.CORRECT)
    twice = {said for said, verdicts in sides.items() if said and len(verdicts) > 1}
    return [
        _with_tag(e).model_copy(update={"flaw": "same_answer"})
        if stated(c.chain, e) in twice
        else c
        for c, e in zip(made, rows, strict=True)
    ], readings


def _with_tag(example: Example) -> Candidate:
    """An answer whose verdict tag alone is taught."""
    return Candidate(
        id=example.id, item=example, lang=example.lang, response_lang="", source=example.source,
        origin="real", pattern="labelled", group=item_key(example),
        chain=Chain(verdict=example.verdict, reference_answer=example.reference[0]),
        labels={example.labelled_by or "people": example.verdict},
    )  # fmt: skip


def _with_chain(example: Example, known: Mapping[str, Reading]) -> Candidate:
    """An answer with the chain of a reading or rules that agree with the label; else its tag."""
    reading, ruled = known.get(digest_of(example)), by_rules(example)
    if reading is not None and not (reading.verdict and _agree(reading.verdict, example)):
        reading = None
    flaw = "contradicted" if ruled.verdict and not _agree(ruled.verdict, example) else ""
    if flaw:
        ruled = ruled.model_copy(update={"verdict": None})
    # That no answer is given says more than a label `incorrect`.
    none = Verdict.INVALID in (ruled.verdict, reading.verdict if reading else None)
    verdict = Verdict.INVALID if none else example.verdict
    chain = chain_for(example, verdict, reading, ruled)
    return _with_tag(example).model_copy(update={"chain": chain, "flaw": flaw})


def _disputed(judgement: Judgement, example: Example) -> dict[str, Any]:
    """An answer whose label the rules contradict, and how often they are right where they do."""
    known = example.model_dump(mode="json", include={"id", "question", "reference", "response"})
    said = {"label": example.verdict, "rules": judgement.verdict, "reason": judgement.reason}
    return known | said | {"confidence": round(judgement.confidence or 0, 3)}


def _agree(verdict: Verdict | None, example: Example) -> bool:
    return labels_agree({"one": verdict, "other": example.verdict}) is True


def _taught(candidate: Candidate, settings: LabelledSettings) -> Iterator[TrainingRow]:
    """The training rows of an answer; its chain has a gloss where one is known."""
    chain = candidate.chain
    alone = chain is None or is_tag_alone(chain)
    if alone or settings.format != "chain":
        yield from (_tag_row(candidate, settings),) * (1 if alone else 2)
    if chain is not None and not alone:
        formats = (ChainFormat.JUDGE_OF_CHAIN, ChainFormat.CROSS_LINGUAL)
        shares = {formats[chain.is_glossed]: 1.0}
        yield training_row(candidate, shares, settings.prompt, settings.seed)


def _tag_row(candidate: Candidate, settings: LabelledSettings) -> TrainingRow:
    return training_row(candidate, {ChainFormat.OUTCOME: 1.0}, settings.prompt, settings.seed)
