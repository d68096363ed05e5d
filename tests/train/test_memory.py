"""Freed memory stays in the process until ``trim`` returns it."""

from __future__ import annotations

import json
import platform
import subprocess
import sys

import pytest

PROBE = """
import json, resource, sys
from gradegpt.core.machine import trim
from train.memory import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
block = lambda: bytearray(48 * 2**20)
block()
before = faults()
for _ in range(20):
    block()
made, kept = faults() - before, resident()
trim()
print(json.dumps({"faults": made, "given_back": kept - resident()}))
"""


def probe(mode: str) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, mode], check=True, capture_output=True, text=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_a_large_block_is_reused_and_returned_on_demand() -> None:
    """Twenty blocks of 48 MiB cost far fewer page faults; ``trim`` returns a block."""
    kept, stock = probe("keep"), probe("stock")
    assert 10 * kept["faults"] < stock["faults"]
    assert kept["given_back"] > 32 * 2**20
