"""Questions that another process asks while one owns the store."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path

import pytest

from discorag import DiscoRAG
from discorag.settings import Settings, StoreSettings
from discorag.types.errors import DiscoRagError
from graphs.owner import answering, asked, socket_of
from tests.conftest import EXAMPLES
from tests.graphs.test_cli import run, run_json

QUESTION = "Does vitamin D prevent flu?"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> DiscoRAG:
    folder = tmp_path_factory.mktemp("o")
    rag = DiscoRAG(Settings(store=StoreSettings(path=folder / "s")))
    rag.ingest(EXAMPLES / "vitamin-d", parser="none", retriever="dense")
    return rag


def home_of(rag: DiscoRAG) -> Path:
    return rag.resources.settings.store.path.parent


async def test_the_owner_answers_the_command_of_another_process(owner: DiscoRAG) -> None:
    async with answering(owner):
        command = (home_of(owner), "ask", QUESTION, "--retriever", "dense")
        found, shown = await asyncio.to_thread(lambda: (run_json(*command), run(*command)))
    here = await owner.aask(QUESTION, retriever="dense")
    assert found["answer"] == json.loads(here.answer.model_dump_json())
    assert "[1]" in shown


async def test_a_wrong_question_is_the_owners_error(owner: DiscoRAG) -> None:
    async with answering(owner):
        with pytest.raises(DiscoRagError, match="The query is empty") as error:
            await asked(owner.resources.settings.store, "  ", {})
    assert error.value.kind == "QueryError"


async def test_without_an_owner_that_listens_the_store_is_locked(owner: DiscoRAG) -> None:
    assert await asked(owner.resources.settings.store, QUESTION, {}) is None
    said = await asyncio.to_thread(run, home_of(owner), "ask", QUESTION, ok=2)
    assert "is in use by process" in " ".join(said.split())


async def test_the_socket_is_its_users_alone_and_that_of_a_killed_owner_is_replaced(owner: DiscoRAG) -> None:
    path = socket_of(owner.resources.settings.store)
    assert path
    path.touch()
    async with answering(owner):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


async def test_a_question_whose_asker_left_is_given_up(owner: DiscoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()

    async def long(*_: object, **__: object) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    monkeypatch.setattr(owner, "aask", long)
    async with answering(owner):
        _, writer = await asyncio.open_unix_connection(socket_of(owner.resources.settings.store))
        writer.write(b'{"question": "Why?", "switches": {}}\n')
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.close()
        await asyncio.wait_for(ended.wait(), 5)
