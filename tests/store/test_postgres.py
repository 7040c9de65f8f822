"""A store on a PostgreSQL server: how it is named, its failures, and the way there from a folder and back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import func, select, text

from discorag import DiscoRAG
from discorag.config import StoreSettings, read_settings
from discorag.schema.errors import ConfigError, InputError, NotFoundError, StoreError
from discorag.store import tables
from discorag.store.backup import backup, restore
from discorag.store.postgres import PostgresServer as Server
from discorag.store.store import Store, open_store
from tests.conftest import EXAMPLES
from tests.interfaces.http.parts import until
from tests.servers.postgres import PostgresServer
from tests.servers.qdrant import QdrantServer
from tests.store.samples import DIMENSION, ENCODER, SCOPE, Sample, assert_whole, everything, sample, tree_in, tree_of

PIECES = [sample(f"{i}.md", [f"text {i} part {j}" for j in range(3)], seed=i) for i in range(3)]


def settings(url: str) -> StoreSettings:
    return StoreSettings.model_validate({"database_url": url})


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    with open_store(settings(new_database()), (ENCODER, DIMENSION)) as opened:
        yield opened


def test_one_variable_moves_the_whole_pipeline_into_the_database(
    new_database: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipeline: Callable[[], DiscoRAG]
) -> None:
    question, expected = "Why do tides occur?", pipeline()
    expected.ingest(EXAMPLES / "tides")
    monkeypatch.setenv("DISCO_RAG_DATABASE_URL", new_database())
    monkeypatch.setenv("DISCO_RAG_HOME", str(tmp_path / "home"))
    with DiscoRAG(read_settings()) as rag:
        rag.ingest(EXAMPLES / "tides")
        assert rag.ask(question).answer.text == expected.ask(question).answer.text
        assert "Qdrant server" in rag.backends.store.index_note
    assert not list(tmp_path.rglob("documents.sqlite"))


def test_a_folders_backup_is_restored_into_a_database_which_goes_on_numbering_and_back(
    store: Store, tmp_path: Path
) -> None:
    folder = StoreSettings(path=tmp_path / "store", min_free_mb=0)
    with open_store(folder, (ENCODER, DIMENSION)) as old:
        for piece in PIECES:
            piece.put_in(old)
            tree_of(piece).put_in(old)
        backup(old.database, tmp_path / "folder.backup")
    url = store.database.place.engine.url.render_as_string(hide_password=False)
    assert restore(settings(url), tmp_path / "folder.backup") == len(PIECES)
    new = sample("new.md", ["added later"])
    new.put_in(store)
    assert backup(store.database, tmp_path / "server.backup") == len(PIECES) + 1
    back = StoreSettings(path=tmp_path / "back", min_free_mb=0)
    restore(back, tmp_path / "server.backup")
    with open_store(back) as again:
        for piece in (*PIECES, new):
            assert_whole(store, piece)
            assert_whole(again, piece)
        assert tree_in(again, PIECES[0]) == tree_of(PIECES[0]).tree
        assert (store.check().differences, again.check().differences) == ((), ())


def test_what_was_stored_is_there_after_the_server_was_killed_and_started_again(
    store: Store, postgres: PostgresServer
) -> None:
    PIECES[0].put_in(store)
    postgres.stop("immediate")
    with pytest.raises(StoreError, match="cannot be used"):
        PIECES[1].put_in(store)
    postgres.start()
    assert everything(store) == set(PIECES[0].ids)
    PIECES[1].put_in(store)
    assert_whole(store, PIECES[1])


def test_processes_that_share_database_and_index_find_what_any_of_them_wrote(new_database: Callable[[], str]) -> None:
    many = [sample(f"{i}.md", [f"text {i} part {j}" for j in range(3)], seed=i) for i in range(24)]
    with QdrantServer() as qdrant, ExitStack() as opened:
        shared = settings(new_database()).model_copy(update={"url": qdrant.address})
        stores = [opened.enter_context(open_store(shared, (ENCODER, DIMENSION))) for _ in range(3)]
        with ThreadPoolExecutor(len(stores)) as pool:
            list(pool.map(Sample.put_in, many, stores * 8))
        many[0].put_in(stores[1])
        stores[2].delete(SCOPE, many[1].doc_id)
        expected = {i for piece in (many[0], *many[2:]) for i in piece.ids}
        for store in stores:
            until(lambda store=store: everything(store) == expected and not store.index_note)
            assert store.check().differences == ()
        with stores[0].database.read() as db:
            assert db.scalar(select(func.count()).select_from(tables.outbox)) == 0


def test_a_lock_is_one_processs_until_it_is_released_or_its_connection_ends(new_database: Callable[[], str]) -> None:
    url = SecretStr(new_database())
    one, other = Server(url), Server(url)
    with one.lock("a") as first, other.lock("a") as second, one.lock("a") as again, other.lock("b") as different:
        assert (first, second, again, different) == (True, False, False, True)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with one.lock("a") as first, one.writing("its connection") as db:
        assert first
        db.execute(text(f"SELECT pg_terminate_backend(pid, 60000) {others}"))
        with other.lock("a", wait_s=60) as later:
            assert later
    with one.lock("a") as again:
        assert again
    one.close()
    other.close()


def test_options_of_the_url_stay_and_ours_are_added(new_database: Callable[[], str]) -> None:
    server = Server(SecretStr(f"{new_database()}&options=-c%20work_mem%3D5MB%20-c%20lock_timeout%3D7s"))
    with server.reading() as db:
        names = ("work_mem", "lock_timeout", "idle_in_transaction_session_timeout")
        assert [db.scalar(text(f"SHOW {name}")) for name in names] == ["5MB", "7s", "0"]
    server.close()


def test_text_that_postgresql_cannot_store_is_an_error_of_the_input(store: Store) -> None:
    with pytest.raises(InputError, match="NUL"):
        store.delete(SCOPE, "a \0")


@pytest.mark.parametrize(
    ("url", "kind", "reason"),
    [
        ("no url", "edge", "cannot be read"),
        ("postgresql://user:hidden@localhost/db", "edge", r"begins with postgresql://.*postgresql\+psycopg://"),
        ("postgresql+psycopg://localhost/db", "memory", "in memory and on a server"),
    ],
)
def test_a_database_that_cannot_be_meant_is_refused_without_its_password(url: str, kind: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as error:
        open_store(settings(url).model_copy(update={"kind": kind}), (ENCODER, DIMENSION))
    assert "hidden" not in str(error.value)


def test_a_server_that_does_not_answer_and_a_database_without_a_store_are_errors(
    new_database: Callable[[], str],
) -> None:
    with pytest.raises(StoreError, match="cannot be used") as error:
        open_store(settings("postgresql+psycopg://user:hidden@127.0.0.1:9/db"), (ENCODER, DIMENSION))
    assert "hidden" not in str(error.value)
    with pytest.raises(NotFoundError, match="There is no store in"):
        open_store(settings(new_database()))
