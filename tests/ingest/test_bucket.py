"""Documents in S3, from a stand-in on loopback."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest

from discorag.ingest.survey import survey
from discorag.schema.errors import InputError, MissingPathError
from interfaces.facade import IngestResult
from tests.conftest import Pipelines
from tests.servers.loopback import free_port

pytest.importorskip("moto")
fs = pytest.importorskip("pyarrow.fs")
KEYS = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An S3 with the bucket ``papers``."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while True:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}.items():
        monkeypatch.setenv(name, value)
    files = fs.S3FileSystem(endpoint_override=f"http://127.0.0.1:{port}", allow_bucket_creation=True)
    files.create_dir("papers")
    yield files
    server.kill()
    server.wait()


def statuses(result: IngestResult) -> dict[str, str]:
    return {PurePosixPath(o.uri).stem: o.status for o in result.outcomes}


def put(files: Any, key: str, text: str) -> None:
    with files.open_output_stream(f"papers/{key}") as file:
        file.write(text.encode())


def test_a_prefix_is_read_again_and_failures_name_the_object(bucket: Any, pipeline: Pipelines) -> None:
    for key in ("docs/a.md", "docs/deep/b c%20#1.md", "docs/.hidden.md", "docs/tune.mp3", "docs-too/z.md"):
        put(bucket, key, f"# Tides\n\nTides rise because of the moon, says {key}.")
    put(bucket, "docs/empty.md", " ")
    rag = pipeline()
    first = rag.ingest("s3://papers/docs/", parser="rules")
    assert statuses(first) == {"a": "added", "b c%20#1": "added", "tune": "skipped", "empty": "failed"}
    [empty] = [o for o in first.outcomes if o.status == "failed"]
    assert empty.note.startswith("s3://papers/docs/empty.md holds no text.")
    bucket.delete_file("papers/docs/empty.md")
    bucket.delete_file("papers/docs/a.md")
    again = rag.ingest("s3://papers/docs", parser="rules")
    assert statuses(again) == {"a": "deleted", "b c%20#1": "unchanged", "tune": "skipped"}


@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_is_missing_deletes_nothing() -> None:
    with pytest.raises(MissingPathError, match="There is no bucket nobody"):
        survey("s3://nobody/docs")
    with pytest.raises(InputError, match="holds no file to read"):
        survey("s3://papers/none")
