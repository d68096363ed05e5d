"""Responses that attack a judge, each pattern alone and after a wrong answer: labelled rows.

None of them is right by construction, and no other source of labels has a say: a row that a judge
accepts must not be left out as disputed.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

from gradegpt.core.records import dump, sha256_file, whole_file, write_json
from gradegpt.core.schema import CHOICE, AnswerType, Example, Verdict

from .candidates import RULES, rng_for
from .generate import manifest_of
from .guards import GUARDS, SAYS_NOTHING
from .phrases import attacks, names_an_option
from .problems import Problem, attacked
from .settings import AttackRowSettings
from .writer import Task, ending

FILE: Final = "attacks.jsonl"
_TRIES: Final = 40
_ASSERTIONS: Final = ("adversarial_prefixes", "answer_explanations")
"""Kinds that say that something is right, which answers a true-or-false question."""
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


def write_attacks(settings: AttackRowSettings) -> dict[str, Any]:
    """Write ``attacks.jsonl`` and the manifest into ``settings.folder``; return the manifest."""
    folder = settings.folder
    rows = list(attack_rows(settings))
    with whole_file(folder / FILE) as out:
        out.writelines(f"{dump(row)}\n" for row in rows)
    counts = Counter(f"pattern:{row.source}" for row in rows) + Counter(rows=len(rows))
    manifest = manifest_of(settings, counts)
    manifest["outputs"] = {FILE: sha256_file(folder / FILE)}
    write_json(folder / "manifest.json", manifest)
    return manifest


def attack_rows(settings: AttackRowSettings) -> Iterator[Example]:
    """Every text of every pattern and language, ``settings.attacks`` times.

    The problems are those of a file, so that the attacks stay when the drawn problems change.
    A row's ``source`` is its pattern, with ``+wrong`` where a wrong answer stands beside it.
    """
    problems = attacked()[: settings.problems]
    for lang in ("zh", "en"):
        words = attacks(lang == "zh")
        patterns = {kind: getattr(words, kind) for kind in GUARDS} | words.published
        for pattern, texts in (patterns | words.stances).items():
            rows = _named if pattern in words.stances else _rows
            for text, copy in product(texts, range(settings.attacks)):
                id_ = f"{lang}:{pattern}:{json.dumps(text)}:{copy}"
                yield from rows(id_, pattern, text, lang, problems, rng_for(id_, settings.seed))


def _named(
    id_: str, pattern: str, text: str, lang: str, problems: Sequence[Problem], rng: random.Random
) -> Iterator[Example]:
    """A row that names the right answer and gives another, or none; of a problem of its language.

    Where the rules find the other answer right by itself, another problem is drawn.
    """
    own = [problem for problem in problems if problem.lang == lang]
    for _ in range(_TRIES):
        task = Task(rng, rng.choice(own), lang == "zh")
        wrong, right = task.wrong(), task.problem.reference
        if not _accepted(task.problem, wrong):
            made = text.format(right=right, wrong=wrong)
            yield _example(id_, task.problem, made, Verdict.INCORRECT, lang, pattern)
            return


def _rows(
    id_: str, pattern: str, text: str, lang: str, problems: Sequence[Problem], rng: random.Random
) -> Iterator[Example]:
    drawn = (rng.choice(problems) for _ in range(_TRIES))
    if (problem := next((one for one in drawn if not answers(pattern, text, one)), None)) is None:
        return
    alone = text.format(problem.reference) if pattern == "quotes" else text
    yield _example(id_, problem, alone, Verdict.INVALID, lang, pattern)
    if pattern in SAYS_NOTHING or (stated := _wrong(Task(rng, problem, lang == "zh"))) is None:
        return
    first = pattern == "adversarial_prefixes" or rng.random() < 0.5
    both = f"{text}\n{stated}" if first else f"{stated}\n{text}"
    yield _example(f"{id_}+", problem, both, Verdict.INCORRECT, lang, f"{pattern}+wrong")


def _wrong(task: Task) -> str | None:
    """A sentence with a wrong answer; none where the rules accept that sentence by itself.

    Such a label is disputed with or without an attack: 375π cm³ where the reference is 375π.
    """
    stated = ending(task, task.wrong()).sentence.strip()
    return None if _accepted(task.problem, stated) else stated


def _accepted(problem: Problem, response: str) -> bool:
    example = _example("", problem, response, Verdict.INCORRECT, "", "")
    return RULES.judge([example])[0].verdict is Verdict.CORRECT


def answers(pattern: str, text: str, problem: Problem) -> bool:
    """Whether the text might be read as the right answer: an option letter, numbers, "right"."""
    if problem.answer_type is AnswerType.TRUE_FALSE and pattern in _ASSERTIONS:
        return True
    if problem.answer_type in CHOICE:
        return names_an_option(text)
    numbers = set(_NUMBER.findall(problem.reference))
    return bool(numbers & set(_NUMBER.findall(text))) or problem.reference.strip() == text.strip()


def _example(
    id_: str, problem: Problem, response: str, verdict: Verdict, lang: str, pattern: str
) -> Example:
    return Example(
        id=id_,
        question=problem.question,
        reference=(problem.reference,),
        response=response,
        answer_type=problem.answer_type,
        verdict=verdict,
        labelled_by="construction",
        lang=lang,
        source=pattern,
    )
