"""An exported model on ONNX Runtime: the same chains as ``LocalEngine``, several times faster.

``gradegpt export`` writes the folder. The engine needs neither torch nor transformers, and starts
in half a second.

Speculative decoding: a chain is mostly predictable, being fixed words and a sentence and an answer
copied from the response. So each pass reads a draft of the next tokens (``drafts``), and accepts as
many of them as the model under its constraint would have written one by one. A chain of seventy
tokens takes about fifteen passes. There are no batches: each core works on one prompt.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradegpt.chain import NO, RESPONSE, YES
from gradegpt.constrained import VERSION as CONSTRAINT_VERSION
from gradegpt.constrained import TokenConstraint, constraint_for
from gradegpt.engines.base import Generation, TagProbability, TagTokens, Token
from gradegpt.engines.chat import render_chat, token_bytes
from gradegpt.engines.drafts import Drafts
from gradegpt.engines.exported import ENGINE_FILE, MODEL_FILE, ExportedTokenizer, ExportSettings
from gradegpt.engines.files import name_with_digest
from gradegpt.engines.state import State, common_prefix, engine_errors
from gradegpt.errors import EngineError, MissingError
from gradegpt.machine import cores
from gradegpt.records import read_beside
from gradegpt.schema import Message
from gradegpt.speculative import draft_for

if TYPE_CHECKING:
    import numpy as np

_Answer = TypeVar("_Answer")
_SMALL: Final = 64 * 2**20
"""Bytes of weights below which a second thread for one prompt does not help."""


class FastEngine:
    """Greedy generation with ONNX Runtime, from a folder that ``train.export`` wrote.

    Safe to call from several threads at once.

    Args:
        folder: the exported model.
        threads: threads for one prompt. None: one for a small model, else all cores.
        workers: prompts processed at a time. None: as many as the cores allow.
        constrained: as for ``LocalEngine``.

    Raises:
        MissingError: the packages or the folder are not there.
        EngineError: the files are there but do not load.

    """

    def __init__(
        self,
        folder: str,
        *,
        threads: int | None = None,
        workers: int | None = None,
        constrained: bool = True,
    ) -> None:
        self.name = f"onnx:{name_with_digest(folder)}"
        small = _weights(Path(folder)) < _SMALL
        threads = threads or (1 if small else cores())
        workers = workers or max(1, cores() // threads)
        settings, self._tokenizer, session = _load(Path(folder), threads)
        self._ends, self._context = settings.end_token_ids, settings.shape.context
        self._pieces = token_bytes(self._tokenizer)
        self._constrained = constrained and bool(self._pieces)
        # One state for each worker thread.
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        self._free = [State(session, settings.shape) for _ in range(workers)]
        self._lock = threading.Lock()
        self.name += f"+constrained-{CONSTRAINT_VERSION}" if self._constrained else ""

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
                return answer(prompt)
            except EngineError as error:
                return error

        return list(self._pool.map(answer_or_error, prompts))

    def _write(self, prompt: Sequence[Message], limit: int) -> Generation:
        parts = self._encode(prompt)
        ids = [token for part in parts for token in part]
        limit = min(limit, self._context - len(ids))
        constraint = constraint_for(prompt) if self._constrained else None
        constrained = TokenConstraint(constraint, self._pieces, self._ends) if constraint else None
        drafts = Drafts(self._tokenizer, self._pieces, ids, draft_for(prompt))
        made: list[int] = []
        logprobs: list[float] = []
        with self._state(parts, len(ids) + limit) as state:
            past, unread = state.begin(parts), list(parts[-1])
            while len(made) < limit:
                draft = drafts.next()[: limit - len(made) - 1]
                scores = state.read([*unread, *draft], past, wanted=len(draft) + 1)
                past += len(unread)
                for row, drafted in itertools.zip_longest(scores, draft):
                    token, logprob = _best(row, constrained)
                    if token in self._ends:
                        limit = len(made)
                        break
                    made.append(token)
                    logprobs.append(logprob)
                    drafts.add(token)
                    if constrained is not None:
                        constrained.write(token)
                    if token != drafted:
                        break
                    past += 1
                unread = made[-1:]
        tokens = tuple(map(Token, self._tokenizer.convert_ids_to_tokens(made), logprobs))
        return Generation(self._tokenizer.decode(made), len(ids), len(made), tokens)

    def _tag(self, prompt: Sequence[Message], tags: TagTokens) -> TagProbability | None:
        parts = self._encode(prompt)
        length = sum(map(len, parts))
        written: list[int] = []
        with self._state(parts, length + tags.shared + 1) as state:
            past, unread = state.begin(parts), list(parts[-1])
            scores = state.read(unread, past)[-1]
            for shared in tags.yes[: tags.shared]:
                written.append(shared if self._constrained else int(scores.argmax()))
                past, unread = past + len(unread), written[-1:]
                scores = state.read(unread, past)[-1]
        chosen = tags.yes if self._constrained else [*written, int(scores.argmax())]
        yes = tags.read(chosen, scores)
        return None if yes is None else TagProbability(yes, length, tags.shared + 1)

    @contextmanager
    def _state(self, parts: Sequence[tuple[int, ...]], places: int) -> Iterator[State]:
        """The free state that holds the most of ``parts``, with room for ``places`` tokens."""
        with self._lock:
            state = max(self._free, key=lambda state: state.shared_parts(parts))
            self._free.remove(state)
        try:
            state.reserve(places)
            yield state
        finally:
            with self._lock:
                self._free.append(state)

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


def _best(scores: np.ndarray, constrained: TokenConstraint | None) -> tuple[int, float]:
    """The likeliest token that the constraint allows and the logarithm of its probability.

    As in ``LocalEngine``, the probability is relative to the tokens that are not likelier; where
    nothing is allowed, the likeliest token is taken.
    """
    import numpy as np

    token = int(scores.argmax())
    if constrained is not None and not constrained.allows(token):
        ranked = np.argsort(-scores, kind="stable")
        best = next((n for n, t in enumerate(ranked.tolist()) if constrained.allows(t)), 0)
        token, scores = int(ranked[best]), scores[ranked[best:]]
    return token, -float(np.log(np.exp(scores - scores.max()).sum(dtype=np.float64)))


def _weights(folder: Path) -> int:
    """The size of the weights in bytes."""
    return sum(path.stat().st_size for path in folder.glob(f"{MODEL_FILE}*"))


def _load(folder: Path, threads: int) -> tuple[ExportSettings, ExportedTokenizer, Any]:
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
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4
    with engine_errors(f"{folder}: does not load"):
        cpu = ["CPUExecutionProvider"]
        session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), options, providers=cpu)
        tokenizer = ExportedTokenizer(folder, settings.special_tokens)
    return settings, tokenizer, session
