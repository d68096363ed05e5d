"""The end of the card: how to load the data, and what not to expect of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from data_gen.card.collect import Facts
from data_gen.card.parts import Code, Section
from data_gen.card.tables import count, percent, types_of, words

_RARE: Final = 100
_LABEL_LIMITS: Final = {
    "construction": "construction alone: as sure as the generator's forms are.",
    "key": "the key alone, which compares final answers: a wrong road to a right one is correct.",
    "rules": "rules alone, which decide the easier answers.",
    "people": "people alone, slips included.",
    "teacher": "a teacher model alone, and repeat its habits.",
}


def loading() -> Section:
    """How to read the rows, and how to train on them."""
    return Section(
        title="How to load it",
        text=(
            "Each row holds prompt and completion, lists of chat messages, and meta. TRL takes the "
            "loss on the completion alone.",
        ),
        code=(
            Code(
                language="python",
                text="from datasets import load_dataset\n\n"
                'data = load_dataset("path/to/this/folder")',
            ),
            Code(
                language="python",
                text="from trl import SFTTrainer\n\n"
                'SFTTrainer("Qwen/Qwen3-0.6B", train_dataset=data["train"]).train()',
            ),
        ),
    )


def limits(facts: Facts) -> Section:
    """What not to expect of the data, as far as its rows tell."""
    return Section(title="Limits", text=tuple(_limit_texts(facts)))


def _limit_texts(facts: Facts) -> Iterator[str]:
    origins, labels = facts.facets["origin"], facts.facets["labelled_by"]
    synthetic = origins["synthetic"].total() if "synthetic" in origins else 0
    if synthetic:
        yield (
            f"{percent(synthetic / facts.n)} of the responses are written by the generator. They "
            "hold the mistakes that it knows; models make others."
        )
    for name, what in _LABEL_LIMITS.items():
        if name in labels:
            yield f"{count(labels[name].total())} labels rest on {what}"
    rare = [words(kind) for kind in types_of(facts) if facts.balance[kind].total() < _RARE]
    if rare:
        yield f"Fewer than {_RARE} rows of each: {', '.join(rare)}. Expect little of a judge there."
    yield (
        "The licences of the inputs are their owners' and are not restated here: look them up "
        "before you pass rows on."
    )
