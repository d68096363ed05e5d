"""The view for one answer, in a real browser."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.middleware.base import RequestResponseEndpoint

from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from serve.app import create_app
from serve.settings import ServeSettings
from tests.serve.browser.chromium import Page
from tests.serve.browser.conftest import Open

RESULT = "document.querySelector('#result .banner')"
HOSTILE = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"


class FixedJudge:
    """A judge that returns the same judgement for every item."""

    name = "fixed"
    fingerprint = "fixed"

    def __init__(self, **judgement: object) -> None:
        self.judgement = {"method": "model", **judgement}

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """The same judgement for all items."""
        return [Judgement(id=item.id, **self.judgement) for item in items]  # type: ignore[arg-type]


def fill(page: Page, reference: str, response: str, question: str = "") -> None:
    page.write("#question", question)
    page.write("#reference", reference)
    page.write("#response", response)


def judge(page: Page, reference: str, response: str, question: str = "") -> None:
    """Fill the form by keyboard, and wait for the judgement."""
    fill(page, reference, response, question)
    page.press("Enter", control=True)
    page.until(RESULT)


def test_the_examples_are_judged_and_the_key_sentence_is_marked(open_page: Open) -> None:
    """The mark is exactly the judge's quote; a changed field marks the judgement as outdated."""
    page = open_page()
    page.click("#example-right")
    page.until(RESULT)
    assert page.text("#result .word") == "Correct"
    assert page.text("#result mark") == "So the perimeter is 22 cm."
    assert page.text("#result mark b") == "22 cm"
    whole = page.run("document.querySelector('#result .response').textContent")
    assert whole == page.run("document.querySelector('#response').value")
    assert page.text("#result .facts").startswith("Confidence\n99.")
    page.click("#result .curl summary")
    assert page.text("#result .curl p").startswith("number:same-text no model asked · ")
    loaded = "performance.getEntriesByType('resource').map(e => e.name).join()"
    assert "temml" not in page.run(loaded)  # the library of formulas
    assert page.run("document.querySelector('#stale').hidden")
    page.write("#response", " Or 23 cm.")
    page.until("!document.querySelector('#stale').hidden")
    page.click("#example-wrong")
    page.until("document.querySelector('#result [data-state=incorrect]')")
    roles = page.run("[...document.querySelectorAll('.chain .role')].map(e => e.innerText)")
    assert roles == ["Key sentence", "Comparison", "Conclusion"]
    assert page.text(".chain .tag") == "not the same"


def test_the_chain_is_in_the_language_of_the_page(open_page: Open) -> None:
    """Its fixed words are; what it quotes stays, and so does the reason; a tag may be first."""
    chain = (
        "<No>\nThe model response gives its answer here: 是5\nIn English: is 5\nAnd here: a\n"
        "The reference answer 4 is a number; the model response gives 5.\nReason: 5 is not 4.\n"
        "The answers agree: <No>"
    )
    told = {"outcome": Outcome.JUDGED, "verdict": Verdict.INCORRECT, "why": "5 is not 4"}
    page = open_page(create_app(FixedJudge(**told, chain=chain, reason="r")), language="zh-CN")
    judge(page, "4", "是5")
    assert page.run("[...document.querySelectorAll('.chain li')].map(e => e.textContent)") == [
        "结论不一致", "关键句作答在此给出答案：是5", "英文大意英文：is 5", "关键句又在此：a",
        "比较参考答案：4（数值）；作答给出：5。", "理由5 is not 4.", "结论两个答案：不一致",
    ]  # fmt: skip
    assert "5 is not 4\n" in page.text("#result .facts")
    given = f"{{columns: [], fields: {{}}, rows: []}}, [{json.dumps({'judgement': told})}]"
    table = page.run(f"import('./page/lines.js').then(m => m.writeJudged({given}))")
    assert "5 is not 4" in table


def test_a_reference_is_needed_and_any_of_several_suffices(open_page: Open) -> None:
    """Without one there is an error at its field, and nothing is sent."""
    page = open_page()
    page.write("#response", "The answer is 7.")
    page.click("#judge")
    page.until("!document.querySelector('#reference-error').hidden")
    assert page.run("document.activeElement.id") == "reference"
    assert not page.run(RESULT)
    page.write("#reference", "1/2")
    page.click("#add-reference")
    page.write("#reference-2", "7")
    page.press("Enter", control=True)
    page.until(RESULT)
    assert page.text("#status") == page.text("#result .word") == "Correct"


OPEN = (
    (Outcome.UNDECIDED, "response:not-its-own-answer", None, "Undecided"),
    (Outcome.UNPARSED, "chain:no verdict tag", "Well\nwho <Yes> knows", "Unparsed"),
    (Outcome.FAILED, "engine:timeout: nothing after 3 s", None, "Failed"),
)


def test_an_outcome_without_a_verdict_is_shown_differently(open_page: Open) -> None:
    """The headline says so, and neither sign nor word has a verdict's colour."""
    fixed = FixedJudge()
    page = open_page(create_app(fixed))
    for outcome, reason, chain, words in OPEN:
        fixed.judgement |= {"outcome": outcome, "reason": reason, "chain": chain}
        judge(page, "4", "The answer is 4.")
        page.until(f"document.querySelector('#result .word')?.innerText === '{words}'")
        assert page.text("#result .above") == "No verdict"
        color = "getComputedStyle(document.querySelector('#result .word')).color"
        assert page.run(color) == page.run("getComputedStyle(document.body).color")
        ring = "getComputedStyle(document.querySelector('#result .icon circle'))"
        assert page.run(f"{ring}.fill") == "none"
        assert page.run(f"{ring}.strokeDasharray") != "none"
        assert reason in page.run("document.querySelector('#result .curl p').textContent")


def test_no_text_becomes_markup(open_page: Open) -> None:
    """Neither the item's nor the judge's texts are inserted as markup."""
    fixed = FixedJudge(
        outcome=Outcome.JUDGED, verdict=Verdict.INCORRECT, confidence=0.9996, reason=HOSTILE,
        key_sentence=HOSTILE, answer=HOSTILE, chain=f"{HOSTILE}\n<No>", method=HOSTILE,
    )  # fmt: skip
    page = open_page(create_app(fixed))
    judge(page, HOSTILE, f"Before. {HOSTILE} After.", HOSTILE)
    assert page.text("#result mark") == HOSTILE
    assert page.run("document.querySelectorAll('#result :is(img, script)').length") == 0
    assert "GradeGPT" in page.run("document.title")
    assert page.text("#result .facts").startswith("Confidence\n99.9%")


QUOTES = {
    "other blanks": ("So x = 5.", "x + 1 = 6\nSo  x\n= 5. Good.", "So  x\n= 5."),
    "defused": ("the ‹response> is 5", "I say the <response> is 5 now.", "the <response> is 5"),
    "the last one": ("It is 5.", "It is 5.\nCheck: 5.\nIt is 5.", "It is 5."),
    "beyond 16 bits": ("所以 是𝟓。", "设𝑥，\n所以是𝟓。好", "所以是𝟓。"),
    "not there": ("It is 6.", "It is 5.", None),
}


def test_a_quote_is_found_in_the_response(open_page: Open) -> None:
    """Blanks may differ; a quote that is not in the response is shown separately.

    A stated span is marked, and not another place of the quote. It counts characters, of which some
    are two units of JavaScript's texts.
    """
    told = {"outcome": Outcome.JUDGED, "verdict": Verdict.CORRECT, "key_sentence": "It is 6."}
    page = open_page(create_app(fixed := FixedJudge(**told)))
    judge(page, "5", "It is 5.")
    assert page.text("#result q") == "It is 6."
    assert page.run("document.querySelector('#result mark')") is None
    fixed.judgement |= {"key_sentence": "It is 5.", "span": (7, 15), "answer": "5"}
    page.open(page.run("location.href"))
    judge(page, "5", "𝑥 = 5. It is 5. Check. It is 5.")
    assert page.text("#result mark") == "It is 5."
    before = page.run("document.querySelector('#result .response').firstChild.textContent")
    assert before == "𝑥 = 5. "
    for name, (quote, response, marked) in QUOTES.items():
        given = json.dumps([quote, response])
        found = page.run(f"import('./page/quote.js').then(m => m.find(...{given}))")
        units = response.encode("utf-16-le")
        got = found and units[2 * found["start"] : 2 * found["end"]].decode("utf-16-le")
        assert got == marked, name
        assert (
            marked is None
            or units[: 2 * found["start"]].decode("utf-16-le")
            == (response[: response.rindex(marked)])
        )


def test_a_withheld_verdict_is_said_in_words_and_has_no_confidence(open_page: Open) -> None:
    """An undecided judgement never shows how sure the judge is of having no verdict.

    Of a verdict the confidence is shown, or that nobody measured it.
    """
    fixed = FixedJudge(outcome=Outcome.UNDECIDED, withheld=Verdict.CORRECT, score=0.999)
    page = open_page(create_app(fixed))
    for confidence, words in (
        (0.7149, "it would have said correct, 71% likely to be right"),
        (None, "it would have said: correct."),
    ):
        fixed.judgement["confidence"] = confidence
        judge(page, "4", "The answer is 4.")
        page.until(f"document.querySelector('#result .facts')?.innerText.includes('{words}')")
        assert "Confidence" not in page.text("#result .facts")
        assert "99.9" not in page.text("#result")
    fixed.judgement |= {"outcome": Outcome.JUDGED, "verdict": Verdict.CORRECT, "withheld": None}
    judge(page, "4", "The answer is 4.")
    page.until("document.querySelector('#result .word')?.innerText === 'Correct'")
    assert page.text("#result .facts").startswith("Confidence\nnot calibrated")


FORMULAS = (
    r"It costs $5 and $6. So $x=\frac{1}{2}$ and \(y\):"
    "\n"
    r"$$\href{javascript:alert(1)}{z}$$ $\nosuch$ $\def\a{\a\a}\a$ Hence \boxed{\frac12} is it."
)


def test_formulas_are_rendered_marked_and_shown_as_source(open_page: Open) -> None:
    """What is no formula, not allowed or not readable stays text; nothing becomes a link.

    A mark that ends inside a formula is extended to the whole of it.
    """
    fixed = FixedJudge(
        outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, key_sentence=r"Hence \boxed{\frac1",
        answer=r"\frac1",
    )  # fmt: skip
    page = open_page(create_app(fixed))
    fill(page, r"\frac{1}{2}", FORMULAS)
    page.press("Enter", control=True)
    page.until("document.querySelector('#result .response math')")
    assert page.run("document.querySelectorAll('#result .response math').length") == 3
    shown = page.run("document.querySelector('#result .response').textContent")
    for text in ("It costs $5 and $6. So ", r"$\nosuch$", r"\href{javascript", r"\def\a"):
        assert text in shown
    assert page.run("document.querySelectorAll('#result :is(a, [href])').length") == 0
    assert page.run("document.querySelector('#result mark').textContent").startswith("Hence ")
    assert page.run("document.querySelectorAll('#result mark math').length") == 1
    page.click("#result .source")
    page.until("!document.querySelector('#result .response math')")
    assert page.run("document.querySelector('#result .response').textContent") == FORMULAS
    assert page.run("document.querySelector('#result mark').textContent") == r"Hence \boxed{\frac1"
    assert page.run("document.querySelector('#result .source').ariaPressed") == "true"


def test_a_page_of_a_server_that_is_loading_waits_and_goes_on_by_itself(open_page: Open) -> None:
    """It says so, sends a request as soon as the judge is there, and needs no reload."""
    app = create_app(FixedJudge(outcome=Outcome.JUDGED, verdict=Verdict.CORRECT))
    loading = [True]

    @app.middleware("http")
    async def not_yet(request: Request, go_on: RequestResponseEndpoint) -> Response:
        if loading[0] and request.url.path in ("/ready", "/v1/judge"):
            return JSONResponse({"error": {"message": "loading", "code": "not_ready"}}, 503)
        return await go_on(request)

    page = open_page(app)
    page.until("!document.querySelector('#ready').hidden")
    assert "The judge is being loaded" in page.text("#ready")
    page.click("#example-right")
    page.until("document.querySelector('.judging')")
    loading[0] = False
    page.until(RESULT)
    assert page.run("document.querySelector('#ready').hidden")
    assert page.text("#result .word") == "Correct"


CODES = {
    "number:equal-within-tolerance": ("within the tolerance (auto)", "在容差（auto）内相等"),
    "code:2-of-3-tests": ("passes 2 of 3 tests", "3 个测试中的 2 个"),
    "parts:A,B:no-answer": ("correct, incorrect. No answer", "正确, 错误。作答中没有"),
    "atlas:A:number:equal": ("By ATLAS' rules. In order: correct. Number", "按 ATLAS 的规则。"),
    "olympiadbench:cannot-grade-text": ("no rule for this type", "没有这类答案的评分规则"),
    "engine:timeout: nothing after 3 s": ("did not answer in time", "没有及时应答"),
    "chain:no verdict tag": ("no verdict at its end", "末尾没有判定"),
    "something:new": ("", ""),
}


def test_reason_codes_are_sentences_in_both_languages(open_page: Open) -> None:
    page = open_page()
    said = (
        "import('./page/reason.js').then(m => "
        f"{json.dumps(list(CODES))}.map(reason => m.inWords({{reason}})))"
    )
    for language in (0, 1):
        for words, sentence in zip(CODES.values(), page.run(said), strict=True):
            assert words[language] in sentence
            assert bool(words[language]) == bool(sentence)
        page.click("#language")


def test_the_curl_command_sends_the_same_request(open_page: Open) -> None:
    """Quotes, dollars and line breaks are preserved; the key is a variable."""
    page = open_page()
    page.click("#key-box summary")
    page.write("#key", "secret-key")
    response = "It's $4\\n \"four\" `id` 'x'\n!! 四。 The answer is 4."
    page.run(f"document.querySelector('#response').value = {json.dumps(response)}")
    page.write("#reference", "4")
    page.press("Enter", control=True)
    page.until(RESULT)
    command = page.run("document.querySelector('.curl pre code').textContent")
    program, *arguments = shlex.split(command)
    assert program == "curl"
    assert arguments[1] == page.run("location.origin") + "/v1/judge"
    assert json.loads(arguments[arguments.index("-d") + 1])["response"] == response
    assert "Authorization: Bearer $GRADEGPT_API_KEY" in arguments
    assert "secret-key" not in command


def test_the_key_is_sent_and_a_missing_one_is_requested(open_page: Open) -> None:
    app = create_app(FixedJudge(outcome=Outcome.JUDGED, verdict=Verdict.CORRECT))

    @app.middleware("http")
    async def with_key(request: Request, go_on: RequestResponseEndpoint) -> Response:
        wanted = request.url.path == "/v1/judge"
        if wanted and request.headers.get("authorization") != "Bearer k-1":
            return JSONResponse({"error": {"message": "no such key"}}, 401)
        return await go_on(request)

    page = open_page(app)
    page.click("#example-right")
    page.until("document.querySelector('#result [role=alert]')")
    assert "no such key" in page.text("#result")
    assert page.run("document.activeElement.id") == "key"
    page.write("#key", "k-1")
    page.press("Enter", control=True)
    page.until(RESULT)
    page.open(page.run("location.href"))
    assert page.run("document.querySelector('#key').value") == "k-1"
    assert page.run("localStorage.length") == 0


def test_the_language_follows_the_browser_and_then_the_user(open_page: Open) -> None:
    """Switching keeps the page's content, and the choice is remembered."""
    page = open_page(language="zh-CN")
    assert page.run("document.documentElement.lang") == "zh-CN"
    page.click("#example-wrong")
    page.until(RESULT)
    assert page.text("#result .word") == "错误"
    assert page.text("#result mark") == "所以这个数是 70。"
    page.click("#language")
    page.until("document.documentElement.lang == 'en'")
    assert page.text("#result .word") == "Incorrect"
    assert page.text("#one-heading") == "Does the response reach the reference answer?"
    page.open(page.run("location.href"))
    assert page.text("#judge") == "Judge"


def test_nothing_is_wider_than_the_window(open_page: Open) -> None:
    """On any phone or tablet, in both languages, before and after judging, with long words."""
    page = open_page(language="zh-CN", size=(390, 800))
    inside = "document.documentElement.scrollWidth <= innerWidth"
    assert page.run(inside)
    judge(page, "4", f"{'x' * 400} The answer is 4.", "q" * 300)
    page.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    for width in (320, 390, 768, 1280):
        page.resize(width, 800)
        for _ in ("en", "zh"):
            page.run("document.querySelector('#language').click()")
            assert page.run(inside), width
    page.run("location.hash = 'file'")
    page.until("!document.querySelector('#file').hidden")
    assert page.run(inside)


def test_an_undecided_answer_shows_no_verdict_tag_and_the_page_the_setting(open_page: Open) -> None:
    """The setting is that of this server; the chain's last line would read as a verdict."""
    chain = "The model response gives its answer here: 4\nThe answers agree: <Yes>"
    judge = FixedJudge(outcome=Outcome.UNDECIDED, withheld=Verdict.CORRECT, chain=chain)
    page = open_page(create_app(judge, ServeSettings(undecided="incorrect")))
    page.until("document.querySelector('.legend').innerText.includes('undecided=incorrect')")
    page.click("#example-right")
    page.until("document.querySelector('#result .chain')")
    assert "The answers agree" not in page.text("#result")
    assert "<Yes>" not in page.text("#result")
