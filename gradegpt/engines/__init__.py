"""Engines: they generate text for a ``ModelJudge``."""

from gradegpt.engines.base import (
    CountingEngine,
    Engine,
    Generation,
    TagEngine,
    TagProbability,
    Token,
)
from gradegpt.engines.scripted import ScriptedEngine

__all__ = [
    "CountingEngine",
    "Engine",
    "Generation",
    "ScriptedEngine",
    "TagEngine",
    "TagProbability",
    "Token",
]
