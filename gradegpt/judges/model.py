"""The model judge: an engine writes the chain, this module reads it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from gradegpt.chain import PromptSettings, build_prompt, parse_chain, quotes_verbatim
from gradegpt.engines.base import Engine, Generation, Token
from gradegpt.errors import EngineError, EngineTimeoutError
from gradegpt.schema import Item, Judgement, Message, Outcome, TrainingRow


class ModelJudge:
    """Asks an engine and parses its chain. Method: ``model``.

    ``confidence`` is the probability that the engine gave to the verdict tag it wrote, where the
    engine tells. Below ``min_confidence`` the judge abstains (``undecided``) and says so. ``shots``
    are solved rows that stand before every item, for a model that was not trained to judge.
    """

    name = "model"

    def __init__(
        self,
        engine: Engine,
        prompt: PromptSettings | None = None,
        *,
        shots: Sequence[TrainingRow] = (),
        max_new_tokens: int = 256,
        min_confidence: float = 0.0,
    ) -> None:
        self.engine = engine
        self._shots = [m for row in shots for m in (row.prompt[-1], *row.completion)]
        self.prompt = prompt or PromptSettings()
        self.max_new_tokens = max_new_tokens
        self.min_confidence = min_confidence

    @property
    def fingerprint(self) -> str:
        """Engine, prompt settings and limits."""
        prompt = self.prompt.model_dump_json()
        name = f"{self.engine.name}|{prompt}|{self.max_new_tokens}|{self.min_confidence}"
        if self._shots:
            shown = "\n".join(message.model_dump_json() for message in self._shots)
            name += f"|shots-{hashlib.sha256(shown.encode()).hexdigest()[:12]}"
        return name

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Ask the engine about all items together; a failed prompt is a ``failed`` judgement."""
        prompts = [self._prompt(item) for item in items]
        generations = self.engine.generate(prompts, max_new_tokens=self.max_new_tokens)
        return [self._read(item, g) for item, g in zip(items, generations, strict=True)]

    def _prompt(self, item: Item) -> tuple[Message, ...]:
        system, user = build_prompt(item, self.prompt)
        return (system, *self._shots, user)

    def _read(self, item: Item, generation: Generation | EngineError) -> Judgement:
        if isinstance(generation, EngineError):
            kind = "timeout" if isinstance(generation, EngineTimeoutError) else "error"
            return Judgement(
                id=item.id,
                outcome=Outcome.FAILED,
                method=self.name,
                reason=f"engine:{kind}: {generation}",
            )
        usage = {
            "prompt_tokens": generation.prompt_tokens,
            "completion_tokens": generation.completion_tokens,
        }
        parsed = parse_chain(generation.text)
        if parsed.chain is None:
            return Judgement(
                id=item.id, outcome=Outcome.UNPARSED, method=self.name, reason=parsed.reason,
                chain=generation.text, **usage,
            )  # fmt: skip
        chain = parsed.chain
        confidence = tag_probability(generation.tokens)
        unsure = confidence is not None and confidence < self.min_confidence
        quoted = chain.key_sentence is None or quotes_verbatim(chain.key_sentence, item.response)
        return Judgement(
            id=item.id,
            outcome=Outcome.UNDECIDED if unsure else Outcome.JUDGED,
            verdict=None if unsure else chain.verdict,
            confidence=confidence,
            method=self.name,
            reason="model:below-min-confidence"
            if unsure
            else "model:chain"
            if quoted
            else "model:quote-not-verbatim",
            key_sentence=chain.key_sentence,
            answer=chain.answer,
            answer_type=chain.answer_type,
            chain=generation.text,
            **usage,
        )


def tag_probability(tokens: Sequence[Token]) -> float | None:
    """The probability of the last ``<…>`` tag: the product over the tokens that spell it.

    None without tokens.
    """
    total, tail = 0.0, ""
    for token in reversed(tokens):
        inside = ">" in token.text or ">" in tail
        tail = token.text + tail
        total += token.logprob if inside else 0.0
        if inside and "<" in token.text:
            return min(1.0, math.exp(total))
    return None
