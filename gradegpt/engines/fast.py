"""An exported model on CTranslate2: the same chains as ``LocalEngine``, several times faster.

``python -m train.export`` writes the folder. What is here needs neither torch nor transformers, and
so is ready in half a second.

CTranslate2 takes no logits processor, so a guided chain is written optimistically: each token is
looked at as it comes, the first that the guide rules out stops its row, the best allowed one takes
its place, and the row goes on from there. A guide rarely steps in, and then only it costs anything.
"""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.chain import NO, YES, PromptSettings, build_prompt
from gradegpt.engines.base import Generation, TagProbability, TagTokens, Token
from gradegpt.engines.chat import render_chat, token_bytes
from gradegpt.engines.exported import ENGINE_FILE, ExportedTokenizer, ExportSettings, is_exported
from gradegpt.engines.files import stamped
from gradegpt.errors import EngineError, MissingError
from gradegpt.guide import VERSION as GUIDE_VERSION
from gradegpt.guide import TokenGuide, guide_for
from gradegpt.machine import cores
from gradegpt.records import validate
from gradegpt.schema import Item, Message

if TYPE_CHECKING:
    import numpy as np

_VOCABULARY: Final = "vocabulary.json"
_SMALL: Final = 64 * 2**20
"""Bytes of weights below which matrices are too small for two threads to share."""
_WIDTH: Final = 8
"""Prompts of a batch differ by fewer tokens: what is longer than the shortest is fed one by one."""

_STARTS: Final = 8
"""Shared starts of prompts whose states are kept: one judge has one, and each takes memory."""


class FastEngine:
    """Greedy generation with CTranslate2, from a folder that ``train.export`` wrote.

    Safe to call from several threads at once.

    Args:
        folder: the exported model.
        batch_size: prompts that are written together, at most.
        threads: threads that work on one batch. None: one for a small model, else all cores.
        workers: batches worked on at a time. None: as many as the cores allow.
        guided: as for ``LocalEngine``.

    Raises:
        MissingError: the packages or the folder are not there.
        EngineError: the files are there but do not load.

    """

    def __init__(
        self,
        folder: str,
        *,
        batch_size: int = 32,
        threads: int | None = None,
        workers: int | None = None,
        guided: bool = True,
    ) -> None:
        self.name = f"ctranslate2:{stamped(folder)}"
        self.batch_size = batch_size
        settings, self._tokenizer, generator = _load(Path(folder), threads, workers)
        # Its threads must be gone before the interpreter is: they hold our callbacks, and the
        # process would abort.
        self._generators = [generator]
        weakref.finalize(self, self._generators.clear)
        self._ends = settings.end_token_ids
        # CTranslate2 takes names. It has one for rows of the embedding that no token has, too.
        self._names = json.loads((Path(folder) / _VOCABULARY).read_text(encoding="utf-8"))
        self._bytes = token_bytes(self._tokenizer) if guided else []
        self._starts: dict[tuple[Message, ...], list[int]] = {}
        self.name += f"+guide-{GUIDE_VERSION}" if self._bytes else ""

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue all prompts greedily, in batches of similar length, and answer in order."""
        jobs = [
            _Job(self._encode(prompt), max_new_tokens, self._guiding(prompt)) for prompt in prompts
        ]
        left = jobs
        while left:
            self._write_on(left)
            blocked = [job for job in left if job.blocked and job.error is None]
            self._correct(blocked)
            left = [job for job in blocked if not job.done]
        return [job.error or self._generation(job) for job in jobs]

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """How likely each tag is right after each prompt: one pass where a tag is one token."""
        import numpy as np

        tags = TagTokens(*(self._tokenizer.encode(tag) for tag in (YES, NO)))
        rows = [self._encode(prompt) for prompt in prompts]
        # A row at a time: see _next_scores.
        running = [self._ask([row], tags.shared + 1, return_logits_vocab=True)[0] for row in rows]
        found: list[TagProbability | EngineError | None] = []
        for row, job in zip(rows, running, strict=True):
            try:
                result = job.result()
            except RuntimeError as error:
                found.append(EngineError(f"{self.name}: {error}"))
                continue
            yes = tags.read(result.sequences_ids[0], np.array(result.logits[0][-1]))
            count = len(row), tags.shared + 1
            found.append(None if yes is None else TagProbability(yes, *count))
        return found

    def _encode(self, prompt: Sequence[Message]) -> list[int]:
        """The prompt's tokens; notes what judge prompts that begin with the same turns share."""
        head = tuple(prompt[:-1])
        if head and head not in self._starts and len(self._starts) < _STARTS:
            items = (Item(question=q, reference=("0",), response="0") for q in ("", "0", "Q"))
            probes = [build_prompt(item, PromptSettings())[-1] for item in items]
            columns = zip(*(self._ids((*head, probe)) for probe in probes), strict=False)
            same = itertools.takewhile(lambda column: len(set(column)) == 1, columns)
            self._starts[head] = [column[0] for column in same]
        return self._ids(prompt)

    def _ids(self, prompt: Sequence[Message]) -> list[int]:
        return self._tokenizer.encode(render_chat(self._tokenizer, prompt))

    def _guiding(self, prompt: Sequence[Message]) -> TokenGuide | None:
        guide = guide_for(prompt) if self._bytes else None
        return TokenGuide(guide, self._bytes, self._ends) if guide else None

    def _write_on(self, jobs: list[_Job]) -> None:
        """Write on in all ``jobs`` until each is done or blocked."""
        running = []
        for batch in _batches(jobs, self.batch_size):
            rows = [job.prompt + job.made for job in batch]
            limit = max(job.limit - len(job.made) for job in batch)
            running.append((batch, self._ask(rows, limit, callback=_listener(batch, self._ends))))
        for batch, results in running:
            try:
                for result in results:
                    result.result()
            except RuntimeError as error:
                for job in batch:
                    job.error = EngineError(f"{self.name}: {error}")

    def _correct(self, jobs: list[_Job]) -> None:
        """Give each blocked job the best token that its guide allows."""
        import numpy as np

        found = self._next_scores([job.prompt + job.made for job in jobs])
        for job, scores in zip(jobs, found, strict=True):
            if isinstance(scores, EngineError) or job.guiding is None:
                job.error = scores if isinstance(scores, EngineError) else None
                continue
            ranked = np.argsort(-scores, kind="stable").tolist()
            # As in LocalEngine: where nothing is allowed, the best token stands.
            best = next((n for n, t in enumerate(ranked) if job.guiding.allows(t)), 0)
            rest = scores[ranked[best:]].astype(np.float64)
            job.blocked = False
            job.add(ranked[best], -float(np.log(np.exp(rest - rest[0]).sum())), self._ends)

    def _next_scores(self, rows: list[list[int]]) -> list[np.ndarray | EngineError]:
        """The logits of the token after each row.

        A row at a time, as a batch of unequal rows would give those of other places.
        """
        import numpy as np

        running = [self._ask([row], 1, return_logits_vocab=True)[0] for row in rows]
        found: list[np.ndarray | EngineError] = []
        for result in running:
            try:
                found.append(np.array(result.result().logits[0][0]))
            except RuntimeError as error:
                found.append(EngineError(f"{self.name}: {error}"))
        return found

    def _ask(self, rows: list[list[int]], limit: int, **options: Any) -> list[Any]:
        # A copy, as another thread may note a start meanwhile.
        fits = (s for s in tuple(self._starts.values()) if all(r[: len(s)] == s for r in rows))
        start = max(fits, key=len, default=[])
        results: list[Any] = self._generators[0].generate_batch(
            [[self._names[token] for token in row[len(start) :]] for row in rows],
            static_prompt=[self._names[token] for token in start] or None,
            cache_static_prompt=bool(start),
            max_length=limit,
            end_token=list(self._ends),
            include_prompt_in_result=False,
            return_scores=True,
            asynchronous=True,
            **options,
        )
        return results

    def _generation(self, job: _Job) -> Generation:
        pieces = self._tokenizer.convert_ids_to_tokens(job.made)
        return Generation(
            text=self._tokenizer.decode(job.made),
            prompt_tokens=len(job.prompt),
            completion_tokens=len(job.made),
            tokens=tuple(Token(p, lp) for p, lp in zip(pieces, job.logprobs, strict=True)),
        )


@dataclass
class _Job:
    """One prompt being continued: what is written of it so far, and how that stands."""

    prompt: list[int]
    limit: int
    guiding: TokenGuide | None
    made: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    blocked: bool = False
    """The next token is one that the guide does not allow."""
    ended: bool = False
    error: EngineError | None = None

    @property
    def done(self) -> bool:
        return self.ended or len(self.made) >= self.limit

    def add(self, token: int, logprob: float, ends: tuple[int, ...]) -> None:
        self.ended = token in ends
        if not self.ended:
            self.made.append(token)
            self.logprobs.append(logprob)
            if self.guiding is not None:
                self.guiding.write(token)


def _listener(jobs: list[_Job], ends: tuple[int, ...]) -> Callable[[Any], bool]:
    """What CTranslate2 calls with every token of a batch; true stops the token's row."""

    def hear(step: Any) -> bool:
        job = jobs[step.batch_id]
        if not (job.blocked or job.done):
            job.blocked = job.guiding is not None and not job.guiding.allows(step.token_id)
            if not job.blocked:
                job.add(step.token_id, step.log_prob, ends)
        return bool(job.blocked or job.done)

    return hear


def _batches(jobs: list[_Job], size: int) -> Iterator[list[_Job]]:
    batch: list[_Job] = []
    first = 0
    for length, job in sorted(
        ((len(j.prompt) + len(j.made), j) for j in jobs), key=lambda pair: pair[0]
    ):
        if batch and (len(batch) == size or length - first >= _WIDTH):
            yield batch
            batch = []
        first = first if batch else length
        batch.append(job)
    if batch:
        yield batch


def _load(
    folder: Path, threads: int | None, workers: int | None
) -> tuple[ExportSettings, ExportedTokenizer, Any]:
    if not is_exported(str(folder)):
        raise MissingError(
            f"{folder}: no {ENGINE_FILE} there; make the folder with: python -m train.export"
        )
    try:
        import ctranslate2
        import jinja2  # noqa: F401
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise MissingError("the fast engine needs: pip install 'gradegpt[fast]'") from error
    raw = json.loads((folder / ENGINE_FILE).read_text(encoding="utf-8"))
    settings = validate(ExportSettings, raw, str(folder / ENGINE_FILE))
    try:
        small = (folder / "model.bin").stat().st_size < _SMALL
        threads = threads or (1 if small else cores())
        generator = ctranslate2.Generator(
            str(folder),
            intra_threads=threads,
            inter_threads=workers or max(1, cores() // threads),
        )
        tokenizer = ExportedTokenizer(folder, settings.special_tokens)
    except (OSError, RuntimeError, ValueError) as error:
        raise EngineError(f"{folder}: does not load: {str(error).splitlines()[0]}") from error
    return settings, tokenizer, generator
