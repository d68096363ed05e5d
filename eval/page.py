"""A report as one page: no script, font or style from elsewhere; all texts escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradegpt.errors import MissingError
from gradegpt.schema import Verdict

from .answers_report import AnswersReport
from .console import decimal, percent
from .report import NOT_JUDGED, VIEWS, Report


def render_page(report: Report | AnswersReport) -> str:
    """The page of ``report``; the same report gives the same bytes.

    Raises:
        MissingError: jinja2 is not installed.

    """
    if isinstance(report, AnswersReport):
        return _filled("answers.html.j2", report=report, judges=list(report.scores))
    return _filled(
        "report.html.j2",
        report=report,
        judges=[judge.name for judge in report.judges],
        sources=list(report.judges[0].views["source"]),
        views=VIEWS,
        verdicts=[*(v.value for v in Verdict), NOT_JUDGED],
    )


def _filled(template: str, **values: Any) -> str:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingError("the report page needs: pip install 'gradegpt[eval]'") from error
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"percent": percent, "decimal": decimal}
    return environment.get_template(template).render(values)
