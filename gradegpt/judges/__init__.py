"""Judges: they turn items into judgements."""

from gradegpt.judges.base import Judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.cascade import CascadeJudge, Stage, Thresholds
from gradegpt.judges.code import CodeJudge
from gradegpt.judges.lexical import LexicalJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.judges.parallel import ParallelJudge, judge_many
from gradegpt.judges.parts import PartsJudge
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge

__all__ = [
    "CachedJudge",
    "CascadeJudge",
    "CodeJudge",
    "Judge",
    "LexicalJudge",
    "ModelJudge",
    "PanelJudge",
    "ParallelJudge",
    "PartsJudge",
    "ProfileJudge",
    "RuleJudge",
    "Stage",
    "Thresholds",
    "Vote",
    "judge_many",
]
