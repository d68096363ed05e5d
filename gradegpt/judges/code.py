"""Programs are judged by their test cases, each in a sandbox (OlympicArena, appendix C.5)."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from gradegpt.core.errors import MissingError
from gradegpt.core.machine import cores
from gradegpt.core.sandbox import End, Ran, ResourceLimits, missing, run
from gradegpt.core.schema import AnswerType, Item, Judgement, TestCase, Verdict
from gradegpt.judges.base import decided, undecided

VERSION: Final = "1"
_BLOCK: Final = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#-]*)[^\n]*\n(.*?)^[ \t]*\1", re.MULTILINE | re.DOTALL
)
_CPP: Final = frozenset(("c++", "cpp", "cc", "cxx", "c"))
_PYTHON: Final = frozenset(("py", "python", "python3", "py3"))
_IS_CPP: Final = re.compile(r"^\s*#\s*include\b|\bint\s+main\s*\(", re.MULTILINE)
_IS_PYTHON: Final = re.compile(
    r"^\s*(?:import|from|def|class|print|for|while|if)\b|\binput\(", re.MULTILINE
)
_COMPILE: Final = ResourceLimits(seconds=30, memory_mb=2048, output_mb=64, files_mb=64)
_SHOWN: Final = 200
_PARSED: Final = 50_000
_ENDED: Final = {End.TIME: "time-limit", End.OUTPUT: "output-limit", End.KILLED: "killed"}


class Program(NamedTuple):
    """A program's text and language: ``python`` or ``c++``."""

    text: str
    language: str


class CodeJudge:
    """Runs the last program of a response on each test case of an item. Method: ``code``.

    A program is correct if it passes all of them within the limits: the words of its output are the
    expected ones, with any blanks between them. A response without a program is ``invalid``. Items
    without test cases, and programs in languages other than Python and C++, are undecided.

    Raises:
        MissingError: there is no sandbox on this system.

    """

    name = "code"

    def __init__(self, limits: ResourceLimits | None = None) -> None:
        if why := missing():
            raise MissingError(f"code cannot be judged on this system: {why}")
        self._limits = limits or ResourceLimits()
        self.workers = cores()

    @property
    def fingerprint(self) -> str:
        """The version and the limits."""
        return f"code-{VERSION}|{','.join(f'{value:g}' for value in self._limits)}"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge each item on its own, several at a time."""
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(self._judge_one, items))

    def _judge_one(self, item: Item) -> Judgement:
        if not item.tests:
            return undecided(item, self.name, "code:no-tests")
        program = program_of(item.response)
        if program is None:
            return self._judged(item, Verdict.INVALID, "response:no-program", None)
        if program.language not in ("python", "c++"):
            return undecided(item, self.name, f"code:cannot-run-{program.language}")
        command, files, failure = _ready(program)
        if failure:
            return self._judged(item, Verdict.INCORRECT, "code:does-not-compile", program, failure)
        passed, first = 0, ""
        for number, test in enumerate(item.tests, 1):
            ran = run(command, stdin=test.input.encode(), files=files, limits=self._limits)
            wrong = _wrong(ran, test)
            passed += not wrong
            first = first or (wrong and f"test {number}: {wrong}")
        verdict = Verdict.CORRECT if passed == len(item.tests) else Verdict.INCORRECT
        reason = f"code:{passed}-of-{len(item.tests)}-tests"
        return self._judged(item, verdict, reason, program, first)

    def _judged(
        self, item: Item, verdict: Verdict, reason: str, program: Program | None, detail: str = ""
    ) -> Judgement:
        shown = {"answer": program and program.text, "chain": detail or None}
        return decided(item, verdict, self.name, reason, answer_type=AnswerType.CODE, **shown)


def program_of(response: str) -> Program | None:
    """The last program in a response: its last block, or all of it where it is bare code."""
    blocks = [Program(m[3], m[2].lower()) for m in _BLOCK.finditer(f"{response}\n")]
    known = [b for b in blocks if b.language in _CPP | _PYTHON or not b.language]
    if blocks and not known:
        return blocks[-1]
    whole = Program(response, "") if not blocks and _is_code(response) else None
    found = known[-1] if known else whole
    if found is None or not found.text.strip():
        return None
    cpp = found.language in _CPP or (not found.language and bool(_IS_CPP.search(found.text)))
    return Program(found.text, "c++" if cpp else "python")


def _is_code(text: str) -> bool:
    if _IS_CPP.search(text):
        return True
    if not _IS_PYTHON.search(text):
        return False
    try:
        ast.parse(text[:_PARSED])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _ready(program: Program) -> tuple[list[str], dict[str, bytes], str]:
    """The command and its files; or the reason why the program does not compile."""
    text = program.text.encode("utf-8", "replace")
    if program.language == "python":
        return ["python3", "-I", "/box/main.py"], {"main.py": text}, ""
    build = "g++ -O2 -std=c++17 -x c++ /box/main.cpp -o /tmp/main && cat /tmp/main"
    made = run(["sh", "-c", build], files={"main.cpp": text}, limits=_COMPILE)
    if not made.ok or not made.stdout:
        return [], {}, _last_line(made.stderr) or _ENDED.get(made.end, "no compiler")
    return ["/box/main"], {"main": made.stdout}, ""


def _wrong(ran: Ran, test: TestCase) -> str:
    """Why a test is not passed; empty if it is."""
    if ran.end is not End.EXITED:
        return _ENDED[ran.end]
    if ran.code:
        return f"exit status {ran.code}: {_last_line(ran.stderr)}"
    got, wanted = ran.stdout.decode("utf-8", "replace").split(), test.output.split()
    if got == wanted:
        return ""
    return f"{' '.join(got)[:_SHOWN]!r} instead of {' '.join(wanted)[:_SHOWN]!r}"


def _last_line(stream: bytes) -> str:
    lines = stream.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SHOWN] if lines else ""
