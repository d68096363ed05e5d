"""Engines: they generate text for a ``ModelJudge``."""

from gradegpt.engines.base import (
    CountingEngine,
    Engine,
    Generation,
    TagEngine,
    TagProbability,
    TokenLogprob,
)
from gradegpt.engines.scripted import ScriptedEngine

__all__ = [
    "CountingEngine",
    "Engine",
    "Generation",
    "ScriptedEngine",
    "TagEngine",
    "TagProbability",
    "TokenLogprob",
]
