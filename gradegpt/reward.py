"""A judge as the reward of reinforcement learning, with the interfaces of TRL and verl.

TRL: ``GRPOTrainer(reward_funcs=JudgeReward(judge), ...)``, and a data set with a ``reference``.
verl: ``custom_reward_function`` with ``path`` this file and ``name`` ``compute_score``, and the
server's URL in ``GRADEGPT_URL``.

A response without a verdict gets no reward: TRL leaves such a sample out. verl cannot, so there a
response without a verdict scores ``undecided``, and a failure of the judge is an error. In TRL it
is an error where every row of a call failed, and a warning in the log where some did.
"""

from __future__ import annotations

import json
import logging
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from pydantic import ValidationError

from gradegpt.core.errors import EngineError, EngineTimeoutError, InputError, SettingsError
from gradegpt.core.mistakes import explain
from gradegpt.core.records import validate
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.base import Judge, failed
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings

URL_VARIABLE: Final = "GRADEGPT_URL"
KEY_VARIABLE: Final = "GRADEGPT_API_KEY"
_AT_ONCE: Final = 32
"""Items of one request to a server."""
_BUSY: Final = frozenset((408, 429, 500, 502, 503, 504))
_LONGEST_PAUSE_S: Final = 30.0
_log = logging.getLogger(__name__)


class JudgeReward:
    """A reward function for TRL's trainers: one reward per completion, None without a verdict.

    Prompts and completions may be texts or conversations; in a conversation the question is the
    last turn of the user, the response the last turn of the assistant.

    Args:
        judge: A name, such as ``rules``; ``JudgeSettings``; or a judge, such as a ``ServerJudge``.
        correct: The reward of a correct response.
        incorrect: The reward of an incorrect response.
        invalid: The reward of a response without a gradable answer.
        reference: The data set's column with the reference; a row without one gets None.
        name: The reward's name in TRL's logs.

    """

    def __init__(
        self,
        judge: str | JudgeSettings | Judge,
        *,
        correct: float = 1.0,
        incorrect: float = 0.0,
        invalid: float = 0.0,
        reference: str = "reference",
        name: str = "judge_reward",
    ) -> None:
        self.__name__ = name
        settings = JudgeSettings.of(kind=judge) if isinstance(judge, str) else judge
        self._judge = build_judge(settings) if isinstance(settings, JudgeSettings) else settings
        self._column = reference
        self.rewards = dict(zip(Verdict, (correct, incorrect, invalid), strict=True))

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """The rewards, in order.

        Raises:
            InputError: there is no such column, or a row cannot be judged.
            EngineError: the judge failed on every row.

        """
        references = columns.get(self._column)
        if references is None:
            lists = [name for name, value in columns.items() if isinstance(value, list)]
            which = f"there is no column {self._column!r} among {', '.join(lists) or 'none'}"
            how = "name the column with JudgeReward(reference=...)"
            raise InputError(f"{self.__name__}: {which}; {how}")
        lengths = {len(prompts), len(completions), len(references)}
        if len(lengths) > 1:
            raise InputError(
                f"{self.__name__}: {len(prompts)} prompts, {len(completions)} completions and "
                f"{len(references)} references; give the same number of each"
            )
        rows = zip(prompts, completions, references, strict=True)
        items = {
            n: _item(f"{self.__name__}: row {n}", _turn(prompt, "user"), reference, completion)
            for n, (prompt, completion, reference) in enumerate(rows, start=1)
            if reference is not None
        }
        judgements = dict(zip(items, self._judge.judge(list(items.values())), strict=True))
        self._check_failures(list(judgements.values()))
        return [self.of(judgements[n]) if n in items else None for n in range(1, len(prompts) + 1)]

    def _check_failures(self, judgements: Sequence[Judgement]) -> None:
        reasons = [one.reason for one in judgements if one.outcome is Outcome.FAILED]
        if not reasons:
            return
        counts = f"{self.__name__}: {len(reasons)} of {len(judgements)} rows failed: {reasons[0]}"
        if len(reasons) == len(judgements):
            raise EngineError(counts)
        _log.warning("%s; they get no reward", counts)

    def of(self, judgement: Judgement) -> float | None:
        """The reward for one judgement."""
        return None if judgement.verdict is None else self.rewards[judgement.verdict]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    base_url: str | None = None,
    judge: Judge | None = None,
    correct: float = 1.0,
    incorrect: float = 0.0,
    invalid: float = 0.0,
    undecided: float = 0.0,
) -> dict[str, float]:
    """The custom reward function of verl: ``score``, and ``judged`` (0 or 1) for its metrics.

    The question is ``extra_info["question"]``, where the data set has it. The arguments after
    ``extra_info`` may be given as ``reward_kwargs``.

    Args:
        data_source: The data set's name, for error messages.
        solution_str: The response.
        ground_truth: The reference, or several of which any is accepted.
        extra_info: The row's other fields.
        base_url: A GradeGPT server, by default ``GRADEGPT_URL``; its key is ``GRADEGPT_API_KEY``.
        judge: A judge in this process instead of a server.
        correct: The score of a correct response.
        incorrect: The score of an incorrect response.
        invalid: The score of a response without a gradable answer.
        undecided: The score of a response without a verdict.

    Raises:
        InputError: the row cannot be judged, such as one without a reference.
        SettingsError: neither a judge nor a server is given.
        EngineError: the judge failed.

    """
    question = str((extra_info or {}).get("question") or "")
    item = _item(f"data source {data_source!r}", question, ground_truth, solution_str)
    [judgement] = (judge or _server(base_url or os.environ.get(URL_VARIABLE, ""))).judge([item])
    if judgement.outcome is Outcome.FAILED:
        raise EngineError(f"data source {data_source!r}: no judgement: {judgement.reason}")
    scores = dict(zip((*Verdict, None), (correct, incorrect, invalid, undecided), strict=True))
    return {"score": scores[judgement.verdict], "judged": float(judgement.verdict is not None)}


class ServerJudge:
    """The judge behind a GradeGPT server's ``/v1/judge``.

    Requests to a busy or failing server are repeated, after its ``Retry-After`` if it sends one;
    items without an answer are ``failed``.

    Args:
        base_url: The server's URL, with or without ``/v1``.
        api_key: Its key, where it needs one.
        timeout_s: Seconds for one request.
        attempts: The most times that one request is sent.

    """

    name = "server"

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 120,
        attempts: int = 5,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            how = f"give one such as http://localhost:8000, or set {URL_VARIABLE} to it"
            raise SettingsError(f"base_url: {base_url!r} is not a URL; {how}")
        self.url = base_url.rstrip("/").removesuffix("/v1") + "/v1/judge"
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._timeout_s = timeout_s
        self._attempts = attempts

    @property
    def fingerprint(self) -> str:
        """The URL; the server does not report its judge's fingerprint."""
        return f"server({self.url})"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order."""
        made: list[Judgement] = []
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            try:
                made += self._ask(part)
            except EngineError as error:
                made += [failed(item, error, self.name) for item in part]
        return made

    def _ask(self, items: Sequence[Item]) -> list[Judgement]:
        fields = set(Item.model_fields) - {"meta"}
        rows = [item.model_dump(mode="json", include=fields, exclude_none=True) for item in items]
        answer = self._post(json.dumps({"items": rows}).encode())
        try:
            judgements = [Judgement.model_validate(row) for row in json.loads(answer)["judgements"]]
        except (ValueError, KeyError, TypeError) as error:
            why = explain(error) if isinstance(error, ValidationError) else repr(error)
            what = f"not judgements ({why}); is this a GradeGPT server?"
            raise EngineError(f"{self.url}: {what}") from error
        if len(judgements) != len(items):
            counts = f"{len(judgements)} judgements for {len(items)} items"
            raise EngineError(f"{self.url}: {counts}; is this a GradeGPT server?")
        return judgements

    def _post(self, body: bytes) -> bytes:
        for attempt in range(1, self._attempts + 1):
            request = urllib.request.Request(self.url, body, self._headers)
            pause = min(0.5 * 2 ** (attempt - 1), _LONGEST_PAUSE_S)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout_s) as reply:
                    return bytes(reply.read())
            except urllib.error.HTTPError as error:
                with error:
                    failure = EngineError(f"{self.url}: HTTP {error.code}: {_detail(error.read())}")
                if error.code not in _BUSY:
                    raise failure from error
                wanted = (error.headers.get("Retry-After") or "").strip()
                pause = min(float(wanted), _LONGEST_PAUSE_S) if wanted.isdigit() else pause
            except TimeoutError:
                failure = EngineTimeoutError(f"{self.url}: no answer in {self._timeout_s:g} s")
            except OSError as error:  # URLError among them
                reason = getattr(error, "reason", error)
                failure = EngineError(f"{self.url}: {reason}; is the server running?")
            if attempt == self._attempts:
                raise failure
            time.sleep(pause)
        raise EngineError(f"{self.url}: attempts: is {self._attempts}; give at least 1")


@cache
def _server(base_url: str) -> ServerJudge:
    return ServerJudge(base_url, os.environ.get(KEY_VARIABLE))


def _detail(body: bytes) -> str:
    """The message of an error reply, or the beginning of its body."""
    text = body.decode(errors="replace")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return " ".join(text.split())[:200]


def _item(where: str, question: str, reference: Any, response: Any) -> Item:
    listed = [reference] if isinstance(reference, str | int | float) else reference
    references = [str(one) for one in listed] if isinstance(listed, list | tuple) else listed
    response = _turn(response, "assistant")
    value = {"question": question, "reference": references, "response": response}
    return validate(Item, value, where)


def _turn(value: Any, role: str) -> str:
    """The text itself, or the last turn of ``role`` in a conversation."""
    if isinstance(value, str):
        return value
    turns = [turn for turn in value if turn["role"] == role]
    content = (turns[-1]["content"] if turns else None) or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")
