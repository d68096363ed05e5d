"""Ask a model a benchmark's questions: ``gradegpt eval.answer QUESTIONS -o ANSWERS``.

The kinds of prompt are those of the papers (CMMaTH, tables 10 and 11; OlympiadBench, figure 3;
OlympicArena, figure 15, table 10 and appendix C.6; ATLAS, prompt E.1); the wording is this
project's own, so scores are close to the papers' and not identical.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.chains.chain import needs_gloss
from gradegpt.chains.prompts import prompt_phrases
from gradegpt.core.schema import AnswerType, Item, Message
from gradegpt.judges.calibration import type_of
from gradegpt.tables.inputs import USUAL, Reading

from .asking import ApiKey, Concurrency, Protocol, Reply, engine_of, read_asked, run_protocol

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
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


def answer_protocol(
    path: Path,
    out: Path,
    *,
    style: PromptStyle = PromptStyle.DIRECT,
    samples: int = 1,
    reading: Reading = USUAL,
) -> Protocol[Item]:
    """Every answer as an item; the samples of a question follow each other.

    Each row's ``meta`` holds its sample, the style, whether it was cut off, and its tokens. A
    question that the server finally refuses has no row, so that it is no wrong answer of the model
    (OlympiadBench, appendix B, removes it). A column ``response`` is ignored.

    Raises:
        InputError: the questions cannot be used.

    """
    found = read_asked(path, "question", reading=reading, also=(UNIT,))
    questions = [(one.item, one.also.get(UNIT, "")) for one in found]

    def answered(n: int, reply: Reply) -> Item:
        item, sample = questions[n // samples][0], n % samples
        cost = reply.model_dump(include={"cut_off", "prompt_tokens", "completion_tokens"})
        meta = item.meta | {"sample": sample, "style": style.value} | cost
        return item.model_copy(
            update={"id": f"{item.id}#{sample}", "response": reply.reply, "meta": meta}
        )

    asking = [prompt(item, style, unit) for item, unit in questions]
    prompts = [one for one in asking for _ in range(samples)]
    return Protocol(
        source=path, out=out, version=f"{style}|{samples}", prompts=prompts, read=answered
    )


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
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="The limit of a reply, in tokens.")
    ] = 2048,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    request: options.RequestOption = None,
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
            questions, out, style=prompt, samples=samples,
            reading=options.reading_of(mapped, sheet, separator),
        ),
        engine, max_new_tokens=max_new_tokens, concurrency=concurrency, overwrite=overwrite,
    )  # fmt: skip


if __name__ == "__main__":
    run(app, name="gradegpt eval.answer")
