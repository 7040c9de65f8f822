"""Threads of tenants in either database."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from discorag.config import StoreSettings
from discorag.schema.errors import InputError, NotFoundError
from discorag.store import conversations
from discorag.store.conversations import Threads, Turn
from discorag.store.database import Database
from discorag.store.postgres import PostgresServer
from discorag.store.sqlite import SqliteFile
from discorag.store.store import open_store
from tests.store.samples import DIMENSION, ENCODER, sample

TURN = Turn(question="Why?", text="Because.", reply="{}")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_thread_keeps_its_turns_under_its_first_question_until_it_is_deleted_or_old(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "sqlite":
        place = SqliteFile(tmp_path / "documents.sqlite")
    else:
        new_database: Callable[[], str] = request.getfixturevalue("new_database")
        place = PostgresServer(SecretStr(new_database()))
    with closing(Database(place, ("test", 8))) as database:
        threads = Threads(database)
        thread, other = threads.create("north", None), threads.create("south", "papers")
        for question in ("Why?", "How?"):
            threads.add_turn(thread, TURN.model_copy(update={"question": question}))
        assert [turn.question for turn in threads.turns(thread)] == ["Why?", "How?"]
        assert threads.get("north", thread.id).title == "Why?"
        assert threads.of("south") == [other]
        with pytest.raises(NotFoundError):
            threads.get("south", thread.id)
        threads.delete(thread)
        threads.add_turn(thread, TURN)
        assert (threads.of("north"), threads.turns(thread)) == ([], [])
        monkeypatch.setattr(conversations, "MAX_THREADS", 1)
        with pytest.raises(InputError, match="There are already 1 threads"):
            threads.create("south", None)
        monkeypatch.setattr(conversations, "RETENTION_S", -1)
        assert threads.create("south", None).title == ""
        assert len(threads.of("south")) == 1


def test_deleting_a_document_deletes_the_answers_that_read_it_from_the_threads_of_its_tenant(tmp_path: Path) -> None:
    piece = sample("a.txt", ["Tides rise.", "Tides fall."])
    with open_store(StoreSettings(path=tmp_path), (ENCODER, DIMENSION)) as store:
        piece.put_in(store)
        threads = Threads(store.database)
        own, foreign = threads.create(piece.scope.tenant, None), threads.create("south", None)
        quoting = TURN.model_copy(update={"reply": f'{{"hits": [{{"chunk_id": "{piece.ids[1]}"}}]}}'})
        for thread in (own, foreign):
            threads.add_turn(thread, TURN)
            threads.add_turn(thread, quoting)
        assert store.delete(piece.scope, piece.doc_id)
        assert (threads.turns(own), threads.turns(foreign)) == ([TURN], [TURN, quoting])
