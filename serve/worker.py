"""One process of ``serve.workers.WorkerProcess``: a socket's number comes as the argument.

The first line holds the judge's settings; every other line holds a batch. A line answers each.
Nothing of the server is imported here: a process that is replaced should be back soon.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NamedTuple, TextIO

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


class Loaded(NamedTuple):
    """A judge, and the engine in it, if it has one."""

    judge: Judge
    engine: Engine | None

    @classmethod
    def of(cls, judge: Judge) -> Loaded:
        """A judge, looked into."""
        return cls(judge, engine_of(judge))

    @property
    def cached(self) -> tuple[int, int]:
        """Items that the cache had, and had not."""
        judge = self.judge
        return (judge.hits, judge.misses) if isinstance(judge, CachedJudge) else (0, 0)

    def do(self, inputs: Sequence[Any], max_new_tokens: int | None) -> list[Any]:
        """What ``Worker.do`` asks, here and now."""
        if max_new_tokens is None:
            return list(self.judge.judge(inputs))
        if self.engine is None:
            raise SettingsError("this judge has no engine; unrecognised=pass needs one that has")
        return list(self.engine.generate(inputs, max_new_tokens=max_new_tokens))


def engine_of(judge: Judge) -> Engine | None:
    """The engine that a judge asks, wherever in it that is."""
    match judge:
        case CachedJudge():
            return engine_of(judge.inner)
        case CascadeJudge():
            return engine_of(judge.second)
        case DeferredJudge():
            return engine_of(judge.loaded)
        case ModelJudge():
            return judge.engine
        case _:
            return None


def main() -> None:
    """Answer until the server closes its end, or is gone."""
    # Ctrl-C and a supervisor's SIGTERM reach the whole group; the server has requests to finish.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        lines, out = channel.makefile("r", encoding="utf-8"), channel.makefile("w")
        try:
            settings = JudgeSettings.model_validate_json(next(lines))
            loaded = Loaded.of(build_judge(settings))
        except GradeGPTError as error:
            say(out, {"error": error_as_json(error)})
            return
        answer(loaded, lines, out)


def answer(loaded: Loaded, lines: TextIO, out: TextIO) -> None:
    """Introduce the judge, then do every batch of ``lines``."""
    judge, generates = loaded.judge, loaded.engine is not None
    say(out, {"name": judge.name, "fingerprint": judge.fingerprint, "generates": generates})
    for line in lines:
        say(out, done(loaded, json.loads(line)))


def done(loaded: Loaded, batch: dict[str, Any]) -> dict[str, Any]:
    """The results of a batch, or why there are none."""
    try:
        results = loaded.do([_read(row) for row in batch["inputs"]], batch["max_new_tokens"])
    except GradeGPTError as error:
        return {"error": error_as_json(error)}
    except Exception as error:  # noqa: BLE001  a judge's bug costs its batch, not the loaded model
        traceback.print_exc()
        return {"error": error_as_json(EngineError(f"{type(error).__name__} in the judge"))}
    hits, misses = loaded.cached
    return {"results": [as_json(result) for result in results], "hits": hits, "misses": misses}


def say(out: TextIO, value: dict[str, Any]) -> None:
    """Send one line."""
    out.write(json.dumps(value) + "\n")
    out.flush()


def as_json(value: Any) -> Any:
    """An input or a result of a batch, as it goes over the wire."""
    match value:
        case Item():
            return value.model_dump(mode="json", exclude={"meta"})  # nothing that a judge reads
        case Judgement():
            return value.model_dump(mode="json")
        case EngineError():
            return {"error": error_as_json(value)}
        case Generation():
            return value._replace(tokens=())._asdict()
        case _:
            return [message.model_dump() for message in value]


def error_as_json(error: GradeGPTError) -> dict[str, str]:
    """One of our errors, as it goes over the wire."""
    return {"kind": type(error).__name__, "message": str(error)}


def error_from(said: dict[str, str]) -> GradeGPTError:
    """The error that was sent; one of a kind not known here counts as the engine's."""
    kind = getattr(errors, said["kind"], EngineError)
    made: GradeGPTError = kind(said["message"])
    return made


def _read(row: Any) -> Item | list[Message]:
    if isinstance(row, list):
        return [Message.model_validate(message) for message in row]
    return Item.model_validate(row)


if __name__ == "__main__":
    main()
