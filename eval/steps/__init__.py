"""Process-level scores: each step of a response is right or wrong.

OlympicArena, section 3.4 and appendix C.6. ``split`` cuts solutions into steps, ``chain`` prompts a
model and parses its reply, ``protocol`` asks.
"""
