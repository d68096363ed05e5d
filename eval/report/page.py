"""``report.html``: one page for judged rows, labelled or not, which loads no other file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chains.fit import fit_middle, fit_response
from gradegpt.core.errors import MissingError
from gradegpt.core.records import whole_file, write_rows
from gradegpt.core.schema import AnswerType, Judgement, Verdict
from gradegpt.judges.statistics import says_yes

from ..console import decimal, percent
from ..metrics import COLUMNS
from . import plots
from .numbers import RESULTS, Numbers, numbers
from .results import JudgedRows, result_of

if TYPE_CHECKING:
    from jinja2 import Template

_TOKENS: Final = {"question": 600, "context": 600, "reference": 400, "response": 1200, "chain": 600}
_ANSWERS: Final = frozenset(("reference", "response"))
_OF_EACH: Final = 100
LISTED: Final = 5000
"""The usual number of items that a page lists: about 10 MB of ordinary rows."""


def interest(label: Verdict | None, verdicts: Iterable[Verdict | None], *, labelled: bool) -> int:
    """The rank of a row in the list, 0 first.

    0: judges differ from each other or from the label, two-way. 1: without labels, no judge found
    the response correct. 2: a judge gave no verdict. 3: all others.
    """
    given = list(verdicts)
    seen = {says_yes(v) for v in (label, *given) if v is not None}
    if len(seen) > 1:
        return 0
    if seen == {False} and not labelled:
        return 1
    return 2 if None in given else 3


def listed(
    results: JudgedRows, most: int, order: Sequence[tuple[int, int]] = ()
) -> list[dict[str, Any]]:
    """At most ``most`` rows by interest, as values for the page's script."""
    return [_row(results, n, kind) for kind, n in sorted((order or _chosen(results))[:most])]


def _chosen(results: JudgedRows) -> list[tuple[int, int]]:
    """The interest and the place of every row, those first without which a filter finds few.

    These are, by interest, a hundred rows of each combination of label and results and of each
    value of a tag; then the next hundred.
    """
    seen: Counter[Any] = Counter()
    order, labelled = [], results.labelled  # which looks at every row
    for n, (label, *judged) in enumerate(
        zip(results.labels, *results.judges.values(), strict=True)
    ):
        kind = interest(label, [j.verdict for j in judged], labelled=labelled)
        tags = results.tags[n].items()
        filters = [(tag, value) for tag, values in tags for value in values]
        keys = [(label, *map(result_of, judged)), *filters]
        order.append((min(seen[key] for key in keys) // _OF_EACH, kind, n))
        seen.update(keys)
    return [(kind, n) for _, kind, n in sorted(order)]


def _row(results: JudgedRows, n: int, kind: int) -> dict[str, Any]:
    item, label = results.items[n], results.labels[n]
    texts = {
        "question": _cut("question", item.question),
        "context": _cut("context", item.context or ""),
        "reference": [_cut("reference", one) for one in item.reference],
        "response": _cut("response", item.response),
    }
    whole = [item.question, item.context or "", list(item.reference), item.response]
    return _filled(
        {
            "n": n + 1, "id": item.id, "interest": kind, **texts,
            "cut": whole != [*texts.values()], "label": label.value if label else "",
            "tags": {tag: list(values) for tag, values in results.tags[n].items()},
            "said": [_judgement(judged[n]) for judged in results.judges.values()],
        }
    )  # fmt: skip


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return _filled(
        {
            "verdict": result_of(judgement),
            "confidence": judgement.sureness,
            "withheld": judgement.withheld and judgement.withheld.value,
            "method": judgement.method,
            "reason": judgement.reason,
            "words": judgement.in_words() or None,
            "quote": judgement.key_sentence,
            "answer": judgement.answer,
            # A chain ends in a tag, which a row without a verdict does not have.
            "chain": _cut("chain", judgement.chain or "") if judgement.verdict else "",
        }
    )


def _cut(field: str, text: str) -> str:
    fit = fit_response if field in _ANSWERS else fit_middle
    return fit(text, _TOKENS[field])


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    """The values without empty ones, which makes a page of thousands of rows a third smaller."""
    empty = (None, False)
    return {
        name: value
        for name, value in values.items()
        if not any(value is nothing for nothing in empty) and value not in ("", [], {})
    }


_HERE: Final = Path(__file__).parent
_STYLE: Final = "page.css"
_SCRIPTS: Final = ("items.js", "words.js", "page.js")
_WORDS: Final = "zh.json"


def write_page(path: Path, results: JudgedRows, found: Numbers, *, most: int = LISTED) -> list[str]:
    """Write the page, and beside it the items that it does not list; what was written, in words.

    Raises:
        MissingError: jinja2 is not installed.

    """
    rest = path.with_name(f"{path.stem}.rest.jsonl")
    order = _chosen(results)
    page = render_page(results, found, most=most, rest=rest.name, order=order)
    with whole_file(path) as file:
        file.write(page)
    said = [f"wrote {path} ({len(page.encode()) / 1e3:,.0f} kB)"]
    if most < len(results.items):
        left = write_rows(rest, map(results.row, sorted(n for _, n in order[most:])))
        said.append(f"wrote {rest} ({left:,} items)")
    else:
        rest.unlink(missing_ok=True)
    return said


def render_page(
    results: JudgedRows,
    found: Numbers | None = None,
    *,
    most: int = LISTED,
    rest: str = "",
    order: Sequence[tuple[int, int]] = (),
) -> str:
    """The page of ``results``, with at most ``most`` items; equal results give equal bytes.

    ``rest`` is the name of the file that holds the other items, ``order`` is that of ``_chosen``.

    Raises:
        MissingError: jinja2 is not installed.

    """
    template = _template()
    from markupsafe import Markup

    style, script = _read(_STYLE), "".join(map(_read, _SCRIPTS))
    rows = listed(results, most, order)
    data = {
        "name": results.name, "judges": list(results.judges), "rows": rows,
        "zh": json.loads(_read(_WORDS)) | _data_words(results),
    }  # fmt: skip
    return template.render(
        results=results,
        numbers=found or numbers(results),
        plots=plots,
        judges=list(results.judges),
        columns=COLUMNS,
        words=[word.value for word in RESULTS],
        n_listed=len(rows),
        rest=rest,
        n_cut=sum("cut" in row for row in rows),
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=Markup(embedded(data)),
    )


@cache
def _template() -> Template:
    """The page's template, which takes longer to read than to fill in."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingError("the report page needs: pip install 'gradegpt[eval]'") from error
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "percent": percent,
        "decimal": decimal,
        "per_cent_of": lambda part, whole: f"{100 * part / whole:.1f}" if whole else "–",
    }
    return environment.get_template("page.html.j2")


def _data_words(results: JudgedRows) -> dict[str, str]:
    """The answer types, and the reasons of the judgements in words, English with Chinese."""
    types = {kind.words: kind.in_chinese for kind in AnswerType}
    judgements = (one for judged in results.judges.values() for one in judged)
    kinds = {(one.reason, one.tolerance): one for one in judgements}.values()
    said = {one.in_words(): one.in_words(chinese=True) for one in kinds if not one.why}
    return types | {english: chinese for english, chinese in said.items() if "*" not in english}


def embedded(value: Any) -> str:
    r"""JSON for a script element; without ``<``, no text in it can end that element.

    >>> print(embedded("</script>"))
    "\u003c/script>"
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which a content security policy allows an inline text."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
