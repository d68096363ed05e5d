"""The parts of vLLM's and Ray Serve's interfaces that the project uses, read from their sources.

    pip download --no-deps vllm && unzip vllm-*.whl -d vllm-source
    python -m scripts.interfaces vllm-source SITE-PACKAGES tests/data/interfaces.json

Neither runs on a machine without a GPU. The tests check every call, flag and setting that the
project makes against this record, so an argument that they do not have fails a test. The sources
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
    "AsyncLLM.from_engine_args": "vllm/v1/engine/async_llm.py",
    "AsyncLLM.generate": "vllm/v1/engine/async_llm.py",
    "AsyncLLM.shutdown": "vllm/v1/engine/async_llm.py",
    "StructuredOutputsConfig": "vllm/config/structured_outputs.py",
    "StructuredOutputsBackend": "vllm/config/structured_outputs.py",
    "MaxLoRARanks": "vllm/config/lora.py",
    "LoRARequest": "vllm/lora/request.py",
    "SamplingParams": "vllm/sampling_params.py",
    "StructuredOutputsParams": "vllm/sampling_params.py",
    "RequestOutputKind": "vllm/sampling_params.py",
    "TokensPrompt": "vllm/inputs/llm.py",
    "RequestOutput.__init__": "vllm/outputs.py",
    "CompletionOutput": "vllm/outputs.py",
    "Logprob": "vllm/logprobs.py",
    "EngineDeadError": "vllm/v1/engine/exceptions.py",
    "VLLMError": "vllm/exceptions.py",
    "FrontendArgs": "vllm/entrypoints/common/cli_args.py",
    "ChatCompletionRequest": "vllm/entrypoints/openai/chat_completion/protocol.py",
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
"""Where each class, function or set of values is defined."""


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
    """The fields of a class, the values of a set, or a function's parameters.

    A parameter with a default is followed by ``=``; those after ``*`` are given by name.
    """
    owner, _, method = name.partition(".")
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    if owner not in classes:
        return _values(owner, nodes)
    if not method:
        return list(_fields(classes[owner], classes))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    (found,) = [n for n in classes[owner].body if isinstance(n, functions) and n.name == method]
    return list(_arguments(found.args))


def _values(name: str, nodes: list[ast.stmt]) -> list[str]:
    """The values of ``name = Literal[...]``."""
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    (value,) = [n.value for n in assigned if ast.unparse(n.targets[0]) == name]
    return [str(n.value) for n in ast.walk(value) if isinstance(n, ast.Constant)]


def _fields(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    """The fields of a class and of its bases in the same file, and the members of an enum."""
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield from _fields(classes[base.id], classes)
    for line in node.body:
        if isinstance(line, ast.AnnAssign | ast.Assign):
            target = line.target if isinstance(line, ast.AnnAssign) else line.targets[0]
            if isinstance(target, ast.Name) and not target.id.startswith("_"):
                yield target.id + ("" if line.value is None else "=")


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    names = [argument.arg for argument in arguments.args][1:]  # no self
    required = len(names) - len(arguments.defaults)
    yield from (name + ("=" if n >= required else "") for n, name in enumerate(names))
    if arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument.arg + ("" if default is None else "=")


if __name__ == "__main__":
    run(app, name="python -m scripts.interfaces")
