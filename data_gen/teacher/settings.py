"""Settings of a teacher: models, sampling, rate limits and budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import BeforeValidator, Field, model_validator

from gradegpt.chain import render_chain
from gradegpt.engines.client import RequestSettings
from gradegpt.errors import MissingError
from gradegpt.fit import Budget
from gradegpt.settings import Settings

from .prompt import FORMAT, INSTRUCTIONS, FewShot
from .vote import read_reply

FEW_SHOT: Final = Path(__file__).with_name("few_shot.yaml")


def _examples(value: object) -> object:
    """The list in the YAML file at a path; a list is returned unchanged."""
    return _load(Path(value)) if isinstance(value, str) else value


def _load(path: Path) -> Any:
    if not path.is_file():
        raise MissingError(
            f"{path}: examples: no such file; correct the path, or leave out 'examples'"
        )
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader) or []  # noqa: S506  BaseLoader makes strings only
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error


class TeacherModel(RequestSettings):
    """One model behind an OpenAI-compatible API. Prices are per million tokens."""

    model: str = Field(min_length=1)
    base_url: str = ""
    """Up to and including ``/v1``; empty: the ``base_url`` of the teacher."""
    api_key_env: str = ""
    """Environment variable that holds the key; empty: the ``api_key_env`` of the teacher."""
    input_price: float = Field(default=0.0, ge=0)
    output_price: float = Field(default=0.0, ge=0)


def _shipped() -> tuple[FewShot, ...]:
    return tuple(FewShot.model_validate(example) for example in _load(FEW_SHOT))


class TeacherSettings(Settings):
    """A teacher: each of ``models`` writes ``samples`` chains for an item, which vote.

    ``budget`` (money, in the currency of the prices) and ``max_tokens_total`` limit the total cost
    of the labels of a run. Cached replies of an earlier run cost nothing but count, so that the
    same settings give the same labels however often a run was stopped.
    """

    models: tuple[TeacherModel, ...] = Field(min_length=1)
    base_url: str = ""
    api_key_env: str = ""
    """Environment variable that holds the key; empty: the servers need no key."""
    cache: str = Field(min_length=1)
    """SQLite file of the replies."""
    samples: int = Field(default=1, ge=1)
    temperature: float | None = Field(default=0.0, ge=0)
    """None: not sent, for servers that reject it."""
    agree: int | None = Field(default=None, ge=1)
    """Votes that must agree; none: more than half of all requested replies."""
    concurrency: int = Field(default=8, ge=1)
    requests_per_minute: float = Field(default=0.0, ge=0)
    tokens_per_minute: float = Field(default=0.0, ge=0)
    max_retries: int = Field(default=4, ge=0)
    give_up_after: int = Field(default=20, ge=1)
    """Number of consecutive failed requests after which the run ends with an error."""
    timeout_s: float = Field(default=120.0, gt=0)
    max_new_tokens: int = Field(default=512, ge=1)
    budget: float | None = Field(default=None, ge=0)
    max_tokens_total: int | None = Field(default=None, ge=0)
    shown: Budget = Budget()
    """Token budget of an item in the prompt of a teacher, in estimated tokens."""
    instructions: str = INSTRUCTIONS
    examples: Annotated[tuple[FewShot, ...], BeforeValidator(_examples)] = Field(
        default_factory=_shipped
    )

    @property
    def replies_per_item(self) -> int:
        """Replies requested for an item."""
        return self.samples * len(self.models)

    @property
    def must_agree(self) -> int:
        """Votes that must agree."""
        return self.agree or self.replies_per_item // 2 + 1

    @model_validator(mode="after")
    def _models_are_usable(self) -> TeacherSettings:
        names = [model.model for model in self.models]
        if len(set(names)) < len(names):
            raise ValueError("models: a name occurs twice; raise samples to ask a model again")
        if missing := [m.model for m in self.models if not (m.base_url or self.base_url)]:
            raise ValueError(f"base_url: missing for {missing[0]!r}; set it for the teacher")
        free = [m.model for m in self.models if m.input_price == m.output_price == 0]
        if self.budget is not None and free:
            raise ValueError(f"budget: {free[0]!r} has no prices; set input_price and output_price")
        return self

    @model_validator(mode="after")
    def _votes_can_agree(self) -> TeacherSettings:
        if self.must_agree > self.replies_per_item:
            raise ValueError(
                f"agree: {self.agree} of {self.replies_per_item} replies cannot agree; lower it"
            )
        if self.samples > 1 and self.temperature == 0:
            raise ValueError(
                f"samples: {self.samples} samples at temperature 0 are equal; "
                "raise temperature or ask several models"
            )
        return self

    @model_validator(mode="after")
    def _examples_are_rendered_chains(self) -> TeacherSettings:
        for number, example in enumerate(self.examples):
            chain = read_reply(example.chain, example.response, self.shown.response)
            if isinstance(chain, str):
                raise ValueError(f"examples.{number}.chain: {chain}")
            if render_chain(chain, FORMAT) != example.chain:
                raise ValueError(
                    f"examples.{number}.chain: not as render_chain writes it; "
                    f"write {render_chain(chain, FORMAT)!r}"
                )
        return self
