"""Settings of a teacher: whom to ask, how, how often, and for how much."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BeforeValidator, Field, model_validator

from gradegpt.chain import render_chain
from gradegpt.errors import MissingError
from gradegpt.fit import Budget
from gradegpt.settings import Settings

from .prompt import FORMAT, INSTRUCTIONS, FewShot
from .vote import read_reply

FEW_SHOT: Final = Path(__file__).with_name("few_shot.yaml")


def _examples(value: object) -> object:
    """A path becomes the list that its YAML file holds; a list stays what it is."""
    return _load(Path(value)) if isinstance(value, str) else value


def _load(path: Path) -> Any:
    if not path.is_file():
        raise MissingError(f"{path}: no such file of examples; the shipped one is {FEW_SHOT.name}")
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader) or []  # noqa: S506  BaseLoader makes strings only
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error


class TeacherModel(Settings):
    """One model behind an OpenAI-compatible API. Prices are per million tokens."""

    model: str = Field(min_length=1)
    base_url: str = ""
    """Up to and including ``/v1``; empty: the teacher's."""
    api_key_env: str = ""
    """Environment variable that holds the key; empty: the teacher's."""
    input_price: float = Field(default=0.0, ge=0)
    output_price: float = Field(default=0.0, ge=0)
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the server calls the bound on new tokens."""


def _shipped() -> tuple[FewShot, ...]:
    return tuple(FewShot.model_validate(example) for example in _load(FEW_SHOT))


class TeacherSettings(Settings):
    """A teacher: each of ``models`` writes ``samples`` chains for an item, and they vote.

    ``budget`` (money, in the prices' currency) and ``max_tokens_total`` bound what the labels of a
    run cost in all: replies that an earlier run paid for and the cache holds are free to use again
    but count, so that the same settings give the same labels however often a run was stopped.
    """

    models: tuple[TeacherModel, ...] = Field(min_length=1)
    base_url: str = ""
    api_key_env: str = ""
    """Environment variable that holds the key; empty: the servers take any word."""
    cache: str = Field(min_length=1)
    """SQLite file of the replies that were paid for."""
    samples: int = Field(default=1, ge=1)
    temperature: float | None = Field(default=0.0, ge=0)
    """None: not sent, for servers that refuse it."""
    agree: int | None = Field(default=None, ge=1)
    """Votes that must agree; none: more than half of all that are asked for."""
    concurrency: int = Field(default=8, ge=1)
    requests_per_minute: float = Field(default=0.0, ge=0)
    tokens_per_minute: float = Field(default=0.0, ge=0)
    max_retries: int = Field(default=4, ge=0)
    give_up_after: int = Field(default=20, ge=1)
    """Requests in a row that may fail before the run ends with an error."""
    timeout_s: float = Field(default=120.0, gt=0)
    max_new_tokens: int = Field(default=512, ge=1)
    budget: float | None = Field(default=None, ge=0)
    max_tokens_total: int | None = Field(default=None, ge=0)
    shown: Budget = Budget()
    """How much of an item a teacher is shown, in estimated tokens."""
    instructions: str = INSTRUCTIONS
    examples: Annotated[tuple[FewShot, ...], BeforeValidator(_examples)] = Field(
        default_factory=_shipped
    )

    @property
    def asked(self) -> int:
        """Replies asked for an item."""
        return self.samples * len(self.models)

    @property
    def must_agree(self) -> int:
        """Votes that must agree."""
        return self.agree or self.asked // 2 + 1

    @model_validator(mode="after")
    def _models_are_usable(self) -> TeacherSettings:
        names = [model.model for model in self.models]
        if len(set(names)) < len(names):
            raise ValueError("models: a name stands twice; raise samples to ask a model again")
        if missing := [m.model for m in self.models if not (m.base_url or self.base_url)]:
            raise ValueError(f"base_url: required, no server is given for {missing[0]!r}")
        free = [m.model for m in self.models if m.input_price == m.output_price == 0]
        if self.budget is not None and free:
            raise ValueError(
                f"budget: needs prices, {free[0]!r} has none; set input_price and output_price"
            )
        return self

    @model_validator(mode="after")
    def _votes_can_agree(self) -> TeacherSettings:
        if self.must_agree > self.asked:
            raise ValueError(f"agree: {self.agree} of {self.asked} replies cannot agree")
        if self.samples > 1 and self.temperature == 0:
            raise ValueError(
                f"samples: {self.samples} at temperature 0 would be one reply several times; "
                "raise temperature or ask several models"
            )
        return self

    @model_validator(mode="after")
    def _examples_are_what_is_asked_for(self) -> TeacherSettings:
        for number, example in enumerate(self.examples):
            chain = read_reply(example.chain, example.response, self.shown.response)
            if isinstance(chain, str):
                raise ValueError(f"examples.{number}.chain: {chain}")
            if render_chain(chain, FORMAT) != example.chain:
                raise ValueError(
                    f"examples.{number}.chain: not what is asked for, which is "
                    f"{render_chain(chain, FORMAT)!r}"
                )
        return self
