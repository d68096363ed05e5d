"""Select the rows by strata: each has its share of the rows, with balanced verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from gradegpt.schema import Verdict

from .balance import selection_order
from .candidates import Candidate
from .settings import Stratum


def stratified(
    candidates: Iterable[Candidate], strata: Sequence[Stratum], rows: int
) -> list[Candidate]:
    """At most ``rows`` of the candidates, in their selection_order.

    In a stratum half of the rows of each source are correct. They are spread over as many questions
    as there are: a question's second row is taken after the first row of every question. A stratum
    with too few rows of either verdict stays short.
    """
    held: dict[str, list[Candidate]] = defaultdict(list)
    everyone = list(candidates)
    for candidate in everyone:
        name = next((s.name for s in strata if _accepts(s, candidate)), "")
        held[name].append(candidate)
    kept = {id(c) for s in strata for c in _pick(held[s.name], round(rows * s.share), s)}
    return [candidate for candidate in everyone if id(candidate) in kept]


def _pick(candidates: Sequence[Candidate], size: int, stratum: Stratum) -> list[Candidate]:
    if Verdict.CORRECT not in (stratum.verdicts or [*Verdict]):
        return _round_robin(candidates)[:size]
    sources: dict[str, tuple[list[Candidate], list[Candidate]]] = defaultdict(lambda: ([], []))
    for candidate in _round_robin(candidates):
        sources[candidate.source][candidate.verdict is Verdict.CORRECT].append(candidate)
    # As many correct as incorrect rows of each source; otherwise its style predicts the verdict.
    pairs = [pair for wrong, right in sources.values() for pair in zip(wrong, right, strict=False)]
    pairs.sort(key=lambda pair: selection_order(pair[0]))
    return [candidate for pair in pairs[: size // 2] for candidate in pair]


def _round_robin(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The first candidate of every question, then the second one of every question, and so on."""
    seen: dict[str, int] = defaultdict(int)
    turns = []
    for candidate in sorted(candidates, key=selection_order):
        turns.append((seen[candidate.group], candidate))
        seen[candidate.group] += 1
    return [candidate for _, candidate in sorted(turns, key=lambda turn: turn[0])]


def _accepts(stratum: Stratum, candidate: Candidate) -> bool:
    return (
        (not stratum.sources or candidate.source in stratum.sources)
        and (not stratum.origins or candidate.origin in stratum.origins)
        and (not stratum.types or candidate.kind in stratum.types)
        and (not stratum.verdicts or candidate.verdict in stratum.verdicts)
        and stratum.lang in ("", candidate.lang)
        and stratum.response_lang in ("", candidate.response_lang)
        and stratum.open in (None, "rules" not in candidate.labels)
    )
