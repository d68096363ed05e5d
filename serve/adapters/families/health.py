"""Connection checks: a client's first request, such as "hello", gets a short plain answer.

The probes are those of VLMEvalKit (hello), LiteLLM (how's it going, 1 + 1), evalscope's perf,
OpenAI's quick start, and of scripts around them. The whole conversation must be such a text, after
at most a line such as "You are a helpful assistant.", so that no prompt with anything to judge is
one.
"""

from __future__ import annotations

import re
from typing import Final

from ..adapter import Adapter, Fields
from ..frame import Frame
from ..reply import Words

_GREETING = (
    r"(?:hello|hi|hey|你好|您好)(?:,? (?:there|world))?"
    r"|(?:(?:hello|hi|hey)[,!.]? )?(?:how are you(?: doing)?(?: today)?|how's it going)"
    r"|(?:(?:hello|hi|hey)[,!.]? )?(?:are you there|is this working|can you hear me)"
)
_ECHO = (
    r"(?:please )?(?:say|reply|respond|answer)(?: with)?(?: just| only| exactly)?(?: the word)?:? "
    r"[\"'“‘]?(?P<echo>ok|okay|hi|hello|pong|test|this is a test)[\"'”’]?"
    r"(?: in one word| and nothing else)?"
)
_PROBES: Final = {
    "greeting": _GREETING,
    "ping": r"ping",
    "test": r"test(?:ing)?|(?:this is )?(?:just )?a test",
    "sum": r"(?:what(?:'s| is) )?1\s?\+\s?1(?:\s?=)?",
    "name": r"who are you|what(?:'s| is) your name|what model are you|你是谁",
    "said": _ECHO,
}
_REPLIES: Final = {
    "greeting": "Hello! I am GradeGPT, a judge of answers.",
    "ping": "pong",
    "test": "The test has arrived.",
    "sum": "2",
    "name": "I am GradeGPT, a judge of answers.",
}
_SYSTEM = r"(?:You are an? (?:helpful )?(?:AI )?assistant\.? )?"
_ANY = "|".join(f"(?P<{name}>{pattern})" for name, pattern in _PROBES.items())
_PROBE: Final = re.compile(rf"(?i:{_ANY})[.!?。！？\s]*")
# A blank in a mark is any white space; a mark without width leaves the probe to the field.
_FRAME = Frame(rf"\A\s*{_SYSTEM}(?=(?i:{_ANY})[.!?。！？\s]*\Z)", "{response}")


def answer(fields: Fields) -> str:
    """What a chat model would say."""
    probe = _PROBE.fullmatch(" ".join(fields["response"].split()))
    if probe is None:
        return _REPLIES["greeting"]
    said: str | None = probe["echo"]
    return said if said is not None else _REPLIES[str(probe.lastgroup)]


ADAPTERS = (
    Adapter(
        name="health",
        callers="connection checks of VLMEvalKit, LiteLLM and others",
        frames=(_FRAME,),
        write=Words("", ""),  # never written: there is nothing to judge
        extract=answer,
        example="hello",
    ),
)
