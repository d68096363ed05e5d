"""inspect_ai evaluations of ready answers; their grader is a model behind a URL.

Run by ``test_inspect_ai.py`` in a separate process: the grader's model is the argument, the
samples come on stdin, the grades of each scorer go to stdout.
"""

import json
import sys
import tempfile
from typing import Any


def main() -> None:
    """Evaluate with both scorers, and print the grades by sample."""
    from inspect_ai import Task, eval  # noqa: A004  its name
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import model_graded_fact, model_graded_qa
    from inspect_ai.solver import solver

    @solver
    def ready_answers() -> Any:
        async def solve(state: Any, _: Any) -> Any:
            state.output = ModelOutput.from_content("ready", state.metadata["response"])
            return state

        return solve

    samples = [
        Sample(id=r["id"], input=r["question"], target=r["reference"],
               metadata={"response": r["response"]})
        for r in json.load(sys.stdin)
    ]  # fmt: skip
    made = {}
    with tempfile.TemporaryDirectory() as logs:  # a log is read lazily
        for name, scorer in {"qa": model_graded_qa, "fact": model_graded_fact}.items():
            task = Task(MemoryDataset(samples), solver=ready_answers(), scorer=scorer())
            [log] = eval(
                task, model="mockllm/model", model_roles={"grader": sys.argv[1]}, display="none",
                log_dir=logs, log_level="error", max_connections=50,
            )  # fmt: skip
            if log.status != "success":
                raise SystemExit(str(log.error))
            grades = {
                sample.id: None if isinstance(score.value, float) else score.value
                for sample in log.samples or []
                for score in (sample.scores or {}).values()
            }
            [metrics] = [score.metrics for score in log.results.scores]
            made[name] = {"grades": grades, "accuracy": metrics["accuracy"].value}
    sys.stdout.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
