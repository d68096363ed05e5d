"""Grading by a rubric that was made from a reference solution (ARB, section 4.4).

``form`` has the rubric and its text, ``grading`` a grader's text by criterion, ``prompts`` the
prompts for both, ``quality`` the checks of a rubric without a model; ``rows`` are the files,
``score`` the figures, and ``protocol`` asks.
"""
