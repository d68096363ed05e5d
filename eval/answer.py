"""Ask a model a benchmark's questions: ``gradegpt eval.answer QUESTIONS -o ANSWERS``.

The kinds of prompt are those of the papers (CMMaTH, tables 10 and 11; OlympiadBench, figure 3;
OlympicArena, figure 15, table 10 and appendix C.6; ATLAS, prompt E.1); the wording is this
project's own, so scores are close to the papers' and not identical. OlympiadBench (section 3.3,
figures 7 and 8) has "progressive problems", whose later parts use the results of earlier ones. Its
rows give these as context; with ``--progressive`` they are the model's own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.chains.chain import needs_gloss
from gradegpt.chains.prompts import prompt_phrases
from gradegpt.core.errors import InputError
from gradegpt.core.schema import AnswerType, Item, Message
from gradegpt.judges.calibration import type_of
from gradegpt.tables.inputs import USUAL, Reading

from .asking import (
    ApiKey,
    Concurrency,
    InputPrice,
    OutputPrice,
    Protocol,
    Replies,
    Reply,
    Request,
    engine_of,
    read_asked,
    run_protocol,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
PROBLEM: Final = "problem"
"""The key in ``meta`` or ``tags`` that the parts of a problem share."""
AskedQuestion = tuple[Item, str]
"""An item, and the unit that it is to be answered in."""
UNIT: Final = "unit"
"""A column of the questions' file that is no field of an item: the unit of the answer."""


class PromptStyle(StrEnum):
    """How a model is asked to reason.

    ``direct``: no instruction (OlympiadBench, OlympicArena). ``steps``: numbered ``<STEP1>``, as
    process-level scores need them (OlympicArena, C.6). ``english``: in English, for any language of
    the question (CMMaTH, En-CoT). ``cross_lingual``: the question is first understood sentence by
    sentence in its own language (CMMaTH, CLP). ``json``: final answers as a JSON list, one for each
    sub-question (ATLAS, E.1).
    """

    DIRECT = "direct"
    STEPS = "steps"
    ENGLISH = "english"
    CROSS_LINGUAL = "cross_lingual"
    JSON = "json"


def prompt(
    item: Item, style: PromptStyle = PromptStyle.DIRECT, unit: str = ""
) -> tuple[Message, ...]:
    """The conversation that asks the item's question, in the question's language.

    ``unit``: the unit of the answer. The item's ``context``, such as earlier parts, comes first.
    """
    phrases = prompt_phrases("answer", chinese=needs_gloss(item.question))
    kind = type_of(item)
    if style is PromptStyle.JSON:
        last = phrases["json"]
    elif kind is AnswerType.CODE:
        last = phrases["code"]
    else:
        last = phrases["box"].format(form=phrases["form"][kind])
    parts = (
        item.context or "",
        item.question,
        phrases["think"].get(style, ""),
        phrases["unit"].format(unit=unit) if unit else "",
        last,
    )
    return (Message(role="user", content="\n\n".join(part for part in parts if part)),)


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


def answer_protocol(
    path: Path,
    out: Path,
    *,
    style: PromptStyle = PromptStyle.DIRECT,
    samples: int = 1,
    progressive: bool = False,
    reading: Reading = USUAL,
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
    found = read_asked(path, "question", reading=reading, also=(UNIT,))
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


@app.command(
    epilog="Then: gradegpt judge answers.jsonl -o judged.jsonl; gradegpt report judged.jsonl"
)
def main(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="A table of any form with question and reference; id, unit, tags, …",
        ),
    ],
    out: Annotated[Path, options.output("The file for the answers.")],
    base_url: Annotated[
        str, typer.Option(help="An OpenAI-compatible server, up to and including /v1.")
    ],
    model: Annotated[str, typer.Option(help="The model's name there.")],
    prompt: Annotated[
        PromptStyle,
        typer.Option(
            help="direct: without instructions. steps: numbered steps. english: reasoning in "
            "English. cross_lingual: the problem in English first. json: a list of answers."
        ),
    ] = PromptStyle.DIRECT,
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="[default: 0, or 0.6 for several samples]")
    ] = None,
    progressive: Annotated[
        bool,
        typer.Option(
            "--progressive",
            help="Ask the parts of a problem (rows with the same meta.problem) in order, each "
            "after the model's answers to the earlier ones; only the first part's context is "
            "shown.",
        ),
    ] = False,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="The limit of a reply, in tokens.")
    ] = 2048,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    request: Request = None,
    input_price: InputPrice = 0.0,
    output_price: OutputPrice = 0.0,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
    overwrite: options.Overwrite = False,
) -> None:
    """Ask every question, and write a file that `gradegpt judge` takes.

    Every answer is saved in ANSWERS.replies.jsonl when it comes. A stopped run resumes when the
    same command is given again, and no answer is requested twice. A question that the server
    refuses has no row, and is asked again by the same command.
    """
    chosen = temperature if temperature is not None else 0.6 if samples > 1 else 0.0
    engine = engine_of(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=chosen,
        request=request,
    )  # fmt: skip
    run_protocol(
        answer_protocol(
            questions, out, style=prompt, samples=samples, progressive=progressive,
            reading=options.reading_of(mapped, sheet, separator),
        ),
        engine, max_new_tokens=max_new_tokens, concurrency=concurrency,
        prices=(input_price, output_price), overwrite=overwrite,
    )  # fmt: skip


if __name__ == "__main__":
    run(app, name="gradegpt eval.answer")
