"""Programs by their test cases: the program of a response, its verdict and the reason."""

from __future__ import annotations

import pytest

from gradegpt.core.errors import MissingError
from gradegpt.core.sandbox import ResourceLimits, missing
from gradegpt.core.schema import Item, Outcome, TestCase, Verdict
from gradegpt.judges import code
from gradegpt.judges.build import build_judge
from gradegpt.judges.code import CodeJudge, program_of
from gradegpt.judges.settings import JudgeSettings

confined = pytest.mark.skipif(bool(missing()), reason=f"no sandbox on this system: {missing()}")
TESTS = (TestCase(input="1 2\n", output="3"), TestCase(input="5 -9\n", output="-4\n"))
CPP = "#include <iostream>\nint main(){int a,b;std::cin>>a>>b;std::cout<<a+b<<std::endl;}"
PYTHON = "a, b = map(int, input().split())\nprint(a + b)"


def fenced(text: str, language: str = "python") -> str:
    return f"Here it is:\n```{language}\n{text}\n```\nIt adds the two."


@pytest.mark.parametrize(
    ("response", "language", "start"),
    [
        (fenced(PYTHON), "python", "a, b"), (fenced(PYTHON, ""), "python", "a, b"),
        (fenced(CPP, "cpp"), "c++", "#include"), (fenced(CPP, ""), "c++", "#include"),
        (f"{fenced('x = 1')}\nBetter:\n{fenced(PYTHON)}", "python", "a, b"),
        (f"{fenced(PYTHON)}\nIt prints\n{fenced('3', 'text')}", "python", "a, b"),
        (PYTHON, "python", "a, b"), (CPP, "c++", "#include"),
        (fenced("class A { }", "java"), "java", "class A"),
        (f"~~~py\n{PYTHON}\n~~~", "python", "a, b"),
        (f"  ```python\n  {PYTHON}\n  ```", "python", "  a, b"),
    ],
)  # fmt: skip
def test_the_last_program_is_taken(response: str, language: str, start: str) -> None:
    found = program_of(response)
    assert found is not None
    assert found.language == language
    assert found.text.startswith(start)


@pytest.mark.parametrize(
    "response", ["", "I cannot solve this.", "```python\n```", "The sum is 3."]
)
def test_no_program(response: str) -> None:
    assert program_of(response) is None


@confined
@pytest.mark.parametrize(
    ("response", "verdict", "reason", "detail"),
    [
        (fenced(PYTHON), Verdict.CORRECT, "code:2-of-2-tests", None),
        (fenced(CPP, "c++"), Verdict.CORRECT, "code:2-of-2-tests", None),
        (fenced("print(3)"), Verdict.INCORRECT, "code:1-of-2-tests", "test 2: '3' instead of '-4'"),
        (fenced("print('3\\n-4')"), Verdict.INCORRECT, "code:0-of-2-tests", "test 1: '3 -4'"),
        (fenced("1/0"), Verdict.INCORRECT, "code:0-of-2-tests", "exit status 1: ZeroDivisionError"),
        (fenced("while True: pass"), Verdict.INCORRECT, "code:0-of-2-tests", "test 1: time-limit"),
        (fenced("while 1: print('x' * 9)"), Verdict.INCORRECT, "code:0-of-2-tests", "output-limit"),
        (fenced("import os\nos.abort()"), Verdict.INCORRECT, "code:0-of-2-tests", "killed"),
        (fenced("print("), Verdict.INCORRECT, "code:0-of-2-tests", "SyntaxError"),
        (fenced("int main( {", "cpp"), Verdict.INCORRECT, "code:does-not-compile", ""),
        ("I cannot solve this.", Verdict.INVALID, "response:no-program", None),
    ],
)  # fmt: skip
def test_programs_are_judged(
    response: str, verdict: Verdict, reason: str, detail: str | None
) -> None:
    item = Item(
        id="p", question="Add two numbers.", reference=(PYTHON,), response=response, tests=TESTS
    )
    limits = ResourceLimits(seconds=0.5 if "time-limit" in (detail or "") else 5, output_mb=1)
    (found,) = CodeJudge(limits).judge([item])
    assert (found.verdict, found.reason, found.method) == (verdict, reason, "code")
    assert found.chain is None if detail is None else detail in (found.chain or "")


@confined
def test_an_item_that_cannot_be_run_is_undecided() -> None:
    """Without tests, or in another language; the judge is built from settings."""
    judge = build_judge(JudgeSettings.of(kind="code", seconds=2))
    none = Item(reference=(PYTHON,), response=fenced(PYTHON))
    java = none.model_copy(update={"tests": TESTS, "response": fenced("class A {}", "java")})
    assert [j.reason for j in judge.judge([none, java])] == [
        "code:no-tests",
        "code:cannot-run-java",
    ]
    assert {j.outcome for j in judge.judge([none, java])} == {Outcome.UNDECIDED}
    assert judge.fingerprint != CodeJudge().fingerprint


def test_without_a_sandbox_there_is_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "missing", lambda: "bwrap is not installed")
    with pytest.raises(
        MissingError, match="code cannot be judged on this system: bwrap is not installed"
    ):
        build_judge(JudgeSettings.of(kind="code"))
