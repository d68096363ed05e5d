"""Engines: they generate text for a ``ModelJudge``."""
