"""Engines: what generates text for a ``ModelJudge``."""

from gradegpt.engines.base import Engine, Generation, TagEngine, TagProbability, Token
from gradegpt.engines.scripted import ScriptedEngine

__all__ = ["Engine", "Generation", "ScriptedEngine", "TagEngine", "TagProbability", "Token"]
