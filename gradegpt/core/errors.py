"""One error tree; exit code and HTTP status are attributes of the class.

A message says where the error is, what it is, and what to do.

GradeGPTError                     exit 1   HTTP 500
 ├─ InputError (ValueError)       exit 2   HTTP 422   a row, a file or a request that cannot be used
 │   ├─ TooLargeError             exit 2   HTTP 413   over a stated limit
 │   └─ ColumnsError              exit 2   HTTP 422   columns that have to be named
 ├─ SettingsError (ValueError)    exit 2   HTTP 400   a setting unknown or out of range
 ├─ MissingError (LookupError)    exit 2   HTTP 404   a file, folder or package that is not there
 ├─ OutputError (OSError)         exit 3   HTTP 500   an output that cannot be written or continued
 └─ EngineError (RuntimeError)    exit 4   HTTP 502   the engine could not be loaded or reached
     └─ EngineTimeoutError        exit 4   HTTP 504
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class GradeGPTError(Exception):
    """Base of every error this project raises on purpose."""

    exit_code = 1
    http_status = 500
    code = "internal_error"


class InputError(GradeGPTError, ValueError):
    """A row, a file or a request that cannot be used."""

    exit_code = 2
    http_status = 422
    code = "invalid_input"


class TooLargeError(InputError):
    """Input over a stated limit."""

    http_status = 413
    code = "too_large"


class ColumnsError(InputError):
    """Columns that have to be named; ``options`` is the part of the message that names them."""

    def __init__(self, message: str, options: str) -> None:
        super().__init__(message)
        self.options = options


class SettingsError(GradeGPTError, ValueError):
    """A setting that is unknown, missing or out of range."""

    exit_code = 2
    http_status = 400
    code = "invalid_settings"


class MissingError(GradeGPTError, LookupError):
    """A file, folder or package that is not there."""

    exit_code = 2
    http_status = 404
    code = "not_found"


class OutputError(GradeGPTError, OSError):
    """An output that cannot be written, or a partial one that belongs to another run."""

    exit_code = 3
    code = "output_error"


class EngineError(GradeGPTError, RuntimeError):
    """The engine could not be loaded, reached, or made to answer."""

    exit_code = 4
    http_status = 502
    code = "engine_error"


class EngineTimeoutError(EngineError, TimeoutError):
    """The engine did not answer in time."""

    http_status = 504
    code = "engine_timeout"


@contextmanager
def needs(what: str, install: str) -> Iterator[None]:
    """Turn the error of a missing package into a ``MissingError`` that says how to install it."""
    try:
        yield
    except ImportError as error:
        raise MissingError(f"{what} needs: pip install '{install}'") from error
