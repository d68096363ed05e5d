"""Try a template of one's own: ``gradegpt serve.template acme.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradegpt.cli import run
from gradegpt.errors import InputError
from gradegpt.settings import load_settings

from .templates import TEMPLATES, Template
from .templates.trials import tried

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(epilog="Then: gradegpt serve cascade templates=[acme.yaml]")
def template(
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
    json, schema), key, value (text, number, boolean) and because. docs/guides/adapters.md describes
    them.
    """  # noqa: D301  \b is a backspace, by which click keeps the lines of the example
    text = None if prompt is None else prompt.read_text(encoding="utf-8")
    done = tried(load_settings(Template, file), TEMPLATES, str(file), text)
    for trial in done.trials:
        typer.echo(f"{'passed' if trial.passed else 'failed'}  {trial.name}")
    for verdict, reply in done.replies.items():
        typer.echo(f"reply   {verdict.value}: {reply or 'none'}")
    for name, value in (done.read or {}).items():
        typer.echo(f"{name}: {value}")
    for trial in done.failed:
        raise InputError(f"{file}: {trial.name}: {trial.error}")
    if done.unread:
        raise InputError(f"{prompt}: is no prompt of this template: {done.unread}")


if __name__ == "__main__":
    run(app, name="gradegpt serve.template")
