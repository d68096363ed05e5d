"""A client for any judge, and a prompt to send."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradegpt.chains.chain import PromptSettings, build_prompt
from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Item
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.base import Judge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from serve.app import create_app
from serve.settings import ServeSettings

ITEM = {"question": "2+2=?", "reference": "4", "response": "The answer is 4."}


@pytest.fixture
def item() -> dict[str, Any]:
    """An item that the rules find correct."""
    return dict(ITEM)


@pytest.fixture
def prompt() -> list[dict[str, str]]:
    """The GradeGPT prompt of that item."""
    messages = build_prompt(Item.model_validate(ITEM), PromptSettings())
    return [message.model_dump() for message in messages]


@pytest.fixture
def client_for() -> Iterator[Callable[..., TestClient]]:
    """A client of a server with a judge, or with scripted replies, and any settings."""
    made: list[TestClient] = []

    def make(
        judge: Judge | Sequence[str | EngineError] | None = None,
        /,
        api_keys: Sequence[str] = (),
        **settings: Any,
    ) -> Any:
        if judge is None:
            judge = RuleJudge()
        elif isinstance(judge, list):
            judge = ModelJudge(ScriptedEngine(judge))
        app = create_app(judge, ServeSettings.model_validate(settings), api_keys)  # type: ignore[arg-type]
        made.append(TestClient(app, raise_server_exceptions=False))
        return made[-1]

    yield make
    for client in made:
        client.app.state.service.scheduler.close()  # type: ignore[attr-defined]
