"""The settings of a server."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from gradegpt.core.settings import Settings
from gradegpt.judges.settings import AnyJudge, CascadeJudgeSettings

from .templates.template import WhenUndecided

_BODIES: Final = 64
"""The largest bodies that the server holds at a time."""


class ServeSettings(Settings):
    """The judge to serve, its address and name, and the limits of requests.

    ``max_body_bytes`` limits the bytes of a request, also without a declared length, or of one line
    of a stream. A response that exceeds the judge's budget is shortened, not refused. ``port: 0``
    uses any free port; the ready line names it.
    """

    command: ClassVar[str] = "serve"
    judge: AnyJudge = CascadeJudgeSettings()
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    served_model_name: str = Field(default="gradegpt", min_length=1)
    adapters: tuple[str, ...] = ()
    """The names of the recognised prompt templates; empty means all."""
    templates: tuple[Path, ...] = ()
    """Files with prompts and replies of one's own; ``gradegpt serve.template FILE`` tries one."""
    refused: Path | None = None
    """A file that keeps unrecognised prompts, for ``gradegpt serve.template learn``."""
    undecided: WhenUndecided = "guess"
    """The reply without a verdict, if the caller's parser has none for that: ``incorrect``, the
    judge's withheld verdict (``guess``; without one ``incorrect``), or none (``refuse``: an error,
    or an empty reply where the parser counts one)."""
    reward_undecided: float | None = None
    """The reward of ``/get_reward`` without a verdict; by default that of ``undecided``."""

    workers: int | None = Field(default=None, ge=0)
    """Processes with a judge each, replaced when they die; 0 judges in the server's process. By
    default one for a local model behind rules, which it would slow down here, and else none."""
    lanes: int = Field(default=1, ge=1)
    """Concurrent batches in the server's process; more than one only for rules and for judges
    behind a URL."""

    max_items: int = Field(default=256, ge=1)
    max_body_bytes: int = Field(default=8 * 2**20, ge=1)
    max_batch: int = Field(default=64, ge=1)
    """The most items of a batch."""
    max_queue: int = Field(default=8_192, ge=1)
    """The most waiting items; further requests are refused as busy."""
    deadline_s: float = Field(default=120.0, gt=0)
    """Seconds until an unanswered request fails."""
    grace_s: float = Field(default=30.0, ge=0)
    """Seconds for running requests to finish after SIGTERM."""

    log: Literal["nothing", "requests"] = "nothing"
    """Write a JSON line per request to stderr, without its content."""

    @property
    def max_held_bytes(self) -> int:
        """The most bytes of all running requests; further ones are refused as busy."""
        return _BODIES * self.max_body_bytes

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if self.max_items > self.max_queue:
            raise ValueError(
                f"max_items: {self.max_items} exceeds max_queue={self.max_queue}; "
                "lower it, or raise max_queue"
            )
        if self.lanes > 1 and not self.judge.takes_several:
            raise ValueError(
                "lanes: a transformers model judges one batch at a time; set workers instead"
            )
        return self
