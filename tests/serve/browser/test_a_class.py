"""A teacher's class in a real browser: corrections, scores, class lists, graded neighbours."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.serve.browser.chromium import Page
from tests.serve.browser.conftest import Open
from tests.serve.browser.test_a_file import DONE, _table, _text, chip, judge, load

LIST = "姓名,班级,第1题,第2题\n参考答案,,6,北京\n甲,一班,6,北京\n乙,二班,7,上海\n丙,二班,6,南京\n"
BOX = "document.querySelector('#groups .lines')"
SCORES = "document.querySelector('#groups tbody').innerText"


def scores(page: Page, column: str) -> list[str]:
    """The lines of the scores by a column."""
    page.run(
        f"(() => {{ const s = document.querySelector('#group-by'); s.value = '{column}'; "
        "s.dispatchEvent(new Event('change')); })()"
    )
    return [" ".join(line.split()) for line in str(page.run(SCORES)).split("\n")]


def test_a_verdict_is_corrected_for_all_equal_answers(open_page: Open, tmp_path: Path) -> None:
    """By keyboard in the open row; blanks make no other answer, and a second press takes it back.

    The correction counts in the score and in the download, and is there when the file is reopened;
    it measures no judge. Another answer keeps its verdict.
    """
    path = tmp_path / "class.csv"
    path.write_text(
        "姓名,题目,参考答案,学生答案\n甲,1+1,2,答案是 3\n乙,1+1,2, 答案是  3\n丙,1+1,2,2\n",
        encoding="utf-8",
    )
    page = open_page(language="zh-CN")
    page.downloads_to(tmp_path)
    judge(page, path)
    assert page.text("#summary dd").startswith("33.3%")
    page.click("#table-body .open")
    assert "有 2 条作答与此相同" in page.text("#detail .correction")
    for _ in range(3):
        page.press("1")
    assert page.run("document.activeElement.ariaPressed") == "true"
    assert page.text("#detail .word") == "错误"
    page.press("Escape")
    assert page.text("#summary dd").startswith("100%")
    assert page.run("document.querySelectorAll('.figure').length") == 1
    assert chip(page, "disagreements") == ["甲", "乙"]
    page.click("#download")
    saved = _table(_text(tmp_path / "class.judgements.csv"))
    assert [(row["标注"], row["结果"], row["verdict"]) for row in saved] == [
        ("正确", "正确", "incorrect"), ("正确", "正确", "incorrect"), ("", "正确", "correct"),
    ]  # fmt: skip
    page.open(page.run("location.href.replace('#file', '?again#file')"))
    load(page, path)
    assert page.text("tr[data-row='1'] .label") == "正确"
    assert page.run("document.querySelector('#summary').hidden")


def test_scores_are_by_pupil_class_and_question(open_page: Open, tmp_path: Path) -> None:
    """Of a list with a column a question; a name shows its rows, and what is open is a range."""
    path = tmp_path / "list.csv"
    path.write_text(LIST, encoding="gb18030")
    page = open_page(language="zh-CN")
    page.downloads_to(tmp_path)
    judge(page, path)
    assert page.text("#rows") == "6 行"
    assert scores(page, "学生")[0] == "甲 2 2 100%"
    assert scores(page, "题目")[0] == "第1题 2 3 67%"
    assert scores(page, "班级") == ["一班 2 2 100%", "二班 1 4 2 25% 至 75%"]
    page.click("#groups tbody tr:nth-child(2) button")
    assert page.run("document.querySelectorAll('#table-body tr').length") == 4
    assert page.text("#only") == "二班 ×"
    page.click("#only")
    assert page.run("document.querySelectorAll('#table-body tr').length") == 6
    page.click("#groups p button")
    rows = list(csv.DictReader(_text(tmp_path / "list.scores.csv").splitlines()))
    assert [*rows[1].values()] == ["二班", "1", "4", "2", "25% 至 75%"]


def test_the_scores_of_a_class_fit_a_phone(open_page: Open, tmp_path: Path) -> None:
    """No column is hidden, and no name broken, also beside a long question.

    The chain of an empty answer compares nothing, and another view closes the box of the key.
    """
    path = tmp_path / "list.csv"
    asked = "冬天教室玻璃窗的内侧为什么会出现小水珠，夏天又为什么在外侧出现？"
    pupils = "".join(f"2026{n:02} 欧阳小明,一班,{n}小水珠,\n" for n in range(15))
    lines = f"姓名,班级,第1题,第2题\n参考答案,,液化,4\n题目,,{asked},2+2=?\n{pupils}"
    path.write_text(lines, encoding="utf-8")
    page = open_page(language="zh-CN", size=(390, 844))
    page.run("document.querySelector('#key-box').open = true")
    judge(page, path)
    assert not page.run("document.querySelector('#key-box').open")
    for column in ("题目", "学生"):
        assert scores(page, column)
        assert page.run(f"{BOX}.scrollWidth <= {BOX}.clientWidth")
    assert page.run("document.querySelector('#groups .link').getClientRects().length") == 1
    chip(page, "invalid")
    page.click("#table-body .open")
    assert page.text("#detail .chain").endswith("作答给出：无。")


def test_the_references_of_a_class_list_are_asked_for(open_page: Open, tmp_path: Path) -> None:
    """Where it has no row of them; in the label view it is no sheet, and opens as a file."""
    path = tmp_path / "list.csv"
    path.write_text(LIST.replace("参考答案,,6,北京\n", ""), encoding="utf-8")
    page = open_page(language="zh-CN")
    page.run("location.hash = 'label'")
    page.until("!document.querySelector('#label').hidden")
    page.upload("#label-picker", path)
    page.until("document.activeElement.id === 'asked-0'")
    assert page.run("location.hash") == "#file"
    page.write("#asked-0", "6")
    page.press("Enter")
    page.run("document.querySelector('#asks').requestSubmit()")
    page.until("!document.querySelector('#loaded').hidden")
    assert (page.text("#rows"), page.text("#bad-heading")) == ("3 行", "")
    assert "第2题没有参考答案，未评判" in page.text("#file-notes")
    assert "班级名单，3 名学生；题目：第1题" in page.text("#file-notes")
    assert page.text("#table-body .answer") == "6"
    page.click("#start")
    page.until(DONE)
    assert scores(page, "班级") == ["一班 1 1 100%", "二班 1 2 50%"]


def test_after_ten_labels_of_a_question_the_neighbours_decide(
    open_page: Open, tmp_path: Path
) -> None:
    """Before there are ten they say nothing, and where a label is taken back no more.

    A labelled row counts by its label, and an empty answer stays invalid.
    """
    pytest.importorskip("sklearn")
    right, wrong = "it gives oxygen and food to animals, number {}", "plants turn green, number {}"
    texts = [text.format(n) for n in range(5) for text in (right, wrong)]
    texts += ["it gives oxygen and food to all animals", "plants turn very green", ""]
    path = tmp_path / "class.csv"
    lines = [f'{n},Why?,"It makes oxygen, and food.","{text}"' for n, text in enumerate(texts)]
    path.write_text("\n".join(["id,question,reference,response", *lines]), encoding="utf-8")
    page = open_page()
    judge(page, path)
    assert page.text("[data-filter=undecided] .n") == "12"
    page.click("#by-hand")
    page.until("document.activeElement.id === 'label-heading'")
    for key in "121212121":
        page.press(key)
    page.click("#label-results")
    page.until("document.querySelector('[data-filter=judged] .n').innerText === '10'")
    page.click("tr[data-row='9'] .open")
    page.press("2")
    page.until("document.querySelector('[data-filter=judged] .n').innerText === '13'")
    page.press("Escape")
    assert chip(page, "correct") == ["0", "2", "4", "6", "8", "10"]
    assert chip(page, "incorrect") == ["1", "3", "5", "7", "9", "11"]
    assert chip(page, "invalid") == ["12"]
    chip(page, "all")
    page.click("tr[data-row='11'] .open")
    assert "People graded the most similar answers" in page.text("#detail .facts")
    page.press("Escape")
    chip(page, "all")
    page.click("tr[data-row='9'] .open")
    page.press("2")
    page.until("document.querySelector('[data-filter=judged] .n').innerText === '10'")
