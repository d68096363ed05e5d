"""What a server is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from gradegpt.engines.exported import is_exported
from gradegpt.judges.build import JudgeSettings
from gradegpt.settings import Settings


class ServeSettings(Settings):
    """Which judge to serve, where, under which name, and how much may be asked of it.

    ``max_body_bytes`` bounds a request whatever it says of its own length, or one line of a stream.
    A response longer than the judge reads is fitted, not refused; the ``max_..._characters`` bound
    what is fitted. ``port: 0`` takes any free port; the ready line names it.
    """

    judge: JudgeSettings = JudgeSettings()
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    served_model_name: str = Field(default="gradegpt-nano", min_length=1)
    any_model: bool = True
    """Answer to every model name: pipelines have one built in, and only the base URL changes."""
    adapters: tuple[str, ...] = ()
    """The families of prompts that are recognised, by name; none means all."""
    unrecognised: Literal["refuse", "pass"] = "refuse"
    """A prompt of no family: an error that names the nearest, or on to the judge's engine."""
    undecided: Literal["refuse", "incorrect"] = "refuse"
    """Nothing decided, and the caller has no word for that: an error, or the word for wrong."""
    reward_undecided: float | None = None
    """What ``/get_reward`` gives where no verdict was reached; none is an error."""

    workers: int = Field(default=0, ge=0)
    """Processes that hold a judge each and are replaced when they die; 0 judges in the server."""
    lanes: int = Field(default=1, ge=1)
    """Batches at once with ``workers: 0``; several only for rules, for judges behind a URL and for
    what ``train.export`` wrote."""
    processes: int = Field(default=1, ge=1)
    """Whole servers behind the one port, each with its own judge and ``workers``."""
    state: Path = Path("runs/serve")
    """Where uploaded files and batches are kept."""
    max_file_bytes: int = Field(default=512 * 2**20, ge=1)
    max_batch_lines: int = Field(default=50_000, ge=1)
    batch_concurrency: int = Field(default=32, ge=1)
    """Requests of batches that are under way at a time."""
    api_keys: Path | None = None
    """The file that ``gradegpt serve.keys add NAME FILE`` writes; none asks for no key."""

    max_items: int = Field(default=256, ge=1)
    max_reward_items: int = Field(default=4_096, ge=1)
    """Items of one ``/get_reward``: a trainer sends a rollout at once."""
    max_body_bytes: int = Field(default=8 * 2**20, ge=1)
    max_held_bytes: int = Field(default=512 * 2**20, ge=1)
    """Of all bodies that are being worked on; a request beyond is told to come again."""
    max_response_characters: int = Field(default=4_000_000, ge=1)
    max_prompt_characters: int = Field(default=4_000_000, ge=1)
    max_batch: int = Field(default=64, ge=1)
    """Items of all waiting requests that are judged together."""
    max_queue: int = Field(default=8_192, ge=1)
    """Items that may wait; a request beyond is told to come again."""
    deadline_s: float = Field(default=120.0, gt=0)
    """Seconds until a request that was not answered is given up."""
    grace_s: float = Field(default=30.0, ge=0)
    """Seconds that running requests have to finish after SIGTERM."""

    log_requests: bool = False
    """A JSON line a request on stderr; it holds no content."""
    log_content: bool = False
    """The line holds what was asked, too."""

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        for name in ("max_items", "max_reward_items"):
            if getattr(self, name) > self.max_queue:
                raise ValueError(
                    f"{name}: {getattr(self, name)} do not fit into max_queue, {self.max_queue}; "
                    "lower the one or raise the other"
                )
        if self.max_body_bytes > self.max_held_bytes:
            raise ValueError("max_body_bytes: more than max_held_bytes; raise that one, too")
        takes_several = self.judge.kind == "rules" or self.judge.base_url is not None
        if self.lanes > 1 and not (takes_several or is_exported(self.judge.model)):
            raise ValueError(
                "lanes: a transformers model judges one batch at a time; set workers, or export it"
            )
        return self
