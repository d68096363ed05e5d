"""A process of ``ParallelJudge``: reads items and sends their judgements."""

from __future__ import annotations

import json
import sys

from gradegpt.core.schema import Item
from gradegpt.judges.base import judge_each
from gradegpt.judges.build import build_judge
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.rules.workers import serve


def main() -> None:
    """Serve until the parent ends; the first argument is the settings of the judge as JSON."""
    judge = build_judge(JudgeSettings.of(**json.loads(sys.argv[1])))
    judge = judge.inner if isinstance(judge, ParallelJudge) else judge  # in this process alone
    serve(
        lambda rows: [
            judgement.model_dump(mode="json")
            for judgement in judge_each(judge, [Item.model_validate(row) for row in rows])
        ]
    )


if __name__ == "__main__":
    main()
