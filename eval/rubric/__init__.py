"""Grading by a rubric that was made from a reference solution (ARB, section 4.4).

``form`` has the rubric, its text and its checks without a model, ``grading`` a grader's text by
criterion and the prompts; ``protocol`` has the rows and figures, and asks.
"""
