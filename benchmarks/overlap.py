"""Count what a generated set shares with the files that it must avoid, by a naive method.

    python benchmarks/overlap.py data/gradegpt-real

Reads the set's manifest for the files, and counts: questions in both splits, questions of an
evaluation file, and rows that share thirteen tokens in a row with one, in question, reference or
response. Each should be 0. The n-grams are plain strings in a plain set, not what the generator
uses.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from gradegpt.chains.chain import parse_prompt
from gradegpt.core.schema import Item, Message
from gradegpt.tables.importers.labelled import question_key, split_of

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|\d+")


def ngrams(text: str, n: int) -> Iterator[str]:
    """Every ``n`` tokens in a row: a Han character, a run of letters or of digits."""
    tokens = _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    return (" ".join(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def evaluated(avoid: list[dict[str, str | None]]) -> Iterator[tuple[str, list[str]]]:
    """The question and all texts of each row to avoid."""
    for part in avoid:
        for line in Path(str(part["path"])).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            names = (str(part[name]) for name in ("question", "reference", "response"))
            question, reference, response = (str(row.get(name) or "") for name in names)
            if part["split"] in (None, split_of(question or reference)):
                yield question, [question, reference, response]


def items(path: Path) -> Iterator[Item]:
    """The items in the rows' prompts."""
    for line in path.read_text(encoding="utf-8").splitlines():
        item = parse_prompt([Message(**message) for message in json.loads(line)["prompt"]])
        if item is None:
            raise SystemExit(f"{path}: a row without a prompt of this project")
        yield item


def main() -> None:
    """Print the three counts; exit with 1 if one is not 0."""
    folder = Path(sys.argv[1])
    settings = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["settings"]
    n = settings["quality"]["ngram"]
    keys: set[str] = set()
    grams: set[str] = set()
    for question, texts in evaluated(settings["avoid"]):
        keys.add(question_key(question))
        grams.update(gram for text in texts for gram in ngrams(text, n))
    parts = {part: list(items(folder / f"{part}.jsonl")) for part in ("train", "dev")}
    asked = {part: {question_key(i.question) for i in made} - {""} for part, made in parts.items()}
    rows = [item for made in parts.values() for item in made]
    sharing = sum(
        any(g in grams for t in (i.question, *i.reference, i.response) for g in ngrams(t, n))
        for i in rows
    )
    found = {
        "questions in train and dev": len(asked["train"] & asked["dev"]),
        "questions of an evaluation file": len((asked["train"] | asked["dev"]) & keys),
        f"rows that share {n} tokens in a row": sharing,
    }
    print(f"{len(rows):,} rows against {len(grams):,} {n}-grams")
    for name, count in found.items():
        print(f"{count:>8,}  {name}")
    sys.exit(any(found.values()))


if __name__ == "__main__":
    main()
