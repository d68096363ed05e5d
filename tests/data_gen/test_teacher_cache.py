"""The teacher's cache: no reply is paid for twice, and none is lost."""

from __future__ import annotations

import itertools
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from data_gen.teacher.cache import Reply, ReplyCache, Usage, cache_key
from gradegpt.errors import OutputError
from gradegpt.schema import Message, Verdict
from tests.data_gen.teacher_parts import NO, YES, Ask, always
from tests.data_gen.teacher_server import Say


def test_nothing_is_asked_twice(ask: Ask) -> None:
    """A second run uses the replies of the first: the same votes and costs without a request."""
    first, _, paid = ask(always(YES, NO), items=3)
    again, server, free = ask(always(Say(status=500)), items=3)
    assert again == first
    assert server.bodies == []
    assert free.meter.summary()["run"]["from_cache"] == 3
    for part in ("models", "cost"):
        assert free.meter.summary()[part] == paid.meter.summary()[part]


def test_an_interrupted_run_loses_nothing_that_was_paid_for(ask: Ask) -> None:
    """Replies to open requests are kept, and the next run requests only the rest."""
    heard: list[int] = []

    def interrupt(done: int) -> None:
        heard.append(done)
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(always(YES), items=9, concurrency=2, progress=interrupt)
    _, server, teacher = ask(always(YES), items=9, progress=heard.append)
    assert teacher.meter.summary()["run"]["from_cache"] + len(server.bodies) == 9
    assert 3 <= teacher.meter.summary()["run"]["from_cache"] <= 6
    assert heard == [1, 2, 3, *range(1, 10)]


def test_a_failure_is_not_kept(ask: Ask) -> None:
    """The next run repeats a failed request."""
    assert ask(always(Say(status=400)))[0][0].verdict is None
    assert ask(always(YES))[0][0].verdict is Verdict.CORRECT


def test_a_key_depends_on_everything_that_a_reply_depends_on() -> None:
    """A key depends on model, messages, temperature, token limit and sample alone."""
    messages = (Message(role="user", content="问"),)
    base: dict[str, Any] = {"temperature": 0.5, "max_new_tokens": 9, "sample": 0}
    keys = [
        cache_key("m", messages, **base),
        cache_key("n", messages, **base),
        cache_key("m", (*messages, *messages), **base),
        cache_key("m", messages, **{**base, "temperature": None}),
        cache_key("m", messages, **{**base, "max_new_tokens": 8}),
        cache_key("m", messages, **{**base, "sample": 1}),
        cache_key("m", messages, **base, extra={"top_k": 1}),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == cache_key("m", list(messages), **base)


def test_many_threads_share_a_cache(tmp_path: Path) -> None:
    """The first reply with a key is kept, also when threads write at once."""
    path = tmp_path / "new folder" / "c.sqlite"
    cache, other = ReplyCache(path), ReplyCache(path)

    def write(number: int) -> None:
        for n in range(20):
            store = cache if number % 2 else other
            store.put(f"k{n}", "m", Reply(f"r{n}\x00", Usage(n, number)))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = cache.get("k7")
    assert kept is not None
    assert (kept.text, kept.usage.prompt_tokens) == ("r7\x00", 7)
    assert cache.get("k7") == other.get("k7")
    cache.put("k7", "m", Reply("later", Usage(0, 0)))
    assert other.get("k7") == kept
    cache.close()
    other.close()
    other.close()


_WRITER = """\
import sys, threading
from data_gen.teacher.cache import Reply, ReplyCache, Usage
cache = ReplyCache(sys.argv[1])
def write(name):
    for n in range(10**6):
        cache.put(f"{name}{n}", "m", Reply("x" * 3000, Usage(n, n)))
        sys.stdout.write(f"{name}{n}\\n"); sys.stdout.flush()
for name in "ab":
    threading.Thread(target=write, args=(name,)).start()
"""


def test_a_killed_run_keeps_every_reply_that_put_returned_from(tmp_path: Path) -> None:
    """The process is killed while two threads write."""
    path = tmp_path / "c.sqlite"
    command = [sys.executable, "-c", _WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        keys = [line.strip() for line in itertools.islice(writer.stdout, 150)]
        writer.send_signal(signal.SIGKILL)
    cache = ReplyCache(path)
    assert all(cache.get(key) == Reply("x" * 3000, Usage(*(2 * [int(key[1:])]))) for key in keys)
    cache.put("after", "m", Reply("text", Usage(1, 1)))
    assert cache.get("after") is not None
    cache.close()


def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    """For a text, another database or a folder, one line says what to do."""
    (tmp_path / "text").write_text("a line of text, long enough to be no header " * 9)
    foreign = sqlite3.connect(tmp_path / "foreign")
    foreign.execute("CREATE TABLE mine (x)")
    foreign.close()
    (tmp_path / "folder").mkdir()
    for name in ("text", "foreign", "folder", "text/below"):
        with pytest.raises(OutputError, match=f"{name}: .*choose another"):
            ReplyCache(tmp_path / name)
    assert (tmp_path / "text").read_text().startswith("a line of text")
