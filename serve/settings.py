"""What a server is made from."""

from __future__ import annotations

from pydantic import Field

from gradegpt.judges.build import JudgeSettings
from gradegpt.settings import Settings


class ServeSettings(Settings):
    """Which judge to serve, where, under which name, and how much one request may hold.

    ``max_body_bytes`` bounds a request whatever it says of its own length. A response longer than
    the judge reads is fitted, not refused; ``max_response_characters`` bounds what is fitted.
    ``port: 0`` takes any free port; the ready line names it.
    """

    judge: JudgeSettings = JudgeSettings()
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    served_model_name: str = Field(default="gradegpt-nano", min_length=1)
    max_items: int = Field(default=256, ge=1)
    max_body_bytes: int = Field(default=8 * 2**20, ge=1)
    max_response_characters: int = Field(default=4_000_000, ge=1)
