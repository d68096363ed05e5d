"""litellm, with ``api_base`` set.

In a separate process, as the import takes seconds and prints unrelated warnings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.serve.clients.rows import prompt_of, sums

pytestmark = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")

ASKS = """
import asyncio, json, sys
import litellm

url, prompts = json.load(sys.stdin)
common = {"model": "openai/gpt-4o", "api_base": url, "api_key": "none", "temperature": 0}
said = [
    litellm.completion(messages=prompt, **common).choices[0].message.content for prompt in prompts
]

async def at_once():
    replies = await asyncio.gather(
        *(litellm.acompletion(messages=prompt, **common) for prompt in prompts)
    )
    return [reply.choices[0].message.content for reply in replies]

chunks = litellm.completion(messages=prompts[0], stream=True, **common)
streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
print(json.dumps({"said": said, "at_once": asyncio.run(at_once()), "streamed": streamed}))
"""


def test_litellm_gets_the_verdicts_alone_at_once_and_streamed(server: str) -> None:
    items = sums(6)
    prompts = [[m.model_dump() for m in prompt_of("opencompass", item)] for item, _ in items]
    done = subprocess.run(
        [sys.executable, "-c", ASKS],
        input=json.dumps([f"{server}/v1", prompts]),
        # litellm fetches a table of prices when it is imported, unless it is set to use its own.
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    letters = ["A" if right else "B" for _, right in items]
    made = json.loads(done.stdout.splitlines()[-1])
    assert made == {"said": letters, "at_once": letters, "streamed": letters[0]}
