"""Run an untrusted program: in namespaces of its own, without network, with resource limits.

Bubblewrap (``bwrap``) makes the namespaces, ``prlimit`` of util-linux sets the limits; where either
is missing, or the system refuses namespaces, nothing is run. A program sees the system's programs
and libraries, read only, the files that it is given, and two small folders in memory. It cannot see
this machine's files, processes or network, and all its processes have ended when ``run`` returns.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.core.errors import MissingError

_MB: Final = 2**20
_NOBODY: Final = 65534
_BOX: Final = "/box"
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")
_ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": _BOX, "LANG": "C.UTF-8", "TMPDIR": "/tmp",
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
}  # fmt: skip


class ResourceLimits(NamedTuple):
    """The resource limits of a program.

    ``seconds`` of wall-clock time for all its processes together; ``memory_mb`` of address space
    per process; ``output_mb`` of output on both streams; ``files_mb`` in each of its folders.
    """

    seconds: float = 5.0
    memory_mb: int = 512
    output_mb: int = 1
    files_mb: int = 16
    processes: int = 16


class End(StrEnum):
    """How a program ended."""

    EXITED = "exited"
    KILLED = "killed"
    TIME = "time"
    OUTPUT = "output"


class Ran(NamedTuple):
    """The result of a run. ``code`` is the exit status, or minus the signal that ended it."""

    end: End
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with the exit status 0."""
        return self.end is End.EXITED and self.code == 0


def run(
    command: Sequence[str],
    *,
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    limits: ResourceLimits | None = None,
) -> Ran:
    """Run ``command`` in a sandbox, with ``files`` as executables in its folder.

    Raises:
        MissingError: there is no sandbox on this system; the error says what to install or allow.

    """
    if why := missing():
        raise MissingError(f"code cannot be run on this system: {why}")
    return _run(command, stdin, files or {}, limits or ResourceLimits())


@lru_cache(maxsize=1)
def missing() -> str:
    """Why there is no sandbox on this system, and what to do; empty where there is one."""
    if not sys.platform.startswith("linux"):
        return "the sandbox needs Linux; judge code in a container or on a Linux machine"
    for name, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
        if shutil.which(name) is None:
            return f"{name} is not installed; install the package {package}"
    ran = _run(["true"], b"", {}, ResourceLimits())
    if ran.ok:
        return ""
    errors = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    return (
        f"the system refuses namespaces ({errors[-1] if errors else f'exit status {ran.code}'}); "
        "allow unprivileged user namespaces; start a container with --security-opt "
        "seccomp=unconfined, or as its documentation says"
    )


def _run(
    command: Sequence[str], stdin: bytes, files: Mapping[str, bytes], limits: ResourceLimits
) -> Ran:
    with ExitStack() as stack:
        given = {name: stack.enter_context(_in_memory(data)) for name, data in files.items()}
        source, out, err = (stack.enter_context(_in_memory(data)) for data in (stdin, b"", b""))
        started = time.monotonic()
        process = subprocess.Popen(
            [*_confined(given, limits), *command],
            stdin=source, stdout=out, stderr=err,
            pass_fds=list(given.values()), start_new_session=True, env={},
            cwd="/",
        )  # fmt: skip
        with process:
            try:
                process.wait(limits.seconds)
                end = End.EXITED
            except subprocess.TimeoutExpired:
                end = End.TIME
            finally:
                _kill(process)
        seconds, most = time.monotonic() - started, limits.output_mb * _MB
        # The limit on files stops a program that writes without end; what it wrote is too much.
        if os.fstat(out).st_size + os.fstat(err).st_size > most:
            end = End.OUTPUT
        texts = os.pread(out, most, 0), os.pread(err, most, 0)
    code = process.returncode
    end = End.KILLED if end is End.EXITED and (code < 0 or code > 128) else end
    return Ran(end, 128 - code if code > 128 else code, *texts, seconds)


def _confined(given: Mapping[str, int], limits: ResourceLimits) -> list[str]:
    """The command line before the program's own."""
    bwrap, prlimit = shutil.which("bwrap") or "bwrap", shutil.which("prlimit") or "prlimit"
    size = ["--size", str(limits.files_mb * _MB), "--tmpfs"]
    line = [
        bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--uid", str(_NOBODY), "--gid", str(_NOBODY), "--hostname", "box", "--clearenv",
    ]  # fmt: skip
    for name, value in _ENVIRONMENT.items():
        line += ["--setenv", name, value]
    line += ["--ro-bind", "/usr", "/usr"]
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            line += ["--ro-bind", str(path), str(path)]
    line += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
    line += ["--proc", "/proc", "--dev", "/dev", *size, "/dev/shm", "--remount-ro", "/dev"]
    line += [*size, "/tmp", *size, _BOX]
    for name, descriptor in given.items():
        line += ["--perms", "0755", "--ro-bind-data", str(descriptor), f"{_BOX}/{name}"]
    line += ["--chdir", _BOX, "--remount-ro", "/", "--"]
    line += [
        prlimit, f"--as={limits.memory_mb * _MB}", f"--cpu={int(limits.seconds) + 1}",
        f"--nproc={limits.processes}", f"--fsize={limits.files_mb * _MB}", "--nofile=64",
        "--core=0", "--",
    ]  # fmt: skip
    # Root is exempt from the limit on processes, so a program never runs as root.
    nobody = ["--reuid", str(_NOBODY), "--regid", str(_NOBODY), "--clear-groups"]
    setpriv = [shutil.which("setpriv") or "setpriv", *nobody] if os.geteuid() == 0 else []
    return [*setpriv, *line]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill ``bwrap`` and with it all processes of its namespace."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _in_memory(data: bytes) -> Iterator[int]:
    descriptor = os.memfd_create("given")
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
