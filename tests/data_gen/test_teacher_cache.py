"""The teacher's cache: no reply is paid for twice, and none is lost."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from data_gen.teacher import TeacherSettings
from data_gen.teacher.replies import CachedReply, ReplyCache, Usage, cache_key
from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Message, Verdict
from tests.data_gen.teacher_parts import NO, YES, Ask, always
from tests.data_gen.teacher_server import Say


def test_nothing_is_asked_twice(ask: Ask) -> None:
    """A second run uses the replies of the first: the same votes and costs without a request."""
    first, _, paid = ask(always(YES, NO), items=3)
    again, server, free = ask(always(Say(status=500)), items=3)
    assert again == first
    assert server.bodies == []
    assert free.meter.summary() == paid.meter.summary()


def test_an_interrupted_run_loses_nothing_that_was_paid_for(ask: Ask) -> None:
    """Replies to open requests are kept, and the next run requests only the rest."""

    def failing(_: dict[str, Any], number: int) -> Say:
        return Say(YES) if number < 4 else Say(status=400)

    # With two requests at once, another may fail before the run is given up.
    with pytest.raises(EngineError, match=r"^2[01] requests in a row failed"):
        ask(failing, items=40, concurrency=2)
    _, server, _ = ask(always(YES), items=40)
    assert len(server.bodies) == 36


def test_a_failure_is_not_kept(ask: Ask) -> None:
    """The next run repeats a failed request."""
    assert ask(always(Say(status=400)))[0][0].verdict is None
    assert ask(always(YES))[0][0].verdict is Verdict.CORRECT


def test_a_key_depends_on_everything_that_a_reply_depends_on() -> None:
    """A key depends on model, messages, further fields and token limit alone."""
    messages = (Message(role="user", content="问"),)
    given: dict[str, Any] = {"model": "m", "base_url": "u", "cache": "c"}
    changes = ({}, {"model": "n"}, {"extra_body": {"top_k": 1}}, {"max_new_tokens": 8})
    keys = [cache_key(messages, TeacherSettings(**given | change)) for change in changes]
    keys.append(cache_key((*messages, *messages), TeacherSettings(**given)))
    assert len(set(keys)) == len(keys)
    assert keys[0] == cache_key([*messages], TeacherSettings(**given | {"cache": "d"}))


_WRITER = """\
import sys, threading
from data_gen.teacher.replies import CachedReply, ReplyCache
from data_gen.teacher.replies import Usage
cache = ReplyCache(sys.argv[1])
def write(name):
    for n in range(10**6):
        cache.put(f"{name}{n}", "m", CachedReply("x" * 3000, Usage(n, n)))
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
    assert all(
        cache.get(key) == CachedReply("x" * 3000, Usage(*(2 * [int(key[1:])]))) for key in keys
    )
    cache.put("after", "m", CachedReply("text", Usage(1, 1)))
    assert cache.get("after") is not None
    cache.close()
