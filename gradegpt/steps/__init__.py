"""Process-level scores: each step of a response is right, wrong or undecided.

OlympicArena, section 3.4 and appendix C.6. ``split`` cuts solutions into steps, ``rules`` scores
those that end in results (``results``), ``chain`` prompts a model and parses its reply.
"""

from gradegpt.steps.chain import build_step_prompt, read_step_reply
from gradegpt.steps.rules import nothing_to_score, score_by_rules
from gradegpt.steps.scored import Score, StepScores, first_error, not_judged, place
from gradegpt.steps.split import reference_steps, response_steps, split_steps

__all__ = [
    "Score",
    "StepScores",
    "build_step_prompt",
    "first_error",
    "not_judged",
    "nothing_to_score",
    "place",
    "read_step_reply",
    "reference_steps",
    "response_steps",
    "score_by_rules",
    "split_steps",
]
