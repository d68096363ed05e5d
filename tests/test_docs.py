"""The commands in README and the guides: each one is run here, or marked with the reason why not.

The mark is a line directly above a block. ``<!-- not run: REASON -->`` is for all its commands,
``<!-- not run (gradegpt serve, curl): REASON -->`` for those that begin with one of these texts.
A marked command of ``gradegpt`` is not run, but its options, its recipe and the recipe's settings
are read as the command itself reads them.
"""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

import pandas as pd
import pytest
from typer.main import get_command

from data_gen.settings import load_data_settings
from eval.__main__ import is_answers
from eval.attacks import AttackSettings
from eval.calibrate import CalibrationSettings
from eval.settings import EvalSettings
from gradegpt.app import cli
from gradegpt.app.stages import COMMANDS, module_of
from gradegpt.core.settings import Settings, load_settings
from gradegpt.core.shipped import judges
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges import build
from serve.settings import ServeSettings
from train.settings import SFTSettings

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (
    ROOT / "README.md",
    ROOT / "README.zh.md",
    ROOT / "docs/install.md",
    *sorted((ROOT / "docs" / "guides").rglob("*.md")),
)
STAGES: Final = ("gradegpt", "data_gen", "train", "eval", "serve")
SETTINGS: Final[dict[str, type[Settings]]] = {
    "train": SFTSettings,
    "eval": EvalSettings, "eval.attacks": AttackSettings, "eval.calibrate": CalibrationSettings,
    "serve": ServeSettings,
}  # fmt: skip
"""The settings of the commands that the pages give a recipe to."""
_BLOCK: Final = re.compile(
    r"(?P<marks>(?:^<!-- not run.*\n)*)^```(?P<language>.*)\n(?P<text>(?:.*\n)*?)```$"
    r"(?:\n\n```\n(?P<output>(?:.*\n)*?)```$)?",
    re.MULTILINE,
)
_MARK: Final = re.compile(r"<!-- not run(?: \((?P<which>[^)]+)\))?: (?P<reason>\w.*) -->")
_INLINE: Final = re.compile(r"`(gradegpt (?!\w+ CONFIG\b)[^`]+)`")
_PATH: Final = re.compile(r"(?<![\w./<-])(?:configs|tests|models|deploy|data_gen|serve)/[\w./-]*\w")
_EXTRA: Final = re.compile(r"pip install '(?:[\w.-]+)\[([\w,]+)\]'")
ROWS: Final = [
    {"id": "a", "question": "2+2=?", "reference": "4", "response": "The answer is 4."},
    {"id": "b", "question": "1/2+1/4=?", "reference": "3/4", "response": "The answer is 0.5."},
]


class Block(NamedTuple):
    """A fenced block; ``output`` is the text of a block without a language right behind it."""

    where: str
    language: str
    text: str
    marks: tuple[str, ...]
    output: str

    def reason(self, words: list[str]) -> str | None:
        """Why this command is not run; None if it is."""
        for mark in self.marks:
            found = _MARK.fullmatch(mark)
            assert found, f"{self.where}: {mark}: write <!-- not run: REASON -->"
            if any(begins(words, text) for text in (found["which"] or "").split(", ")):
                return found["reason"]
        return None


def begins(words: list[str], text: str) -> bool:
    """Whether a command begins with the words of a text."""
    return words[: len(text.split())] == text.split()


def blocks() -> Iterator[Block]:
    """The fenced blocks of all pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in _BLOCK.finditer(text):
            line = text.count("\n", 0, found.start("language")) + 1
            where = f"{page.relative_to(ROOT)}:{line}"
            marks, output = tuple(found["marks"].splitlines()), found["output"] or ""
            yield Block(where, found["language"], found["text"], marks, output)


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command, which may go over several lines; comments are left out."""
    command = ""
    for line in text.replace("\\\n", " ").splitlines():
        command += f"{line}\n"
        try:
            words = shlex.split(command, comments=True)
        except ValueError:  # a quotation is still open
            continue
        if words:
            yield words
        command = ""
    assert not command.strip(), f"a quotation is never closed: {command}"


ALL: Final = tuple(blocks())
SHELL: Final = tuple(block for block in ALL if block.language in ("bash", "sh"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands read."""
    made, answers = tmp_path_factory.mktemp("tables"), pd.DataFrame(ROWS)
    answers.to_csv(made / "answers.csv", index=False)
    answers.to_excel(made / "answers.xlsx", index=False)
    answers.to_parquet(made / "answers.parquet")
    answers.to_json(made / "answers.jsonl", orient="records", lines=True)
    asked = answers.drop(columns="response")
    asked.to_json(made / "questions.jsonl", orient="records", lines=True)
    answers.assign(label=[1, 0]).to_csv(made / "graded.csv", index=False)
    answers.assign(score=[1, 0], note="").to_excel(made / "graded.xlsx", index=False)
    (made / "tests").symlink_to(ROOT / "tests")
    return made


@pytest.fixture
def samples(tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with those files, and a model without a reply."""
    monkeypatch.chdir(shutil.copytree(tables, tmp_path / "here", symlinks=True))
    monkeypatch.setattr(sys, "argv", ["gradegpt"])
    # The rules decide both rows; the model of a cascade is loaded and never asked.
    monkeypatch.setattr(build, "_engine", lambda *_: ScriptedEngine([]))


def gradegpt(*arguments: str) -> int:
    """Run the command line in this process; the exit code."""
    with pytest.raises(SystemExit) as ended:
        cli.run(cli.app, arguments, name="gradegpt")
    return int(ended.value.code or 0)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # by other tests
@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.where)
def test_every_command_without_a_mark_runs(
    block: Block, samples: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """In turn, in one folder; where the page shows the output, it is this output."""
    run = [words for words in commands(block.text) if block.reason(words) is None]
    for words in run:
        assert (words[0], "|" in words) == ("gradegpt", False), f"{words}: mark it as not run"
        assert gradegpt(*words[1:]) == 0, f"{words}: {capsys.readouterr().err}"
    measured = re.compile(r"(?<=^confidence  )0\.\d+$", re.MULTILINE)  # by the last calibration
    said, shown = (measured.sub("…", text) for text in (capsys.readouterr().out, block.output))
    assert not run or said.endswith(shown)


@pytest.mark.parametrize("block", [b for b in ALL if b.language == "python"], ids=lambda b: b.where)
def test_every_python_block_runs(block: Block, samples: None) -> None:
    """With the rows and the frame that the user has."""
    assert not block.marks, "a block of Python is run here whole"
    exec(block.text, {"rows": ROWS, "frame": pd.DataFrame(ROWS), "__name__": "docs"})


def calls() -> Iterator[Any]:
    """The arguments of every command of gradegpt, in blocks and in the text."""
    for block in SHELL:
        for words in commands(block.text):
            if "gradegpt" in words:
                yield pytest.param(arguments_of(words), id=f"{block.where} {' '.join(words)}")
    for page in PAGES:
        for text in dict.fromkeys(_INLINE.findall(page.read_text(encoding="utf-8"))):
            given = arguments_of(shlex.split(text))
            yield pytest.param(given, id=f"{page.relative_to(ROOT)} {text}")


def arguments_of(words: list[str]) -> list[str]:
    """What follows ``gradegpt``, up to the next command of a pipe."""
    return list(takewhile(lambda word: word != "|", words[words.index("gradegpt") + 1 :]))


@cache
def command_of(name: str) -> Any:
    """A command, as Typer makes it."""
    command: Any = get_command(cli.app)
    assert name in command.commands, f"gradegpt {name}: no such command"
    if name not in COMMANDS:
        return command.commands[name]
    module = importlib.import_module(module_of(name))
    if hasattr(module, "__path__"):
        module = importlib.import_module(f"{module.__name__}.__main__")
    return get_command(module.app)


def parsed(name: str, given: list[str]) -> dict[str, Any]:
    """The parameters of a command line, read by the command itself; nothing is run."""
    command = command_of(name)
    while hasattr(command, "commands") and given:
        if "try" in command.commands and given[0] not in command.commands:
            given = ["try", *given]  # which may be left out
        assert given[0] in command.commands, f"gradegpt {name} {given[0]}: no such command"
        command, given = command.commands[given[0]], given[1:]
    return dict(command.make_context(name, [*given]).params) if given else {}


def check(name: str, given: list[str]) -> None:
    """Raise an error unless the command, its options, its recipe and its settings exist."""
    params = parsed(name, given)
    recipe = params.get("config", params.get("source"))
    is_judge = str(recipe).startswith("judges/")
    if name == "data" and recipe:
        load_data_settings(recipe, params["overrides"] or ())
    elif name in SETTINGS and recipe and not is_judge and not is_answers(str(recipe)):
        load_settings(SETTINGS[name], recipe, params["overrides"] or ())
    if name == "train.merge" and given:
        judge = params["adapter"]
        made = judge.startswith(("runs/", "judges/"))
        assert made or judge in judges(), f"{judge}: no such judge"


@pytest.mark.parametrize("given", [*calls()])
def test_every_command_has_these_options_and_this_recipe(given: list[str]) -> None:
    """Also of what is not run: a renamed command, option, recipe or setting fails."""
    if given != ["--help"]:
        check(given[0], given[1:])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("juge answers.csv", "no such command"),
        ("judge answers.csv --out judged.csv", "No such option"),
        ("judge answers.csv --judge rule", "is not one of"),
        ("train qwen3-0.7b", "no such settings file"),
        ("serve cascade judge.knd=rules", "unknown setting"),
        ("train.merge gradegpt-2b -o runs/whole", "no such judge"),
    ],
)
def test_what_does_not_exist_is_found(command: str, message: str) -> None:
    """Otherwise the test above would pass whatever the pages say."""
    name, *given = command.split()
    with pytest.raises(Exception) as error:  # noqa: PT011  typer's errors share no public class
        check(name, given)
    assert message in str(error.value)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page: Path) -> None:
    """Files of the repository, and the extras that are installed."""
    text = page.read_text(encoding="utf-8")
    assert [path for path in _PATH.findall(text) if not (ROOT / path).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra for found in _EXTRA.findall(text) for extra in found.split(",")}
    assert extras <= project["optional-dependencies"].keys()


def test_the_tree_of_the_architecture_has_every_module_in_its_folder() -> None:
    """A line each, and none of a module that is gone."""
    text = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    folders, named = list[str](), set[str]()
    for line in text.partition("## The tree\n\n```\n")[2].partition("models/")[0].splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2, re.findall(r"\w+", line)[0]
        folders[depth:] = [name]
        named.add("/".join(folders))
    paths = [path for stage in STAGES for path in (ROOT / stage).rglob("*.py")]
    modules = {path.with_suffix("") for path in paths if not path.stem.startswith("_")}
    rooms = {path.parent for path in paths if path.stem == "__init__"}
    assert named == {str(path.relative_to(ROOT)) for path in modules | rooms}


def test_every_mark_has_a_block_and_every_block_a_known_language() -> None:
    """A mark that marks nothing, or a block that no test looks into, is an error."""
    assert {block.language for block in ALL} <= {"bash", "sh", "python", "yaml", ""}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert text.count("<!-- not run") == sum(len(block.marks) for block in SHELL) > 0
    assert not [b.where for b in ALL if not b.language and re.search(r"^\$? ?gradegpt ", b.text)]
    for block in SHELL:
        for which, _ in _MARK.findall("\n".join(block.marks)):
            for start in which.split(", "):
                found = any(begins(words, start) for words in commands(block.text))
                assert found, f"{block.where}: no command begins with {start!r}"
