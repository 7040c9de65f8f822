"""What only a server does: the wire, its failures, several processes."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from time import sleep

import pytest

from discorag.settings import StoreSettings
from discorag.store.client import ServerStore
from discorag.store.open import open_store
from discorag.store.protocol import Retrieval, SearchQuery
from discorag.store.shard import BATCH, Where
from discorag.types.errors import ConfigError, EncoderMismatchError, NotFoundError, StoreError
from tests.servers.qdrant import Fault, QdrantServer
from tests.store.conftest import Server, ServerPlace
from tests.store.samples import DIMENSION, ENCODER, SCOPE, sample, unit, version

KEY = "secret"
QUERY = unit(1, 9)[0]
NODES = "PUT /collections/nodes/points"
DOCS = "PUT /collections/docs/points"
LISTING = "POST /collections/docs/points/scroll"
QUERIES = "POST /collections/nodes/points/query"
WRITE = """
import sys
from discorag.store.client import ServerStore
from tests.store.samples import DIMENSION, ENCODER, version
url, key, prefix = sys.argv[1:]
store = ServerStore(url, api_key=key or None, prefix=prefix, dimension=DIMENSION, encoder_version=ENCODER)
for line in sys.stdin:
    version(int(line)).put_in(store)
    print(line, end="", flush=True)
"""


@pytest.fixture
def ours() -> Iterator[QdrantServer]:
    with QdrantServer(api_key=KEY) as server:
        yield server


def opened(
    server: QdrantServer, *, key: str | None = KEY, prefix: str = "", encoder: str = ENCODER, timeout_s: float = 30.0
) -> ServerStore:
    return ServerStore(
        server.url, api_key=key, prefix=prefix, timeout_s=timeout_s, dimension=DIMENSION, encoder_version=encoder
    )


def found(store: ServerStore, *, top_k: int = 1000, retrieval: Retrieval = "dense") -> set[str]:
    query = SearchQuery(vector=QUERY, text="alpha part", retrieval=retrieval, top_k=top_k)
    return {h.chunk_id for h in store.search(SCOPE, query)}


class TestTheWire:
    @pytest.mark.parametrize("key", [None, "wrong"])
    def test_a_wrong_key_names_the_setting(self, ours: QdrantServer, key: str | None) -> None:
        with pytest.raises(StoreError, match=r"answered 401.*DISCO_RAG_STORE__API_KEY"):
            opened(ours, key=key)
        assert len(ours.requests) == 1

    def test_a_key_without_the_right_to_write_names_the_setting(self, ours: QdrantServer) -> None:
        ours.fail(Fault(status=403), on="PUT")
        with pytest.raises(StoreError, match=r"answered 403.*DISCO_RAG_STORE__API_KEY"):
            opened(ours)

    def test_nobody_listening_names_the_setting(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
            with pytest.raises(StoreError, match=rf"{url} cannot be reached.*DISCO_RAG_STORE__URL"):
                ServerStore(url, dimension=DIMENSION, encoder_version=ENCODER)

    def test_a_server_that_hangs_is_given_up(self, ours: QdrantServer) -> None:
        ours.fail(Fault(delay_s=30), requests=10)
        with pytest.raises(StoreError, match=r"did not answer in time.*DISCO_RAG_STORE__URL.*__TIMEOUT_S"):
            opened(ours, timeout_s=0.5)

    def test_one_slow_answer_is_asked_for_again(self, ours: QdrantServer) -> None:
        ours.fail(Fault(delay_s=60))
        opened(ours, timeout_s=2).close()

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_a_passing_failure_is_not_seen(self, ours: QdrantServer, status: int) -> None:
        piece = sample("a.md", ["one", "two"])
        with opened(ours) as store:
            for on in (NODES, DOCS, "points/delete"):
                ours.fail(Fault(status=status), requests=2, on=on)
            piece.put_in(store)
            ours.fail(Fault(status=status), on="query")
            assert found(store) == set(piece.ids)

    def test_the_server_says_how_long_to_wait(self, ours: QdrantServer) -> None:
        ours.fail(Fault(status=429, headers={"Retry-After": "0"}), requests=3)
        opened(ours).close()

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_failure_to_the_end_is_a_store_error(self, ours: QdrantServer, status: int) -> None:
        with opened(ours) as store:
            ours.fail(Fault(status=status), requests=100)
            with pytest.raises(StoreError, match=f"answered {status}: .*scripted.*see the server's log"):
                store.manifests(SCOPE)

    def test_a_reply_that_is_lost_does_no_harm(self, ours: QdrantServer) -> None:
        """The work was done, but the client does not know: it asks for all of it again."""
        ours.fail(Fault(drops=True), requests=2, on="PUT /collections/docs")
        ours.fail(Fault(drops=True), on="PUT /collections/nodes")
        old, new = sample("a.md", ["one"]), sample("a.md", ["two", "three"])
        with opened(ours) as store:
            old.put_in(store)
            for on in (NODES, DOCS, "nodes/points/delete", "docs/points/scroll", "query"):
                ours.fail(Fault(drops=True), on=on)
            new.put_in(store)
            assert store.manifests(SCOPE) == [new.manifest]
            assert found(store) == set(new.ids)
            assert store.chunks_of(SCOPE, new.doc_id) == new.chunks

    @pytest.mark.parametrize("collection", ["docs", "nodes"])
    def test_a_collection_that_vanished_is_a_store_error(self, ours: QdrantServer, collection: str) -> None:
        from qdrant_client import QdrantClient

        with opened(ours) as store:
            piece = sample("a.md", ["one"])
            piece.put_in(store)
            client = QdrantClient(url=ours.url, headers={"api-key": KEY}, check_compatibility=False)
            client.delete_collection(collection)
            client.close()
            asks = partial(store.manifests, SCOPE) if collection == "docs" else partial(found, store)
            with pytest.raises(StoreError, match=rf"answered 404.*{collection}.*ingest again"):
                asks()

    def test_something_else_listening_is_a_store_error(self, ours: QdrantServer) -> None:
        for raw in ("<html>Welcome!</html>", '{"hello": "world"}', "[]"):
            ours.fail(Fault(status=200, raw=raw))
            with pytest.raises(StoreError, match=r"does not speak Qdrant's protocol.*DISCO_RAG_STORE__URL"):
                opened(ours)

    @pytest.mark.parametrize("url", ["ftp://localhost", "http://[", "http://localhost:port"])
    def test_what_is_no_address_is_refused(self, url: str) -> None:
        with pytest.raises(ConfigError, match="DISCO_RAG_STORE__URL"):
            ServerStore(url, dimension=DIMENSION, encoder_version=ENCODER)

    def test_the_settings_choose_the_server(self, ours: QdrantServer) -> None:
        settings = StoreSettings.model_validate({"url": ours.url, "api_key": KEY, "prefix": "mine-"})
        open_store(settings, dimension=DIMENSION, encoder_version=ENCODER).close()
        assert "PUT /collections/mine-docs" in ours.requests
        with pytest.raises(ConfigError, match="DISCO_RAG_STORE__KIND"):
            open_store(StoreSettings(kind="memory", url=ours.url), dimension=DIMENSION, encoder_version=ENCODER)


class TestOpening:
    def test_another_encoder_is_refused_and_told_of_the_prefix(self, ours: QdrantServer) -> None:
        opened(ours).close()
        with pytest.raises(EncoderMismatchError, match=r"test-encoder/1.*DISCO_RAG_STORE__PREFIX"):
            opened(ours, encoder="other/1")

    def test_two_prefixes_are_two_stores(self, ours: QdrantServer) -> None:
        pieces = {prefix: sample("a.md", [f"of {prefix}"]) for prefix in ("x-", "y-")}
        stores = {prefix: opened(ours, prefix=prefix) for prefix in pieces}
        for prefix, piece in pieces.items():
            piece.put_in(stores[prefix])
        for prefix, piece in pieces.items():
            assert stores[prefix].manifests(SCOPE) == [piece.manifest]
            assert found(stores[prefix]) == set(piece.ids)
        stores["x-"].delete(SCOPE, pieces["x-"].doc_id)
        assert found(stores["y-"]) == set(pieces["y-"].ids)

    def test_processes_that_open_at_the_same_time_make_one_store(self, ours: QdrantServer) -> None:
        failures: list[StoreError] = []

        def open_and_close() -> None:
            try:
                opened(ours).close()
            except StoreError as error:
                failures.append(error)

        ours.fail(Fault(delay_s=0.2), requests=4, on="PUT /collections/docs")
        threads = [Thread(target=open_and_close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []

    def test_indexes_are_made_once_also_by_who_comes_after_a_crash(self, ours: QdrantServer) -> None:
        ours.fail(Fault(status=500), on="PUT /collections/docs/index")
        with pytest.raises(StoreError):
            opened(ours)
        opened(ours).close()
        made = [r for r in ours.requests if r.endswith("/index")]
        opened(ours).close()
        assert len(made) == 1 + 8 + 7 + 1  # of documents, chunks and leases, and the one that failed
        assert [r for r in ours.requests if r.endswith("/index")] == made

    def test_opening_leaves_alone_what_another_is_writing(self, ours: QdrantServer) -> None:
        piece = sample("a.md", [f"part {i}" for i in range(BATCH + 1)])
        with opened(ours) as writer:
            ours.fail(Fault(status=500), on=DOCS)  # the chunks are there, the manifest is not
            with pytest.raises(StoreError):
                piece.put_in(writer)
            with opened(ours) as other:
                assert found(other) == set()
                assert other.manifests(SCOPE) == []
                assert set(other._nodes.retrieve(piece.ids)) == set(piece.ids)


class TestSeveralWriters:
    @pytest.mark.parametrize("on", [NODES, DOCS])
    def test_a_writer_that_dies_leaves_the_old_document_whole(self, ours: QdrantServer, on: str) -> None:
        old = sample("a.md", ["alpha part one", "alpha part two"])
        new = sample("a.md", [f"alpha new {i}" for i in range(BATCH + 1)], seed=1)
        with opened(ours) as reader, opened(ours) as writer:
            old.put_in(writer)
            if on == NODES:
                ours.fail(Fault(), on=NODES)  # the first batch passes
            ours.fail(Fault(status=500), on=on)
            with pytest.raises(StoreError, match="answered 500"):
                new.put_in(writer)
            writer.close()
            assert reader._nodes.retrieve(new.ids[:1])
            for retrieval in ("dense", "hybrid"):
                assert found(reader, retrieval=retrieval) == set(old.ids)
                assert found(reader, retrieval=retrieval, top_k=2) == set(old.ids)
            assert reader.chunks_of(SCOPE, old.doc_id) == old.chunks
            with pytest.raises(NotFoundError):
                reader.chunks(SCOPE, new.ids[:1])

    @pytest.mark.parametrize("action", ["put", "delete"])
    def test_the_next_writer_clears_up_after_one_that_died(self, ours: QdrantServer, action: str) -> None:
        dead, piece = sample("a.md", ["dead"]), sample("a.md", ["alive"])
        with opened(ours) as writer:
            ours.fail(Fault(status=500), on=DOCS)
            with pytest.raises(StoreError):
                dead.put_in(writer)
        with opened(ours) as store:
            assert store._nodes.retrieve(dead.ids)
            if action == "put":
                piece.put_in(store)
            else:
                assert not store.delete(SCOPE, dead.doc_id)
            assert not store._nodes.retrieve(dead.ids)

    def test_what_one_process_writes_all_others_see_at_once(self, server_place: ServerPlace) -> None:
        writer, reader = server_place.open(), server_place.open()
        old, new = sample("a.md", ["old"]), sample("a.md", ["new", "newer"])
        for piece in (old, new):
            piece.put_in(writer)
            assert reader.manifests(SCOPE) == [piece.manifest]
            assert reader.manifest(SCOPE, piece.doc_id) == piece.manifest
            assert reader.document(SCOPE, piece.doc_id) == piece.document
            assert reader.chunks(SCOPE, piece.ids) == piece.chunks
            assert found(reader) == set(piece.ids)
        writer.delete(SCOPE, new.doc_id)
        assert reader.manifests(SCOPE) == []
        assert found(reader) == set()

    @pytest.mark.parametrize("retrieval", [pytest.param("dense", marks=pytest.mark.deep), "hybrid"])
    def test_a_reader_sees_every_replacement_by_another_process_whole(
        self, server: Server, server_place: ServerPlace, retrieval: Retrieval
    ) -> None:
        reader = server_place.open()
        other = sample("b.md", [f"alpha part {i}" for i in range(15)], seed=99)
        for piece in (other, version(0)):
            piece.put_in(reader)
        seen, listed, enough = list[set[str]](), list[list[str]](), list[int]()
        done = Event()

        def read() -> None:
            while not done.is_set():
                seen.append(found(reader, retrieval=retrieval) - set(other.ids))
                enough.append(len(found(reader, retrieval=retrieval, top_k=30)))
                listed.append([c.id for c in reader.chunks_of(SCOPE, version(0).doc_id)])

        with ThreadPoolExecutor() as pool, writer_process(server, server_place) as put:
            put(written := 1)  # the process has started
            reading = pool.submit(read)
            while written < 30 or (_versions(seen) < 3 and written < 200 and not reading.done()):
                sleep(0.03)
                put(written := written + 1)
            done.set()
            reading.result()
        versions = [version(i).ids for i in range(written + 1)]
        assert [ids for ids in listed if ids not in versions] == []
        assert [ids for ids in seen if ids not in [set(v) for v in versions]] == []
        assert set(enough) == {30}
        assert _versions(seen) > 2


def _versions(seen: Sequence[set[str]]) -> int:
    return len({frozenset(ids) for ids in tuple(seen)})


class TestRaces:
    """What a server that answers late lets come between the requests of one call."""

    OLD = sample("a.md", ["alpha part one", "alpha part two"])
    NEW = sample("a.md", [f"alpha new {i}" for i in range(BATCH + 1)], seed=1)

    @pytest.fixture
    def stores(self, ours: QdrantServer) -> Iterator[tuple[ServerStore, ServerStore]]:
        with opened(ours) as reader, opened(ours) as writer:
            self.OLD.put_in(writer)
            assert found(reader, retrieval="hybrid") == set(self.OLD.ids)
            yield reader, writer

    def test_half_a_document_that_becomes_live_before_its_manifest_is_read_is_not_shown(
        self, ours: QdrantServer, stores: tuple[ServerStore, ServerStore]
    ) -> None:
        reader, writer = stores
        piece = sample("b.md", [f"alpha {i}" for i in range(BATCH + 1)], seed=2)
        ours.fail(Fault(), on=NODES)  # the first batch passes
        before, read = ours.requests.count(NODES), ours.requests.count(LISTING)
        ours.fail(Fault(until=lambda: ours.requests.count(LISTING) > read), on=NODES)
        with ThreadPoolExecutor() as pool:
            writing = pool.submit(piece.put_in, writer)
            while ours.requests.count(NODES) < before + 2:
                sleep(0.001)
            ours.fail(Fault(until=writing.done), on=LISTING)
            assert found(reader) == {*self.OLD.ids, *piece.ids}
            writing.result()

    def test_a_version_replaced_between_two_rankings_is_not_mixed_with_the_next(
        self, ours: QdrantServer, stores: tuple[ServerStore, ServerStore]
    ) -> None:
        reader, writer = stores
        ours.fail(Fault(), on="query")  # the dense ranking passes
        written = Event()
        ours.fail(Fault(until=written.is_set), on="query")
        before = ours.requests.count(QUERIES)
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(found, reader, retrieval="hybrid")
            while ours.requests.count(QUERIES) < before + 2:
                sleep(0.001)
            self.NEW.put_in(writer)
            assert not reading.done()
            written.set()
            assert reading.result() == set(self.NEW.ids)

    def test_a_version_replaced_after_its_manifest_was_read_is_read_anew(
        self, ours: QdrantServer, stores: tuple[ServerStore, ServerStore]
    ) -> None:
        reader, writer = stores
        written = Event()
        ours.fail(Fault(until=written.is_set), on="nodes/points/scroll")
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(reader.chunks_of, SCOPE, self.OLD.doc_id)
            while "POST /collections/nodes/points/scroll" not in ours.requests:
                sleep(0.001)
            self.NEW.put_in(writer)
            assert not reading.done()
            written.set()
            assert reading.result() == self.NEW.chunks

    def test_chunks_that_stay_missing_are_a_store_error(self, stores: tuple[ServerStore, ServerStore]) -> None:
        reader, writer = stores
        writer._nodes.delete(Where((("doc_id", (self.OLD.doc_id,)),)))
        with pytest.raises(StoreError, match=r"are missing.*--refresh"):
            reader.chunks_of(SCOPE, self.OLD.doc_id)


@contextmanager
def writer_process(server: Server, place: ServerPlace) -> Generator[Callable[[int], None]]:
    """Another process; what is given back has it put a version."""
    arguments = [server.url, server.api_key or "", place.prefix]
    code = [sys.executable, "-c", WRITE, *arguments]
    with subprocess.Popen(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def put(number: int) -> None:
            print(number, file=stdin, flush=True)
            assert stdout.readline() == f"{number}\n"

        yield put
        stdin.close()
