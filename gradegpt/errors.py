"""The errors that GradeGPT raises; ``GradeGPTError`` is the base of all of them.

>>> import gradegpt
>>> from gradegpt.errors import InputError
>>> try:
...     gradegpt.judge(response="4", reference="")
... except InputError as error:
...     print(error)
judge: reference: an accepted answer is empty; there is nothing to grade against
"""

from gradegpt.core.errors import (
    EngineError,
    EngineTimeoutError,
    GradeGPTError,
    InputError,
    MissingError,
    OutputError,
    SettingsError,
    TooLargeError,
)

__all__ = [
    "EngineError", "EngineTimeoutError", "GradeGPTError", "InputError", "MissingError",
    "OutputError", "SettingsError", "TooLargeError",
]  # fmt: skip
