"""A model's answers to questions, one row per answer; the parts of a problem in turns.

OlympiadBench (section 3.3, figures 7 and 8) has "progressive problems", whose later parts use the
results of earlier ones. Its rows give these as context; here they are the model's own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item, Message

from ..asking import Protocol, Replies, Reply, read_asked
from .prompts import PromptStyle, prompt

PROBLEM: Final = "problem"
"""The key in ``meta`` or ``tags`` that the parts of a problem share."""
AskedQuestion = tuple[Item, str]
"""An item, and the unit that it is to be answered in."""


class Turns(NamedTuple):
    """Questions in the order of asking: the first parts of all problems, then the second, ….

    ``parts``: the number of each question's part, from 0. ``before``: the numbers of the questions
    that precede it in its conversation.
    """

    questions: list[AskedQuestion]
    parts: list[int]
    before: list[tuple[int, ...]]

    def rounds(self, samples: int) -> list[range]:
        """The rows of each round, where every question has ``samples`` rows."""
        ends = [samples * bisect_right(self.parts, part) for part in range(self.parts[-1] + 1)]
        return [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    def conversation(
        self, prompts: Sequence[Sequence[Message]], samples: int
    ) -> Callable[[int, Replies], Sequence[Message]]:
        """The n-th prompt after the earlier parts' prompts and this sample's replies to them.

        A part without a reply, which the server refused, is asked again with the next one.
        """

        def conversation(n: int, replies: Replies) -> Sequence[Message]:
            number, sample = divmod(n, samples)
            turns, asked = list[Message](), list[str]()
            for other in (samples * before + sample for before in self.before[number]):
                asked.append(prompts[other][-1].content)
                if other in replies and replies[other].reply:
                    turns.append(Message(role="user", content="\n\n".join(asked)))
                    turns.append(Message(role="assistant", content=replies[other].reply))
                    asked = []
            asked.append(prompts[n][-1].content)
            return (*turns, Message(role="user", content="\n\n".join(asked)))

        return conversation


def in_turns(questions: Sequence[AskedQuestion], path: Path) -> Turns:
    """The questions by rounds; one without a problem is a problem of one part.

    Raises:
        InputError: no two questions are parts of one problem.

    """
    names = [str(i.meta.get(PROBLEM) or i.tags.get(PROBLEM) or (i.id,)) for i, _ in questions]
    parts = [names[:n].count(name) for n, name in enumerate(names)]
    if not any(parts):
        raise InputError(
            f"{path}: meta.{PROBLEM}: no two rows have the same value; name the problem of each "
            "part there, or leave --progressive out"
        )
    order = sorted(range(len(parts)), key=parts.__getitem__)
    places: dict[str, tuple[int, ...]] = {}
    before = []
    for place, n in enumerate(order):
        before.append(places.get(names[n], ()))
        places[names[n]] = (*before[-1], place)
    return Turns([questions[n] for n in order], sorted(parts), before)


UNIT: Final = "unit"
"""A column of the questions' file that is no field of an item: the unit of the answer."""


def answer_protocol(
    path: Path,
    out: Path,
    *,
    style: PromptStyle = PromptStyle.DIRECT,
    samples: int = 1,
    progressive: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Protocol[Item]:
    """Every answer as an item; the samples of a question follow each other.

    Each row's ``meta`` holds its sample, the style, whether it was cut off, and its tokens. A
    question that the server finally refuses has no row, so that it is no wrong answer of the model
    (OlympiadBench, appendix B, removes it).
    ``progressive``: the parts of a problem are one conversation, as in ``eval.answer.ask``; rows
    are in the order in which they were asked. A column ``response`` is ignored.

    Raises:
        InputError: the questions cannot be used.

    """
    found = read_asked(path, "question", columns=columns, also=(UNIT,))
    questions = [(one.item, one.also.get(UNIT, "")) for one in found]
    turns = in_turns(questions, path) if progressive else None
    if turns is not None:
        questions = turns.questions
    shown = [item for item, _ in questions]
    if turns is not None:  # only first parts keep their context
        pairs = zip(shown, turns.before, strict=True)
        shown = [i.model_copy(update={"context": None}) if b else i for i, b in pairs]

    def answered(n: int, reply: Reply) -> Item:
        item, sample = questions[n // samples][0], n % samples
        cost = reply.model_dump(include={"cut_off", "prompt_tokens", "completion_tokens"})
        meta = item.meta | {"sample": sample, "style": style.value} | cost
        return item.model_copy(
            update={"id": f"{item.id}#{sample}", "response": reply.reply, "meta": meta}
        )

    units = [unit for _, unit in questions]
    asking = [prompt(*one) for one in zip(shown, [style] * len(shown), units, strict=True)]
    prompts = [one for one in asking for _ in range(samples)]
    return Protocol(
        source=path, out=out, prompts=prompts, read=answered,
        version=f"{style}|{samples}" + ("|progressive" if turns else ""),
        rounds=turns.rounds(samples) if turns else (),
        prompt_after=turns.conversation(prompts, samples) if turns else None,
    )  # fmt: skip
