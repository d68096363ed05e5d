"""The same training rows in another chain format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradegpt.chain import PromptSettings, build_prompt, parse_chain, parse_prompt, render_chain
from gradegpt.errors import InputError, MissingError
from gradegpt.records import read_rows, validate, write_json, write_rows
from gradegpt.schema import ChainFormat, Message, TrainingRow, Verdict


def in_format(row: TrainingRow, chain_format: ChainFormat, prompt: PromptSettings) -> TrainingRow:
    """The row with the prompt and the chain of ``chain_format``; question and label stay.

    Raises:
        ValueError: the row is not a judge's, or its chain lacks the gloss that the format needs.

    """
    item, parsed = parse_prompt(row.prompt), parse_chain(row.completion[-1].content)
    if item is None or parsed.chain is None:
        raise ValueError("not a judge's prompt and chain")
    # The texts of a prompt already fit the largest budget, so fitting them again changes nothing.
    shown = prompt.model_copy(update={"chain_format": chain_format})
    chain = parsed.chain
    if row.meta.get("verdict"):  # a bare tag does not distinguish incorrect from invalid
        chain = chain.model_copy(update={"verdict": Verdict(row.meta["verdict"])})
    return row.model_copy(
        update={
            "prompt": build_prompt(item, shown),
            "completion": (Message(role="assistant", content=render_chain(chain, chain_format)),),
            "meta": row.meta | {"chain_format": chain_format.value},
        }
    )


def write_format(data: Path, chain_format: ChainFormat, out: Path) -> int:
    """Write the cross-lingual rows of ``data`` in one format; return the number of training rows.

    ``train`` reads the folder ``out``: its manifest has the prompt settings.

    Raises:
        MissingError: ``data`` is not a folder of data_gen.
        InputError: it holds no cross-lingual rows.

    """
    manifest = _manifest(data)
    prompt = validate(PromptSettings, manifest["settings"]["prompt"], str(data / "manifest.json"))
    widest = _widest(manifest["settings"])
    counts = {}
    for part in ("train", "dev"):
        rows = [
            in_format(row, chain_format, widest)
            for row in read_rows(data / f"{part}.jsonl", TrainingRow)
            if row.meta.get("chain_format") == ChainFormat.CROSS_LINGUAL
        ]
        write_rows(out / f"{part}.jsonl", (row.model_dump(mode="json") for row in rows))
        counts[part] = len(rows)
    if not counts["train"]:
        raise InputError(f"{data}: no cross-lingual row; generate some with formats.cross_lingual")
    made = {
        "stage": "eval.ablation",
        "settings": {
            "prompt": prompt.model_dump(mode="json"),
            "formats": {chain_format.value: 1.0},
        },
        "rows": counts,
        "from": manifest.get("outputs", {}),
    }
    write_json(out / "manifest.json", made)
    return counts["train"]


def _manifest(data: Path) -> dict[str, Any]:
    path = data / "manifest.json"
    if not path.is_file():
        raise MissingError(f"{path}: does not exist; make the rows first: gradegpt data ...")
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return manifest


def _widest(settings: dict[str, Any]) -> PromptSettings:
    """The largest value of each budget that a row of the set may have been made with."""
    budgets = [settings["prompt"]["budget"], *(p["budget"] for p in settings.get("longer", ()))]
    widest = {part: 2 * max(int(b[part]) for b in budgets) for part in budgets[0]}
    return validate(PromptSettings, {"budget": widest}, "budget")
