"""The view for a file, in a real browser."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.middleware.base import RequestResponseEndpoint

from gradegpt.app.run import check_input, judge_file
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.statistics import ratio, wilson
from gradegpt.tables import Form
from serve.app import create_app
from serve.settings import ServeSettings
from tests.serve.browser.chromium import Page
from tests.serve.browser.conftest import Open

IDS = "[...document.querySelectorAll('#table-body .open')].map(e => e.innerText)"
FIGURES = "document.querySelectorAll('.figure dd:not(.below)')"
DONE = "!document.querySelector('#download').hidden"


class Quick:
    """Judges everything correct, with an optional delay."""

    name = "quick"
    fingerprint = "quick"

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """All correct."""
        time.sleep(self.seconds)
        return [
            Judgement(id=i.id, outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method="quick")
            for i in items
        ]


def load(page: Page, path: Path) -> None:
    page.run("location.hash = 'file'")
    page.until("!document.querySelector('#file').hidden")
    page.upload("#picker", path)
    page.until("!document.querySelector('#loaded').hidden")


def judge(page: Page, path: Path) -> None:
    """Open a file and judge all of it."""
    load(page, path)
    page.click("#start")
    page.until(DONE)


def many(path: Path, n: int, response: str = "The answer is 4.") -> Path:
    rows = ({"id": f"r{i}", "reference": "4", "response": response} for i in range(n))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def chip(page: Page, name: str) -> list[str]:
    """Choose a filter; return the ids that match it."""
    page.click(f"#filters [data-filter={name}]")
    return list(page.run(IDS))


def refusing(app: FastAPI, replies: list[Response]) -> FastAPI:
    """``app``, which gives these replies to its first requests for judgements."""

    @app.middleware("http")
    async def refuse(request: Request, go_on: RequestResponseEndpoint) -> Response:
        if request.url.path == "/v1/judge" and replies:
            return replies.pop(0)
        return await go_on(request)

    return app


def test_bad_lines_are_named_and_good_ones_judged_and_counted(
    open_page: Open, rows_file: Path
) -> None:
    """They are listed by line number and reason before any request; the counts add up."""
    page = open_page()
    load(page, rows_file)
    assert page.text("#bad-heading") == "2 lines cannot be used"
    assert page.text("#bad-lines li:nth-child(1)").startswith("answers.jsonl:4 not a JSON object")
    assert "answers.jsonl:7 reference: an accepted answer is empty" in page.text("#bad-lines")
    assert page.text("#start") == "Judge 5 rows"
    assert page.run("document.querySelector('#summary').hidden")
    page.click("#start")
    page.until(DONE)
    counts = page.run(
        "Object.fromEntries([...document.querySelectorAll('#filters button')]"
        ".map(e => [e.dataset.filter, Number(e.querySelector('.n').innerText)]))"
    )
    assert counts == {
        "all": 5, "disagreements": 1, "judged": 4, "correct": 2, "incorrect": 1, "invalid": 1,
        "undecided": 1, "unparsed": 0, "failed": 0, "error": 0, "waiting": 0,
    }  # fmt: skip
    assert page.text("#progress-text").startswith("Done: 5 rows")
    # Of three labelled verdicts two agree; chance would be (2*1 + 1*2) / 9, so kappa is 0.4. A row
    # counts as its label in the score, which has Wilson's interval.
    low, high = (f"{round(100 * end, 1):g}%" for end in wilson(3, 5))
    assert page.text("#summary .below") == "3 of 5; 95 % interval; 4 of them by labels"
    figures = page.run(f"[...{FIGURES}].map(e => e.innerText)")
    assert figures == [f"60% {low} to {high}", "66.7%", "0.40"]
    assert "2 of 3 labelled verdicts" in page.text("#summary")
    assert "left out: 1" in page.text("#summary")
    cells = page.run("[...document.querySelectorAll('.matrix td')].map(e => e.innerText)")
    assert cells == ["1", "1", "0", "1"]


@pytest.mark.parametrize("questions", [1, 2, 3, 7, 12, 40])
def test_the_interval_of_the_score_is_that_of_the_report(open_page: Open, questions: int) -> None:
    """Over questions, whose rows are not independent; 13 rows of each."""
    right = [(7 * n) % 12 for n in range(questions)]
    expected = ratio([(hits, 13) for hits in right])
    assert expected is not None
    found = open_page().run(
        f"import('/page/stats.js').then(({{ score }}) => score({json.dumps(right)}.flatMap((hits, "
        "asked) => Array.from({ length: 13 }, (_, at) => ({ asked, label: at < hits ? 'correct' : "
        "'incorrect' })))))"
    )
    ends = expected.interval.low, expected.interval.high
    assert (found["low"], found["high"]) == pytest.approx(ends, abs=1e-4)


def test_rows_are_sorted_filtered_saved_and_opened(
    open_page: Open, rows_file: Path, tmp_path: Path
) -> None:
    """By columns up, down and as in the file, empty cells last; the keyboard steps through rows."""
    page = open_page()
    page.downloads_to(tmp_path)
    judge(page, rows_file)
    press = "document.querySelector('#table thead .label button').click()"
    assert [page.run(f"{press}, {IDS}") for _ in range(3)] == [
        ["right", "wrong", "open", "refused", "5"],
        ["refused", "open", "right", "wrong", "5"],
        ["right", "wrong", "5", "open", "refused"],
    ]
    page.click("tr[data-row='1'] .open")
    page.until("document.querySelector('dialog').open")
    assert page.text("#detail .word") == "Incorrect"
    assert page.text("#detail mark") == "The answer is 7."
    assert "The judge and the label disagree." in page.text("#detail")
    page.press("ArrowRight")
    page.until("document.querySelector('#detail-title').innerText == 'Row 5'")
    accepted = "[...document.querySelectorAll('#detail .accepted-answers li')]"
    assert page.run(f"{accepted}.map(e => e.innerText)") == ["10", "ten"]
    page.press("Escape")
    page.until("!document.querySelector('dialog').open")
    page.until("document.activeElement.innerText == '5'")
    assert page.run(IDS) == ["right", "wrong", "5", "open", "refused"]
    assert chip(page, "disagreements") == ["wrong"]
    assert page.text("#download-shown") == "Download the 1 shown"
    page.click("#download-shown")
    assert [row["id"] for row in _read(tmp_path / "answers.judgements.jsonl")] == ["wrong"]
    assert chip(page, "invalid") == ["refused"]
    assert chip(page, "undecided") == ["open"]
    assert chip(page, "unparsed") == []
    assert page.text("#nothing") == "No row matches."
    assert chip(page, "judged") == ["right", "wrong", "5", "refused"]
    page.write("#search", "ANSWER IS 10")
    page.until(f"{IDS}.join() == '5'")
    assert page.run("document.querySelector('[data-filter=judged]').ariaPressed") == "true"


def test_the_download_has_the_rows_and_what_the_command_line_writes(
    open_page: Open, rows_file: Path, tmp_path: Path
) -> None:
    """In JSON Lines the row is as it was, beside the whole judgement."""
    page = open_page()
    page.downloads_to(tmp_path)
    judge(page, rows_file)
    page.click("#download")
    saved = tmp_path / "answers.judgements.jsonl"
    rows = _read(saved)
    good = [line for line in rows_file.read_text().splitlines() if line and _usable(line)]
    source = tmp_path / "good.jsonl"
    source.write_text("".join(line + "\n" for line in good))
    judge_file(check_input(source), tmp_path / "cli.jsonl", RuleJudge())
    expected = _read(tmp_path / "cli.jsonl")
    expected[2]["id"] = "5"  # the line of the file with its bad lines
    assert [row.pop("judgement") for row in rows] == expected
    assert rows == [json.loads(line) for line in good]


TABLE = (
    "id,question,reference,response,label,verdict\n"
    'a,"Half, as a\nfraction?","[""1/2"", ""0.5""]",The answer is 0.5.,correct,correct\n'
    'b,,"[0,1)",The answer is 7.,0,\n'
    '"c ""x""",,4,,,\n'
)


def test_a_table_is_judged_as_the_command_line_judges_it(open_page: Open, tmp_path: Path) -> None:
    """Line breaks and quotes in cells, a list of references, names that are taken.

    The result and the reason in words are the first columns behind those of the file.
    """
    source = tmp_path / "in.csv"
    source.write_text(TABLE, encoding="utf-8")
    page = open_page()
    page.downloads_to(tmp_path)
    judge(page, source)
    assert page.run("document.querySelector('#form-of').value") == "csv"
    page.click("#download")
    judge_file(check_input(source), tmp_path / "out.csv", RuleJudge(), form=Form.CSV)
    expected = _table((tmp_path / "out.csv").read_text("utf-8"))
    made = _table(_text(tmp_path / "in.judgements.csv"))
    assert [*made[0]][6:8] == ["result", "in_words"]
    assert [row.pop("result") for row in made] == ["Correct", "Incorrect", "Invalid"]
    expected[1]["in_words"] = f"Decided by the label. {expected[1]['in_words']}"
    for row in (*made, *expected):
        row["confidence"] = f"{float(row['confidence'] or 0):.3f}"
    assert made == expected


CLASS = (
    "学号,题目,参考答案,学生答案\n07,二加二等于几？,4,答案是4。\n08,三加三等于几？,6,答案是7。\n"
)


def test_a_class_list_is_judged_as_it_is(open_page: Open, tmp_path: Path) -> None:
    """Chinese columns in a workbook; other columns are shown and come back.

    Of a workbook with several sheets one is chosen, and it is said that the others were not read.
    A spreadsheet program knows the download's encoding by its mark.
    """
    path = tmp_path / "class.xlsx"
    book = openpyxl.Workbook()
    for line in CLASS.splitlines():
        book.active.append(line.split(","))  # type: ignore[union-attr]
    book.create_sheet("old").append(["draft"])
    book.save(path)
    page = open_page()
    page.downloads_to(tmp_path)
    page.run("location.hash = 'file'")
    page.upload("#picker", path)
    page.until("!document.querySelector('#sheets').hidden")
    assert page.text("#trouble") == "class.xlsx: has several sheets with rows; choose one"
    assert page.text("#sheets").split() == ["Sheet", "old"]
    page.click("#sheets button")
    page.until("!document.querySelector('#loaded').hidden")
    assert "Sheet Sheet; the others were not read" in page.text("#file-notes")
    assert "question = 题目, reference = 参考答案" in page.text("#file-notes")
    page.click("#start")
    page.until(DONE)
    assert [page.text(f"[data-filter={v}] .n") for v in ("correct", "incorrect")] == ["1", "1"]
    assert page.text("#table-body .open") == "07"
    assert page.text("#table-head .id") == "Pupil"
    page.click("#table-body .open")
    assert page.text("#detail-title") == "07"
    assert page.text("#detail .facts dt") == "学号"
    page.click("#detail-close")
    page.click("#download")
    head, first, _ = _text(tmp_path / "class.judgements.csv").splitlines()
    assert head.startswith("\ufeff学号,题目,参考答案,学生答案,result,in_words,verdict,")
    assert first.startswith("07,二加二等于几？,4,答案是4。,Correct,Number: both answers read")


ABROAD = (
    "姓名,题目,参考答案,学生答案\n甲,三加三等于几？,6,答案是6。\n乙,首都是哪里？,北京/北平,在北平\n"
    "丙,三加三等于几？,,7\n丁,天空为什么是蓝色的？,散射,因为海\n"
)


def test_open_rows_are_labelled_and_the_results_have_the_labels(
    open_page: Open, tmp_path: Path
) -> None:
    """One click from the results to the label view and back; the score and the download follow.

    A row that was set aside is in the download with the reason. The download is read again, with
    the labels of a person and not those of the judge; a reload asks while something is not saved.
    """
    path = tmp_path / "class.csv"
    path.write_bytes(ABROAD.encode("gb18030"))
    page = open_page(language="zh-CN")
    page.downloads_to(tmp_path)
    judge(page, path)
    assert page.text("#by-hand") == "人工标注 2 条"
    assert "全算错是 33.3%，全算对是 100%" in page.text("#summary .below")
    page.click("#by-hand")
    page.until("document.activeElement.id === 'label-heading'")
    assert page.text("#label-count") == "已标注 0 / 2"
    assert "甲" not in page.text("#label-item")
    page.press("1")
    page.press("x")
    page.click("#label-results")
    page.until("!document.querySelector('#file').hidden")
    assert page.text("#summary .below") == "3 条中 2 条；95% 区间；其中 2 条由人工标注判定"
    assert page.text("#by-hand") == "查看 2 条人工标注"
    assert page.text("tr[data-row='1'] .label") == "正确"
    assert page.text("tr[data-row='1'] .result") == "未决"
    warned = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.run(warned) is True
    page.click("#download")
    saved = _text(tmp_path / "class.judgements.csv")
    said = [(r["结果"], r["标注"], r["verdict"], r["outcome"]) for r in _table(saved)]
    assert said == [
        ("正确", "", "correct", "judged"), ("正确", "正确", "", "undecided"),
        ("未评判", "", "", ""), ("错误", "错误", "", "undecided"),
    ]  # fmt: skip
    assert "由标注判定。两段文字，规则无法证明意思相同。" in saved
    assert "丙,三加三等于几？,,7,,未评判,参考答案：参考答案为空，无从评判," in saved
    assert page.run(warned) is False
    (tmp_path / "old").mkdir()
    old = (tmp_path / "class.judgements.csv").rename(tmp_path / "old" / "class.judgements.csv")
    load(page, old)
    page.until("document.querySelector('#name').innerText === 'class.judgements.csv'")
    assert page.text("#table-body .id") == "甲"
    page.click("#start")
    page.until(DONE)
    page.click("#download")
    assert _text(tmp_path / "class.judgements.csv") == saved
    page.run("location.hash = 'label'")
    page.upload("#label-picker", old)
    page.until("document.querySelector('#label-count').innerText === '已标注 2 / 3'")
    assert page.text("#label-bad summary") == "1 行无法使用"


def test_a_separator_is_chosen_on_the_page(open_page: Open, tmp_path: Path) -> None:
    """Then a cell holds several accepted answers; results are not thrown away unasked."""
    path = tmp_path / "class.csv"
    path.write_text(ABROAD, encoding="utf-8")
    page = open_page()
    judge(page, path)
    choose = (
        "window.confirm = () => {}; const s = document.querySelector('#separator'); "
        "s.value = '/'; s.dispatchEvent(new Event('change'))"
    )
    page.run(f"(() => {{ {choose} }})()")
    assert page.run("document.querySelector('#separator').value") == ""
    assert page.text("[data-filter=correct] .n") == "1"
    page.run(f"(() => {{ {choose.replace('() => {}', '() => true')} }})()")
    page.until("!document.querySelector('#start').hidden")
    assert page.run("document.querySelector('#separator').value") == "/"
    page.click("#start")
    page.until(DONE)
    page.click("tr[data-row='1'] .open")
    accepted = "[...document.querySelectorAll('#detail .accepted-answers li')]"
    assert page.run(f"{accepted}.map(e => e.innerText)") == ["北京", "北平"]


def test_a_busy_server_is_asked_again_after_its_delay(open_page: Open, tmp_path: Path) -> None:
    """No row is lost or judged twice; a server error is also retried."""
    busy = {"error": {"message": "the queue is full"}}
    replies: list[Response] = [
        JSONResponse(busy, 429, headers={"Retry-After": "1"}),
        JSONResponse(busy, 503, headers={"Retry-After": "0"}),
        JSONResponse({"error": {"message": "oh"}}, 500, headers={"Retry-After": "0"}),
    ]
    page = open_page(refusing(create_app(Quick()), replies))
    load(page, many(tmp_path / "many.jsonl", 40))
    started = time.monotonic()
    page.click("#start")
    page.until(DONE)
    assert time.monotonic() - started > 0.9
    assert page.text("[data-filter=correct] .n") == "40"
    assert replies == []


def test_a_row_that_the_server_refuses_does_not_affect_others(
    open_page: Open, tmp_path: Path
) -> None:
    """It is finally sent alone, and shown with the server's message."""
    path = many(tmp_path / "many.jsonl", 9)
    long = {"id": "long", "reference": "4", "response": "x" * 500}
    path.write_text(path.read_text() + json.dumps(long) + "\n")
    page = open_page(create_app(Quick(), ServeSettings(max_body_bytes=400)))
    judge(page, path)
    assert page.text("[data-filter=correct] .n") == "9"
    assert chip(page, "error") == ["long"]
    assert page.text("#again") == "Try 1 again"
    page.click("tr[data-row='9'] .open")
    page.until("document.querySelector('dialog').open")
    assert page.text("#detail .above") == "No verdict"
    assert "the body is over 400 bytes" in page.text("#detail")


def test_a_cancelled_run_resumes(open_page: Open, tmp_path: Path) -> None:
    page = open_page(create_app(Quick(0.15)))
    load(page, many(tmp_path / "many.jsonl", 400))
    page.click("#start")
    page.until("document.querySelector('#bar').value > 0")
    page.click("#cancel")
    page.until("!document.querySelector('#start').hidden")
    judged = int(page.text("[data-filter=correct] .n"))
    assert 0 < judged < 400
    assert page.text("#progress-text").startswith(f"Cancelled at {judged} of 400")
    assert page.text("#start") == f"Judge the other {400 - judged}"
    page.click("#start")
    page.until(DONE + " && document.querySelector('#cancel').hidden")
    assert page.text("[data-filter=correct] .n") == "400"


def test_of_thousands_of_rows_fifty_are_drawn(open_page: Open, tmp_path: Path) -> None:
    """A page at a time, also of those that a filter keeps."""
    page = open_page(create_app(Quick()))
    judge(page, many(tmp_path / "many.jsonl", 2_000))
    assert page.text("[data-filter=correct] .n") == "2,000"
    assert page.run("document.querySelectorAll('#table-body tr').length") == 50
    page.click("[data-filter=correct]")
    page.click("#page-on")
    assert page.text("#pages-range") == "51–100 of 2,000"


def test_a_dropped_file_is_opened_from_any_view(open_page: Open) -> None:
    page = open_page()
    page.run("""(() => { const data = new DataTransfer();
      const row = '{"reference": "4", "response": "The answer is 4.", "extra": 1}';
      data.items.add(new File(['\\ufeff' + row + '\\r\\n'], "dropped.jsonl"));
      window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
    })()""")
    page.until("!document.querySelector('#loaded').hidden")
    assert page.text("#name") == "dropped.jsonl"
    assert page.run("location.hash") == "#file"


def test_a_phone_shows_a_judged_file_without_scrolling_sideways(
    open_page: Open, rows_file: Path
) -> None:
    page = open_page(language="zh-CN", size=(390, 844))
    judge(page, rows_file)
    for _ in ("en", "zh"):
        page.run("document.querySelector('#language').click()")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
    page.click("tr[data-row='1'] .open")
    page.until("document.querySelector('dialog').open")
    assert page.run(
        "(() => { const b = document.querySelector('#detail-body'); "
        "return b.scrollWidth <= b.clientWidth; })()"
    )


def _read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in _text(path).splitlines()]


def _table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(keepends=True)))


def _text(path: Path) -> str:
    """A file after its download."""
    deadline = time.monotonic() + 5
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return path.read_bytes().decode("utf-8")


def _usable(line: str) -> bool:
    try:
        return json.loads(line)["reference"] != " "
    except ValueError:
        return False


def test_notes_on_a_file_are_in_the_language_of_the_page(open_page: Open, tmp_path: Path) -> None:
    """How it was read and why a row is left out, in Chinese; what has no words stays as it is."""
    path = tmp_path / "rows.csv"
    rows = (
        "参考答案,学生答案,标注,respons,points,needs\n4,答案是4。,对,,,\n6\n,7,错,,,\n"
        "北京/上海,,错,,,\n4,4,对,,-1,每个\n"
    )
    path.write_bytes(rows.encode("gb18030"))
    page = open_page(language="zh-CN")
    load(page, path)
    assert page.text("#file-notes").split("\n") == [
        "列的对应：作答 = 学生答案",
        "rows.csv：编码为 GB18030",
        "列 respons 未读取；若要读取，请改名为作答",
        "2 条参考答案中有 1 条像是几个答案，例如 '北京/上海'；"
        "若答出任意一个即可，请在下方选择它们之间的分隔符",
    ]
    assert page.text("#bad-lines").split("\n") == [
        "rows.csv:3 6 列之下有 1 个单元格，含分隔符的单元格请加引号",
        "rows.csv:4 参考答案：参考答案为空，无从评判",
        "rows.csv:6 needs：应为 all 或 any；若该列另有含义，请改列名; "
        "points：应大于 0；若该列另有含义，请改列名",
    ]
    for name, content, said in (
        (
            "rows.csv",
            "题目,作答\n4,5\n5,6\n",
            "rows.csv：没有“参考答案”一列；请把写有参考答案的那一列改名为“参考答案”；现有的列：\n"
            "题目：'4' | '5'\n作答：'5' | '6'",
        ),
        (
            "rows.csv",
            "a,b\n1,2\n",
            "rows.csv：没有“参考答案”和“作答”两列；"
            "请把写有它们的两列改名为“参考答案”和“作答”；现有的列：\na: '1'\nb: '2'",
        ),
        ("in.csv", "", "in.csv 是空文件，里面什么也没有。"),
        ("two.csv", "答案,答案\n1,2\n", "two.csv：列 '答案' 出现了两次，请改掉其中一个列名"),
        ("class.xls", "\0", "class.xls：不是表格，请另存为 .xlsx、.csv 或 .jsonl"),
        ("a.json", "[1, 2]", "a.json：应为对象，却是 int，共 2 行（首见于 a.json: row 1）"),
    ):
        (path := tmp_path / name).write_text(content, encoding="utf-8")
        page.run("document.querySelector('#trouble').textContent = ''")
        page.upload("#picker", path)
        page.until("document.querySelector('#trouble').textContent !== ''")
        assert page.text("#trouble") == said
