"""Process-level evaluation: which steps of a response are right, and where errors occur."""
