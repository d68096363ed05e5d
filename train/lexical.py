"""Fit the lexical judge: ``gradegpt train.lexical configs/train/lexical.yaml``.

Gradient-boosted trees (Friedman, Greedy Function Approximation, 2001) over the features of
``gradegpt.judges.lexical``, on the free texts of graded files that the rules leave open. A file is
weighted by the square root of its rows, and right and wrong answers in it equally. It takes a
minute on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import numpy as np
import typer
from pydantic import Field

from gradegpt.app import options
from gradegpt.app.cli import run as run_command
from gradegpt.core.records import dump, whole_file
from gradegpt.core.schema import AnswerType, Example, Outcome, Verdict
from gradegpt.core.settings import Settings, load_settings
from gradegpt.judges.lexical import FEATURES, WEIGHTS, LexicalJudge, Tree, Weights, nearest
from gradegpt.judges.parallel import judge_many
from gradegpt.rules.reference import answer_kind, reference_answers
from gradegpt.tables.importers.labelled import Source, read_examples

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


_DEPTH: Final = 4
_RATE: Final = 0.06
"""The learning rate of the trees."""
_SEED: Final = 7


class LexicalSettings(Settings):
    """The graded files to fit and to test, and the number of trees."""

    command: ClassVar[str] = "train.lexical"
    train: tuple[Source, ...] = Field(min_length=1)
    test: tuple[Source, ...] = ()
    trees: int = Field(default=150, ge=1)
    out: Path = WEIGHTS


class Measured(NamedTuple):
    """The scores on one file; ``left_open`` is the share of rows without a verdict."""

    name: str
    rows: int
    auc: float
    balanced: float
    left_open: float


def open_texts(source: Source) -> list[Example]:
    """The free texts of a source that the rules leave undecided."""
    examples = list(read_examples(source))
    left = zip(examples, judge_many(examples), strict=True)
    return [e for e, j in left if j.outcome is not Outcome.JUDGED and _is_text(e)]


def _is_text(example: Example) -> bool:
    first = reference_answers(example.accepted[0])[0]
    return answer_kind(example, first) is AnswerType.TEXT


def fit(settings: LexicalSettings) -> Weights:
    """Fit the trees to the ``train`` parts; the same settings and rows give the same weights.

    Raises:
        InputError: as ``read_examples``.

    """
    from sklearn.ensemble import GradientBoostingClassifier

    files = {source.label: open_texts(source) for source in settings.train}
    table, right = _table([example for file in files.values() for example in file])
    weights = np.concatenate([_weights(file) for file in files.values() if file])
    model = GradientBoostingClassifier(
        n_estimators=settings.trees, max_depth=_DEPTH, learning_rate=_RATE,
        subsample=0.7, min_samples_leaf=20, random_state=_SEED,
    )  # fmt: skip
    model.fit(table, right, sample_weight=weights)
    prior = float(np.average(right, weights=weights))
    return Weights(
        features=FEATURES,
        base=round(float(np.log(prior / (1 - prior))), 4),
        trees=tuple(_tree(one.tree_, _RATE) for one in model.estimators_[:, 0]),
        fitted={name: len(file) for name, file in files.items()},
    )


def _table(examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    """The features of each example, and whether its response is right."""
    accepted = ([answer for r in e.accepted for answer in reference_answers(r)] for e in examples)
    rows = [nearest(e, answers).row for e, answers in zip(examples, accepted, strict=True)]
    return np.array(rows, np.float32), np.array([e.verdict is Verdict.CORRECT for e in examples])


def _weights(examples: Sequence[Example]) -> np.ndarray:
    right = np.array([e.verdict is Verdict.CORRECT for e in examples])
    sizes = np.where(right, right.sum(), (~right).sum())
    return np.asarray(np.sqrt(len(right)) / sizes)


def _tree(tree: Any, rate: float) -> Tree:
    """A fitted tree as data; its limits are rounded to 32 bits, as the features are."""
    return Tree(
        feature=tuple(int(f) if f >= 0 else -1 for f in tree.feature),
        limit=tuple(float(np.float32(t)) for t in tree.threshold),
        left=tuple(map(int, tree.children_left)),
        right=tuple(map(int, tree.children_right)),
        value=tuple(round(rate * float(v), 5) for v in tree.value[:, 0, 0]),
    )


def measure(source: Source, weights: Weights) -> Measured | None:
    """The trees' scores on a file's open texts; None for a file with a single verdict."""
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    examples = open_texts(source)
    if len({e.verdict is Verdict.CORRECT for e in examples}) < 2:
        return None
    table, right = _table(examples)
    odds = np.array([weights.odds(row) for row in table.tolist()])
    judged = LexicalJudge(weights).judge(examples)
    left_open = sum(j.outcome is not Outcome.JUDGED for j in judged) / len(judged)
    auc, balanced = roc_auc_score(right, odds), balanced_accuracy_score(right, odds > 0)
    return Measured(source.label, len(examples), float(auc), float(balanced), left_open)


@app.command(epilog="Then: gradegpt judge answers.jsonl -o out.jsonl --judge lexical")
def main(
    settings: Annotated[
        Path, typer.Argument(help="A settings file, or the name of a shipped one, such as lexical.")
    ],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE")] = None,
    output: Annotated[str | None, options.output("The weights' file, as out=FILE.")] = None,
) -> None:
    """Fit the lexical judge's weights and print its scores on the test files."""
    wanted = load_settings(LexicalSettings, settings, options.with_folder(output, overrides))
    weights = fit(wanted)
    with whole_file(wanted.out) as out:
        out.write(dump(weights) + "\n")
    rows = ", ".join(f"{name} {n:,}" for name, n in weights.fitted.items())
    typer.echo(f"wrote {wanted.out}: {len(weights.trees)} trees, fitted to {rows}")
    typer.echo(
        f"{'free texts left open':28} {'rows':>6} {'AUC':>6} {'balanced':>9} {'abstains':>9}"
    )
    for file in filter(None, (measure(source, weights) for source in wanted.test)):
        typer.echo(
            f"{file.name:28} {file.rows:6,} {file.auc:6.3f} {file.balanced:9.3f} "
            f"{file.left_open:9.1%}"
        )


if __name__ == "__main__":
    run_command(app, name="gradegpt train.lexical")
