"""A table of labelled answers -> training rows: ``gradegpt data labelled path=graded.csv out=DIR``.

Every row is used, or named with its reason in ``left_out.jsonl``: nothing is balanced or drawn. A
question belongs to one split. A row teaches the verdict tag and, where a chain can be written that
agrees with the label, the chain. Beside them stand guard rows, with words to the grader or a
response that says nothing: a judge of a few hundred plain answers would call those correct.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from gradegpt.app.console import report_columns
from gradegpt.chains.chain import Chain, PromptSettings, needs_gloss
from gradegpt.core.errors import InputError
from gradegpt.core.records import read_rows, sha256_file, write_json, write_rows
from gradegpt.core.schema import ChainFormat, Example, Item, TrainingRow, Verdict
from gradegpt.tables import Table
from gradegpt.tables.columns import dig
from gradegpt.tables.importers.labelled import item_key, label_of, source_of, unreadable
from gradegpt.tables.inputs import check_input
from gradegpt.tables.labels import read_label

from .attacks import GUARDS, SAYS_NOTHING
from .candidates import (
    Candidate,
    by_rules,
    clip,
    formats_of,
    is_tag_alone,
    labels_agree,
    quote_survives,
    rng_for,
    shown_item,
    training_row,
)
from .real import chain_for
from .settings import LabelledSettings
from .teacher import Teacher
from .writer.attacks import attacks, names_an_option

LEAST_ROWS: Final = 40
LEAST_QUESTIONS: Final = 8
_NO_QUESTION: Final = (
    "no column of questions: the judge reads the reference and the response alone; to name it: "
    "--map question=COLUMN"
)
_REMEDY: Final = "--map label=COLUMN reads another column, --skip-bad leaves such rows out"
_DEV_SHARE: Final = 0.2
_BOTH: Final = {ChainFormat.CROSS_LINGUAL: 1.0, ChainFormat.JUDGE_OF_CHAIN: 1.0}
Splits = dict[str, list[Example]]
LeftOut = dict[str, str]


def prepare(settings: LabelledSettings) -> dict[str, Any]:
    """Write training rows, the examples of each split and the manifest; return the manifest.

    Raises:
        MissingError: a file is not there.
        InputError: a row cannot be read; no labels, one class, or too few rows or questions.

    """
    folder = settings.folder
    parts, left_out = _parts(settings)
    chains = _chains(parts["train"], settings)
    # One format for all chains: with a gloss only where every Chinese quote has one.
    glossed = all(ChainFormat.CROSS_LINGUAL in formats_of(c, _BOTH) for c in chains.values())
    chain_format = ChainFormat.CROSS_LINGUAL if glossed else ChainFormat.JUDGE_OF_CHAIN
    taught = [r for e in parts["train"] for r in _taught(e, chains, chain_format, settings)]
    guards = [_row(e, None, ChainFormat.OUTCOME, settings) for e in _guards(parts, settings)]
    mixed = [row for data in settings.mix for row in read_rows(f"{data}/train.jsonl", TrainingRow)]
    rows = [*taught, *guards, *mixed]
    random.Random(settings.seed).shuffle(rows)
    for part, examples in parts.items():
        write_rows(folder / "examples" / f"{part}.jsonl", examples)
    write_rows(folder / "left_out.jsonl", left_out)
    write_rows(folder / "train.jsonl", rows)
    tags = (_row(e, None, ChainFormat.OUTCOME, settings) for e in parts["dev"])
    write_rows(folder / "dev.jsonl", tags)
    manifest = {
        "stage": "data_gen",
        "settings": settings.model_dump(mode="json")
        | {"formats": {ChainFormat.OUTCOME.value: 1.0, chain_format.value: 0.5}},
        "inputs": {path: sha256_file(path) for path in (settings.path, settings.test) if path},
        "left_out": dict(sorted(Counter(row["why"] for row in left_out).items())),
        "counts": {part: len(examples) for part, examples in parts.items()}
        | {"chains": len(chains), "guards": len(guards), "mixed": len(mixed), "rows": len(rows)},
        "questions": {part: len(set(map(item_key, e))) for part, e in parts.items()},
        "chain_format": chain_format.value,
        "rules": _rules_agree([*parts["train"], *parts["dev"]]),
    }
    write_json(folder / "manifest.json", manifest)
    return manifest


def _parts(settings: LabelledSettings) -> tuple[Splits, list[LeftOut]]:
    """The examples of each split, and the rows that are left out."""
    examples, left_out = read_labelled(settings.path, settings)
    parts = _split(examples, settings)
    if settings.test is not None:
        parts["test"], more = read_labelled(settings.test, settings)
        held = set(map(item_key, parts["test"]))
        for part in ("train", "dev"):
            why = "its question is in the test file"
            more += [_left_out(settings.path, e, why) for e in parts[part] if item_key(e) in held]
            parts[part] = [e for e in parts[part] if item_key(e) not in held]
        left_out += more
    for part, rows in parts.items():
        _check_classes(rows, f"{settings.path}: {part}")
    return parts, left_out


def read_labelled(path: str, settings: LabelledSettings) -> tuple[list[Example], list[LeftOut]]:
    """The labelled rows of a table, and those that are left out.

    Of equal rows the first is kept, and none of rows that differ in nothing but their label.

    Raises:
        MissingError: there is no such file.
        InputError: a row is no item, its label has another form, or there is no label.

    """
    reading = settings.model_dump(include={"columns", "skip_bad", "separator"})
    checked = check_input(Table.of(path, sheet=settings.sheet), **reading)
    report_columns(checked)
    if (label := label_of(checked)) is None:
        have = f"the columns are: {', '.join(checked.columns.names)}"
        raise InputError(f"{path}: no column of labels; name it: --map label=COLUMN; {have}")
    if not (checked.columns.fields.get("question") or "question" in settings.columns):
        typer.echo(f"{path}: {_NO_QUESTION}", err=True)
    source, left_out = source_of(checked, label), list[LeftOut]()
    alike: dict[tuple[str, ...], list[tuple[str, Example]]] = {}
    for where, item, row, _ in checked.placed():
        try:
            verdict, why = read_label(dig(row, label)), "no label"
        except ValueError as error:
            if not settings.skip_bad:
                raise InputError(f"{unreadable(error, where, source, label)}; {_REMEDY}") from error
            verdict, why = None, "its label is not a verdict"
        if verdict is None:
            left_out.append(_left_out(where, item, why))
            continue
        known = {"labelled_by": "people", "lang": str(row.get("lang") or "")}
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
            "questions, and 300 make a good one. To measure a judge on what there is: "
            f"gradegpt eval {settings.path}"
        )
    _check_classes(examples, settings.path)
    shares = {"test": 0.0 if settings.test else settings.test_share, "dev": _DEV_SHARE}
    parts: Splits = {"train": [], "dev": [], "test": []}
    by_hash = {hashlib.sha256(f"{settings.seed}:{key}".encode()).digest(): key for key in questions}
    for _, key in sorted(by_hash.items()):
        open_ = (part for part, share in shares.items() if len(parts[part]) < share * len(examples))
        parts[next(open_, "train")] += questions[key]
    some = set(map(item_key, parts["train"][: round(settings.part * len(parts["train"]))]))
    parts["train"] = [e for e in parts["train"] if item_key(e) in some]
    return parts


def _check_classes(rows: Sequence[Example], what: str) -> None:
    right = sum(e.verdict is Verdict.CORRECT for e in rows)
    if right in (0, len(rows)):
        label = "correct" if right else "not correct"
        raise InputError(
            f"{what}: all {len(rows)} labels are {label!r}; label answers of the other kind too"
        )


def _chains(rows: Sequence[Example], settings: LabelledSettings) -> dict[str, Chain]:
    """The chain of each row for which one can be written and checked, by the row's id."""
    if settings.format == "tag":
        return {}
    made = {e.id: chain for e in rows if (chain := _chain(e, settings.prompt)) is not None}
    if settings.teacher is not None:
        asked = [e for e in rows if e.id not in made]
        with Teacher(settings.teacher) as teacher:
            votes = teacher.label([_item(e) for e in asked])
        for example, vote in zip(asked, votes, strict=True):
            if vote.chain and vote.verdict and _agree(vote.verdict, example):
                made[example.id] = vote.chain
    return made


def _chain(example: Example, prompt: PromptSettings) -> Chain | None:
    """The chain by rules, or that quotes the sentence nearest to the reference; None without one.

    There is none where the rules contradict the label, or where the response that the prompt shows
    has lost the quote.
    """
    item = _item(example)
    ruled = by_rules(item).verdict
    if ruled is not None and not _agree(ruled, example):
        return None
    chain = chain_for(item, example.verdict, shown=ruled is not None)
    if chain is None or is_tag_alone(chain) or not quote_survives(chain, shown_item(item, prompt)):
        return None
    return chain


def _guards(parts: Splits, settings: LabelledSettings) -> Iterator[Example]:
    """Training answers whose response is replaced by, or stands beside, what manipulates a judge.

    Alone it is no answer; beside an answer it changes nothing, and the label stays.
    """
    for example in parts["train"]:
        rng = rng_for(f"guard:{example.id}", settings.seed)
        if rng.random() >= settings.guard:
            continue
        kind = rng.choice(GUARDS)
        text = rng.choice(getattr(attacks(needs_gloss(example.response)), kind))
        text = text.format(example.reference[0]) if kind == "quotes" else text
        alone = kind in SAYS_NOTHING or rng.random() < 0.5
        told = [text, example.response]
        response = text if alone else "\n".join(rng.sample(told, 2))
        if alone and (text.strip() in example.accepted or names_an_option(text)):
            continue
        verdict = Verdict.INVALID if alone else example.verdict
        changes = {"id": f"{example.id}:guard", "response": response, "verdict": verdict}
        yield example.model_copy(update=changes)


def _rules_agree(rows: Sequence[Example]) -> dict[str, int]:
    """How many rows the rules decide, and on how many of these they agree with the label."""
    decided = [(v, e) for e in rows if (v := by_rules(_item(e)).verdict) is not None]
    return {"decided": len(decided), "agree": sum(_agree(v, e) for v, e in decided)}


def _agree(verdict: Verdict, example: Example) -> bool:
    return labels_agree({"one": verdict, "other": example.verdict}) is True


def _item(example: Example) -> Item:
    return Item.model_validate(example.model_dump(include=set(Item.model_fields) - {"meta"}))


def _taught(
    example: Example, chains: Mapping[str, Chain], chain_format: ChainFormat, s: LabelledSettings
) -> Iterator[TrainingRow]:
    """The training rows of an example."""
    chain = chains.get(example.id)
    if chain is None or s.format != "chain":
        tag = _row(example, None, ChainFormat.OUTCOME, s)
        yield from (tag,) * (1 if chain is None else 2)
    if chain is not None:
        yield _row(example, chain, chain_format, s)


def _row(
    example: Example, chain: Chain | None, chain_format: ChainFormat, settings: LabelledSettings
) -> TrainingRow:
    tag = Chain(verdict=example.verdict, reference_answer=clip(example.reference[0]))
    candidate = Candidate(
        id=example.id, item=_item(example), chain=chain or tag, lang=example.lang, response_lang="",
        source=example.source, origin="real", pattern="labelled", group=item_key(example),
        labels={"people": example.verdict},
    )  # fmt: skip
    return training_row(candidate, {chain_format: 1.0}, settings.prompt, settings.seed)
