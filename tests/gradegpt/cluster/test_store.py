"""Judging from an object store into it: a server of S3's protocol on this machine.

Slow, and skipped without ``pip install s3fs 'moto[server]'``: both bring many packages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegpt.app.cluster.pipeline import connect
from tests.command import call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of these packages
]
ROWS = [
    {"id": str(n), "reference": f"{n}", "response": f"The answer is {n + n % 3}."} for n in range(9)
]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A store with a bucket, and a Ray whose workers know its address."""
    s3fs, moto = pytest.importorskip("s3fs"), pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer("127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("ENDPOINT_URL", f"http://{host}:{port}"), ("DEFAULT_REGION", "us-east-1"),
        ("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x"),
    ):  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    s3 = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    s3.mkdir("bucket")
    with connect("local", num_cpus=1, object_store_memory=80 * 2**20):
        yield s3
    server.stop()


def test_files_of_a_store_are_judged_into_it_and_resumed(store: Any, tmp_path: Path) -> None:
    """The bytes of the local command; a part that is missing is written again."""
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    for number in range(3):
        lines = "".join(json.dumps(row) + "\n" for row in ROWS[3 * number : 3 * number + 3])
        store.pipe_file(f"bucket/answers/{number}.jsonl", lines.encode())
    local = tmp_path / "local.jsonl"
    assert call("judge", tmp_path / "rows.jsonl", "--judge", "rules", "-o", local) == 0
    there = ("s3://bucket/answers/*.jsonl", "-o", "s3://bucket/judged", "--judge", "rules")
    assert call("judge", *there, "--on", "ray") == 0
    assert judged(store) == local.read_bytes()
    assert call("judge", *there, "--on", "ray") == 3  # it is complete
    store.mv("bucket/judged/_manifest.json", "bucket/judged/_manifest.partial.json")
    store.rm("bucket/judged/part-00001.jsonl")
    assert call("judge", *there, "--on", "ray") == 0
    assert judged(store) == local.read_bytes()


def judged(store: Any) -> bytes:
    """All parts of the folder."""
    names = sorted(store.glob("bucket/judged/part-*"))
    assert len(names) == 3
    return b"".join(store.cat_file(name) for name in names)
