"""Many processes that write the same documents on one server: one does it, and who is late changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP
from threading import Event
from time import sleep

import pytest

from discorag.store.client import ServerStore
from discorag.store.server import leases
from discorag.store.server.leases import Leases
from discorag.store.shard import Payload, Where
from discorag.types.errors import DocumentTakenError, StoreError
from graphs import ingest
from tests.conftest import Pipelines
from tests.servers.qdrant import Fault, QdrantServer
from tests.store.samples import DIMENSION, ENCODER, SCOPE, Sample, assert_whole, sample, tree_of, version
from tests.store.test_trees import assert_tree, stored_nodes

OLD, NEW = sample("a.md", ["old one", "old two"], seed=1), sample("a.md", ["new"], seed=2)
TTL_S = 0.6
HOLD = """
import sys
from discorag.store.server import leases
leases.TTL_S = float(sys.argv[2])
from discorag.store.client import ServerStore
from tests.store.samples import DIMENSION, ENCODER, SCOPE, version
store = ServerStore(sys.argv[1], dimension=DIMENSION, encoder_version=ENCODER)
with store.claim(SCOPE, version(0).doc_id) as ours:
    print(ours, flush=True)
    sys.stdin.readline()
    try:
        version(1).put_in(store)
        print("stored", flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)
"""


@pytest.fixture
def ours() -> Iterator[QdrantServer]:
    with QdrantServer() as server:
        yield server


@pytest.fixture(autouse=True)
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "TTL_S", TTL_S)


def opened(server: QdrantServer) -> ServerStore:
    return ServerStore(server.url, dimension=DIMENSION, encoder_version=ENCODER)


@contextmanager
def holder(server: QdrantServer) -> Generator[subprocess.Popen[str]]:
    """Another process that has claimed the document, and puts version 1 of it when it is told to."""
    code = [sys.executable, "-c", HOLD, server.url, str(TTL_S)]
    with subprocess.Popen(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def never(_: Leases) -> None:
    """In the place of renewing."""


def claimed_at_last(store: ServerStore, piece: Sample) -> None:
    """Put it as soon as it can be claimed."""
    while True:
        with store.claim(SCOPE, piece.doc_id) as ours:
            if ours:
                return piece.put_in(store)
        sleep(0.05)


def test_one_process_has_a_document_as_long_as_it_lives_and_another_one_after_it(ours: QdrantServer) -> None:
    with opened(ours) as store, holder(ours) as other:
        sleep(1.5 * TTL_S)  # it renews its lease
        with store.claim(SCOPE, version(0).doc_id) as mine:
            assert not mine
        with store.claim(SCOPE, sample("b.md", ["another"]).doc_id) as another:
            assert another
        os.kill(other.pid, SIGKILL)
        claimed_at_last(store, version(2))
        assert_whole(store, version(2))


def test_a_process_that_was_stopped_and_taken_over_changes_nothing_when_it_goes_on(ours: QdrantServer) -> None:
    with opened(ours) as store, holder(ours) as late:
        assert late.stdin is not None
        assert late.stdout is not None
        os.kill(late.pid, SIGSTOP)
        claimed_at_last(store, version(2))
        os.kill(late.pid, SIGCONT)
        print(file=late.stdin, flush=True)
        assert late.stdout.readline() == "DocumentTakenError\n"
        assert_whole(store, version(2))
        assert store.check().differences == ()


@pytest.mark.parametrize("request_", ["PUT /collections/docs/points", "POST /collections/nodes/points/delete"])
def test_what_is_on_its_way_when_a_lease_is_taken_over_neither_replaces_nor_deletes_what_is_newer(
    ours: QdrantServer, monkeypatch: pytest.MonkeyPatch, request_: str
) -> None:
    """The document was published, or swept, by a request that arrives after the next holder is done."""
    monkeypatch.setattr(Leases, "_renew", never)
    arrives = Event()
    with opened(ours) as slow, opened(ours) as fast, ThreadPoolExecutor() as pool:
        OLD.put_in(fast)
        tree_of(OLD).put_in(fast)
        ours.fail(Fault(until=arrives.is_set), on=request_)
        before = len(ours.requests)
        writing = pool.submit(NEW.put_in, slow)
        while request_ not in ours.requests[before:]:
            sleep(0.001)
        claimed_at_last(fast, OLD)
        tree_of(OLD).put_in(fast)
        arrives.set()
        if "docs" in request_:
            with pytest.raises(DocumentTakenError, match="taken over"):
                writing.result()
        else:
            writing.result()
        assert_whole(fast, OLD)
        assert_tree(fast, tree_of(OLD))
        assert fast.check().differences == ()


def test_a_change_that_failed_gives_the_document_to_the_next_one_at_once(ours: QdrantServer) -> None:
    with opened(ours) as failing, opened(ours) as store:
        ours.fail(Fault(status=500), on="PUT /collections/docs/points")
        with pytest.raises(StoreError, match="500"):
            OLD.put_in(failing)
        NEW.put_in(store)
        assert_whole(store, NEW)
        assert stored_nodes(store) == 0


def test_two_ingests_of_one_folder_read_each_document_once(
    ours: QdrantServer, pipeline: Pipelines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BUSY_S", 0.05)
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.md").write_text(f"Tide number {number} rises.")
    told = [pipeline(kind="edge", name=name, url=ours.url) for name in ("one", "two")]
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(rag.ingest, folder, parser="none", retriever="dense") for rag in told]
        statuses = [[o.status.value for o in d.result().outcomes] for d in done]
    assert sorted(statuses[0] + statuses[1]) == ["added"] * 8 + ["unchanged"] * 8
    assert len(told[0].resources.store.manifests(told[0].scope())) == 8


def test_what_changed_in_a_folder_is_found_without_reading_what_lies_elsewhere(
    ours: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(ours) as store:
        for uri in ("/in/a.md", "/in/sub/b.md", "/inner/c.md", "/out/d.md"):
            sample(uri, ["one"]).put_in(store)
        scroll, read = store._docs.scroll, list[Payload]()

        def counted(where: Where, fields: Sequence[str], limit: int | None = None) -> list[Payload]:
            read.extend(found := scroll(where, fields, limit))
            return found

        monkeypatch.setattr(store._docs, "scroll", counted)
        assert {m.uri for m in store.under(SCOPE, "/in/")} == {"/in/a.md", "/in/sub/b.md"}
        assert len(read) == 2
        assert store.has(SCOPE, "/out/")
        assert not store.has(SCOPE, "/nowhere/")
