"""Process-level scores: each step of a response is right, wrong or undecided.

OlympicArena, section 3.4 and appendix C.6. ``split`` cuts solutions into steps, ``rules`` scores
those that end in ``results``, ``chain`` prompts a model and parses its reply, ``protocol`` asks.
"""
