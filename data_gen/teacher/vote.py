"""Reading what a teacher wrote, and the vote over several replies.

A reply counts only if its chain could stand in the training data as it is: it parses, quotes the
response as shown, names a known type and both answers. Anything else is a rejected vote with a
reason that a machine can read; it is never a verdict. A gloss that is not its quote's is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from pydantic import Field, model_validator

from gradegpt.chain import Chain, needs_gloss, parse_chain, render_chain
from gradegpt.fit import fit_response
from gradegpt.gloss import checked
from gradegpt.quote import quotes_verbatim
from gradegpt.schema import ChainFormat, Row, Verdict

AGREED: Final = "teacher:agreed"
DISAGREE: Final = "teacher:disagree"
BUDGET: Final = "teacher:budget"

# Reasoning models served without a reasoning parser think aloud first.
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NO_ANSWER: Final = frozenset({"", "none"})


class Vote(Row):
    """What the replies about one item say together.

    ``votes`` counts the accepted replies by verdict, ``rejected`` says why each other one did not
    count. The verdict and its chain stand only where enough replies agree; ``reason`` says so, or
    why not.
    """

    verdict: Verdict | None = None
    chain: Chain | None = None
    votes: dict[Verdict, int] = Field(default_factory=dict)
    rejected: tuple[str, ...] = ()
    reason: str

    @model_validator(mode="after")
    def _chain_carries_the_verdict(self) -> Vote:
        if (self.chain.verdict if self.chain else None) is not self.verdict:
            raise ValueError(f"verdict {self.verdict!r} needs a chain that carries it")
        return self


def read_reply(text: str, response: str, budget: int) -> Chain | str:
    """The chain a teacher wrote, as ``render_chain`` will write it again, or why it is rejected.

    ``response`` is the item's, ``budget`` the estimated tokens of it that the teacher was shown.
    """
    parsed = parse_chain(_THOUGHT.sub("", text).replace("\r\n", "\n"))
    if parsed.chain is None:
        return "teacher:unparsed"
    if reason := _flaw(parsed.chain, fit_response(response, budget)):
        return reason
    chain = checked(parsed.chain)
    glossed = chain.gloss or not needs_gloss(chain.key_sentence or "")
    written = ChainFormat.CROSS_LINGUAL if glossed else ChainFormat.JUDGE_OF_CHAIN
    again = parse_chain(render_chain(chain, written)).chain
    # What is trained on is the chain rendered anew: an answer that reads differently then (it holds
    # "; the model response gives") must not get there.
    same = again is not None and (again.verdict, again.answer) == (
        parsed.chain.verdict,
        parsed.chain.answer,
    )
    return again if again is not None and same else "teacher:ambiguous"


def _flaw(chain: Chain, shown: str) -> str:
    """Why a parsed chain cannot be used, or an empty text."""
    invalid = chain.verdict is Verdict.INVALID
    if not invalid and not re.search(r"\w", chain.key_sentence or ""):
        return "teacher:no-quote"
    if chain.key_sentence is not None and not quotes_verbatim(chain.key_sentence, shown):
        return "teacher:quote-not-verbatim"
    if not chain.reference_answer.strip():
        return "teacher:no-reference-answer"
    if chain.answer_type is None:
        return "teacher:unknown-type"
    if invalid and chain.answer is not None:
        return "teacher:answer-without-quote"
    if not invalid and (chain.answer or "").strip().lower() in _NO_ANSWER:
        return "teacher:quote-without-answer"
    return ""


def count_votes(replies: Sequence[Chain | str], agree: int) -> Vote:
    """The vote over chains and, as texts, the reasons of what did not count; ``agree`` must agree.

    The line that matters runs between correct and the rest: a side wins with ``agree`` votes and
    more than the other has. Among the No votes the majority says whether the response is invalid;
    a tie is incorrect, since some vote quoted an answer.
    """
    chains = [reply for reply in replies if isinstance(reply, Chain)]
    rejected = tuple(reply for reply in replies if isinstance(reply, str))
    counts = Counter(chain.verdict for chain in chains)
    votes = {verdict: counts[verdict] for verdict in Verdict if counts[verdict]}
    yes, no = counts[Verdict.CORRECT], counts[Verdict.INCORRECT] + counts[Verdict.INVALID]
    if BUDGET in rejected:
        return Vote(votes=votes, rejected=rejected, reason=BUDGET)
    if max(yes, no) < agree or yes == no:
        short = DISAGREE if (yes and no) or not rejected else _commonest(rejected)
        return Vote(votes=votes, rejected=rejected, reason=short)
    invalid = counts[Verdict.INVALID] > counts[Verdict.INCORRECT]
    verdict = Verdict.INVALID if invalid else Verdict.INCORRECT
    verdict = Verdict.CORRECT if yes > no else verdict
    chain = next(chain for chain in chains if chain.verdict is verdict)
    return Vote(verdict=verdict, chain=chain, votes=votes, rejected=rejected, reason=AGREED)


def _commonest(reasons: Sequence[str]) -> str:
    return Counter(reasons).most_common(1)[0][0]
