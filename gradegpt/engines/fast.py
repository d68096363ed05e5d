"""An exported model on ONNX Runtime: the same chains as ``LocalEngine``, several times faster.

``gradegpt export`` writes the folder. The engine needs neither torch nor transformers, and starts
in half a second.

Half of a chain is fixed by its grammar: those tokens are read with the next one, without a pass of
their own. There are no batches: all cores work on one prompt.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from gradegpt.chains.chain import NO, RESPONSE, YES
from gradegpt.core.errors import EngineError, MissingError
from gradegpt.core.machine import cores
from gradegpt.core.records import read_beside
from gradegpt.core.schema import Message
from gradegpt.engines.base import Generation, TagProbability, TagTokens, TokenLogprob
from gradegpt.engines.chat import common_prefix, render_chat
from gradegpt.engines.constraint import NAME, Constraint, Constraints
from gradegpt.engines.exported import (
    ENGINE_FILE,
    MODEL_FILE,
    ExportedTokenizer,
    ExportSettings,
    KVCache,
    engine_errors,
)
from gradegpt.engines.files import name_with_digest

if TYPE_CHECKING:
    import numpy as np

_Answer = TypeVar("_Answer")


class FastEngine:
    """Greedy generation with ONNX Runtime, from a folder that ``train.export`` wrote.

    Several threads may call it; they take turns.

    Args:
        folder: the exported model.
        constrained: as for ``LocalEngine``.

    Raises:
        MissingError: the packages or the folder are not there.
        EngineError: the files are there but do not load.

    """

    def __init__(self, folder: str, *, constrained: bool = True) -> None:
        self.name = f"onnx:{name_with_digest(folder)}"
        settings, self._tokenizer, session = _load(Path(folder))
        self._ends, self._context = settings.end_token_ids, settings.shape.context
        backend = self._tokenizer.backend_tokenizer
        self._constraints = Constraints(backend, self._ends, "fast") if constrained else None
        self._state, self._lock = KVCache(session, settings.shape), Lock()
        self.name += NAME if constrained else ""

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue all prompts greedily and answer in order."""
        return self._each(lambda prompt: self._write(prompt, max_new_tokens), prompts)

    def count_tokens(self, text: str) -> int:
        """The text's length in the model's own tokens."""
        return len(self._tokenizer.encode(text))

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """The tags' probability after each prompt: one pass where a tag is one token."""
        tags = TagTokens(*(self._tokenizer.encode(tag) for tag in (YES, NO)))
        return self._each(lambda prompt: self._tag(prompt, tags), prompts)

    def _each(
        self, answer: Callable[[Sequence[Message]], _Answer], prompts: Sequence[Sequence[Message]]
    ) -> list[_Answer | EngineError]:
        """One answer for each prompt, or the error in its place."""

        def answer_or_error(prompt: Sequence[Message]) -> _Answer | EngineError:
            try:
                with self._lock:
                    return answer(prompt)
            except EngineError as error:
                return error

        return list(map(answer_or_error, prompts))

    def _write(self, prompt: Sequence[Message], limit: int) -> Generation:
        parts = self._encode(prompt)
        ids = [token for part in parts for token in part]
        limit = min(limit, self._context - len(ids))
        constraint = self._constraints.of(prompt) if self._constraints else Constraint()
        made: list[tuple[int, float]] = []
        past, unread = self._state.begin(parts, len(ids) + limit), list(parts[-1])
        while len(made) < limit:
            new = [(token, 0.0) for token in constraint.forced()]
            if not new:
                if constraint.done:
                    break
                scores = self._state.read(unread, past)
                past, unread = past + len(unread), []
                new = [_best(scores, constraint.allowed())]
                if new[0][0] in self._ends:
                    break
            made += new
            for token, _ in new:
                constraint.write(token)
                unread.append(token)
        written = [token for token, _ in made[:limit]]
        pieces = self._tokenizer.convert_ids_to_tokens(written)
        tokens = tuple(TokenLogprob(piece, p) for piece, (_, p) in zip(pieces, made, strict=False))
        return Generation(self._tokenizer.decode(written), len(ids), len(written), tokens)

    def _tag(self, prompt: Sequence[Message], tags: TagTokens) -> TagProbability | None:
        parts = self._encode(prompt)
        length = sum(map(len, parts))
        written: list[int] = []
        past, unread = self._state.begin(parts, length + tags.shared + 1), list(parts[-1])
        scores = self._state.read(unread, past)
        for shared in tags.yes[: tags.shared]:
            written.append(shared if self._constraints else int(scores.argmax()))
            past, unread = past + len(unread), written[-1:]
            scores = self._state.read(unread, past)
        chosen = tags.yes if self._constraints else [*written, int(scores.argmax())]
        yes = tags.read(chosen, scores)
        return None if yes is None else TagProbability(yes, length, tags.shared + 1)

    def _encode(self, prompt: Sequence[Message]) -> list[tuple[int, ...]]:
        """The prompt's tokens in parts, of which other prompts may share the first.

        The parts are the instructions; question and reference, which are the same for every
        response to the question; and the response. Other conversations are one part.
        """
        text = render_chat(self._tokenizer, prompt)
        ids = self._tokenizer.encode(text)
        if (length := len(ids)) >= self._context:
            most = f"the model reads fewer than {self._context}; shorten the prompt"
            raise EngineError(f"{self.name}: the prompt has {length} tokens, {most}")
        last = prompt[-1].content
        start = text.rfind(last)
        ends = (start, start + last.find(RESPONSE) + len(RESPONSE)) if RESPONSE in last else ()
        cuts = [0]
        for end in ends if start > 0 else ():
            same = common_prefix(self._tokenizer.encode(text[:end]), ids)
            cuts += [same] if cuts[-1] < same < len(ids) else []
        return [tuple(ids[a:b]) for a, b in itertools.pairwise((*cuts, len(ids)))]


def _best(scores: np.ndarray, allowed: bytes | None) -> tuple[int, float]:
    """The likeliest token that is allowed, and the logarithm of its probability among these."""
    import numpy as np

    if allowed is not None:
        mask = np.frombuffer(allowed, np.uint8)[: len(scores)]
        scores = np.where(mask == 0, -np.inf, scores[: len(mask)])
    token = int(scores.argmax())
    return token, -float(np.log(np.exp(scores - scores[token]).sum(dtype=np.float64)))


def _load(folder: Path) -> tuple[ExportSettings, ExportedTokenizer, Any]:
    settings = read_beside(str(folder), ENGINE_FILE, ExportSettings)
    if settings is None:
        how = "make the folder with: gradegpt export"
        raise MissingError(f"{folder}: {ENGINE_FILE} is not there; {how}")
    try:
        import jinja2  # noqa: F401
        import onnxruntime
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise MissingError("the fast engine needs: pip install 'gradegpt[fast]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = cores(), 1
    options.log_severity_level = 4
    with engine_errors(f"{folder}: does not load"):
        cpu = ["CPUExecutionProvider"]
        session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), options, providers=cpu)
        tokenizer = ExportedTokenizer(folder, settings.special_tokens)
    return settings, tokenizer, session
