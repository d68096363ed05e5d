"""The files for deploying the server, and the workflow that makes a release."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gradegpt.settings import load_settings
from serve.settings import ServeSettings

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = ROOT / "deploy" / "gradegpt.service"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def read(path: Path) -> Any:
    """A YAML file; GitHub's ``on`` is kept as text."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506


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
    assert services["judge-vllm"]["depends_on"] == {"vllm": {"condition": "service_healthy"}}


def test_the_image_installs_existing_extras() -> None:
    """Among them the one with which compose's second server uses vLLM."""
    extras = {e for found in re.findall(r"whl\)\[([\w,]+)\]", DOCKERFILE) for e in found.split(",")}
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {"serve", "fast", "openai", "export"} <= extras
    assert all(re.search(rf"^{extra} = \[", declared, re.MULTILINE) for extra in extras)
    assert "\nUSER gradegpt\n" in DOCKERFILE


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
