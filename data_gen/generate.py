"""The run: seeds, candidates, checks, balance, files; the manifest last."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import gradegpt
from data_gen.balance import choose, shortfalls
from data_gen.candidates import (
    Candidate,
    agree,
    formats_of,
    quote_survives,
    rng_for,
    texts_of,
    training_row,
)
from data_gen.card import write_card
from data_gen.mixture import mixture
from data_gen.quality.cue import response_cue
from data_gen.quality.duplicates import ExactDuplicates, NearDuplicates
from data_gen.seeds import seeds
from data_gen.settings import DataGenSettings
from data_gen.shards import Progress, make_shards, read_shard, signature_of
from data_gen.sources import files
from data_gen.teacher import Teacher, Vote
from gradegpt.errors import InputError
from gradegpt.importers.labelled import split_of
from gradegpt.judges.rules import VERSION
from gradegpt.records import dump, sha256_file, whole_file, write_json
from gradegpt.schema import Verdict

_ROOT: Final = Path(__file__).parents[1]
_LEAST_FOR_CUE: Final = 400


def generate(settings: DataGenSettings, progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Write the set into ``settings.folder``; return the manifest.

    Raises:
        MissingError, InputError: a file is not there or a row of it cannot be read.
        OutputError: a process died; the same command goes on.

    """
    folder, counts = Path(settings.folder), Counter[str]()
    grown = seeds(settings, counts)
    work = folder / ".work" / _fingerprint(settings)
    paths = make_shards(grown, settings, work, progress)
    with Teacher(settings.teacher) if settings.teacher else nullcontext() as teacher:
        made = [c for path in paths for c in read_shard(path, counts)]
        if teacher is not None:
            made = _taught(made, settings, teacher, progress)
        spent = teacher.meter.summary() if teacher is not None else {}
    agreed, disputed = _settled(made, settings, counts, progress)
    if settings.kind == "base":
        parts = mixture(agreed, settings)
        chosen = agreed
    else:
        chosen = choose(agreed, settings.balance)
        parts = _rows(chosen, settings)
    if not parts["train"]:
        raise InputError(
            f"{settings.name}: no training rows; "
            "name sources, questions, bank or parametric problems"
        )
    (folder / "manifest.json").unlink(missing_ok=True)  # it vouches for files that go now
    for part, lines in parts.items():
        rng_for(part, settings.seed).shuffle(lines)
        _write_lines(folder / f"{part}.jsonl", lines)
    _write_lines(folder / "disputed.jsonl", map(dump, disputed))
    counts["disputed"] = len(disputed)
    _count(counts, chosen, parts, settings)
    manifest = _manifest(settings, counts, chosen, spent)
    if settings.kind == "judge":
        _write_parquet(folder, parts)
        progress("measuring cues, drawing the card", 0, 2)
        manifest["quality"]["cue"] = _cue(chosen, settings)
        progress("measuring cues, drawing the card", 1, 2)
        if settings.card:
            write_card(folder, manifest, (json.loads(line) for p in parts.values() for line in p))
        progress("measuring cues, drawing the card", 2, 2)
    manifest["outputs"] = {name: sha256_file(folder / name) for name in _written(settings)}
    write_json(folder / "manifest.json", manifest)
    shutil.rmtree(folder / ".work", ignore_errors=True)
    return manifest


def _written(settings: DataGenSettings) -> list[str]:
    """The files that a run writes, but for the plots and the manifest."""
    judge = settings.kind == "judge"
    parquet = ("train.parquet", "dev.parquet") if judge else ()
    card = ("README.md", "card.html") if judge and settings.card else ()
    return ["train.jsonl", "dev.jsonl", "disputed.jsonl", *parquet, *card]


def _taught(
    made: list[Candidate], settings: DataGenSettings, teacher: Teacher, progress: Progress
) -> list[Candidate]:
    """The candidates with a teacher's verdict beside the others, and its chain where none was."""
    asked = [i for i, c in enumerate(made) if _to_ask(c, settings)]
    votes = teacher.label(
        [made[i].item for i in asked],
        progress=lambda done: progress("asking the teacher", done, len(asked)),
    )
    for index, vote in zip(asked, votes, strict=True):
        made[index] = _with_vote(made[index], vote)
    return made


def _to_ask(candidate: Candidate, settings: DataGenSettings) -> bool:
    chance = rng_for(f"teacher:{candidate.id}", settings.seed).random()
    return candidate.chain is None or chance < settings.check


def _with_vote(candidate: Candidate, vote: Vote) -> Candidate:
    if vote.verdict is None:
        return candidate
    labels = candidate.labels | {"teacher": vote.verdict}
    # A teacher's chain reads better than one put together from parts: kept where it agrees.
    chain = vote.chain if agree(labels) and vote.chain is not None else candidate.chain
    return candidate.model_copy(update={"labels": labels, "chain": chain})


def _settled(
    made: Sequence[Candidate],
    settings: DataGenSettings,
    counts: Counter[str],
    progress: Progress,
) -> tuple[list[Candidate], list[Candidate]]:
    """What all who spoke agree on, without duplicates; and what they do not."""
    agreed: list[Candidate] = []
    disputed: list[Candidate] = []
    exact, near = ExactDuplicates(), NearDuplicates(settings.quality.near_duplicate)
    for done, candidate in enumerate(made, start=1):
        if done % 500 == 0 or done == len(made):
            progress("checking labels and duplicates", done, len(made))
        if agree(candidate.labels) is False:
            disputed.append(candidate)
        elif candidate.chain is None:
            counts[f"left_out:{'no_key_sentence' if candidate.labels else 'unlabelled'}"] += 1
        elif reason := _unfit(candidate, settings):
            counts[f"left_out:{reason}"] += 1
        elif exact.seen("", "\0".join(texts_of(candidate.item))):
            counts["left_out:exact_duplicate"] += 1
        elif near.seen(f"{candidate.chain.verdict}|{candidate.group}", signature_of(candidate)):
            counts["left_out:near_duplicate"] += 1
        else:
            agreed.append(candidate)
    return agreed, disputed


def _unfit(candidate: Candidate, settings: DataGenSettings) -> str:
    """A teacher's chain comes after the shards were checked."""
    if "teacher" not in candidate.labels or candidate.chain is None:
        return ""
    if not formats_of(candidate.chain, settings.formats):
        return "no_gloss"
    return "" if quote_survives(candidate, settings.prompt) else "quote_cut"


def _rows(chosen: Iterable[Candidate], settings: DataGenSettings) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {"train": [], "dev": []}
    for candidate in chosen:
        part = "dev" if split_of(candidate.group) == "dev" else "train"
        row = training_row(candidate, settings.formats, settings.prompt, settings.seed)
        parts[part].append(dump(row))
    return parts


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with whole_file(path) as out:
        out.writelines(f"{line}\n" for line in lines)


def _write_parquet(folder: Path, parts: dict[str, list[str]]) -> None:
    import pyarrow
    import pyarrow.parquet

    for part, lines in parts.items():
        table = pyarrow.Table.from_pylist([json.loads(line) for line in lines])
        temporary = folder / f".{part}.parquet.tmp"
        pyarrow.parquet.write_table(table, temporary, compression="zstd")
        temporary.replace(folder / f"{part}.parquet")


def _cue(chosen: Sequence[Candidate], settings: DataGenSettings) -> dict[str, Any] | None:
    """How well the response alone tells the verdict of a written row; none for a handful."""
    written = [c for c in chosen if c.origin == "synthetic"]
    if not settings.quality.cue or len(written) < _LEAST_FOR_CUE:
        return None
    every, answered = (
        response_cue(
            [c.item.response for c in rows],
            [c.verdict is Verdict.CORRECT for c in rows],
            [c.group for c in rows],
            settings.seed,
        ).as_dict()
        for rows in (written, [c for c in written if c.verdict is not Verdict.INVALID])
    )
    return every | {"answered": answered["overall"]}


def _count(
    counts: Counter[str],
    chosen: Iterable[Candidate],
    parts: dict[str, list[str]],
    settings: DataGenSettings,
) -> None:
    if settings.kind == "base":
        counts["sheets"] = settings.sheets
    for part, lines in parts.items():
        counts[part] = len(lines)
    for c in chosen:
        counts.update(
            (
                f"verdict:{c.verdict}",
                f"lang:{c.lang}",
                f"response_lang:{c.response_lang}",
                f"type:{c.kind}",
                f"origin:{c.origin}",
                f"pattern:{c.pattern}",
                f"source:{c.source}",
                f"labelled_by:{'+'.join(sorted(c.labels))}",
            )
        )


def _inputs(settings: DataGenSettings) -> Iterator[str]:
    yield from (source.path for source in (*settings.sources, *settings.unlabelled))
    yield from (part.path for part in settings.avoid)
    yield from (questions.path for questions in settings.questions)
    for outputs in settings.outputs:
        yield outputs.questions.path
        yield from (path for pattern in outputs.paths for path in files(pattern))


def _fingerprint(settings: DataGenSettings) -> str:
    """Everything that the candidates depend on: settings, inputs, and the code that makes them."""
    digest = hashlib.sha256(f"{gradegpt.__version__}|{VERSION}|".encode())
    digest.update(settings.model_dump_json(exclude={"out", "workers"}).encode())
    files = (p for package in ("data_gen", "gradegpt") for p in (_ROOT / package).rglob("*"))
    code = sorted(p for p in files if p.suffix in (".py", ".yaml", ".tsv", ".jsonl"))
    for path in (*code, *(Path(p) for p in sorted({*_inputs(settings)}) if Path(p).is_file())):
        digest.update(sha256_file(path).encode())
    return digest.hexdigest()[:16]


def _manifest(
    settings: DataGenSettings,
    counts: Counter[str],
    chosen: Sequence[Candidate],
    spent: dict[str, Any],
) -> dict[str, Any]:
    inputs = sorted({path for path in _inputs(settings) if Path(path).is_file()})
    manifest: dict[str, Any] = {
        "stage": "data_gen",
        "version": gradegpt.__version__,
        "rules": VERSION,
        "settings": settings.model_dump(mode="json", exclude={"workers"}),
        "inputs": {path: sha256_file(path) for path in inputs},
        "counts": dict(sorted(counts.items())),
        "quality": {
            "exact_duplicates": counts["left_out:exact_duplicate"],
            "near_duplicates": counts["left_out:near_duplicate"],
            "contaminated": counts["left_out:evaluation_ngram"],
            "disputed": counts["disputed"],
        },
    }
    if settings.kind == "judge":
        manifest["shortfalls"] = shortfalls(chosen, settings.balance)
    if spent:  # `run`, what this run asked for itself, depends on what was in the cache
        manifest["teacher"] = {name: value for name, value in spent.items() if name != "run"}
    return manifest
