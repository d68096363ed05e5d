"""Trainers that ask for rewards: as OpenRLHF does, and as verl does."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import httpx2
import pytest

from gradegpt.core.errors import InputError
from gradegpt.reward import compute_score
from tests.serve.clients.rows import OPEN, sums

TURN = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


async def rollout(url: str, prompt: str, response: str, label: str) -> dict[str, Any]:
    """A rollout worker's call for one sample: one query per request, five attempts."""
    body = {"query": [prompt + response + "<|im_end|>"], "prompts": [prompt], "labels": [label]}
    async with httpx2.AsyncClient(timeout=30) as client:
        for _ in range(5):
            reply = await client.post(url, json=body)
            if reply.is_success:
                return dict(reply.json())
    raise RuntimeError(f"no reward: {reply.text}")


def test_an_openrlhf_rollout_gets_a_reward_a_sample(server: str) -> None:
    """Many workers at once; each reads its own ``rewards``, ``scores`` and ``extra_logs``."""
    items = sums(12)

    async def all_at_once() -> list[dict[str, Any]]:
        tasks = [
            rollout(f"{server}/get_reward", TURN.format(i.question), i.response, i.reference[0])
            for i, _ in items
        ]
        return await asyncio.gather(*tasks)

    for reply, (_, right) in zip(asyncio.run(all_at_once()), items, strict=True):
        assert reply["rewards"] == reply["scores"] == [float(right)]
        assert all(len(values) == 1 for values in reply["extra_logs"].values())


def test_openrlhf_gets_a_marked_reward_without_a_verdict(server: str) -> None:
    """The rollout goes on, and ``judged`` is 0 in the trainer's log."""
    reply = asyncio.run(
        rollout(f"{server}/get_reward", OPEN.question, OPEN.response, OPEN.reference[0])
    )
    assert (reply["rewards"], reply["extra_logs"]["judged"]) == ([0.0], [0.0])


def test_a_verl_reward_manager_calls_compute_score(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is called by keyword, in a thread, with all fields of a row; ``score`` is read."""
    monkeypatch.setenv("GRADEGPT_URL", server)

    async def score(solution: str, truth: str, question: str) -> dict[str, float]:
        assert not inspect.iscoroutinefunction(compute_score)
        return await asyncio.get_running_loop().run_in_executor(
            None,
            lambda: compute_score(
                data_source="sums",
                solution_str=solution,
                ground_truth=truth,
                extra_info={"question": question, "index": 7, "num_turns": None},
            ),
        )

    async def all_at_once() -> list[dict[str, float]]:
        return await asyncio.gather(
            *(score(i.response, i.reference[0], i.question) for i, _ in sums(6))
        )

    for result, (_, right) in zip(asyncio.run(all_at_once()), sums(6), strict=True):
        assert result == {"score": float(right), "judged": 1.0}


def test_a_verl_row_without_a_truth_is_an_error(server: str) -> None:
    with pytest.raises(InputError, match="data source 'sums'"):
        compute_score("sums", "The answer is 4.", None, base_url=server)
