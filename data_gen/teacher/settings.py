"""Settings of a teacher: models, samples and budget."""

from __future__ import annotations

from pydantic import Field, model_validator

from gradegpt.core.settings import Settings
from gradegpt.engines.client import RequestSettings


class TeacherModel(RequestSettings):
    """One model behind an OpenAI-compatible API. Prices are per million tokens."""

    model: str = Field(min_length=1)
    input_price: float = Field(default=0.0, ge=0)
    output_price: float = Field(default=0.0, ge=0)


class TeacherSettings(Settings):
    """A teacher: each of ``models`` writes ``samples`` chains for an item, which vote.

    ``budget`` (money, in the currency of the prices) limits the total cost of the labels of a run.
    Cached replies of an earlier run cost nothing but count, so that the same settings give the same
    labels however often a run was stopped.
    """

    models: tuple[TeacherModel, ...] = Field(min_length=1)
    base_url: str = ""
    """Up to and including ``/v1``; empty: the models are folders or hub names, run in this process,
    one request at a time."""
    api_key_env: str = ""
    """Environment variable that holds the key; empty: the server needs no key."""
    cache: str = Field(min_length=1)
    """SQLite file of the replies."""
    samples: int = Field(default=1, ge=1)
    """Several are drawn at temperature 0.7, a single one at 0."""
    concurrency: int = Field(default=8, ge=1)
    timeout_s: float = Field(default=120.0, gt=0)
    max_new_tokens: int = Field(default=512, ge=1)
    """The limit on a reply; a model that is cut off while it thinks is given ``thinking_tokens``
    more, or 8,192 where its settings name none."""
    budget: float | None = Field(default=None, ge=0)

    @property
    def temperature(self) -> float:
        """The temperature of the samples; a model's ``extra_body`` may replace it."""
        return 0.7 if self.samples > 1 else 0.0

    @property
    def must_agree(self) -> int:
        """Votes that must agree: more than half of all requested replies."""
        return self.samples * len(self.models) // 2 + 1

    @model_validator(mode="after")
    def _models_are_usable(self) -> TeacherSettings:
        names = [model.model for model in self.models]
        if len(set(names)) < len(names):
            raise ValueError("models: a name occurs twice; raise samples to ask a model again")
        free = [m.model for m in self.models if m.input_price == m.output_price == 0]
        if self.budget is not None and free:
            raise ValueError(f"budget: {free[0]!r} has no prices; set input_price and output_price")
        return self
