"""The process of a ``serve.workers.WorkerProcess``; its argument is a socket's file descriptor.

The first line has the judge's settings, every other line a batch; each gets a line as reply. The
server's modules are not imported here, so that a replaced process starts quickly.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol, TextIO, runtime_checkable

from gradegpt import errors
from gradegpt.engines.base import Engine, Generation
from gradegpt.errors import EngineError, GradeGPTError, SettingsError
from gradegpt.judges.base import Judge
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.deferred import DeferredJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.schema import Item, Judgement, Message

_NICE: Final = 5
"""The judge yields the cores to the server's process, which answers requests."""


class Loaded(NamedTuple):
    """A judge and its engine, if it has one."""

    judge: Judge
    engine: Engine | None

    @classmethod
    def of(cls, judge: Judge) -> Loaded:
        """A judge with its engine."""
        return cls(judge, engine_of(judge))

    @property
    def cached(self) -> tuple[int, int]:
        """The hits and misses of the cache."""
        judge = self.judge
        return (judge.hits, judge.misses) if isinstance(judge, CachedJudge) else (0, 0)

    def do(self, inputs: Sequence[Any], max_new_tokens: int | None) -> list[Any]:
        """The results of a batch, as for ``Worker.do``."""
        if max_new_tokens is None:
            return list(self.judge.judge(inputs))
        if self.engine is None:
            raise SettingsError(
                "this judge has no engine; set unrecognised=refuse, or serve a model"
            )
        return list(self.engine.generate(inputs, max_new_tokens=max_new_tokens))


def engine_of(judge: Judge) -> Engine | None:
    """The engine inside a judge, or None."""
    match judge:
        case CachedJudge():
            return engine_of(judge.inner)
        case CascadeJudge():
            engines = (engine_of(stage.judge) for stage in reversed(judge.stages))
            return next((engine for engine in engines if engine is not None), None)
        case DeferredJudge():
            return engine_of(judge.loaded)
        case ModelJudge():
            return judge.engine
        case _:
            return None


Begin = Callable[[Sequence[Item]], list[Judgement | None]]
"""Judges with the stages that ask no model; None for each item that a model has to judge."""


@runtime_checkable
class Staged(Protocol):
    """A judge with stages that ask no model; several threads may call ``begin``."""

    def begin(self, items: Sequence[Item]) -> list[Judgement | None]:
        """See ``Begin``."""
        ...


def begin_of(judge: Judge) -> Begin | None:
    """The stages of a judge that ask no model; without its cache, which is no faster."""
    inner = judge.inner if isinstance(judge, CachedJudge) else judge
    return inner.begin if isinstance(inner, Staged) else None


def main() -> None:
    """Answer batches until the server closes the socket."""
    # Ctrl-C and a supervisor's SIGTERM reach the whole group, but the server still drains.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICE)
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        lines, out = channel.makefile("r", encoding="utf-8"), channel.makefile("w")
        try:
            settings = JudgeSettings.model_validate_json(next(lines))
            loaded = Loaded.of(build_judge(settings))
            if loaded.engine is not None:
                run_when_idle()
        except GradeGPTError as error:
            say(out, {"error": error_as_json(error)})
            return
        answer(loaded, lines, out)


def run_when_idle() -> None:
    """Let a model compute only on cores that nothing else needs.

    Of two busy threads on a core Linux lets even a nice one go on for milliseconds when the other
    becomes ready; the server's threads, which judge what needs no model, become ready all the time.
    """
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def answer(loaded: Loaded, lines: TextIO, out: TextIO) -> None:
    """Send the judge's name, then the results of every batch in ``lines``."""
    judge, generates = loaded.judge, loaded.engine is not None
    say(out, {"name": judge.name, "fingerprint": judge.fingerprint, "generates": generates})
    for line in lines:
        say(out, done(loaded, json.loads(line)))


def done(loaded: Loaded, batch: dict[str, Any]) -> dict[str, Any]:
    """The results of a batch, or its error."""
    try:
        results = loaded.do([_read(row) for row in batch["inputs"]], batch["max_new_tokens"])
    except GradeGPTError as error:
        return {"error": error_as_json(error)}
    except Exception as error:  # noqa: BLE001  an error fails its batch only, and the model stays loaded
        traceback.print_exc()
        return {"error": error_as_json(EngineError(f"{type(error).__name__} in the judge"))}
    hits, misses = loaded.cached
    return {"results": [as_json(result) for result in results], "hits": hits, "misses": misses}


def say(out: TextIO, value: dict[str, Any]) -> None:
    """Send one line."""
    out.write(json.dumps(value) + "\n")
    out.flush()


def as_json(value: Any) -> Any:
    """An input or a result of a batch as JSON."""
    match value:
        case Item():
            return value.model_dump(mode="json", exclude={"meta"})  # not read by any judge
        case Judgement():
            return value.model_dump(mode="json")
        case EngineError():
            return {"error": error_as_json(value)}
        case Generation():
            return value._replace(tokens=())._asdict()
        case _:
            return [message.model_dump() for message in value]


def error_as_json(error: GradeGPTError) -> dict[str, str]:
    """One of our errors as JSON."""
    return {"kind": type(error).__name__, "message": str(error)}


def error_from(sent: dict[str, str]) -> GradeGPTError:
    """The error that was sent; an unknown kind becomes an ``EngineError``."""
    kind = getattr(errors, sent["kind"], EngineError)
    made: GradeGPTError = kind(sent["message"])
    return made


def _read(row: Any) -> Item | list[Message]:
    if isinstance(row, list):
        return [Message.model_validate(message) for message in row]
    return Item.model_validate(row)


if __name__ == "__main__":
    main()
