"""OpenRLHF's remote reward: ``POST /get_reward``, for ``--remote_rm_url http://host:port/get_reward``.

OpenRLHF sends ``query`` (prompt and response as one decoded text each), ``prompts`` and ``labels``;
a label is the reference. Its versions differ, and the reply has the fields of each:

| version                    | sends                   | reads                             |
|----------------------------|-------------------------|-----------------------------------|
| the first, without labels  | query                   | refused: there is no reference    |
| labels                     | query, prompts, labels  | ``rewards``                       |
| dynamic sampling           | the same                | ``scores``, ``extra_logs`` as well |
| rollouts one by one        | the same, one a request | all three, as lists of one        |

A trainer's reward must be a number. Without a verdict it is ``reward_undecided``, or else the
reward of the verdict that the setting ``undecided`` gives to every caller (``refuse``: 422,
``no_verdict``); ``extra_logs.judged`` marks the judged responses in a trainer's log. An engine
failure is an HTTP error (502, 504) under every setting: OpenRLHF asks again after a second, five
times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BeforeValidator, ConfigDict, ValidationError

from gradegpt.core.errors import TooLargeError
from gradegpt.core.schema import Item, Judgement, Outcome, Row, Verdict

from .body import read_object, until_disconnect, valid
from .errors import RequestError
from .logs import Note, note_of
from .openapi import documented
from .service import Service, service_of
from .templates.template import NoVerdictError, check_judged, verdict_without

_FAMILY: Final = "get_reward"
"""Its name beside those of templates in the metrics and the log."""
_TAIL: Final = 200
"""Characters of a prompt's end by which it is found if a trainer cut off its beginning."""
_SPECIAL: Final = (
    r"(?:<\|[^<>|\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|</?s>|<(?:eos|pad|end_of_turn)>|\[PAD\])"
)
_ENDS: Final = re.compile(rf"(?:{_SPECIAL}|\s)+\Z")
_USER_TURN: Final = re.compile(
    r"(?s)(?:<\|im_start\|>user\n|<\|start_header_id\|>user<\|end_header_id\|>|<start_of_turn>user\n"
    r"|<｜User｜>|<\|user\|>|\[INST\])"
    r"(.*?)"
    r"(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<｜Assistant｜>|<\|assistant\|>|<\|end\|>|\[/INST\])"
)
"""A user's turn in the chat templates of Qwen, Llama, Gemma, DeepSeek, Phi or GLM, and Mistral."""


_Label = Annotated[
    str | list[str] | None,
    BeforeValidator(
        lambda label: str(label) if type(label) in (int, float) else label,
        json_schema_input_type=str | int | float | list[str] | None,
    ),
]
"""Text; a number in a data set's answer column is taken as text."""


class RewardRequest(Row):
    """A request of OpenRLHF; fields that forks add are ignored."""

    model_config = ConfigDict(extra="ignore")

    query: list[str]
    prompts: list[str] | None = None
    labels: list[_Label] | None = None


router = APIRouter(tags=["rewards"])


@router.post("/get_reward", **documented(RewardRequest))
async def get_reward(request: Request) -> dict[str, Any]:
    """Return OpenRLHF's rewards: 1 for a correct response, 0 for any other judged response."""
    service, note = service_of(request), note_of(request)
    note.family = _FAMILY
    asked = valid(RewardRequest, await read_object(request))
    items = items_of(asked, service.settings.max_queue)
    judging = service.scheduler.judge(items)
    judgements = await until_disconnect(request, judging)
    note.judged(judgements)
    rewards = [_reward(service, note, number, j) for number, j in enumerate(judgements)]
    return {
        "rewards": rewards,
        "scores": rewards,
        "extra_logs": {
            "judged": [float(j.outcome is Outcome.JUDGED) for j in judgements],
            "invalid": [float(j.verdict is Verdict.INVALID) for j in judgements],
        },
        "gradegpt": [judgement.model_dump(mode="json") for judgement in judgements],
    }


def items_of(asked: RewardRequest, most: int) -> list[Item]:
    """The items of the queries; one that cannot be graded refuses the whole request.

    Raises:
        TooLargeError: too many queries.
        RequestError: no labels, lists of different lengths, or a query without its prompt.

    """
    number = len(asked.query)
    if number > most:  # not max_items: a trainer sends a whole rollout
        raise TooLargeError(
            f"query: {number:,} queries are more than {most:,} per request; "
            "send several requests, or start the server with a larger max_queue"
        )
    labels = _same_length("labels", asked.labels, number)
    if labels is None:
        raise RequestError(
            "labels: field required; a label is the reference that a response is graded against: "
            "set the trainer's label key to the column that holds it",
            "labels",
        )
    prompts = _same_length("prompts", asked.prompts, number) or [""] * number
    rows = zip(asked.query, prompts, labels, strict=True)
    return [_item(n, *row) for n, row in enumerate(rows)]


def _same_length(name: str, values: Sequence[Any] | None, number: int) -> Sequence[Any] | None:
    if values is not None and len(values) != number:
        raise RequestError(f"{name}: {len(values)} for {number} queries; send one per query", name)
    return values


def _item(number: int, query: str, prompt: str, label: str | list[str] | None) -> Item:
    if not label:
        raise RequestError(
            f"labels.{number}: is empty; give the reference that the response is graded against",
            f"labels.{number}",
        )
    reference = (label,) if isinstance(label, str) else tuple(label)
    try:
        return Item(
            id=str(number),
            question=question_of(prompt),
            reference=reference,
            response=response_of(query, prompt, f"query.{number}"),
        )
    except ValidationError as error:  # a label of blanks
        raise RequestError(f"labels.{number}: {RequestError.of(error)}", "labels") from error


def response_of(query: str, prompt: str, where: str = "query") -> str:
    """The policy's response: ``query`` after its ``prompt``, without the tokens that end a turn.

    The text is decoded from tokens, so a start token may precede the prompt, and a trainer may have
    cut off the beginning of a long prompt.

    Raises:
        RequestError: the query does not contain the prompt, so they cannot be separated.

    """
    if not prompt.strip():
        return _without_ends(query)
    for known in (prompt, prompt.strip(), prompt.strip()[-_TAIL:]):
        if known in query:
            return _without_ends(query.partition(known)[2])
    raise RequestError(
        f"{where}: does not contain its prompt; send query = prompt + response, decoded in the "
        "same way",
        where,
    )


def _without_ends(text: str) -> str:
    return _ENDS.sub("", text).strip()


def question_of(prompt: str) -> str:
    """The last user turn of a prompt in a known chat template, or the prompt."""
    turns = _USER_TURN.findall(prompt)
    return str(turns[-1] if turns else prompt).strip()


def _reward(service: Service, note: Note, number: int, judgement: Judgement) -> float:
    """The reward of a judgement, which is counted like a reply to a prompt if it has no verdict."""
    where, settings = f"query.{number}", service.settings
    check_judged(judgement, f"{where}: ")
    if judgement.verdict is not None:
        return float(judgement.verdict is Verdict.CORRECT)
    if settings.reward_undecided is not None:
        service.undecided(note, _FAMILY, Outcome.UNDECIDED)
        return settings.reward_undecided
    try:
        verdict = verdict_without(judgement, settings.undecided, where)
    except NoVerdictError as error:
        service.undecided(note, _FAMILY, "refuse")
        raise NoVerdictError(f"{error}, or with reward_undecided=0.5 for another reward") from error
    service.undecided(note, _FAMILY, verdict)
    return float(verdict is Verdict.CORRECT)
