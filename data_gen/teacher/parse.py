"""Parse the replies of a teacher.

A reply counts only if its chain is fit for training: it parses, after what is plainly meant was
repaired, quotes the response as shown, and names a known type and both answers, the second in the
words of its quotes. Any other reply is rejected with a machine-readable reason; it is never a
verdict. A gloss that does not match its quote is left out.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gradegpt.chains.chain import Chain, parse_chain, render_chain
from gradegpt.chains.fit import fit_response
from gradegpt.chains.gloss import checked
from gradegpt.chains.grammar import stands_in
from gradegpt.chains.quote import quotes_verbatim
from gradegpt.core.schema import ChainFormat, Verdict

from .repair import repaired

REASON: Final = "teacher:"
"""What each reason begins with."""
BUDGET: Final = "teacher:budget"

_NO_ANSWER: Final = frozenset({"", "none"})


class TeacherLabel(NamedTuple):
    """What a teacher says of one item: a chain, or the reason why there is none."""

    chain: Chain | None
    reason: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the chain."""
        return self.chain.verdict if self.chain else None


def read_reply(text: str, response: str, budget: int) -> Chain | str:
    """The chain of a reply, as ``render_chain`` will write it, or the reason of its rejection.

    ``response`` is that of the item; ``budget`` is its limit in the prompt, in estimated tokens.
    """
    if not text.strip():
        return "teacher:empty-reply"
    shown = fit_response(response, budget)
    parsed = parse_chain(repaired(text, shown))
    if parsed.chain is None:
        return "teacher:unparsed"
    if reason := _flaw(parsed.chain, shown):
        return reason
    chain = checked(parsed.chain)
    formats = (ChainFormat.JUDGE_OF_CHAIN, ChainFormat.CROSS_LINGUAL)
    again = parse_chain(render_chain(chain, formats[chain.is_glossed])).chain
    # The chain is rendered again for training: an answer that would then parse differently (such as
    # one that contains "; the model response gives") is rejected.
    same = again is not None and (again.verdict, again.answer) == (chain.verdict, chain.answer)
    return chain if same else "teacher:ambiguous"


def _flaw(chain: Chain, shown: str) -> str:
    """The reason why a parsed chain cannot be used, or an empty text."""
    invalid = chain.verdict is Verdict.INVALID
    if not invalid and not re.search(r"\w", chain.key_sentence or ""):
        return "teacher:no-quote"
    if not all(quotes_verbatim(quote, shown) for quote in chain.quotes):
        return "teacher:quote-not-verbatim"
    if not chain.reference_answer.strip():
        return "teacher:no-reference-answer"
    if chain.answer_type is None:
        return "teacher:unknown-type"
    if invalid and chain.answer is not None:
        return "teacher:answer-without-quote"
    if not invalid and (chain.answer or "").strip().lower() in _NO_ANSWER:
        return "teacher:quote-without-answer"
    if chain.answer and not stands_in(chain.answer, " ".join(chain.quotes)):
        return "teacher:answer-not-in-quote"
    return ""
