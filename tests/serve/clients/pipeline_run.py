"""A pipeline's own judging code, with nothing changed but its base URL.

Run by ``test_pipelines.py`` in a separate process: ``python pipeline_run.py NAME URL``, with the
rows on stdin. It prints the pipeline's score of each row.
"""

import importlib.util
import json
import os
import sys
import tempfile
import types
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

Rows = list[dict[str, Any]]


def lm_eval(url: str, rows: Rows) -> list[Any]:
    """The scores of a ``pisa_*_llm_judged`` task."""
    os.environ |= {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}
    from lm_eval.tasks.pisa.utils import pisa_process_results_llm_judged as score

    return [
        score({"choices": r["options"], "answer": r["right"]}, [r["response"]])["acc"] for r in rows
    ]


def evalscope(url: str, rows: Rows) -> list[Any]:
    """The verdicts of its default judge. None stands for a text that it leaves out."""
    from evalscope.api.messages import ChatMessageUser
    from evalscope.metrics.judge.llm_judge import LLMJudge

    judge = LLMJudge(api_key="EMPTY", api_url=f"{url}/v1", model_id="gradegpt")
    prompts = [judge.build_prompt(r["response"], r["reference"], r["question"]) for r in rows]
    texts = [judge.generate([ChatMessageUser(content=p)]).completion for p in prompts]
    return [json.loads(text)["verdict"] if text.startswith("{") else None for text in texts]


def opencompass(url: str, rows: Rows) -> list[Any]:
    """The texts of its judge model for the shortest of its own prompts, several at a time."""
    from opencompass.models import OpenAISDK

    model = OpenAISDK(
        path="gradegpt", key="none", openai_api_base=[f"{url}/v1"], query_per_second=100,
        tokenizer_path=str(Path("models/gradegpt-nano").absolute()), retry=2, max_seq_len=8192,
    )  # fmt: skip
    return list(model.generate([r["prompt"] for r in rows], max_out_len=16))


def vlmevalkit(url: str, rows: Rows) -> list[Any]:
    """The options of its multiple-choice data sets, after its check that the judge works."""
    for name in ("vlmeval", "vlmeval.api", "vlmeval.dataset", "vlmeval.dataset.utils"):
        _package(name)
    os.environ |= {"OPENAI_API_BASE": f"{url}/v1/chat/completions", "OPENAI_API_KEY": "sk-none"}
    from vlmeval.api.gpt import OpenAIWrapper
    from vlmeval.dataset.utils.multiple_choice import extract_answer_from_item

    judge = OpenAIWrapper("gradegpt", retry=2, wait=0)
    if not judge.working():
        raise SystemExit("the judge does not work")
    items = [
        {"question": r["question"], "prediction": r["response"], "GT": "ABCD"[r["right"]],
         **dict(zip("ABCD", r["options"], strict=False))}
        for r in rows
    ]  # fmt: skip
    return [extract_answer_from_item(judge, item)["opt"] for item in items]


def openrlhf(url: str, rows: Rows) -> list[Any]:
    """The rewards that a rollout worker fetches."""
    import asyncio

    from openrlhf.utils.agent import SingleTurnAgentExecutor

    worker = SingleTurnAgentExecutor(f"{url}/get_reward")

    async def ask() -> list[Any]:
        texts = [([r["question"] + r["response"]], [r["question"]], [r["reference"]]) for r in rows]
        return [await worker._fetch_rewards_via_http(*text) for text in texts]

    return [reply["rewards"][0] for [reply] in asyncio.run(ask())]


def inspect_ai(url: str, rows: Rows) -> list[Any]:
    """The grades of both scorers, which are one where they agree. None is an unscored sample."""
    os.environ |= {"GRADEGPT_BASE_URL": f"{url}/v1", "GRADEGPT_API_KEY": "none"}
    from inspect_ai import Task, eval  # noqa: A004  its name
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import model_graded_fact, model_graded_qa
    from inspect_ai.solver import solver

    @solver
    def ready_answers() -> Any:
        async def solve(state: Any, _: Any) -> Any:
            state.output = ModelOutput.from_content("ready", state.metadata["response"])
            return state

        return solve

    samples = [
        Sample(id=n, input=r["question"], target=r["reference"], metadata=r)
        for n, r in enumerate(rows)
    ]
    scorers: Any = [model_graded_qa(), model_graded_fact()]
    task = Task(MemoryDataset(samples), solver=ready_answers(), scorer=scorers)
    grader = {"grader": "openai-api/gradegpt/gpt-4o"}
    [log] = eval(
        task, model="mockllm/model", model_roles=grader, display="none", log_level="error",
        log_dir=os.environ["HOME"],
    )  # fmt: skip
    accuracies = [score.metrics["accuracy"].value for score in log.results.scores]
    if accuracies != [2 / 3] * 2:  # of the graded samples
        raise SystemExit(f"accuracy: {accuracies}")
    both = [[score.value for score in sample.scores.values()] for sample in log.samples or []]
    return [None if isinstance(qa, float) else qa if qa == fact else "?" for qa, fact in both]


def litellm(url: str, rows: Rows) -> list[Any]:
    """Its texts one by one, where those at once and a stream are the same."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches a table of prices
    import asyncio

    from litellm import acompletion, completion

    common: dict[str, Any] = {"model": "openai/gpt-4o", "api_base": f"{url}/v1", "api_key": "none"}
    asked = [{**common, "messages": [{"role": "user", "content": r["prompt"]}]} for r in rows]
    said = [completion(**one).choices[0].message.content for one in asked]

    async def at_once() -> list[Any]:
        replies = await asyncio.gather(*(acompletion(**one) for one in asked))
        return [reply.choices[0].message.content for reply in replies]

    chunks = completion(**asked[0], stream=True)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    return said if (asyncio.run(at_once()), streamed) == (said, said[0]) else []


def _package(name: str) -> None:
    """A package without what its ``__init__`` imports: every model and data set, torchvision."""
    for unused in ("torchvision", "torchvision.transforms", "torchvision.transforms.functional"):
        sys.modules[unused] = MagicMock(__spec__=importlib.util.spec_from_loader(unused, None))
    spec = importlib.util.find_spec(name)
    assert spec is not None
    module = types.ModuleType(name)
    module.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[name] = module


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "HF_HUB_OFFLINE": "1"}
        made = globals()[sys.argv[1]](sys.argv[2], json.load(sys.stdin))
    sys.stdout.write(json.dumps(made) + "\n")
