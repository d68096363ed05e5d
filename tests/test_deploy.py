"""The files for deploying the server, and the workflow that makes a release."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gradegpt.chains.fit import Budget
from gradegpt.core.settings import load_settings
from serve.settings import ServeSettings
from train.settings import SFTSettings

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = ROOT / "deploy" / "gradegpt.service"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
INTERFACES = json.loads((ROOT / "tests" / "data" / "interfaces.json").read_text(encoding="utf-8"))
"""What vLLM and Ray Serve accept, as ``scripts/interfaces.py`` recorded it."""


def read(path: Path) -> Any:
    """A YAML file; GitHub's ``on`` is kept as text."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506


def parameters(name: str) -> set[str]:
    """The fields of a class of vLLM or Ray Serve."""
    return {*INTERFACES["interfaces"][name]["parameters"]}


def commands() -> dict[str, list[str]]:
    """The arguments of ``gradegpt`` in each file."""
    (started,) = re.findall(r"^ExecStart=\S+/gradegpt (.*)", UNIT.read_text("utf-8"), re.MULTILINE)
    (default,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    services = read(ROOT / "compose.yaml")["services"]
    return {
        "systemd": shlex.split(started),
        "image": yaml.safe_load(default),
        "compose": services["judge-vllm"]["command"],
    }


@pytest.mark.parametrize("where", ["systemd", "image", "compose"])
def test_it_serves_a_shipped_recipe_with_valid_settings(where: str) -> None:
    """Containers listen on all addresses; a unit on this machine alone."""
    command, recipe, *overrides = commands()[where]
    settings = load_settings(ServeSettings, recipe, overrides)
    assert command == "serve"
    assert (settings.host, settings.port) == (
        "127.0.0.1" if where == "systemd" else "0.0.0.0",
        8000,
    )


def test_compose_has_a_server_and_one_before_vllm() -> None:
    """Both are published to this machine alone; the second waits for vLLM and uses it."""
    services = read(ROOT / "compose.yaml")["services"]
    assert services.keys() == {"judge", "judge-vllm", "vllm"}
    assert {name for name, s in services.items() if s.get("profiles") == ["vllm"]} == {
        "judge-vllm", "vllm",
    }  # fmt: skip
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert ports == ["127.0.0.1:8000:8000", "127.0.0.1:8001:8000"]
    image = f"vllm/vllm-openai:v{INTERFACES['versions']['vllm']}"
    assert services["vllm"]["image"] == image  # the version whose flags are checked
    assert services["judge-vllm"]["depends_on"] == {"vllm": {"condition": "service_healthy"}}


def test_vllm_has_every_flag_that_is_given_to_it() -> None:
    """In the compose file and in the guides; the flags are fields of vLLM's arguments."""
    flags = parameters("AsyncEngineArgs") | parameters("FrontendArgs")
    guides = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    lines = re.findall(r"^vllm serve (?:.*\\\n)*.*", "\n".join(guides), re.MULTILINE)
    command = read(ROOT / "compose.yaml")["services"]["vllm"]["command"]
    given = [word for line in (*lines, shlex.join(command)) for word in shlex.split(line)]
    names = {word.partition("=")[0][2:] for word in given if word.startswith("--")}
    assert {"lora-modules", "structured-outputs-config", "data-parallel-size"} <= names
    assert {name.partition(".")[0].replace("-", "_") for name in names} <= flags


def test_a_servers_context_holds_the_longest_prompt() -> None:
    """In deployments and guides: the parts by their budgets, instructions and a chain."""
    files = [
        ROOT / "compose.yaml",
        ROOT / "deploy" / "ray-serve.yaml",
        *(ROOT / "docs").rglob("*.md"),
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    lengths = re.findall(r"max.model.len(?: |=|: )(\d+)", text)
    budget = Budget()
    longest = 2 * budget.question + 4 * budget.reference + budget.response + 1_000
    assert len(lengths) > 5
    assert min(map(int, lengths)) > longest


def test_ray_serve_has_every_setting_that_is_given_to_it() -> None:
    """The application, its models, and the arguments that are for vLLM."""
    file = read(ROOT / "deploy" / "ray-serve.yaml")
    (application,) = file["applications"]
    (model,) = application["args"]["llm_configs"]
    deployment = model["deployment_config"]
    for settings, name in (
        (file, "ServeDeploySchema"),
        (file["http_options"], "HTTPOptionsSchema"),
        (application, "ServeApplicationSchema"),
        (application["args"], "LLMServingArgs"),
        (model, "LLMConfig"),
        (model["model_loading_config"], "ModelLoadingConfig"),
        (model["engine_kwargs"], "AsyncEngineArgs"),
        (deployment, "DeploymentSchema"),
        (deployment["autoscaling_config"], "AutoscalingConfig"),
    ):
        assert settings.keys() <= parameters(name), name


def test_the_image_installs_existing_extras() -> None:
    """Among them the one with which compose's second server uses vLLM."""
    extras = {e for found in re.findall(r"whl\)\[([\w,]+)\]", DOCKERFILE) for e in found.split(",")}
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {"serve", "openai"} <= extras
    assert all(re.search(rf"^{extra} = \[", declared, re.MULTILINE) for extra in extras)
    assert "\nUSER gradegpt\n" in DOCKERFILE
    assert " bubblewrap " in DOCKERFILE  # without it --judge code is refused


def test_the_unit_is_accepted_by_systemd(tmp_path: Path) -> None:
    """With an existing program in the place of gradegpt."""
    if (verify := shutil.which("systemd-analyze")) is None:
        pytest.skip("no systemd-analyze here")
    text = UNIT.read_text(encoding="utf-8").replace("/opt/gradegpt/bin/gradegpt", "/bin/true")
    (tmp_path / UNIT.name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [verify, "verify", str(tmp_path / UNIT.name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_release_is_checked_built_and_signed_with_the_least_permissions() -> None:
    """The job that runs the project's code cannot write; the job that signs runs none of it."""
    release = read(WORKFLOW)
    build, sign = release["jobs"]["build"], release["jobs"]["sign"]
    assert (release["permissions"], build["permissions"]) == ({}, {"contents": "read"})
    assert (sign["needs"], sign["permissions"]["id-token"]) == ("build", "write")
    runs = "\n".join(step.get("run", "") for step in build["steps"])
    assert runs.index("make check") < runs.index("-m build")
    used = [step["uses"] for step in sign["steps"] if "uses" in step]
    assert [name.partition("@")[0] for name in used] == [
        "actions/download-artifact", "actions/attest-build-provenance",
        "sigstore/gh-action-sigstore-python",
    ]  # fmt: skip
    assert all("@v" in step["uses"] for step in (*build["steps"], *sign["steps"]) if "uses" in step)


SLURM = ROOT / "deploy" / "slurm" / "train.sbatch"
JOB = ROOT / "deploy" / "kubernetes" / "train-job.yaml"


STUBS = {
    "scontrol": "echo node-0; echo node-1",
    "srun": 'for SLURM_NODEID in 0 1; do export SLURM_NODEID; "$@"; done',
    "accelerate": 'printf "%s\\t" "$@"; echo',
}
"""What stands in for a cluster: each node runs the command of srun, and accelerate shows it."""


def test_slurm_starts_a_recipe_on_every_node(tmp_path: Path) -> None:
    """A dry run on two nodes: the whole model on each GPU, 64 rows a step on sixteen as on one."""
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser

    for name, body in STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    slurm = {"SLURM_NNODES": "2", "SLURM_GPUS_ON_NODE": "8", "SLURM_JOB_NODELIST": "node-[0-1]"}
    (example,) = re.findall(r"^# sbatch \S+ (.*)$", SLURM.read_text("utf-8"), re.MULTILINE)
    ran = subprocess.run(
        ["bash", str(SLURM), *shlex.split(example)], check=True, capture_output=True, text=True,
        env={**os.environ, **slurm, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    lines = [line.split("\t")[:-1] for line in ran.stdout.splitlines()]
    nodes = [launch_command_parser().parse_args(words[1:]) for words in lines]
    assert [node.machine_rank for node in nodes] == [0, 1]
    for node in nodes:
        assert (node.module, node.max_restarts, node.main_process_ip) == (True, 3, "node-0")
        command, recipe, *overrides = node.training_script_args
        assert (node.training_script, command) == ("gradegpt", "train")
        settings = load_settings(SFTSettings, recipe, overrides)
        rows, passes = settings.passes(node.num_processes)
        assert (node.num_processes, rows * passes * node.num_processes) == (16, 64)
        launch = load_config_from_file(str(ROOT / node.config_file))
        assert launch.distributed_type == "MULTI_GPU"


def test_kubernetes_starts_a_recipe_in_every_pod() -> None:
    """Torchrun accepts the arguments; the pods find the first one by the service's name."""
    from torch.distributed.run import get_args_parser

    service, job = yaml.safe_load_all(JOB.read_text(encoding="utf-8"))
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    words = [word.replace("$(JOB_COMPLETION_INDEX)", "0") for word in container["args"]]
    given = get_args_parser().parse_args(words)
    command, recipe, *overrides = given.training_script_args
    assert (container["command"], given.training_script, command) == (
        ["torchrun"], "gradegpt", "train",
    )  # fmt: skip
    processes = int(given.nnodes) * int(given.nproc_per_node)
    rows, passes = load_settings(SFTSettings, recipe, overrides).passes(processes)
    assert rows * passes * processes == 64
    assert given.nnodes == str(job["spec"]["completions"]) == str(job["spec"]["parallelism"])
    assert given.nproc_per_node == str(container["resources"]["limits"]["nvidia.com/gpu"])
    name = service["metadata"]["name"]
    assert given.rdzv_endpoint == f"{job['metadata']['name']}-0.{name}:29500"
    assert (pod["subdomain"], service["spec"]["selector"]) == (name, {"job-name": name})
