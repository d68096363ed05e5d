"""The run: collect graded answers, make rows, split by question, write files, manifest last."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import gradegpt
from data_gen.compose import Graded, counterfactual, from_label, synthetic
from data_gen.parametric import parametric
from data_gen.problems import Problem, bank
from data_gen.settings import DataGenSettings, Questions
from data_gen.sheets import Pair, comparison_sheet, pair_of
from data_gen.skills import skill_row
from gradegpt.chain import build_prompt, needs_gloss, quotes_verbatim, render_chain
from gradegpt.errors import InputError
from gradegpt.importers.labelled import Source, question_key, read_examples, read_items, split_of
from gradegpt.records import dump, read_objects, sha256_file, whole_file, write_json
from gradegpt.rules.kinds import answer_type
from gradegpt.schema import ChainFormat, Item, Message, TrainingRow, Verdict

MAX_QUESTION_REFERENCE: Final = 60
"""A question with a longer reference, in characters, is left out: it has no near miss."""

Progress = Callable[[str, int], None]
"""Called with the stage and the number of rows so far."""


def rng_for(key: str, seed: int) -> random.Random:
    """A generator that depends on the row alone, so order and threads do not matter."""
    return random.Random(hashlib.sha256(f"{seed}:{key}".encode()).digest())


def generate(settings: DataGenSettings, progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Write ``train.jsonl``, ``dev.jsonl`` and ``manifest.json``; return the manifest."""
    folder = Path(settings.folder)
    avoid = _avoided(settings.avoid)
    rows: dict[str, list[str]] = {"train": [], "dev": []}
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    pairs: list[Pair] = []
    for graded in _collect(settings):
        progress("generating", len(seen))
        if question_key(graded.group) in avoid:
            counts["avoided"] += 1
            continue
        part = "dev" if split_of(graded.group) == "dev" else "train"
        if part == "train" and (pair := pair_of(graded)):
            pairs.append(pair)
        for index in range(settings.repeats):
            row = _row(graded, settings, index)
            if isinstance(row, str):
                counts[row] += 1
            elif (line := dump(row)) not in seen:
                seen.add(line)
                rows[part].append(line)
                _count(counts, graded, part)
    for index in range(settings.sheets if settings.kind == "base" else 0):
        sheet = comparison_sheet(rng_for(f"sheet:{index}", settings.seed), pairs)
        rows["train"].append(dump(sheet))
        counts.update(("train", "sheets"))
    if not rows["train"]:
        raise InputError(
            f"{settings.name}: no training rows; "
            "name sources, questions, bank or parametric problems"
        )
    for part, lines in rows.items():
        rng_for(part, settings.seed).shuffle(lines)
        with whole_file(folder / f"{part}.jsonl") as out:
            out.writelines(f"{line}\n" for line in lines)
    manifest = _manifest(settings, counts)
    write_json(folder / "manifest.json", manifest)
    return manifest


def _collect(settings: DataGenSettings) -> Iterator[Graded]:
    for problem in bank() if settings.bank else ():
        yield from _written(problem, settings, settings.bank)
    for problem in parametric(settings.parametric, settings.seed):
        yield from _written(problem, settings, settings.responses_per_question)
    for questions in settings.questions:
        for problem in _read_questions(questions):
            yield from _written(problem, settings, settings.responses_per_question)
    for source in settings.sources:
        yield from _real(source, settings)
    for source in settings.unlabelled:
        for item, lang in read_items(source):
            yield from _against_others(item, lang, source, settings)


def _written(problem: Problem, settings: DataGenSettings, count: int) -> Iterator[Graded]:
    for index in range(count):
        rng = rng_for(f"{problem.id}:{problem.question}:{index}", settings.seed)
        roll = rng.random()
        if roll < settings.correct_share:
            verdict = Verdict.CORRECT
        elif roll < settings.correct_share + settings.incorrect_share:
            verdict = Verdict.INCORRECT
        else:
            verdict = Verdict.INVALID
        graded = synthetic(problem, verdict, rng)
        if graded is not None:
            yield graded


def _real(source: Source, settings: DataGenSettings) -> Iterator[Graded]:
    for example in read_examples(source):
        rng = rng_for(f"{source.label}:{example.id}", settings.seed)
        graded = from_label(example, rng)
        if graded is not None:
            yield graded
        yield from _against_others(example, example.lang, source, settings)


def _against_others(
    item: Item, lang: str, source: Source, settings: DataGenSettings
) -> Iterator[Graded]:
    for index in range(settings.counterfactuals):
        rng = rng_for(f"{source.label}:{item.id}:other:{index}", settings.seed)
        verdict = Verdict.CORRECT if rng.random() < 0.5 else Verdict.INCORRECT
        graded = counterfactual(item, verdict, lang, source.label, rng)
        if graded is not None:
            yield graded


def _read_questions(questions: Questions) -> Iterator[Problem]:
    taken = 0
    for _, row in read_objects(questions.path):
        reference, question = str(row.get("reference") or ""), str(row.get("question") or "")
        short = reference.strip() and len(reference) <= MAX_QUESTION_REFERENCE
        if not short or "\n" in reference.strip():
            continue
        if questions.split and split_of(question) != questions.split:
            continue
        if taken == questions.limit:
            return
        taken += 1
        meta = row.get("meta") or {}
        solution = str(meta.get(questions.solution) or "") if questions.solution else ""
        yield Problem(
            id=f"{Path(questions.path).stem.removeprefix('d_')}-{row.get('id')}",
            lang=str(row.get("lang") or "en"),
            answer_type=answer_type(reference, question),
            question=question,
            reference=reference.strip(),
            solution=tuple(s for s in (solution[:300],) if s.strip()),
        )


def _row(
    graded: Graded, settings: DataGenSettings, index: int
) -> TrainingRow | dict[str, Any] | str:
    rng = rng_for(f"{index}:{graded.item.model_dump_json()}:{graded.chain.verdict}", settings.seed)
    if settings.kind == "base":
        return skill_row(graded, rng, settings.prompt.budget)
    names = list(settings.formats)
    chosen = rng.choices(names, weights=[settings.formats[n] for n in names])[0]
    return training_row(graded, chosen, settings)


def training_row(
    graded: Graded, chain_format: ChainFormat, settings: DataGenSettings
) -> TrainingRow | str:
    """The prompt/completion row, or why there is none.

    ``without_gloss``: the format needs one that is not known. ``quote_cut``: the key sentence did
    not survive the fitting of the response, so a judge could not quote it.
    """
    chain = graded.chain
    quote = chain.key_sentence
    unglossed = quote and needs_gloss(quote) and not chain.gloss
    if unglossed and chain_format is ChainFormat.CROSS_LINGUAL:
        return "without_gloss"
    prompt = build_prompt(
        graded.item, settings.prompt.model_copy(update={"chain_format": chain_format})
    )
    if quote and not quotes_verbatim(quote, prompt[-1].content):
        return "quote_cut"
    return TrainingRow(
        prompt=prompt,
        completion=(Message(role="assistant", content=render_chain(chain, chain_format)),),
        meta={
            "verdict": chain.verdict.value,
            "answer_type": chain.answer_type and chain.answer_type.value,
            "lang": graded.lang,
            "source": graded.source,
            "labelled_by": graded.labelled_by,
            "chain_format": chain_format.value,
        },
    )


def _avoided(paths: Iterable[str]) -> set[str]:
    keys = {
        question_key(str(row.get("question") or "")) for p in paths for _, row in read_objects(p)
    }
    return keys - {""}


def _count(counts: Counter[str], graded: Graded, part: str) -> None:
    kind = graded.chain.answer_type.value if graded.chain.answer_type else "none"
    for name in (
        part,
        f"verdict:{graded.chain.verdict.value}",
        f"lang:{graded.lang}",
        f"type:{kind}",
        f"source:{graded.source}",
    ):
        counts[name] += 1


def _manifest(settings: DataGenSettings, counts: Counter[str]) -> dict[str, Any]:
    graded = [s.path for s in (*settings.sources, *settings.unlabelled)]
    inputs = [*graded, *(q.path for q in settings.questions), *settings.avoid]
    outputs = [Path(settings.folder) / f"{part}.jsonl" for part in ("train", "dev")]
    return {
        "stage": "data_gen",
        "version": gradegpt.__version__,
        "settings": settings.model_dump(mode="json"),
        "inputs": {path: sha256_file(path) for path in inputs},
        "outputs": {path.name: sha256_file(path) for path in outputs},
        "counts": dict(sorted(counts.items())),
    }
