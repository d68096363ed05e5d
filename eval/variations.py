"""Changes to an item that change nothing that matters; None where one does not apply.

A change that might alter the answer is not made: it is better to apply to fewer items.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gradegpt.core.schema import AnswerType, Item
from gradegpt.rules.reference import answer_kind
from gradegpt.rules.validity import cut_off, without_loop

_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_WORD: Final = re.compile(r"(?<!\\)\b[A-Za-z]{2,}")
_MARKUP: Final = re.compile(r"[\\$`<>*#|]|https?:")
_PHRASES: Final = (
    ("The answer is ", "答案是"),
    ("So the answer is ", "所以答案是"),
    ("So, the answer is ", "所以，答案是"),
    ("Therefore, the answer is ", "因此，答案是"),
    ("The final answer is ", "最终答案是"),
    ("The correct answer is ", "正确答案是"),
    ("The correct option is ", "正确选项是"),
    ("Answer: ", "答案："),
    ("Final answer: ", "最终答案："),
    ("I choose ", "我选"),
)
"""Fixed phrases before an answer, each with its exact translation."""


def again(item: Item) -> Item | None:
    """The same item, asked a second time."""
    return item


def other_language(item: Item) -> Item | None:
    """A fixed phrase before an answer without words, in the last line, in the other language."""
    head, line = _last_line(item.response)
    for english, chinese in _PHRASES:
        for here, there, stop in ((english, chinese, "。"), (chinese, english, ".")):
            answer = line[len(here) :].rstrip(".。 ")
            neutral = answer and not _CHINESE.search(answer) and not _WORD.search(answer)
            if line.startswith(here) and neutral:
                end = stop if line.endswith((".", "。")) else ""
                return _with(item, f"{head}{there}{answer}{end}")
    return None


def blanks(item: Item) -> Item | None:
    """Empty lines around the response, and blanks at the end of its lines."""
    return _with(item, "\n\n" + item.response.replace("\n", "  \n") + " \n")


def full_width(item: Item) -> Item | None:
    """Digits, single capitals and punctuation in full width; not beside markup or formulas."""
    if _MARKUP.search(item.response):
        return None
    text = re.sub(r"(?<=[0-9])\.(?=[0-9])", "．", item.response)
    text = re.sub(r"(?<=[0-9]),(?=[0-9])", "\0", text)
    text = re.sub(r"(?<![A-Za-z])[A-HJ-Z](?![A-Za-z'’])|[0-9,:;!?()=+%]", _wider, text)
    return _with(item, text.replace("\0", ","))


def half_width(item: Item) -> Item | None:
    """Full-width signs as ASCII, but no comma between digits."""
    text = re.sub(r"(?<=\d)，(?=\d)", "\0", item.response)
    text = re.sub(r"[\uff01-\uff5e]", lambda m: chr(ord(m[0]) - 0xFEE0), text)
    return _with(item, text.replace("\0", "，"))


def _wider(found: re.Match[str]) -> str:
    return chr(ord(found[0]) + 0xFEE0)


def latex_delimiters(item: Item) -> Item | None:
    r"""``\(x\)`` and ``\[x\]`` for ``$x$`` and ``$$x$$``, or the reverse."""
    text = item.response
    if "\\(" in text or "\\[" in text:
        if "$" in text:
            return None
        return _with(item, re.sub(r"\\[()]", "$", re.sub(r"(?<!\\)\\[\[\]]", "$$", text)))
    bare = re.sub(r"\$\$([^$]+)\$\$", r"\\[\1\\]", text)
    formulas = re.findall(r"\$([^$]*)\$", bare)
    if bare.count("$") % 2 or "\\$" in bare or any(f != f.strip() or not f for f in formulas):
        return None
    return _with(item, re.sub(r"\$([^$]+)\$", r"\\(\1\\)", bare))


def thanks(item: Item) -> Item | None:
    """A closing sentence without content, after a response that is complete."""
    if not _complete(item.response):
        return None
    chinese = "希望以上解答对你有帮助，谢谢！"
    return _with(item, f"{item.response}\n\n{_say(item, chinese, 'I hope this helps. Thank you!')}")


def opening(item: Item) -> Item | None:
    """An opening sentence without content."""
    chinese = "好的，我们来看这道题。"
    return _with(
        item, f"{_say(item, chinese, 'Sure, let us look at this question.')}\n\n{item.response}"
    )


def _say(item: Item, chinese: str, english: str) -> str:
    return chinese if _CHINESE.search(item.response or item.question) else english


def bold(item: Item) -> Item | None:
    """The last line of a complete response in bold, or not in bold if it has bold parts."""
    if not _complete(item.response):
        return None
    head, line = _last_line(item.response)
    if re.search(r"\w\*\*\w", line) or line.count("**") % 2:
        return None
    if "**" in line:
        return _with(item, head + line.replace("**", ""))
    if not line or re.search(r"[*#|`]|^\$\$|^\\|^[-+>]", line):
        return None
    return _with(item, f"{head}**{line}**")


def number_format(item: Item) -> Item | None:
    """Thousands separators removed, else added to whole numbers of five digits or more."""
    if answer_kind(item, item.reference[0]) is not AnswerType.NUMBER:
        return None
    grouped = re.compile(r"(?<![\d.,(\[{])\d{1,3}(?:,\d{3})+(?![\d,)\]}])")
    if grouped.search(item.response):
        return _with(item, grouped.sub(lambda m: m[0].replace(",", ""), item.response))
    whole = re.compile(r"(?<![\w.,\\^{])\d{5,}(?![\w,}]|\.\d)")
    return _with(
        item, whole.sub(lambda m: f"{int(m[0]):,}" if m[0][0] != "0" else m[0], item.response)
    )


def _complete(response: str) -> bool:
    """Whether it neither breaks off nor repeats itself: then what follows would change it."""
    return not cut_off(response) and without_loop(response) is None


def _last_line(text: str) -> tuple[str, str]:
    """What is before the last line that is not blank, and that line without blanks around it."""
    head, _, line = text.rstrip().rpartition("\n")
    return (f"{head}\n" if head else ""), line.strip()


def _with(item: Item, response: str) -> Item | None:
    """The item with another response; None where it is the same one."""
    return item.model_copy(update={"response": response}) if response != item.response else None


VARIATIONS: Final[dict[str, Callable[[Item], Item | None]]] = {
    change.__name__: change
    for change in (
        again, other_language, blanks, full_width, half_width, latex_delimiters,
        thanks, opening, bold, number_format,
    )
}  # fmt: skip
"""The changes by name, in the order of the report."""
