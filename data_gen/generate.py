"""The data generation run: seeds, candidates, checks, balance, files; the manifest last."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from gradegpt.errors import InputError
from gradegpt.fit import fit_middle
from gradegpt.importers.labelled import question_key, split_of
from gradegpt.records import dump, sha256_file, whole_file, write_json
from gradegpt.schema import Verdict

from .balance import choose
from .candidates import (
    Candidate,
    formats_of,
    labels_agree,
    quote_survives,
    rng_for,
    shown_item,
    texts_of,
    training_row,
)
from .card import write_card
from .drills import by_type, judge_drill
from .manifest import DRILLS, count_rows, fingerprint, manifest_of, written_files
from .mixture import mixture
from .quality.artifact_probe import probe_artifacts
from .quality.duplicates import NearDuplicates, exact_key
from .seeds import seeds
from .settings import DataGenSettings
from .shards import Progress, make_shards, read_shard, signature_of
from .strata import stratified
from .teacher import Teacher, Vote

_LEAST_FOR_PROBE: Final = 400


def generate(
    settings: DataGenSettings, progress: Progress = lambda *_: None, command: str = ""
) -> dict[str, Any]:
    """Write the set into ``settings.folder``; return the manifest.

    ``command`` is the command that the data card shows.

    Raises:
        MissingError, InputError: a file is missing or a row of it cannot be read.
        OutputError: a process died; the same command resumes the run.

    """
    folder, counts = Path(settings.folder), Counter[str]()
    all_seeds = seeds(settings, counts)
    work = folder / ".work" / fingerprint(settings)
    paths = make_shards(all_seeds, settings, work, progress)
    with Teacher(settings.teacher) if settings.teacher else nullcontext() as teacher:
        candidates = [c for path in paths for c in read_shard(path, counts)]
        if teacher is not None:
            candidates = _ask_teacher(candidates, settings, teacher, progress)
        spent = teacher.meter.summary() if teacher is not None else {}
    agreed, disputed = _agreed(candidates, settings, counts, progress)
    if settings.kind == "base":
        parts = mixture(agreed, settings)
        chosen, drills = agreed, []
    else:
        split = _choose_rows(agreed, settings)
        chosen = [candidate for part in split.values() for candidate in part]
        parts = {part: _rows(candidates, settings) for part, candidates in split.items()}
        drills = _drills(split["train"], settings, progress)
    if not parts["train"]:
        raise InputError(
            f"{settings.name}: no training rows; "
            "name sources, questions, bank or parametric problems"
        )
    # Removed first: the manifest marks the other files as complete.
    for stale in ("manifest.json", DRILLS):
        (folder / stale).unlink(missing_ok=True)
    for part, lines in parts.items():
        rng_for(part, settings.seed).shuffle(lines)
        _write_lines(folder / f"{part}.jsonl", lines)
    if DRILLS in written_files(settings):
        _write_lines(folder / DRILLS, drills)
    _write_lines(folder / "disputed.jsonl", map(dump, disputed))
    counts["disputed"] = len(disputed)
    count_rows(counts, chosen, parts, settings)
    manifest = manifest_of(settings, counts, chosen, spent)
    if command:
        manifest["command"] = command
    if settings.kind == "judge":
        _write_parquet(folder, parts)
        progress("measuring artifacts, drawing the card", 0, 2)
        manifest["quality"]["artifact_probe"] = _probe(chosen, settings)
        progress("measuring artifacts, drawing the card", 1, 2)
        if settings.card:
            write_card(folder, manifest, (json.loads(line) for p in parts.values() for line in p))
        progress("measuring artifacts, drawing the card", 2, 2)
    manifest["outputs"] = {name: sha256_file(folder / name) for name in written_files(settings)}
    write_json(folder / "manifest.json", manifest)
    shutil.rmtree(folder / ".work", ignore_errors=True)
    return manifest


def _ask_teacher(
    candidates: list[Candidate], settings: DataGenSettings, teacher: Teacher, progress: Progress
) -> list[Candidate]:
    """Add a teacher's verdict to the labels, and its chain to candidates without one."""
    asked = [i for i, c in enumerate(candidates) if _to_ask(c, settings)]
    votes = teacher.label(
        [candidates[i].item for i in asked],
        progress=lambda done: progress("asking the teacher", done, len(asked)),
    )
    for index, vote in zip(asked, votes, strict=True):
        candidates[index] = _with_vote(candidates[index], vote)
    return candidates


def _to_ask(candidate: Candidate, settings: DataGenSettings) -> bool:
    chance = rng_for(f"teacher:{candidate.id}", settings.seed).random()
    return candidate.chain is None or chance < settings.check


def _with_vote(candidate: Candidate, vote: Vote) -> Candidate:
    if vote.verdict is None:
        return candidate
    labels = candidate.labels | {"teacher": vote.verdict}
    # A teacher's chain reads better than a template's: it is used where the labels agree.
    chain = vote.chain if labels_agree(labels) and vote.chain is not None else candidate.chain
    return candidate.model_copy(update={"labels": labels, "chain": chain})


def _agreed(
    candidates: Sequence[Candidate],
    settings: DataGenSettings,
    counts: Counter[str],
    progress: Progress,
) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates whose labels agree, without duplicates; and those whose labels disagree."""
    agreed: list[Candidate] = []
    disputed: list[Candidate] = []
    exact, near = set[bytes](), NearDuplicates(settings.quality.near_duplicate)
    for done, candidate in enumerate(candidates, start=1):
        if done % 500 == 0 or done == len(candidates):
            progress("checking labels and duplicates", done, len(candidates))
        if labels_agree(candidate.labels) is False:
            disputed.append(candidate)
        elif candidate.chain is None:
            counts[f"left_out:{'unsettled' if candidate.labels else 'unlabelled'}"] += 1
        elif reason := _unusable_chain(candidate, settings):
            counts[f"left_out:{reason}"] += 1
        elif (key := exact_key("\0".join(texts_of(candidate.item)))) in exact:
            counts["left_out:exact_duplicate"] += 1
        elif near.seen(f"{candidate.chain.verdict}|{candidate.group}", signature_of(candidate)):
            counts["left_out:near_duplicate"] += 1
            exact.add(key)
        else:
            agreed.append(candidate)
            exact.add(key)
    return agreed, disputed


def _unusable_chain(candidate: Candidate, settings: DataGenSettings) -> str:
    """Why a teacher's chain cannot be used, or nothing; the others were checked in the shards."""
    if "teacher" not in candidate.labels or candidate.chain is None:
        return ""
    if not formats_of(candidate.chain, settings.formats):
        return "no_gloss"
    shown = shown_item(candidate.item, settings.prompt_for(candidate.id))
    return "" if quote_survives(candidate.chain, shown) else "quote_cut"


def _choose_rows(
    agreed: Sequence[Candidate], settings: DataGenSettings
) -> dict[str, list[Candidate]]:
    """The rows of train and dev: by strata if the settings have any, else balanced by cells."""
    if not settings.strata:
        return _split(choose(agreed, settings.balance), settings)
    sizes = {"train": settings.balance.rows, "dev": settings.dev_rows}
    split = _split(agreed, settings)
    return {part: stratified(split[part], settings.strata, sizes[part]) for part in split}


def _split(chosen: Iterable[Candidate], settings: DataGenSettings) -> dict[str, list[Candidate]]:
    """Split by question.

    Two questions that look the same in a short prompt would leak: such rows stay in train alone.
    """
    parts: dict[str, list[Candidate]] = {"train": [], "dev": []}
    asked: set[str] = set()
    for candidate in chosen:
        part = "dev" if split_of(candidate.group) == "dev" else "train"
        parts[part].append(candidate)
        if part == "train":
            asked.add(_shown_question(candidate, settings))
    asked.discard("")
    parts["dev"] = [c for c in parts["dev"] if _shown_question(c, settings) not in asked]
    return parts


def _shown_question(candidate: Candidate, settings: DataGenSettings) -> str:
    budget = settings.prompt_for(candidate.id).budget
    return question_key(fit_middle(candidate.item.question, budget.question))


def _rows(chosen: Iterable[Candidate], settings: DataGenSettings) -> list[str]:
    return [
        dump(
            training_row(
                candidate, settings.formats, settings.prompt_for(candidate.id), settings.seed
            )
        )
        for candidate in chosen
    ]


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with whole_file(path) as out:
        out.writelines(f"{line}\n" for line in lines)


def _drills(
    candidates: Sequence[Candidate], settings: DataGenSettings, progress: Progress
) -> list[str]:
    """The comparison drills of a judge; none where no candidate has a comparison."""
    answers = by_type(candidates)
    lines = []
    for index in range(settings.drills if answers else 0):
        lines.append(dump(judge_drill(rng_for(f"drill:{index}", settings.seed), answers)))
        if index % 500 == 499 or index == settings.drills - 1:
            progress("writing drills", index + 1, settings.drills)
    return lines


def _write_parquet(folder: Path, parts: dict[str, list[str]]) -> None:
    import pyarrow
    import pyarrow.parquet

    for part, lines in parts.items():
        table = pyarrow.Table.from_pylist([json.loads(line) for line in lines])
        temporary = folder / f".{part}.parquet.tmp"
        pyarrow.parquet.write_table(table, temporary, compression="zstd")
        temporary.replace(folder / f"{part}.parquet")


def _probe(chosen: Sequence[Candidate], settings: DataGenSettings) -> dict[str, Any] | None:
    """How well the response alone predicts the verdict of synthetic rows; none for few rows."""
    written = [c for c in chosen if c.origin == "synthetic"]
    if not settings.quality.artifact_probe or len(written) < _LEAST_FOR_PROBE:
        return None
    every, answered = (
        probe_artifacts(
            [c.item.response for c in rows],
            [c.verdict is Verdict.CORRECT for c in rows],
            [c.group for c in rows],
            settings.seed,
        ).as_dict()
        for rows in (written, [c for c in written if c.verdict is not Verdict.INVALID])
    )
    return every | {"answered": answered["overall"]}
