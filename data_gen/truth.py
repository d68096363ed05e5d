"""A chain is true, or it is not written: the one check that every training target passes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from gradegpt.answers.text import plain
from gradegpt.chains.chain import (
    Chain,
    PromptSettings,
    build_prompt,
    defuse,
    on_one_line,
    parse_chain,
    parse_prompt,
    render_chain,
)
from gradegpt.chains.fit import ELISION
from gradegpt.chains.gloss import checked
from gradegpt.chains.grammar import EDGES, LONGEST, accepts, chain_grammar, stands_in
from gradegpt.chains.quote import quotes_verbatim
from gradegpt.core.schema import CHOICE, AnswerType, ChainFormat, Item, Verdict

FLAWS: Final = {
    "contradicted": "the rules contradict their label",
    "not_located": "no words of their answer were located",
    "quote_cut": "the prompt shows their response without the quote",
    "not_in_quote": "their answer is not in its quote",
    "same_words": "the answer is called different in the words of the reference",
    "not_in_grammar": "no judge could write the chain for its prompt",
    "no_gloss": "their quote has no gloss",
    "same_answer": "they state what an answer of the opposite verdict states",
}
"""Why an answer has no chain, in the words of the output."""
_MATHEMATICAL: Final = frozenset(AnswerType) - {
    AnswerType.TEXT, AnswerType.CODE, AnswerType.SINGLE_CHOICE, AnswerType.MULTIPLE_CHOICE,
    AnswerType.TRUE_FALSE,
}  # fmt: skip
_SHORT: Final = 60
"""Most characters of an answer that a reason repeats."""


def tag_alone(chain: Chain) -> Chain:
    """The chain without anything but its tag, and the reference that it was compared with.

    ``invalid`` becomes ``incorrect``: a chain without quotes would say that no answer is given.
    """
    right = chain.verdict is Verdict.CORRECT
    return Chain(
        verdict=Verdict.CORRECT if right else Verdict.INCORRECT,
        reference_answer=chain.reference_answer,
        answer_type=chain.answer_type,
    )


def is_tag_alone(chain: Chain) -> bool:
    """Whether only the verdict tag of the chain can be taught."""
    return not chain.quotes and chain.verdict is not Verdict.INVALID


def clip(text: str) -> str:
    """The text on one line, without marks at its ends, cut after 120 characters."""
    text = on_one_line(text)
    text = text.strip(EDGES) or text
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def shown_item(item: Item, prompt: PromptSettings) -> Item:
    """The item as a judge sees it, fitted into the token budget of the prompt."""
    shown = parse_prompt(build_prompt(item, prompt))
    if shown is None:
        raise ValueError("build_prompt wrote a prompt that parse_prompt does not parse")
    return shown


def nearest(texts: Sequence[str], answer: str) -> str:
    """The text that is most similar to the given one as a string; the first on ties."""
    given = SequenceMatcher(b=plain(answer), autojunk=False)

    def likeness(text: str) -> float:
        given.set_seq1(plain(text))
        return given.ratio()

    return max(texts, key=likeness)


def _part(text: str) -> str:
    """The text as ``clip`` writes it if it is short enough, else its first whole words."""
    made = clip(text)
    whole = re.sub(r"[^\W\u3400-\u9fff]*…$", "", made).strip(EDGES)
    return whole if made.endswith("…") else made


def taught(chain: Chain, item: Item, prompt: PromptSettings) -> tuple[Chain, str]:
    """The chain as it may be taught for the item, and why not as it was given.

    It is true as far as a program can tell: a judge's grammar allows it for its prompt, it parses
    to itself, each quote is in the response as shown, the answer is in its quotes, and a gloss that
    does not translate its quote is gone. A chain that fails is its tag alone, with a key of
    ``FLAWS``. A chain without a reason gets one where the comparison is plain.
    """
    shown = shown_item(item, prompt)
    whole = {defuse(reference) for reference in item.accepted}
    passages = ([text] if text in whole else text.split(ELISION) for text in shown.accepted)
    references = [_part(next(filter(str.strip, parts), "")) for parts in passages]
    reference, texts = clip(chain.reference_answer), list(map(on_one_line, shown.accepted))
    # A part of a worked solution is one of the reference; else the one nearest to what is meant.
    stays = reference in map(clip, texts) or any(reference and reference in text for text in texts)
    changed: dict[str, object] = {
        "reference_answer": reference if stays else nearest(references, reference)
    }
    if chain.answer is not None:
        given = on_one_line(chain.answer)
        parts = given.split("; ") if chain.quotes[1:] else [given]
        changed["answer"] = "; ".join(part.strip(EDGES) for part in parts)
    chain = checked(chain.model_copy(update=changed))
    if is_tag_alone(chain):
        return chain, "not_located"
    chain = chain.model_copy(update={"why": chain.why or _reason(chain)})
    flaw = _flaw(chain, item, shown, prompt)
    return (tag_alone(chain), flaw) if flaw else (chain, "")


def _flaw(chain: Chain, item: Item, shown: Item, prompt: PromptSettings) -> str:
    if not all(quotes_verbatim(quote, shown.response) for quote in chain.quotes):
        return "quote_cut"
    if chain.quotes and not (chain.answer and stands_in(chain.answer, " ".join(chain.quotes))):
        return "not_in_quote"
    if chain.verdict is Verdict.INCORRECT and plain(chain.answer or "") in map(
        plain, (chain.reference_answer, *shown.accepted)
    ):
        return "same_words"
    formats = (ChainFormat.JUDGE_OF_CHAIN, ChainFormat.CROSS_LINGUAL)
    chain_format = formats[chain.is_glossed]
    asked = prompt.model_copy(update={"chain_format": chain_format})
    text = render_chain(chain, chain_format, prompt.verdict)
    again = parse_chain(text).chain
    if again is None or again.verdict is not chain.verdict:
        return "not_in_grammar"
    same = render_chain(again, chain_format, prompt.verdict) == text
    grammar = chain_grammar(build_prompt(item, asked))  # not of `shown`, which may be cut again
    return "" if same and grammar and accepts(grammar, text) else "not_in_grammar"


def _reason(chain: Chain) -> str:
    """What a comparison shows by itself; empty where that says nothing."""
    wanted, given = chain.reference_answer, chain.answer
    if given is None or max(len(wanted), len(given)) > _SHORT or "<" in wanted + given:
        return ""
    says = "chooses" if chain.answer_type in CHOICE else "gives"
    if chain.verdict is Verdict.INCORRECT:
        return f"the reference has {wanted}, the response {says} {given}"
    if plain(given) == plain(wanted):
        return f"both have {given}"
    same = "equals" if chain.answer_type in _MATHEMATICAL else "is the same as"
    return f"{given} {same} {wanted}"


def stated(chain: Chain | None, item: Item) -> str:
    """The answer that a chain states, with its question and references; empty without one.

    Rows that state the same with opposite verdicts teach no comparison.
    """
    if chain is None or chain.answer is None:
        return ""
    return "\0".join((item.question, *sorted(item.accepted), plain(chain.answer)))


def formats_of(chain: Chain, formats: Mapping[ChainFormat, float]) -> dict[ChainFormat, float]:
    """The formats that fit the chain: cross-lingual needs a gloss where the quote is Chinese."""
    if is_tag_alone(chain):
        return {name: share for name, share in formats.items() if name is ChainFormat.OUTCOME}
    without = () if chain.is_glossed else (ChainFormat.CROSS_LINGUAL,)
    return {name: share for name, share in formats.items() if name not in without}
