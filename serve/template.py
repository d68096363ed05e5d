"""Try a template of one's own, or learn it: ``gradegpt serve.template acme.yaml``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typing_extensions import override

from gradegpt.app.cli import run
from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.schema import Message, Verdict
from gradegpt.core.settings import load_settings, parse_settings

from .learn import FIELDS, as_yaml, learn, pipeline_of
from .templates import TEMPLATES, PromptError, Template, find
from .templates.frame import frames_of
from .templates.trials import difference, refuse_failed, reply_to, tried


class _Group(TyperGroup):
    """Commands, of which ``try`` may be left out."""

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["try", *args])


app = typer.Typer(
    cls=_Group, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    no_args_is_help=True, help="Try a template of your own judge prompt, or learn it from prompts.",
    epilog="gradegpt serve.template acme.yaml is short for gradegpt serve.template try acme.yaml",
)  # fmt: skip
_ENOUGH: Final = 20
"""Prompts of a pipeline from which a template is learnt, the last of a longer file."""
_FIELD: Final = re.compile(r"([a-z]{2}\w*)=(\d+)(?:-(\d+))?")


@app.command("try", epilog="Then: gradegpt serve cascade templates=[acme.yaml]")
def try_(
    file: Annotated[Path, typer.Argument(metavar="FILE.YAML", help="The template.")],
    prompt: Annotated[
        Path | None,
        typer.Option(help="A text file with a prompt as it is sent: print what is read from it."),
    ] = None,
) -> None:
    """Try a template of your own judge prompt, and print what is read and replied.

    A template has a name, the text of the prompt with {question}, {reference} and {response}, and
    the reply for each verdict:

    \b
      name: acme
      template: |
        Question: {question}
        Reference: {reference}
        Response: {response}
        Reply PASS or FAIL.
      reply: {correct: PASS, incorrect: FAIL}

    Other fields are system (a system message) and, under reply: invalid, form (words, line, boxed,
    json), key, value (text, number, boolean) and because; docs/guides/adapters.md has them.
    """  # noqa: D301  \b is a backspace, by which click keeps the lines of the example
    text = None if prompt is None else prompt.read_text(encoding="utf-8")
    _try(load_settings(Template, file), str(file), text)


@app.command("learn", epilog="Then: gradegpt serve cascade templates=[mine.yaml]")
def learn_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="PROMPT...",
            help="Two or more prompts of one pipeline with different items: a text each, or a "
            "request as JSON, or JSON Lines of them, such as the file of a server's setting "
            "'refused'.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The template to write.")],
    correct: Annotated[
        str,
        typer.Option(
            help="The reply for a correct response, as the pipeline reads it: 'GRADE: C', or "
            """'{"verdict": true}'."""
        ),
    ],
    incorrect: Annotated[str, typer.Option(help="The reply for an incorrect response.")],
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Name a part that differs: response=2, or response=2-3 to join two parts; 0 for "
            "a field that the prompt has not.",
        ),
    ] = None,
) -> None:
    """Learn a template from prompts of one pipeline, try it, and print what it reads and replies.

    What the prompts share is the text of the template, and what differs are the fields, which are
    named by the labels before them. What is not clear is an error that says which option to give.
    """
    if output.exists():
        raise InputError(f"{output}: exists; remove it, or give another name")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", output.stem):
        raise InputError(f"{output}: is the template's name: small letters, digits and _ only")
    every = [prompt for file in files for prompt in _prompts(file)]
    alike = [tuple(one) for one in every if pipeline_of(one) == pipeline_of(every[-1])]
    prompts = [*dict.fromkeys(alike)][-_ENOUGH:]
    for prompt in prompts:
        with suppress(PromptError):
            known = find(prompt).template.name
            raise InputError(f"the built-in template {known} reads these prompts already")
    fields = dict(_numbers(text) for text in field or ())
    text = as_yaml(learn(prompts, output.stem, _reply(correct, incorrect), fields))
    template = parse_settings(Template, text, str(output))
    asked = f"{template.system} {template.template}"
    if not any(word in asked for word in re.findall(r"\w+", f"{correct} {incorrect}")):
        what = "is in the prompts; give the replies that the pipeline reads"
        typer.echo(f"warning: neither {correct!r} nor {incorrect!r} {what}", err=True)
    _try(template, str(output), frames_of(prompts[0]))
    output.write_text(text, encoding="utf-8")
    typer.echo(f"learnt from {len(prompts)} of {len(every)} prompts: {output}")


def _try(template: Template, where: str, prompt: str | None) -> None:
    """Print the trials, the replies, and what is read in a prompt; raise where one failed."""
    trials = tried(template, TEMPLATES, where)
    for name, error in trials.items():
        typer.echo(f"{'failed' if error else 'passed'}  {name}")
    for verdict in Verdict:
        typer.echo(f"reply   {verdict.value}: {reply_to(template, verdict) or 'none'}")
    text = None if prompt is None else frames_of([Message(role="user", content=prompt)])
    ask = None if text is None else template.read(text)
    for name, value in ask.fields.items() if ask else ():
        if name in FIELDS or value != f"{{{name}}}":  # else a text in braces, and no field
            typer.echo(f"{name}: {value}")
    refuse_failed(trials, where)
    if text is not None and ask is None:
        raise InputError(f"{where}: the prompt is none of it: {difference(template, text)}")


def _prompts(file: Path) -> Iterator[list[Message]]:
    """The prompts of a file: a text, a request as JSON, or JSON Lines of requests."""
    if not file.is_file():
        raise MissingError(f"{file}: no such file")
    text = file.read_text(encoding="utf-8")
    if file.suffix not in (".json", ".jsonl"):
        yield [Message(role="user", content=text)]
        return
    for number, line in enumerate(text.splitlines() if file.suffix == ".jsonl" else [text], 1):
        if line.strip():
            try:
                yield [*_messages(json.loads(line))]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{file}:{number}: no request with 'messages'") from error


def _messages(request: Mapping[str, Any]) -> Iterator[Message]:
    for message in request["messages"]:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        yield Message(role=message["role"], content="".join(part["text"] for part in parts))


def _numbers(text: str) -> tuple[str, list[int]]:
    """``response=2-3``: the numbers of the parts that a field has."""
    match = _FIELD.fullmatch(text)
    if match is None:
        raise InputError(f"--field {text}: write NAME=NUMBER, or NAME=2-3 to join two parts")
    first, last = int(match[2]), int(match[3] or match[2])
    return match[1], [number for number in range(first, last + 1) if number]


def _reply(correct: str, incorrect: str) -> dict[str, Any]:
    """The settings of two replies; of JSON objects that differ in one key, by that key."""
    words = {"correct": correct, "incorrect": incorrect}
    try:
        one, other = json.loads(correct), json.loads(incorrect)
    except ValueError:
        return words
    if not (isinstance(one, dict) and isinstance(other, dict) and [*one] == [*other]):
        return words
    keys = [key for key in one if one[key] != other[key]]
    others = [key for key in one if key not in keys]
    if len(keys) != 1 or len(others) > 1:
        return words
    values = {name: value[keys[0]] for name, value in (("correct", one), ("incorrect", other))}
    kinds = {bool: "boolean", int: "number", float: "number"}
    kind = kinds.get(type(values["correct"]), "text")
    typed = (
        values if kind == "text" else {name: json.dumps(value) for name, value in values.items()}
    )
    because = {"because": others[0]} if others else {}
    return {**typed, "form": "json", "key": keys[0], "value": kind, **because}


if __name__ == "__main__":
    run(app, name="gradegpt serve.template")
