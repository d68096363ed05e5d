"""POST /v1/judge, the limits, and the format of all errors."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

import gradegpt
from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Item, Judgement
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from serve.templates import TEMPLATES

ClientFor = Callable[..., TestClient]


def error_of(reply: httpx2.Response) -> dict[str, Any]:
    """The error in a reply, which must have the common format."""
    body = reply.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"message", "type", "code", "param"}
    return dict(body["error"])


def test_an_item_gets_its_judgement(client_for: ClientFor, item: dict[str, Any]) -> None:
    reply = client_for().post("/v1/judge", json={**item, "id": "a"})
    assert reply.status_code == 200
    judgement = Judgement.model_validate(reply.json()["judgement"])
    assert (judgement.id, judgement.outcome, judgement.verdict) == ("a", "judged", "correct")


def test_a_file_is_read_as_the_commands_read_it(client_for: ClientFor) -> None:
    """In an old encoding, with Chinese columns; rows that are no items, with the reason."""
    text = "学号,题目,参考答案,学生答案,是否正确\n1,2+2,4,4,对\n2,3+3,,6,错\n3,1+1,2,2,也许\n"
    read = client_for().post("/v1/table?name=class.csv", content=text.encode("gbk")).json()
    assert read["columns"] == ["学号", "题目", "参考答案", "学生答案", "是否正确"]
    assert read["fields"] == {
        "question": "题目", "reference": "参考答案", "response": "学生答案", "label": "是否正确",
    }  # fmt: skip
    assert read["rows"][0] == {
        "where": "class.csv:2", "label": "correct",
        "item": {"id": "2", "question": "2+2", "reference": ["4"], "response": "4"},
        "row": {"学号": "1", "题目": "2+2", "参考答案": "4", "学生答案": "4", "是否正确": "对"},
    }  # fmt: skip
    assert [row["where"] for row in read["rows"][1:]] == ["class.csv:3", "class.csv:4"]
    assert [row["row"]["学号"] for row in read["rows"][1:]] == ["2", "3"]
    assert "is empty" in read["rows"][1]["problem"]
    assert "is not a verdict" in read["rows"][2]["problem"]
    refused = client_for().post("/v1/table?name=a.csv", content=b"a,b\n1,2\n")
    assert (refused.status_code, "known as reference or response" in refused.text) == (422, True)


def test_a_class_list_has_a_row_for_each_answer(client_for: ClientFor) -> None:
    """A column a question, in either language; the key and the questions may be rows of it."""
    post = client_for().post
    for text, expected in CLASS_LISTS.items():
        read = post("/v1/table?name=list.csv", content=text.encode()).json()
        items = [row["item"] for row in read["rows"]]
        assert [(i["question"], *i["reference"], i["response"]) for i in items] == expected
        assert all(
            any(name in row["row"].values() for name in ("Ann", "安")) for row in read["rows"]
        )


def test_how_a_class_list_was_read_is_said(client_for: ClientFor) -> None:
    """Its pupils, also of one name, its questions, and what is no pupil or no question."""
    text = "姓名,第1题,(2),作文\n标答,4,罗马,好\n满分,5,5,\n安,4,罗马,\n安,5,,\n平均分,5,5,\n"
    post = client_for().post
    read = post("/v1/table?name=list.csv", content=text.encode()).json()
    assert [note.removeprefix("list.csv: ") for note in read["notes"][:3]] == [
        "class list of 2 pupils; questions: 第1题, (2); left out: 满分, 平均分",
        "not judged, as no name of a question: 作文; to judge one, rename it 第3题",
        "several pupils are called 安; add a column of numbers",
    ]
    assert read["rows"][1]["where"] == "list.csv:4, (2)"
    text = text.replace("第1题", "听力").replace("(2)", "得分")
    refused = post("/v1/table?name=list.csv", content=text.encode()).text
    assert (
        "reference answers, but of no questions; rename 听力, 得分, 作文 to 第1题, 第2题" in refused
    )


def test_a_class_list_without_a_key_asks_for_it(client_for: ClientFor) -> None:
    """Also for that of one question; a question without one is left out, which is said."""
    text = "姓名,第1题,第2题\n安,4,罗马\n".encode()
    post = client_for().post
    assert post("/v1/table?name=list.csv", content=text).json()["asks"] == ["第1题", "第2题"]
    given = {"name": "list.csv", "key": '{"第1题": "4"}'}
    read = post("/v1/table", params=given, content=text).json()
    assert [row["item"]["question"] for row in read["rows"]] == ["第1题"]
    assert "list.csv: no reference answer of 第2题, not judged" in read["notes"]
    partly = text + "参考答案,4,\n".encode()
    assert post("/v1/table?name=list.csv", content=partly).json()["asks"] == ["第2题"]
    assert post("/v1/table?name=list.csv&key=4", content=text).status_code == 422


HEADS = ["(1)", "（2）", "T3", "填空4", "一、5", "小题6", "Item 7", "Problem 8", "Task 9"]
CLASS_LISTS = {
    "姓名,(1),(2)\n题目,填空,填空\n标答,4,罗马\n安,5,\n": [
        ("(1) 填空", "4", "5"), ("(2) 填空", "罗马", ""),
    ],
    "name,class,Q1,Q2\nkey,,4,Paris\nAnn,7a,5,\n": [("Q1", "4", "5"), ("Q2", "Paris", "")],
    "name,Q1,Q2: France?\nquestion,2+2,\n,,\nAnn,5,Rome\nAnswer key,4,Paris\n": [
        ("2+2", "4", "5"), ("Q2: France?", "Paris", "Rome"),
    ],
    "name,1,2\nreference,4,Paris\nfull marks,5,5\nAnn,5,Rome\nAverage,3.5,4\n": [
        ("1", "4", "5"), ("2", "Paris", "Rome"),
    ],
    "学号,姓名,第1题(5分),第二题,第1题 得分\n,标准答案,4,巴黎,\n1,安,5,罗马,0\n": [
        ("第1题(5分)", "4", "5"), ("第二题", "巴黎", "罗马"),
    ],
    f"名,{','.join(HEADS)}\nkey,{','.join('1' * 9)}\n安{',' * 9}\n": [(h, "1", "") for h in HEADS],
}  # fmt: skip


def test_items_get_judgements_in_order_and_counts_that_add_up(client_for: ClientFor) -> None:
    """Outcomes add up to the items, and verdicts to the judged ones."""
    script = ["<Yes>", "<No>", "no tag", EngineError("down"), "<Yes>"]
    items = [{"id": str(n), "reference": "4", "response": f"r{n}"} for n in range(5)]
    body = client_for(script).post("/v1/judge", json={"items": items}).json()
    assert [row["id"] for row in body["judgements"]] == ["0", "1", "2", "3", "4"]
    assert body["counts"] == {
        "n_items": 5, "n_judged": 3, "n_undecided": 0, "n_unparsed": 1, "n_failed": 1,
        "n_correct": 2, "n_incorrect": 1, "n_invalid": 0,
    }  # fmt: skip


def test_neighbours_ask_for_a_judgement_of_each_item(
    client_for: ClientFor, item: dict[str, Any]
) -> None:
    reply = client_for().post(
        "/v1/neighbours", json={"items": [item], "judgements": [], "graded": []}
    )
    assert reply.status_code == 422
    assert "give one judgement an item" in error_of(reply)["message"]


def test_the_names_of_columns_in_files_are_taken_here_too(client_for: ClientFor) -> None:
    """``answer`` is the reference, and a label is shown to no judge; one item, several, a line."""
    item = {"题目": "2+2=?", "answer": "4", "prediction": "It is 4.", "human_label": True}
    client = client_for(ModelJudge(ScriptedEngine(["<Yes>"] * 3)))
    lines = {"content": json.dumps(item), "headers": {"Content-Type": "application/x-ndjson"}}
    sent: list[dict[str, Any]] = [{"json": item}, {"json": {"items": [item]}}, lines]
    for one in sent:
        reply = client.post("/v1/judge", **one)
        assert reply.status_code == 200
        assert '"correct"' in reply.text
    twice = item | {"output": "5"}
    reply = client.post("/v1/judge", json=twice)
    assert "`response` may be any of prediction, output" in error_of(reply)["message"]


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"reference": 4, "response": 4.0}, "correct"),
        ({"reference": [1, 4], "response": "4", "id": 7, "context": None}, "correct"),
        ({"reference": "4", "response": None, "tolerance": ""}, "invalid"),
        ({"answer": 4, "prediction": None, "question": None}, "invalid"),
    ],
)
def test_numbers_and_nothing_are_read_as_in_a_file_and_in_python(
    client_for: ClientFor, fields: dict[str, Any], verdict: str
) -> None:
    """A number is its text, no response an empty one, and any other empty field is left out."""
    client = client_for()
    sent: list[dict[str, Any]] = [
        {"json": fields}, {"json": {"items": [fields]}},
        {"content": json.dumps(fields), "headers": {"Content-Type": "application/x-ndjson"}},
    ]  # fmt: skip
    replies = [client.post("/v1/judge", **one).text.replace(" ", "") for one in sent]
    assert all(f'"verdict":"{verdict}"' in reply for reply in replies)
    made = [gradegpt.judge_many([fields], "rules")[0]]
    if "reference" in fields:
        made.append(gradegpt.judge(**fields, judge="rules"))
    assert {one.verdict for one in made} == {verdict}


def test_one_invalid_item_refuses_the_request_and_is_named(
    client_for: ClientFor, item: dict[str, Any]
) -> None:
    """The client corrects one item and sends the request again."""
    engine = ScriptedEngine(["<Yes>"] * 9)
    items = [item] * 3 + [{"response": "x", "qestion": "?"}] + [item] * 3
    reply = client_for(ModelJudge(engine)).post("/v1/judge", json={"items": items})
    assert reply.status_code == 422
    assert error_of(reply) == {
        "message": "items.3.reference: field required; items.3.qestion: unknown field",
        "type": "invalid_request_error",
        "code": "invalid_input",
        "param": "items.3.reference",
    }
    assert engine.prompts == []


def test_many_complaints_are_counted_and_not_all_listed(client_for: ClientFor) -> None:
    reply = client_for().post("/v1/judge", json={"items": [{"reference": "4"}] * 50})
    message = error_of(reply)["message"]
    assert message.count("field required") == 20
    assert message.endswith("; and 30 more")


@pytest.mark.parametrize(
    ("body", "message", "param"),
    [
        ({}, "reference: field required; response: field required", "reference"),
        ({"items": []},
         "items: expected at least one entry", "items"),
        ({"items": 5}, "items: expected a list", "items"),
        ({"items": [5]},
         "items.0: expected an object", "items.0"),
        ({"reference": {"value": 4}, "response": "4"},
         'reference: expected text or a list of texts; write a number in quotes, "42"',
         "reference"),
        ({"reference": " ", "response": "4"},
         "reference: an accepted answer is empty; there is nothing to grade against", None),
        ({"reference": None, "response": "4"}, "reference: field required", "reference"),
        ({"reference": "4", "response": "4", "qestion": None},
         "qestion: unknown field", "qestion"),
    ],
    ids=["empty", "no-items", "items-a-number", "item-a-number", "reference-an-object",
         "reference-blank", "reference-null", "unknown-null"],
)  # fmt: skip
def test_a_complaint_says_where_and_what(
    client_for: ClientFor, body: Any, message: str, param: str | None
) -> None:
    reply = client_for().post("/v1/judge", json=body)
    assert (reply.status_code, error_of(reply)["message"]) == (422, message)
    assert error_of(reply)["param"] == param


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON: Expecting property name"),
        (b"", "the body is not JSON: Expecting value"),
        (b"\xff\xfe", "the body is not JSON: 'utf-8' codec can't decode byte 0xff"),
        (b"[" * 200_000, "the body is not JSON: maximum recursion depth"),
        (b"[1]", "the body is a list, not a JSON object"),
        (b"9" * 5_000, "the body is not JSON: Exceeds the limit"),
        (
            b'{"id": "1"}\n{"id": "2"}',
            "the body is not JSON: Extra data: line 2 column 1 (char 12); "
            "POST /v1/judge reads JSON Lines with Content-Type: application/x-ndjson",
        ),
    ],
    ids=["torn", "empty", "not-utf8", "nested", "list", "huge-number", "lines"],
)
def test_a_body_that_is_no_json_object_is_400(
    client_for: ClientFor, body: bytes, message: str
) -> None:
    for path in ("/v1/judge", "/v1/chat/completions", "/get_reward"):
        reply = client_for().post(path, content=body)
        assert (reply.status_code, error_of(reply)["code"]) == (400, "malformed_json")
        assert error_of(reply)["message"].startswith(message)


def test_unknown_paths_and_methods_get_the_same_format_and_a_hint(client_for: ClientFor) -> None:
    assert (
        client_for().head("/health").status_code == client_for().head("/ready").status_code == 200
    )
    there = "GET /openapi.json lists all routes"
    nowhere, wrong = client_for().get("/nope"), client_for().get("/v1/judge")
    assert (nowhere.status_code, error_of(nowhere)["code"]) == (404, "not_found")
    assert error_of(nowhere)["message"] == f"GET /nope: not found; {there}"
    assert (wrong.status_code, error_of(wrong)["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/v1/judge", "/v1/chat/completions", "/v1/table?name=a.csv"])
def test_a_compressed_body_is_400(client_for: ClientFor, path: str) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/x-ndjson"}
    reply = client_for().post(path, content=gzip.compress(b"{}"), headers=headers)
    assert (reply.status_code, error_of(reply)["code"]) == (400, "unsupported_value")
    assert "compressed bodies are not read" in error_of(reply)["message"]


@pytest.mark.parametrize("counted", [True, False], ids=["content-length", "chunked"])
def test_a_body_over_the_limit_is_413_with_and_without_its_length(
    client_for: ClientFor, counted: bool
) -> None:
    """A body without a declared length is counted."""
    body = b'{"response": "' + b"x" * 2_000 + b'"}'

    def chunks() -> Iterator[bytes]:
        yield body

    client = client_for(max_body_bytes=1_000)
    reply = client.post("/v1/judge", content=body if counted else chunks())
    assert (reply.status_code, error_of(reply)["code"]) == (413, "too_large")
    assert "over 1,000 bytes" in error_of(reply)["message"]


def test_too_many_items_are_413(client_for: ClientFor, item: dict[str, Any]) -> None:
    reply = client_for(max_items=2).post("/v1/judge", json={"items": [item] * 3})
    assert reply.status_code == 413
    assert error_of(reply)["message"].startswith("items: 3 items are more than 2 per request")


def test_odd_json_does_no_harm(client_for: ClientFor, item: dict[str, Any]) -> None:
    """Texts that are cut inside an emoji are common in exports and not valid UTF-8.

    Meta may be nested more deeply than pydantic can write, and is never written.
    """
    body = b'{"reference": "4", "response": "4 \\ud83d", "id": "\\ud83d"}'
    reply = client_for(["the chain <Yes>"]).post("/v1/judge", content=body)
    assert reply.json()["judgement"]["id"] == "\ufffd"
    meta: dict[str, Any] = {}
    for _ in range(800):
        meta = {"a": meta}
    client = client_for(log="requests")
    reply = client.post("/v1/judge", json={**item, "meta": meta})
    assert reply.json()["judgement"]["verdict"] == "correct"


class _Broken:
    name = "broken"
    fingerprint = "broken"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        raise self._error


def test_an_unexpected_error_is_500_and_its_details_are_in_the_log_alone(
    client_for: ClientFor, item: dict[str, Any], logged: io.StringIO
) -> None:
    client = client_for(_Broken(KeyError("secret")))
    reply = client.post("/v1/judge", json=item)
    assert (reply.status_code, error_of(reply)["code"]) == (500, "internal_error")
    assert "secret" not in reply.text
    assert "KeyError: 'secret'" in logged.getvalue()
    assert client.get("/health").status_code == 200


def test_models_and_health_name_the_served_judge(client_for: ClientFor) -> None:
    client = client_for(served_model_name="judge-1")
    [model] = client.get("/v1/models").json()["data"]
    assert (model["id"], client.get("/v1/models/judge-1").json()) == ("judge-1", model)
    assert error_of(client.get("/v1/models/other")) == {
        "message": "no model 'other'; the only one is 'judge-1', and prompts may name any model",
        "type": "invalid_request_error", "code": "model_not_found", "param": "model",
    }  # fmt: skip
    health = client.get("/health").json()
    assert (health["status"], health["judge"]) == ("ok", "rules")
    assert health["fingerprint"] == client_for(RuleJudge()).get("/health").json()["fingerprint"]
    assert client.get("/ready").json() == {"status": "ready"}


def test_every_family_is_listed_with_an_example_that_is_recognised(client_for: ClientFor) -> None:
    """The guide names each, also those that are only refused."""
    client = client_for()
    families = client.get("/v1/adapters").json()["data"]
    assert {"gradegpt", "cmmath"} <= {family["name"] for family in families}
    own = next(family for family in families if family["name"] == "gradegpt")
    body = {"model": "any", "messages": own["example"]}
    assert client.post("/v1/chat/completions", json=body).status_code == 200
    guide = (Path(__file__).parents[2] / "docs/guides/adapters.md").read_text("utf-8")
    assert [one.name for one in TEMPLATES if f"`{one.name}`" not in guide] == []


def test_the_document_describes_every_route_and_every_error(client_for: ClientFor) -> None:
    """References resolve, and bodies and errors have schemas; there is no documentation page."""
    document = client_for().get("/openapi.json").json()
    assert document["info"]["version"] == gradegpt.__version__
    text = json.dumps(document)
    for name in set(re.findall(r'"#/components/schemas/(\w+)"', text)):
        assert name in document["components"]["schemas"]
    for path in ("/v1/judge", "/v1/chat/completions", "/v1/completions"):
        route = document["paths"][path]["post"]
        assert "$ref" in json.dumps(route["requestBody"])
        assert {"400", "401", "413", "422", "429", "502", "503", "504"} <= set(route["responses"])


def lines_of(reply: httpx2.Response) -> list[dict[str, Any]]:
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in reply.text.splitlines()]


def test_lines_are_judged_in_order_and_an_invalid_one_is_an_error_alone(
    client_for: ClientFor, item: dict[str, Any]
) -> None:
    """The error is in the place of its judgement, and names the line of the body."""
    rows: list[Any] = [{**item, "id": str(n)} for n in range(200)]
    rows[3], rows[5] = {"response": "x"}, [1]
    body = "\n".join(json.dumps(row) for row in rows) + "\n\n{torn"
    reply = client_for().post(
        "/v1/judge", content=body, headers={"Content-Type": "application/x-ndjson; charset=utf-8"}
    )
    said = lines_of(reply)
    assert len(said) == 201
    wrong = [row for row in said if "error" in row]
    assert [row["line"] for row in wrong] == [4, 6, 202]
    assert wrong[0]["error"]["message"] == "reference: field required"
    ids = [row["id"] for row in said if "error" not in row]
    assert ids == [str(n) for n in range(200) if n not in (3, 5)]


def test_a_line_over_the_limit_is_an_error_alone(
    client_for: ClientFor, item: dict[str, Any]
) -> None:
    """The stream may have any length."""
    good, bad = json.dumps(item), json.dumps({**item, "response": "x" * 2_000})

    def chunks() -> Iterator[bytes]:
        for line in (good, bad, *[good] * 20):
            yield line.encode() + b"\n"

    reply = client_for(max_body_bytes=1_000).post(
        "/v1/judge", content=chunks(), headers={"Content-Type": "application/x-ndjson"}
    )
    said = lines_of(reply)
    assert (len(said), said[1]["error"]["code"], said[1]["line"]) == (22, "too_large", 2)
    assert all(row["verdict"] == "correct" for row in said[:1] + said[2:])
