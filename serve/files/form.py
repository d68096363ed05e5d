"""Read the form of an upload within the settings' limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final, NamedTuple

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from gradegpt.errors import GradeGPTError, TooLargeError

from ..body import declared_length
from ..errors import MalformedError, RequestError

_FORM_BYTES: Final = 2**20
"""The most bytes of a form besides its file: the other fields and the boundaries."""


class Form(NamedTuple):
    """A file and its purpose."""

    file: UploadFile
    purpose: str


async def read_form(request: Request, max_file_bytes: int) -> Form:
    """The form with the file, which the caller closes.

    Raises:
        TooLargeError: the file is over ``max_file_bytes``.
        MalformedError: the body is not a form.
        RequestError: the file or its purpose is missing.

    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise MalformedError("the body is no form; send multipart/form-data with file and purpose")
    stream = _limited(request, max_file_bytes)
    parser = MultiPartParser(request.headers, stream, max_files=1, max_fields=16)
    try:
        fields = await parser.parse()
    except MultiPartException as error:
        raise MalformedError(f"the body is no form: {error.message}") from error
    except UnicodeError as error:  # Python's special codec "undefined" as charset
        raise MalformedError(f"the body is no form: {error}; leave the charset out") from error
    try:
        return _form(fields, max_file_bytes)
    except GradeGPTError:
        await fields.close()
        raise


def _form(fields: FormData, max_file_bytes: int) -> Form:
    file, purpose = fields.get("file"), fields.get("purpose")
    if not isinstance(file, UploadFile):
        raise RequestError("file: field required, with a file name", "file")
    if not isinstance(purpose, str):
        raise RequestError("purpose: field required; the only purpose is 'batch'", "purpose")
    if (file.size or 0) > max_file_bytes:
        raise _too_large(max_file_bytes)
    return Form(file, purpose)


async def _limited(request: Request, max_file_bytes: int) -> AsyncGenerator[bytes]:
    limit = max_file_bytes + _FORM_BYTES
    if declared_length(request) > limit:
        raise _too_large(max_file_bytes)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _too_large(max_file_bytes)
        yield chunk


def _too_large(max_file_bytes: int) -> TooLargeError:
    return TooLargeError(
        f"file: over {max_file_bytes:,} bytes; upload several files, "
        "or start the server with a larger max_file_bytes"
    )
