"""The parts of vLLM's and Ray Serve's interfaces that the project uses, read from their sources.

    pip download --no-deps vllm && unzip vllm-*.whl -d vllm-source
    python -m scripts.interfaces vllm-source SITE-PACKAGES tests/data/interfaces.json

Neither runs on a machine without a GPU. The tests check every flag and setting of compose.yaml,
deploy/ and the guides against this record, so one that they do not have fails a test. The sources
are parsed, not imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.app.cli import run
from gradegpt.core.errors import MissingError
from gradegpt.core.records import write_json

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_LLM: Final = "ray/llm/_internal/serve/core"
SOURCES: Final = {
    "AsyncEngineArgs": "vllm/engine/arg_utils.py",
    "FrontendArgs": "vllm/entrypoints/common/cli_args.py",
    "LLMConfig": f"{_LLM}/configs/llm_config.py",
    "ModelLoadingConfig": f"{_LLM}/configs/llm_config.py",
    "LoraConfig": f"{_LLM}/configs/llm_config.py",
    "LLMServingArgs": f"{_LLM}/ingress/builder.py",
    "ServeDeploySchema": "ray/serve/schema.py",
    "ServeApplicationSchema": "ray/serve/schema.py",
    "HTTPOptionsSchema": "ray/serve/schema.py",
    "DeploymentSchema": "ray/serve/schema.py",
    "AutoscalingConfig": "ray/serve/config.py",
}
"""Where each class is defined."""


@app.command()
def main(
    vllm: Annotated[Path, typer.Argument(help="The folder that holds the package vllm.")],
    ray: Annotated[Path, typer.Argument(help="The folder that holds the package ray.")],
    output: Annotated[Path, typer.Argument(help="The record to write.")],
) -> None:
    """Write the record of both interfaces."""
    found = {}
    for name, path in SOURCES.items():
        folder = vllm if path.startswith("vllm/") else ray
        if not (file := folder / path).is_file():
            raise MissingError(f"{file}: not there; {name} has moved: change SOURCES")
        found[name] = {"file": path, "parameters": _parameters(name, file)}
    versions = {"vllm": _version(vllm, "vllm"), "ray": _version(ray, "ray")}
    write_json(output, {"versions": versions, "interfaces": found})


def _version(folder: Path, package: str) -> str:
    named = [re.match(rf"{package}-(.+)\.dist-info", path.name) for path in folder.iterdir()]
    return next(match[1] for match in named if match)


def _parameters(name: str, file: Path) -> list[str]:
    """The fields of a class and of its bases in the same file."""
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    return list(_fields(classes[name], classes))


def _fields(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield from _fields(classes[base.id], classes)
    for line in node.body:
        name = ast.unparse(line.target) if isinstance(line, ast.AnnAssign) else "_"
        if not name.startswith("_"):
            yield name


if __name__ == "__main__":
    run(app, name="python -m scripts.interfaces")
