"""API keys: printed once, stored as hashes, revoked at once."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.testing

from gradegpt.errors import InputError, MissingError
from serve.keys import Keys, app

Command = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.jsonl"


@pytest.fixture
def command(file: Path) -> Command:
    """``gradegpt serve.keys`` on ``file``: what it prints, or its error."""

    def run(*words: str) -> str:
        result = typer.testing.CliRunner().invoke(
            app, [*words, str(file)], catch_exceptions=False, standalone_mode=False
        )
        return result.stdout.strip()

    return run


def test_a_key_identifies_its_owner(file: Path, command: Command) -> None:
    """Each owner has a key; any other token has no owner."""
    ann, bob = command("add", "ann"), command("add", "bob")
    assert ann.startswith("gg-")
    assert len(ann) >= 40
    assert ann != bob
    keys = Keys.load(file)
    assert (keys.owner(ann), keys.owner(bob)) == ("ann", "bob")
    for wrong in ("", None, ann[:-1], ann + "x", ann.upper(), "gg-", "ann", "钥匙", "\ud800"):
        assert keys.owner(wrong) is None
    assert command("list").split() == ["ann", "bob"]


def test_the_key_is_stored_nowhere(file: Path, command: Command) -> None:
    """The file has its SHA-256 and is readable by its owner only; a hash is no valid key."""
    token = command("add", "ann")
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert file.read_text() == f'{{"name": "ann", "sha256": "{digest}"}}\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Keys.load(file).owner(digest) is None


def test_every_key_is_compared_in_constant_time(
    file: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All keys are compared, also after a match."""
    tokens = [command("add", name) for name in ("ann", "bob", "cyd")]
    keys = Keys.load(file)
    compared: list[str] = []
    real = hmac.compare_digest

    def counted(a: str, b: str) -> bool:
        compared.append(a)
        return real(a, b)

    monkeypatch.setattr("serve.keys.hmac.compare_digest", counted)
    for token in (*tokens, "gg-wrong"):
        compared.clear()
        keys.owner(token)
        assert len(compared) == 3


def test_a_change_of_the_file_counts_at_once(file: Path, command: Command) -> None:
    """At the next request a removed key is invalid and a new one valid; all may be removed."""
    ann = command("add", "ann")
    keys = Keys.load(file)
    bob = command("add", "bob")
    assert keys.owner(bob) == "bob"
    assert command("remove", "ann") == "removed ann; 1 left"
    assert keys.owner(ann) is None
    command("remove", "bob")
    assert keys.owner(bob) is None


@pytest.mark.parametrize("damage", ["no json", ""], ids=["damaged", "gone"])
def test_a_file_that_becomes_unreadable_keeps_the_old_keys(
    file: Path, command: Command, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    """The error is logged once, and the file is used again when it is valid."""
    ann = command("add", "ann")
    whole = file.read_text()
    keys = Keys.load(file)
    if damage:
        file.write_text(damage)
    else:
        file.unlink()
    with caplog.at_level(logging.ERROR):
        assert [keys.owner(ann), keys.owner(ann)] == ["ann", "ann"]
    assert [r.message for r in caplog.records if "the keys read before stay valid" in r.message]
    assert len(caplog.records) == 1
    file.write_text(whole + line("bob", "0"))
    assert keys.owner(ann) == "ann"


def line(name: str, digit: str) -> str:
    return json.dumps({"name": name, "sha256": digit * 64}) + "\n"


def test_the_error_of_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    """For the server and for the commands."""
    with pytest.raises(MissingError, match=r"no such file; create it with gradegpt serve\.keys"):
        Keys.load(tmp_path / "keys.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no key; make one: gradegpt serve.keys add NAME"),
        ("{", r"keys\.jsonl:1: "),
        ('{"name": "ann", "key": "gg-1"}', r"keys\.jsonl:1: sha256: field required"),
        (line("a b", "0"), "name: 'a b' is no name; use up to 64"),
        ('{"name": "ann", "sha256": "gg-1"}', "sha256: string should match"),
        (line("a", "0") + line("a", "1"),
         "the name of key 2 occurs twice"),
        (line("a", "0") + line("b", "0"),
         "the key of key 2 occurs twice"),
    ],
    ids=["empty", "torn", "plain", "name", "hash", "same name", "same key"],
)  # fmt: skip
def test_a_wrong_file_stops_the_start(file: Path, text: str, message: str) -> None:
    """A server without a valid key file must neither accept nor refuse all requests silently."""
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        Keys.load(file)


def test_what_the_command_refuses(file: Path, command: Command) -> None:
    """A second key of a name, an invalid name, and the removal of an unknown one."""
    with pytest.raises(MissingError):
        Keys.load(file)
    command("add", "ann")
    before = file.read_bytes()
    with pytest.raises(InputError, match="'ann' already has a key; remove it first"):
        command("add", "ann")
    with pytest.raises(InputError, match="name"):
        command("add", "a\nb")
    with pytest.raises(MissingError, match="'bob' has no key; existing names: ann"):
        command("remove", "bob")
    assert file.read_bytes() == before
