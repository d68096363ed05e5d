"""The page's files: their content types, the security policy, and both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradegpt.core.schema import AnswerType, Outcome, Verdict
from serve.page import assets

PAGE = Path(__file__).parents[2] / "serve" / "page"
NAMES = sorted({*assets()} - {"reasons.js"})
"""The files in the folder; the words of reasons are the library's."""
NAMESPACES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML")
"""The addresses in the page: names of vocabularies, never asked for."""


@pytest.fixture
def client(client_for: Callable[..., TestClient]) -> TestClient:
    return client_for()


def words(language: str) -> dict[str, str]:
    text = (PAGE / f"{language}.js").read_text(encoding="utf-8")
    return dict(json.loads(text.partition("\nexport default")[2].strip().removesuffix(";")))


def test_the_page_is_at_the_root_under_a_strict_policy(client: TestClient) -> None:
    """The policy forbids other servers, inline code, frames, and text as markup."""
    assert client.head("/").content == b""
    reply = client.get("/")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "index.html"])
def test_every_file_has_its_content_type(client: TestClient, name: str) -> None:
    kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
    reply = client.get(f"/page/{name}")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith(kinds[name.rpartition(".")[2]])
    assert reply.content == (PAGE / name).read_bytes()
    assert "content-security-policy" in reply.headers


@pytest.mark.parametrize("name", ["__init__.py", "index.html", "nothing.js", "..%2f__main__.py"])
def test_no_other_file_is_served(client: TestClient, name: str) -> None:
    """Least of all the program's files; the error has the common format."""
    reply = client.get(f"/page/{name}")
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_found"


def test_a_known_version_is_not_sent_again(client: TestClient) -> None:
    tag = client.get("/").headers["etag"]
    assert client.get("/", headers={"If-None-Match": tag}).status_code == 304
    assert client.get("/page/app.js", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("name", NAMES)
def test_no_file_names_another_site(name: str) -> None:
    text = (PAGE / name).read_text(encoding="utf-8")
    for namespace in NAMESPACES:
        text = text.replace(namespace, "")
    assert not re.search(r"https?:|(?<![:\w])//\w+\.\w|@import|(?<!\w)url\(|[\"'(]data:", text)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("vendor/")])
def test_no_text_becomes_markup(name: str) -> None:
    """The policy forbids it in browsers that support it; the scripts never do it.

    Of the vendored library the page uses what makes elements, not what makes markup.
    """
    text = (PAGE / name).read_text(encoding="utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment"
        r"|DOMParser|\beval\(|new Function|\bon\w+=\"|style=\"|<style"
        r"|<script(?! type=\"module\" src)",
        text,
    )


def test_every_referenced_file_exists(client: TestClient) -> None:
    """References are relative, so a proxy may serve the page below a prefix."""
    html = client.get("/").text
    asked = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert asked
    assert all(client.get(f"/{path}").status_code == 200 for path in asked)
    for script in PAGE.glob("*.js"):
        for path in re.findall(r'(?:from |import\()"\./([^"]+)"', script.read_text("utf-8")):
            assert path in assets()
            assert client.get(f"/page/{path}").status_code == 200


def test_both_languages_have_the_same_words_with_the_same_blanks() -> None:
    en, zh = words("en"), words("zh")
    assert list(en) == list(zh)
    for key in en:
        assert sorted(re.findall(r"\{\w+\}", en[key])) == sorted(re.findall(r"\{\w+\}", zh[key])), (
            key
        )


def test_every_text_of_the_page_is_translated() -> None:
    """Keys in the document, and literal keys in the scripts."""
    known = words("en")
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    asked = set(re.findall(r'data-t(?:-label|-placeholder)?="([^"]+)"', html))
    for script in PAGE.glob("*.js"):
        asked |= set(re.findall(r'\bt\("([^"]+)"', script.read_text(encoding="utf-8")))
    assert len(asked) > 60
    assert asked <= set(known)


def test_every_verdict_outcome_and_answer_type_has_words() -> None:
    """A new one in the library fails this test."""
    for language in ("en", "zh"):
        known = words(language)
        named: list[Any] = [*Verdict, *Outcome, *(f"type.{kind}" for kind in AnswerType)]
        assert [name for name in named if str(name) not in known] == []
        assert {f"{v}.means" for v in [*Verdict, *Outcome] if v is not Outcome.JUDGED} <= set(known)


def test_every_label_belongs_to_a_field() -> None:
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    made_by_a_script = {"reference"}
    for name in re.findall(r'(?:for|aria-labelledby|aria-describedby)="([^"]+)"', html):
        assert name in ids | made_by_a_script
    assert len(ids) == len(re.findall(r'\bid="', html))
