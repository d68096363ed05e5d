"""What a judge was measured to be worth, for a pipeline that demands it: ``certificate.json``.

``gradegpt eval labelled.csv --certify 0.9`` writes it, ``gradegpt judge --certificate`` reads it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from gradegpt.core.errors import MissingError, SettingsError
from gradegpt.core.records import read_beside
from gradegpt.core.schema import Row
from gradegpt.judges.calibration import Probability

LEAST_LABELS: Final = 50
"""The fewest labelled rows with a verdict that certify a judge."""
_LEAST_APART: Final = 0.005
"""The least difference from the floor for which the labels that would show it are counted."""


class Certificate(Row):
    """A judge on ``n_labels`` labelled rows that it decided, which are ``coverage`` of all.

    ``judge`` is its fingerprint and ``settings`` made it; ``rows`` is the SHA-256 digest of the
    items. ``low`` and ``high`` are the 95 % limits of ``balanced_accuracy``, in [0, 1], of which
    the lower is to reach ``floor``; ``majority`` is the accuracy of always giving the more frequent
    label, ``kappa`` Cohen's.
    """

    judge: str
    settings: dict[str, Any]
    rows: str
    n_labels: int
    coverage: Probability
    balanced_accuracy: Probability
    low: float
    high: float
    floor: Probability
    majority: Probability
    kappa: float

    @property
    def passed(self) -> bool:
        """Whether enough labels show that the balanced accuracy is at least the floor."""
        return self.n_labels >= LEAST_LABELS and self.low >= self.floor

    @property
    def needed(self) -> int:
        """About how many labels would decide, with the accuracy of these; 0 where these decide.

        The limits come nearer with the root of the number of labels; those of rows without a
        verdict do not count, but have to be given, too.
        """
        if self.n_labels >= LEAST_LABELS and not self.low < self.floor <= self.high:
            return 0
        share = self.balanced_accuracy
        width = share - self.low if share >= self.floor else self.high - share
        times = width / max(abs(share - self.floor), _LEAST_APART)
        return math.ceil(max(LEAST_LABELS, self.n_labels * times**2) / self.coverage)

    def demand(self, fingerprint: str) -> None:
        """Raise ``SettingsError`` where this is no pass, or of another judge."""
        if not self.passed:
            found = f"at least {self.low:.1%} by {self.n_labels:,} labels, against {self.floor:.1%}"
            raise SettingsError(f"--certificate: this judge did not pass: {found}")
        if fingerprint != self.judge:
            had = "".join(f", {name}={value}" for name, value in self.settings.items())
            raise SettingsError(
                f"--certificate: is of another judge{had}; judge by that one, or certify this one: "
                "gradegpt eval LABELLED --certify FLOOR\n"
                f"  certified: {self.judge}\n  this one:  {fingerprint}"
            )


def read_certificate(path: Path) -> Certificate:
    """The certificate in a file.

    Raises:
        MissingError: there is no such file.
        InputError: it is not a certificate.

    """
    found = read_beside(str(path.parent), path.name, Certificate)
    if found is None:
        raise MissingError(
            f"{path}: no such certificate; write it: gradegpt eval LABELLED --certify FLOOR"
        )
    return found
