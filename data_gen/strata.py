"""Choose the rows by named shares: each stratum filled in proportion, its verdicts balanced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from data_gen.balance import order
from data_gen.candidates import Candidate
from data_gen.settings import Stratum
from gradegpt.schema import Verdict


def stratified(
    candidates: Iterable[Candidate], strata: Sequence[Stratum], rows: int
) -> list[Candidate]:
    """At most ``rows`` of the candidates, in their order.

    In a stratum half of the rows are correct, of as many questions as there are: a question's
    second row comes after every question's first. One that is short of either verdict stays short,
    so shares hold to each other as far as the candidates allow.
    """
    held: dict[str, list[Candidate]] = defaultdict(list)
    everyone = list(candidates)
    for candidate in everyone:
        taker = next((s.name for s in strata if _takes(s, candidate)), "")
        held[taker].append(candidate)
    kept = {id(c) for s in strata for c in _pick(held[s.name], round(rows * s.share), s)}
    return [candidate for candidate in everyone if id(candidate) in kept]


def _pick(candidates: Sequence[Candidate], size: int, stratum: Stratum) -> list[Candidate]:
    right, wrong = (
        _by_turns([c for c in candidates if (c.verdict is Verdict.CORRECT) is side])
        for side in (True, False)
    )
    if Verdict.CORRECT not in (stratum.verdicts or [*Verdict]):
        return wrong[:size]
    half = min(size // 2, len(right), len(wrong))
    return right[:half] + wrong[:half]


def _by_turns(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Every question's first candidate, then every second one, and so on."""
    seen: dict[str, int] = defaultdict(int)
    turns = []
    for candidate in sorted(candidates, key=order):
        turns.append((seen[candidate.group], candidate))
        seen[candidate.group] += 1
    return [candidate for _, candidate in sorted(turns, key=lambda turn: turn[0])]


def _takes(stratum: Stratum, candidate: Candidate) -> bool:
    return (
        (not stratum.sources or candidate.source in stratum.sources)
        and (not stratum.origins or candidate.origin in stratum.origins)
        and (not stratum.types or candidate.kind in stratum.types)
        and (not stratum.verdicts or candidate.verdict in stratum.verdicts)
        and stratum.lang in ("", candidate.lang)
        and stratum.response_lang in ("", candidate.response_lang)
        and stratum.open in (None, "rules" not in candidate.labels)
    )
