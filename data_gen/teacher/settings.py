"""Settings of a teacher: the model, where it runs, and the budget."""

from __future__ import annotations

from pydantic import Field, model_validator

from gradegpt.engines.client import RequestSettings


class TeacherSettings(RequestSettings):
    """A large model that writes a chain for an item.

    ``budget`` (money, in the currency of the prices) limits the total cost of the labels of a run.
    Cached replies of an earlier run cost nothing but count, so that the same settings give the same
    labels however often a run was stopped.
    """

    model: str = Field(min_length=1)
    base_url: str = ""
    """Up to and including ``/v1``; empty: the model is a folder or hub name, run in this process,
    one request at a time."""
    api_key_env: str = ""
    """Environment variable that holds the key; empty: the server needs no key."""
    cache: str = Field(min_length=1)
    """SQLite file of the replies."""
    concurrency: int = Field(default=8, ge=1)
    timeout_s: float = Field(default=120.0, gt=0)
    max_new_tokens: int = Field(default=512, ge=1)
    """The limit on a reply; a model that is cut off while it thinks is given ``thinking_tokens``
    more, or 8,192 where its settings name none."""
    input_price: float = Field(default=0.0, ge=0)
    """Of a million tokens, as the other one."""
    output_price: float = Field(default=0.0, ge=0)
    budget: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _a_budget_has_prices(self) -> TeacherSettings:
        if self.budget is not None and self.input_price == self.output_price == 0:
            raise ValueError("budget: there are no prices; set input_price and output_price")
        return self
