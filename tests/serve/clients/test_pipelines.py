"""The guides' pipelines: their own judging code runs to its end, undecided answers included.

Each is a package of its own with many others, so these tests are slow and skip what is missing.
The packages exclude each other's versions, so install them without what they depend on, in an
environment of their own, and then what their judging code imports::

    pip install -c constraints.txt -e '.[all]'
    pip install --no-deps lm-eval==0.4.13 evalscope==1.14.1 opencompass==0.5.4
    pip install --no-deps ms-vlmeval==0.0.20 openrlhf==0.11.2
    pip install sacrebleu  # lm-eval
    pip install colorlog editdistance filetype  # evalscope
    pip install mmengine-lite jieba retrying  # opencompass
    pip install sty validators  # ms-vlmeval
    pip install pylatexenc  # openrlhf
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gradegpt.core.schema import Item
from tests.serve.clients.rows import prompt_of

pytestmark = pytest.mark.slow
OPTIONS = ["Venus", "Mars", "Jupiter", "Saturn"]
ASKED = "Which planet is known as the Red Planet?"
RESPONSES = ("It must be B, Mars.", "I'd go with (C).", "Who knows.", "Mars", "The rocky one.")
"""Right, wrong, undecided, right, undecided."""
RUNS: dict[str, tuple[str, list[Any], int]] = {
    "lm_eval": ("lm_eval", [1.0, 0.0, 0.0, 1.0, 0.0], 2),
    "evalscope": ("evalscope", ["A", "B", None, "A", None], 2),
    "opencompass": ("opencompass", ["A", "B", "B", "A", "B"], 2),
    "vlmevalkit": ("vlmeval", ["B", "C", "Z", "B", "Z"], 0),
    "openrlhf": ("openrlhf", [1.0, 0.0, 0.0, 1.0, 0.0], 2),
    "inspect_ai": ("inspect_ai", ["C", "I", None, "C", None], 4),  # for each of two scorers
    "litellm": ("litellm", ["A", "B", "B", "A", "B"], 4),  # alone and at once
}


def rows() -> list[dict[str, Any]]:
    """The responses as the pipelines have them."""
    listed = "\n".join(f"{x}. {text}" for x, text in zip("ABCD", OPTIONS, strict=True))
    question = f"{ASKED}\n{listed}"
    made = []
    for response in RESPONSES:
        item = Item(question=question, reference=("B",), response=response)
        made.append(
            {
                "question": question, "options": OPTIONS, "right": 1, "reference": "B",
                "response": response, "prompt": prompt_of("opencompass", item)[0].content,
            }
        )  # fmt: skip
    return made


def undecided(url: str) -> float:
    """The number of replies so far without a verdict of the judge."""
    families = text_string_to_metric_families(httpx2.get(f"{url}/metrics").text)
    counts = [s.value for f in families for s in f.samples if s.name.endswith("d_replies_total")]
    return sum(counts)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_ends_with_a_score_for_every_row(server: str, name: str) -> None:
    """Each undecided answer is counted, and is wrong for a pipeline that cannot leave it out."""
    package, scores, open_ones = RUNS[name]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    before = undecided(server)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("pipeline_run.py"), name, server],
        input=json.dumps(rows()), env={**os.environ, "NO_PROXY": "127.0.0.1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == scores
    assert undecided(server) - before == open_ones
