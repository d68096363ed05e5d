"""A table of labelled answers -> training rows: ``gradegpt data.labelled graded.csv -o DIR``.

Every row is used, or named with its reason in ``left_out.jsonl``: nothing is balanced, drawn or
added. A question belongs to one split. Each row teaches the verdict tag and, where a chain can be
written whose quote and comparison agree with the label, the chain.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import typer
from pydantic import Field

from gradegpt import options
from gradegpt.chain import Chain, PromptSettings
from gradegpt.cli import run
from gradegpt.console import report_columns
from gradegpt.errors import InputError
from gradegpt.importers.labelled import item_key, label_of, source_of, verdict_of
from gradegpt.inputs import check_input
from gradegpt.records import dump, read_rows, sha256_file, whole_file, write_json, write_rows
from gradegpt.schema import ChainFormat, Example, Item, TrainingRow, Verdict
from gradegpt.settings import Settings, build_settings

from .candidates import (
    Candidate,
    by_rules,
    clip,
    formats_of,
    is_tag_alone,
    quote_survives,
    shown_item,
    training_row,
)
from .real import chain_for
from .teacher import Teacher
from .teacher.settings import TeacherSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

PARTS: Final = ("train", "dev", "test")
HALF: Final = "half"
"""The folder with half of the training questions, for a learning curve."""
LEAST_ROWS: Final = 40
LEAST_QUESTIONS: Final = 8
_REPEATED: Final = "repeats an earlier row"
_CONTRADICTED: Final = "the same answer is labelled both correct and not correct"
_IN_TEST: Final = "its question is in the test file"
_NO_LABEL: Final = "no label"


class LabelledSettings(Settings):
    """The table, its test file if it has one, and what a row teaches.

    ``format``: ``tag`` teaches the verdict tag alone; ``chain`` the chain where one can be written
    and else the tag; ``both`` the two as separate rows, so that one judge can be asked either way.
    The tag is then taught twice, since most tokens of a chain say nothing about the verdict.
    """

    command: ClassVar[str] = "data.labelled"
    path: str
    out: str
    test: str | None = None
    """A second table for the test split; by default a share of the questions is held out."""
    format: Literal["tag", "chain", "both"] = "both"
    mix: tuple[str, ...] = ()
    """Folders that ``gradegpt data`` wrote, whose training rows are added."""
    columns: dict[str, str] = Field(default_factory=dict)
    ignore_extra: bool = False
    skip_bad: bool = False
    dev_share: float = Field(default=0.2, gt=0, lt=0.5)
    test_share: float = Field(default=0.25, gt=0, lt=0.5)
    seed: int = 0
    prompt: PromptSettings = PromptSettings(chain_format=ChainFormat.OUTCOME)
    teacher: TeacherSettings | None = None
    """Asked for a chain where none can be written; it is used where it agrees with the label."""


class LeftOut(Settings):
    """A row that is not used: its place in the table, its id, and the reason."""

    row: str
    id: str
    why: str


def prepare(settings: LabelledSettings) -> dict[str, Any]:
    """Write the training rows, the examples of each split and the manifest; return the manifest.

    Raises:
        MissingError: a file is not there.
        InputError: a row cannot be read; no labels, one class, or too few rows or questions.

    """
    folder = Path(settings.out)
    examples, left_out = read_labelled(settings.path, settings)
    parts = _split(examples, settings)
    if settings.test is not None:
        parts["test"], more = read_labelled(settings.test, settings)
        left_out += more
        held = {item_key(e) for e in parts["test"]}
        for part in ("train", "dev"):
            kept = [e for e in parts[part] if item_key(e) not in held]
            gone = [e for e in parts[part] if item_key(e) in held]
            left_out += [LeftOut(row=settings.path, id=e.id, why=_IN_TEST) for e in gone]
            parts[part] = kept
    for part, rows in parts.items():
        _check_classes(rows, f"{settings.path}: {part}")
    for part, rows in parts.items():
        write_rows(folder / "examples" / f"{part}.jsonl", rows)
    write_rows(folder / "left_out.jsonl", left_out)
    chains = _chains(parts["train"], settings)
    chain_format = _chain_format(chains.values())
    train = list(_training_rows(parts["train"], chains, chain_format, settings))
    half = {item_key(e) for e in parts["train"][: len(parts["train"]) // 2]}
    some = [e for e in parts["train"] if item_key(e) in half]
    tags = [_row(e, None, ChainFormat.OUTCOME, settings) for e in parts["dev"]]
    mixed = [row for data in settings.mix for row in read_rows(f"{data}/train.jsonl", TrainingRow)]
    counts = dict(sorted(Counter(f"left_out:{row.why}" for row in left_out).items()))
    counts |= {part: len(rows) for part, rows in parts.items()}
    counts |= {"chains": len(chains), "rows": len(train), "mixed": len(mixed)}
    manifest = {
        "stage": "data.labelled",
        "settings": settings.model_dump(mode="json")
        | {"formats": {ChainFormat.OUTCOME.value: 1.0, chain_format.value: 0.5}},
        "inputs": {path: sha256_file(path) for path in (settings.path, settings.test) if path},
        "counts": counts,
        "questions": {part: len({item_key(e) for e in rows}) for part, rows in parts.items()},
        "chain_format": chain_format.value,
        "rules": _rules_agree([*parts["train"], *parts["dev"]]),
    }
    fewer = _training_rows(some, chains, chain_format, settings)
    for target, taught in ((folder, [*train, *mixed]), (folder / HALF, [*fewer, *mixed])):
        _write_shuffled(target / "train.jsonl", taught, settings.seed)
        write_rows(target / "dev.jsonl", tags)
        write_json(target / "manifest.json", manifest)
    return manifest


def read_labelled(path: str, settings: LabelledSettings) -> tuple[list[Example], list[LeftOut]]:
    """The labelled rows of a table, and those that are left out.

    Raises:
        MissingError: there is no such file.
        InputError: a row is no item, its label has another form, or there is no label.

    """
    checked = check_input(
        path,
        ignore_extra=settings.ignore_extra,
        columns=settings.columns,
        skip_bad=settings.skip_bad,
    )
    report_columns(checked)
    if (label := label_of(checked)) is None:
        have = f"the columns are: {', '.join(checked.columns.names)}"
        raise InputError(f"{path}: no column of labels; name it: --map label=COLUMN; {have}")
    source = source_of(checked, label)
    rows: list[tuple[str, Example]] = []
    left_out: list[LeftOut] = []
    for number, (row, item) in enumerate(checked.items(), 1):
        where = f"{path}:{number}"
        verdict = verdict_of(row.get(label), where, source, label)
        if verdict is None:
            left_out.append(LeftOut(row=where, id=item.id, why=_NO_LABEL))
        else:
            rows.append((where, _example(row, item, verdict, source.label)))
    kept, repeated = _without_repeats(rows)
    return kept, left_out + repeated


def _example(row: Any, item: Item, verdict: Verdict, source: str) -> Example:
    lang = str(row.get("lang") or "")
    return Example(**dict(item), verdict=verdict, labelled_by="people", lang=lang, source=source)


def _without_repeats(rows: Sequence[tuple[str, Example]]) -> tuple[list[Example], list[LeftOut]]:
    """The first of equal rows; none of the rows that differ in nothing but their label."""
    alike: dict[tuple[str, ...], list[tuple[str, Example]]] = {}
    for where, example in rows:
        key = (item_key(example), *example.accepted, "", example.response)
        alike.setdefault(key, []).append((where, example))
    kept, left_out = list[Example](), list[LeftOut]()
    for same in alike.values():
        contradicted = len({e.verdict is Verdict.CORRECT for _, e in same}) > 1
        if not contradicted:
            kept.append(same[0][1])
        why = _CONTRADICTED if contradicted else _REPEATED
        rest = same if contradicted else same[1:]
        left_out += [LeftOut(row=where, id=e.id, why=why) for where, e in rest]
    ids = Counter(e.id for e in kept)
    unique = (
        e if ids[e.id] == 1 else e.model_copy(update={"id": f"{e.id}#{n}"})
        for n, e in enumerate(kept, 1)
    )  # fmt: skip
    return list(unique), left_out


def _split(examples: Sequence[Example], settings: LabelledSettings) -> dict[str, list[Example]]:
    """The splits, question by question in the order of a hash: test first, then dev, then train.

    Raises:
        InputError: too few rows or questions, or one class.

    """
    questions: dict[str, list[Example]] = {}
    for example in examples:
        questions.setdefault(item_key(example), []).append(example)
    found = f"{len(examples)} labelled answers to {len(questions)} questions"
    if len(examples) < LEAST_ROWS or len(questions) < LEAST_QUESTIONS:
        raise InputError(
            f"{settings.path}: {found}; a judge is trained and measured on at least {LEAST_ROWS} "
            f"answers to {LEAST_QUESTIONS} questions, and 300 make a good one. To measure a judge "
            f"on what there is: gradegpt eval {settings.path}"
        )
    _check_classes(examples, settings.path)
    sizes = {
        "test": 0.0 if settings.test else settings.test_share * len(examples),
        "dev": settings.dev_share * len(examples),
    }
    parts: dict[str, list[Example]] = {part: [] for part in PARTS}
    for key in sorted(questions, key=lambda key: _place(key, settings.seed)):
        part = next((p for p, size in sizes.items() if len(parts[p]) < size), "train")
        parts[part] += questions[key]
    return parts


def _place(question: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{question}".encode()).digest()


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
            votes = teacher.label([_item(e) for e in asked], lambda _: None)
        for example, vote in zip(asked, votes, strict=True):
            agrees = vote.verdict is not None and _says_yes(vote.verdict) == _says_yes(
                example.verdict
            )
            if agrees and vote.chain is not None:
                made[example.id] = vote.chain
    return made


def _chain(example: Example, prompt: PromptSettings) -> Chain | None:
    """The chain by rules, or that quotes the sentence nearest to the reference; None without one.

    There is none where the rules contradict the label, or where the response that the prompt shows
    has lost the quote.
    """
    item = _item(example)
    ruled = by_rules(item).verdict
    if ruled is not None and _says_yes(ruled) != _says_yes(example.verdict):
        return None
    chain = chain_for(item, example.verdict, shown=ruled is not None)
    if chain is None or is_tag_alone(chain) or not quote_survives(chain, shown_item(item, prompt)):
        return None
    return chain


def _rules_agree(rows: Sequence[Example]) -> dict[str, int]:
    """How many rows the rules decide, and on how many of these they agree with the label."""
    pairs = [(by_rules(_item(e)).verdict, e.verdict) for e in rows]
    decided = [(ruled, label) for ruled, label in pairs if ruled is not None]
    agree = sum(_says_yes(ruled) == _says_yes(label) for ruled, label in decided)
    return {"decided": len(decided), "agree": agree}


def _says_yes(verdict: Verdict) -> bool:
    return verdict is Verdict.CORRECT


def _item(example: Example) -> Item:
    return Item.model_validate(example.model_dump(include=set(Item.model_fields) - {"meta"}))


def _chain_format(chains: Iterable[Chain]) -> ChainFormat:
    """The format of all chains: with a gloss only where every Chinese quote has one."""
    every = {ChainFormat.CROSS_LINGUAL: 1.0, ChainFormat.JUDGE_OF_CHAIN: 1.0}
    glossed = all(ChainFormat.CROSS_LINGUAL in formats_of(chain, every) for chain in chains)
    return ChainFormat.CROSS_LINGUAL if glossed else ChainFormat.JUDGE_OF_CHAIN


def _training_rows(
    rows: Iterable[Example],
    chains: dict[str, Chain],
    chain_format: ChainFormat,
    settings: LabelledSettings,
) -> Iterator[TrainingRow]:
    for example in rows:
        chain = chains.get(example.id)
        if chain is None or settings.format != "chain":
            tag = _row(example, None, ChainFormat.OUTCOME, settings)
            yield from (tag,) * (1 if chain is None else 2)
        if chain is not None:
            yield _row(example, chain, chain_format, settings)


def _row(
    example: Example, chain: Chain | None, chain_format: ChainFormat, settings: LabelledSettings
) -> TrainingRow:
    tag = Chain(verdict=example.verdict, reference_answer=clip(example.reference[0]))
    candidate = Candidate(
        id=example.id,
        item=_item(example),
        chain=chain or tag,
        lang=example.lang,
        response_lang="",
        source=example.source,
        origin="real",
        pattern="labelled",
        group=item_key(example),
        labels={"people": example.verdict},
    )
    return training_row(candidate, {chain_format: 1.0}, settings.prompt, settings.seed)


def _write_shuffled(path: Path, rows: list[TrainingRow], seed: int) -> None:
    random.Random(seed).shuffle(rows)
    with whole_file(path) as out:
        out.writelines(f"{dump(row)}\n" for row in rows)


@app.command(epilog="Then: gradegpt train qwen3-0.6b data=DIR; or all at once: gradegpt finetune")
def main(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A table of labelled answers, in any form that gradegpt judge reads; a label is "
            "true or false, 1 or 0, yes or no, correct or incorrect, ...",
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="A folder.")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "format (tag, chain or both), test=FILE, mix=[FOLDER], dev_share, test_share, seed, "
            "prompt.budget.response (the most tokens of a response that a prompt shows), "
            "teacher={models: [{model: NAME}], base_url: URL, cache: FILE}."
        ),
    ] = None,
    mapped: options.Map = None,
    ignore_extra: options.IgnoreExtra = False,
    skip_bad: options.SkipBad = False,
) -> None:
    """Make training rows from labelled answers; every row is used, or named with its reason.

    DIR gets train.jsonl and dev.jsonl (training rows), examples/{train,dev,test}.jsonl (the
    labelled answers of each split, by question), left_out.jsonl and, last, manifest.json. Each
    answer teaches the verdict tag and, where one can be written and checked, a chain.
    """
    given = {
        "path": source, "out": output, "columns": options.columns_of(mapped),
        "ignore_extra": ignore_extra, "skip_bad": skip_bad,
    }  # fmt: skip
    settings = build_settings(LabelledSettings, given, "options", overrides or ())
    manifest = prepare(settings)
    counts, questions = manifest["counts"], manifest["questions"]
    sizes = ", ".join(f"{p} {counts[p]:,} answers to {questions[p]:,} questions" for p in PARTS)
    typer.echo(f"{sizes}; {counts['chains']:,} of the training answers have a chain")
    for name, count in counts.items():
        if name.startswith("left_out:"):
            typer.echo(f"left out: {count:,}: {name.partition(':')[2]}")
    typer.echo(f"wrote {settings.out}: {counts['rows'] + counts['mixed']:,} training rows")


if __name__ == "__main__":
    run(app, name="gradegpt data.labelled")
