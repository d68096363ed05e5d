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
from gradegpt.judges.model import ModelJudge
from gradegpt.schema import Item, Judgement, Message


class Call(NamedTuple):
    """What is asked about every input of a batch.

    To judge an item, past the cache if ``fresh``; or, with ``max_new_tokens``, to continue a
    conversation.
    """

    fresh: bool = False
    max_new_tokens: int | None = None


class Judges(NamedTuple):
    """The judge that is asked, and the one that is asked past a cache; often the same."""

    usual: Judge
    fresh: Judge

    @classmethod
    def load(cls, settings: JudgeSettings, cache: str | None) -> Judges:
        """Build both from settings; the first looks into the file ``cache``, if there is one."""
        judge = build_judge(settings)
        if cache is None:
            return cls(judge, judge)
        return cls(CachedJudge(judge, cache), judge)

    @property
    def cached(self) -> tuple[int, int]:
        """Items that the cache had, and had not."""
        both = self.usual
        return (both.hits, both.misses) if isinstance(both, CachedJudge) else (0, 0)

    def do(self, call: Call, inputs: Sequence[Any]) -> list[Any]:
        """What ``Worker.do`` asks, here and now."""
        if call.max_new_tokens is None:
            return list((self.fresh if call.fresh else self.usual).judge(inputs))
        engine = engine_of(self.fresh)
        if engine is None:
            raise SettingsError("this judge has no engine; unrecognised=pass needs one that has")
        return list(engine.generate(inputs, max_new_tokens=call.max_new_tokens))


def engine_of(judge: Judge) -> Engine | None:
    """The engine that a judge asks, wherever in it that is."""
    match judge:
        case CascadeJudge():
            return engine_of(judge.second)
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
            settings = json.loads(next(lines))
            judges = Judges.load(JudgeSettings.model_validate(settings["judge"]), settings["cache"])
        except GradeGPTError as error:
            say(out, {"error": error_as_json(error)})
            return
        answer(judges, lines, out)


def answer(judges: Judges, lines: TextIO, out: TextIO) -> None:
    """Introduce the judge, then do every batch of ``lines``."""
    judge = judges.fresh
    generates = engine_of(judge) is not None
    say(out, {"name": judge.name, "fingerprint": judge.fingerprint, "generates": generates})
    for line in lines:
        say(out, done(judges, json.loads(line)))


def done(judges: Judges, batch: dict[str, Any]) -> dict[str, Any]:
    """The results of a batch, or why there are none."""
    call = Call(*batch["call"])
    try:
        results = judges.do(call, [_read(row) for row in batch["inputs"]])
    except GradeGPTError as error:
        return {"error": error_as_json(error)}
    except Exception as error:  # noqa: BLE001  a judge's bug costs its batch, not the loaded model
        traceback.print_exc()
        return {"error": error_as_json(EngineError(f"{type(error).__name__} in the judge"))}
    hits, misses = judges.cached
    return {"results": [as_json(result) for result in results], "hits": hits, "misses": misses}


def say(out: TextIO, value: dict[str, Any]) -> None:
    """Send one line."""
    out.write(json.dumps(value) + "\n")
    out.flush()


def as_json(value: Any) -> Any:
    """An input or a result of a batch, as it goes over the wire."""
    match value:
        case Item() | Judgement():
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
