"""API keys: commands to make, list and remove them, and the server's check.

    gradegpt serve.keys add alice keys.jsonl      # prints the key, once
    gradegpt serve.keys list keys.jsonl
    gradegpt serve.keys remove alice keys.jsonl

The file has a JSON line per key, ``{"name": "alice", "sha256": "..."}``: its owner and the SHA-256
of the key, never the key. A plain hash suffices, as a key has 256 random bits, unlike a password. A
server notices a change of the file at the next request.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import secrets
from pathlib import Path
from threading import Lock
from typing import Annotated, Final, NamedTuple

import typer
from pydantic import AfterValidator, Field

from gradegpt.cli import run
from gradegpt.errors import GradeGPTError, InputError, MissingError
from gradegpt.records import dump, read_rows, validate, whole_file
from gradegpt.schema import Row

PREFIX: Final = "gg-"
_BYTES: Final = 32
_log = logging.getLogger(__name__)


def _owner_name(name: str) -> str:
    if not re.fullmatch(r"[\w.@+-]{1,64}", name):
        raise ValueError(f"{name!r} is no name; use up to 64 letters, digits and . @ + - _")
    return name


class Key(Row):
    """One line of the file."""

    name: Annotated[str, AfterValidator(_owner_name)]
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class _State(NamedTuple):
    """The file attributes that identify a version of it."""

    changed_ns: int
    size: int
    inode: int


class Keys:
    """The keys of a file, which is read again when it changes.

    If the file can no longer be read, that is logged, and the keys read last stay valid, so that an
    editing mistake locks no client out.
    """

    def __init__(self, path: Path, keys: tuple[Key, ...], state: _State) -> None:
        self.path = path
        self._keys = keys
        self._state: _State | None = state
        self._lock = Lock()

    @classmethod
    def load(cls, path: str | Path) -> Keys:
        """Read the file.

        Raises:
            MissingError: the file does not exist.
            InputError: a line is wrong, a name or a key occurs twice, or there is no key.

        """
        path = Path(path)
        state = _state(path)
        keys = read_keys(path)
        if state is None or not keys:
            raise InputError(f"{path}: has no key; make one: gradegpt serve.keys add NAME {path}")
        return cls(path, keys, state)

    def owner(self, token: str | None) -> str | None:
        """The owner of the key ``token``, or None, in a time that does not depend on the key."""
        self._refresh()
        tried = _hashed(token or "")
        found = None
        for key in self._keys:  # all keys, so that the time is constant
            if hmac.compare_digest(key.sha256, tried):
                found = key.name
        return found

    def _refresh(self) -> None:
        state = _state(self.path)
        if state == self._state:
            return
        with self._lock:
            if state == self._state:
                return
            try:
                self._keys = read_keys(self.path)
            except (GradeGPTError, OSError) as error:
                _log.error("API keys: %s; the keys read before stay valid", error)
            self._state = state


def read_keys(path: Path) -> tuple[Key, ...]:
    """All keys of a file; names and keys are unique in it."""
    if not path.exists():
        how = f"create it with gradegpt serve.keys add NAME {path}"
        raise MissingError(f"{path}: no such file; {how}")
    keys = tuple(read_rows(path, Key))
    for column, what in (("name", "name"), ("sha256", "key")):
        values = [getattr(key, column) for key in keys]
        for number, value in enumerate(values, 1):
            if value in values[: number - 1]:
                raise InputError(
                    f"{path}: the {what} of key {number} occurs twice; remove one of them"
                )
    return keys


def write_keys(path: Path, keys: tuple[Key, ...]) -> None:
    """Write the whole file, readable by its owner only."""
    with whole_file(path) as out:
        os.fchmod(out.fileno(), 0o600)
        out.writelines(dump(key) + "\n" for key in keys)


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _state(path: Path) -> _State | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _State(found.st_mtime_ns, found.st_size, found.st_ino)


app = typer.Typer(
    help="API keys of a server.", add_completion=False, no_args_is_help=True,
    pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip
_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file of keys: api_keys=FILE.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The owner of the key.")]


@app.command()
def add(name: _Name, file: _File) -> None:
    """Make a key for NAME, and print it.

    Only its hash is stored, so keep it.
    """
    keys = read_keys(file) if file.exists() else ()
    if any(key.name == name for key in keys):
        raise InputError(
            f"{file}: {name!r} already has a key; remove it first, or choose another name"
        )
    token = PREFIX + secrets.token_urlsafe(_BYTES)
    write_keys(file, (*keys, _valid(name, token)))
    typer.echo(token)


@app.command("list")
def list_names(file: _File) -> None:
    """Print the names, one per line."""
    for key in read_keys(file):
        typer.echo(key.name)


@app.command()
def remove(name: _Name, file: _File) -> None:
    """Make NAME's key invalid, at once for a running server."""
    keys = read_keys(file)
    left = tuple(key for key in keys if key.name != name)
    if len(left) == len(keys):
        known = ", ".join(key.name for key in keys) or "none"
        raise MissingError(f"{file}: {name!r} has no key; existing names: {known}")
    write_keys(file, left)
    typer.echo(f"removed {name}; {len(left)} left")


def _valid(name: str, token: str) -> Key:
    return validate(Key, {"name": name, "sha256": _hashed(token)}, "key")


if __name__ == "__main__":
    run(app, name="gradegpt serve.keys")
