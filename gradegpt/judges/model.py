"""The model judge: an engine generates a chain, which is parsed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Final, cast

from gradegpt.chains.chain import (
    GLOSS,
    NO,
    WHY,
    YES,
    Chain,
    PromptSettings,
    defuse,
    parse_chain,
)
from gradegpt.chains.fit import VERSION as FIT_VERSION
from gradegpt.chains.gloss import checked
from gradegpt.chains.grammar import stands_in
from gradegpt.chains.quote import where_quoted
from gradegpt.chains.shots import few_shot_prompt
from gradegpt.core.errors import EngineError
from gradegpt.core.schema import ChainFormat, Item, Judgement, Message, Outcome, Verdict
from gradegpt.engines.base import (
    CountingEngine,
    Engine,
    Generation,
    TagEngine,
    TagProbability,
    TokenLogprob,
)
from gradegpt.judges.base import failed
from gradegpt.judges.confirmed import claims, confirmed

NOT_VERBATIM: Final = "model:quote-not-verbatim"
"""The reason of a judgement whose chain quotes what is not in the response."""
NOT_QUOTED: Final = "model:answer-not-in-quote"
"""The reason of a judgement whose chain compares an answer that its quote does not give."""

EMPTY: Final = ("chain:empty reply", "chain:empty reply, cut off at the token limit")
"""The reasons of a judgement whose reply is empty: ended, or cut off, as by long thoughts."""
_TAG_TOKENS: Final = 8
"""Enough for a tag that a chain would follow."""


class ModelJudge:
    """Prompts an engine and parses its chain. Method: ``model``.

    ``score`` is the engine's probability of the verdict tag that it wrote, where the engine returns
    it. A quote that is not in the response, or an answer that is not in the quote, makes a
    judgement ``unparsed``. A gloss that does not match its quote is left out, with a reason.

    ``shots`` worked examples stand before the item (``few_shot_prompt``).

    Where the engine has a tokenizer, texts whose count is far above the estimate are fitted by it.

    Where the tag is all that is wanted, a ``TagEngine`` returns its probability without generating
    it; ``score`` is then that probability among the two tags. That is so with the chain format
    ``outcome``, and with a verdict that stands first, unless ``explain``, a chain format, asks for
    the chain. The verdict is that of the tag: with ``outcome`` a chain that explains it is written
    besides, and a chain behind its tag that is unusable is left out.
    """

    name = "model"

    def __init__(
        self,
        engine: Engine,
        prompt: PromptSettings | None = None,
        *,
        explain: ChainFormat | None = None,
        max_new_tokens: int = 256,
        shots: int = 0,
    ) -> None:
        self.engine = engine
        self.shots = shots
        self.prompt = prompt or PromptSettings()
        outcome = self.prompt.chain_format is ChainFormat.OUTCOME
        explains = explain not in (None, ChainFormat.OUTCOME)
        changed = {"chain_format": explain, "verdict": "last"}
        self._explain = self.prompt.model_copy(update=changed) if outcome and explains else None
        self._first_alone = not (outcome or explains) and self.prompt.verdict == "first"
        tag_alone = outcome or self._first_alone
        limit = _TAG_TOKENS if self._first_alone else max_new_tokens
        self.max_new_tokens = min(max_new_tokens, limit)
        self._count = engine.count_tokens if isinstance(engine, CountingEngine) else None
        self._tags = engine if tag_alone and isinstance(engine, TagEngine) else None
        chained = self.prompt.verdict == "first" and not tag_alone
        self._confirms = engine if chained and isinstance(engine, TagEngine) else None

    @property
    def fingerprint(self) -> str:
        """The engine, the prompt settings and examples, the version of the fitting, the limits."""
        usual = {"verdict"} if self.prompt.verdict == "last" else None
        prompt = self.prompt.model_dump_json(exclude=usual)
        name = f"{self.engine.name}|{prompt}|{self.max_new_tokens}"
        name += f"|fit-{FIT_VERSION}{'-counted' if self._count else ''}"
        name += f"|{self.shots}-shot" if self.shots else ""
        name += f"|explained-{self._explain.chain_format}" if self._explain else ""
        name += "|confirmed" if self._confirms else ""
        return name if self._tags is None else f"{name}|tags"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge all items in one call of the engine; a failed prompt is a ``failed`` judgement."""
        given = self._ask(self._prompts(items, self.prompt))
        given = self._confirmed(items, given)
        made = [self._read(*pair) for pair in zip(items, given, strict=True)]
        return made if self._explain is None else self._explained(items, made, self._explain)

    def _prompts(self, items: Sequence[Item], prompt: PromptSettings) -> list[tuple[Message, ...]]:
        return [few_shot_prompt(item, prompt, self.shots, self._count) for item in items]

    def _confirmed(
        self, items: Sequence[Item], given: Sequence[Generation | EngineError]
    ) -> list[Generation | EngineError]:
        """The chains, each without what its own judge does not confirm."""
        if self._confirms is None:
            return [*given]
        made = list[Generation | EngineError]()
        texts = [written.text if isinstance(written, Generation) else "" for written in given]
        asked = [claims(item, text) for item, text in zip(items, texts, strict=True)]
        prompts = [prompt for part in asked for prompt in self._prompts(part, self.prompt)]
        tags = iter(self._confirms.tag_probabilities(prompts))
        for written, part in zip(given, asked, strict=True):
            found = [tag for tag in islice(tags, len(part)) if isinstance(tag, TagProbability)]
            seen = isinstance(written, Generation) and part and len(found) == len(part)
            made.append(confirmed(cast("Generation", written), found) if seen else written)
        return made

    def _explained(
        self, items: Sequence[Item], judgements: Sequence[Judgement], prompt: PromptSettings
    ) -> list[Judgement]:
        """The judgements with chains; all are written in one call of the engine."""
        asked = [n for n, judgement in enumerate(judgements) if judgement.verdict is not None]
        prompts = self._prompts([items[n] for n in asked], prompt)
        limit, made = self.max_new_tokens, list(judgements)
        chains = self.engine.generate(prompts, max_new_tokens=limit) if prompts else ()
        for n, written in zip(asked, chains, strict=True):
            if isinstance(written, Generation) and parse_chain(written.text).chain is not None:
                made[n] = self._with_chain(items[n], made[n], written)
        return made

    def _with_chain(self, item: Item, given: Judgement, written: Generation) -> Judgement:
        """The judgement with a chain that ends in its verdict; as it is where that has no quote.

        The tag is the chain's last word, so nothing before it depends on the tag, except the
        reason: that of the other verdict is left out. A chain that found no answer stands beside a
        ``<No>`` alone.
        """
        right = given.verdict is Verdict.CORRECT
        kept, tag = written.text[: written.text.rindex("<")], YES if right else NO
        if written.text[len(kept) :].startswith(NO if right else YES):
            kept = "\n".join(line for line in kept.split("\n") if not line.startswith(WHY))
        found = self._read(item, written._replace(text=f"{kept}{tag}"))
        if found.verdict is None or (right and found.key_sentence is None):
            return given
        return found.model_copy(
            update={
                "verdict": given.verdict,
                "score": given.score,
                "prompt_tokens": given.prompt_tokens + found.prompt_tokens,
                "completion_tokens": given.completion_tokens + found.completion_tokens,
            }
        )

    def _ask(self, prompts: Sequence[Sequence[Message]]) -> list[Generation | EngineError]:
        if self._tags is None:
            return self.engine.generate(prompts, max_new_tokens=self.max_new_tokens)
        tags = self._tags.tag_probabilities(prompts)
        without = [prompt for prompt, tag in zip(prompts, tags, strict=True) if tag is None]
        limit = self.max_new_tokens
        rest = iter(self.engine.generate(without, max_new_tokens=limit) if without else ())
        return [next(rest) if tag is None else _written(tag) for tag in tags]

    def _read(self, item: Item, generation: Generation | EngineError) -> Judgement:
        if isinstance(generation, EngineError):
            return failed(item, generation, self.name)
        parsed = parse_chain(generation.text)
        read = partial(
            Judgement,
            id=item.id,
            method=self.name,
            prompt_tokens=generation.prompt_tokens,
            completion_tokens=generation.completion_tokens,
        )
        if parsed.chain is None:
            reason = parsed.reason if generation.text.strip() else EMPTY[generation.cut_off]
            return read(outcome=Outcome.UNPARSED, reason=reason, chain=generation.text)
        chain, text, tokens = checked(parsed.chain), generation.text, generation.tokens
        left_out = chain.glosses != parsed.chain.glosses
        for quote, gloss, kept in zip(
            chain.quotes, parsed.chain.glosses, chain.glosses, strict=False
        ):
            if gloss != kept:
                text = text.replace(f"{quote}\n{GLOSS}{gloss}", quote, 1)
        shown = all(quote == defuse(quote) for quote in chain.quotes)  # a cut may end in a tag
        span = where_quoted(chain.quotes, item.response) if shown else None
        flaw = NOT_VERBATIM if chain.quotes and span is None else ""
        if not flaw and chain.quotes and not stands_in(chain.answer or "", " ".join(chain.quotes)):
            flaw = NOT_QUOTED
        tag = text.split(maxsplit=1)[0]
        if tag in (YES, NO):  # it begins the text; a ">" behind it is of no tag
            tokens = tokens[: next((n for n, t in enumerate(tokens, 1) if ">" in t.text), 0)]
        if flaw and (self.prompt.verdict == "last" or tag not in (YES, NO)):
            return read(outcome=Outcome.UNPARSED, reason=flaw, chain=text)
        if flaw or (self._first_alone and tag in (YES, NO)):
            chain, text, span, left_out = Chain(verdict=chain.verdict), tag, None, False
        given = "tag" if text.strip() in (YES, NO) else "chain"
        return read(
            outcome=Outcome.JUDGED,
            verdict=chain.verdict,
            score=tag_probability(tokens),
            reason=f"model:{'gloss-left-out' if left_out else given}",
            chain=text,
            key_sentence=chain.key_sentence,
            span=span,
            answer=chain.answer,
            answer_type=chain.answer_type,
            why=chain.why or None,
        )


def _written(tag: TagProbability | EngineError) -> Generation | EngineError:
    """The likelier tag as a ``Generation``."""
    if isinstance(tag, EngineError):
        return tag
    text, probability = (YES, tag.yes) if tag.yes > 0.5 else (NO, 1 - tag.yes)
    token = TokenLogprob(text, math.log(probability))
    return Generation(text, tag.prompt_tokens, tag.completion_tokens, (token,))


def tag_probability(tokens: Sequence[TokenLogprob]) -> float | None:
    """The probability of the last verdict tag: the product over its tokens. None without one."""
    total, tail = 0.0, ""
    for token in reversed(tokens):
        inside = ">" in token.text or ">" in tail
        tail = token.text + tail
        total += token.logprob if inside else 0.0
        if inside and "<" in token.text:
            if YES in tail or NO in tail:
                return min(1.0, math.exp(total))
            total, tail = 0.0, ""  # a token such as <|im_end|>, which some servers list
    return None
