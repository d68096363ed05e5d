"""A process of ``ParallelJudge``: reads items and writes judgements, one JSON array per line."""

from __future__ import annotations

import json
import sys

from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.schema import Item


def main() -> None:
    """Serve until the input ends; the argument is a profile's name, or empty for the rules."""
    judge = ProfileJudge(sys.argv[1]) if sys.argv[1] else RuleJudge()
    _write("ready")
    for line in sys.stdin:
        items = [Item.model_validate(row) for row in json.loads(line)]
        _write([judgement.model_dump(mode="json") for judgement in judge.judge(items)])


def _write(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
