"""Whose question runs next: each of these tests decides itself when a question ends."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from interfaces.http.access import Role
from interfaces.http.app import create_app
from interfaces.http.service import Service
from interfaces.results import AskResult
from tests.interfaces.http.conftest import Listen
from tests.interfaces.http.parts import PATIENCE_S, QUERY, TENANTS, Apps, until, write_keys
from tests.servers.scripted import Scripted, ScriptedServer

PLACES = 2
NAMES = (*TENANTS, "empty")
STREAM = {"Accept": "text/event-stream"}
Reply = asyncio.Task[httpx.Response]


class Desk:
    """An app with `PLACES` places, and its tenants; every question that runs waits until it is let go."""

    def __init__(self, client: httpx.AsyncClient, service: Service, headers: dict[str, dict[str, str]]) -> None:
        self.client, self.service, self.headers = client, service, headers
        self.begun = list[str]()
        self.gates = dict[str, asyncio.Event]()

    def hold(self, ask: Callable[..., Coroutine[Any, Any, AskResult]]) -> Callable[..., Coroutine[Any, Any, AskResult]]:
        """The same, after the question was let go."""

        async def held(**arguments: Any) -> AskResult:
            name = str(arguments["instruction"])
            self.begun.append(name)
            await self.gates[name].wait()
            return await ask(**arguments)

        return held

    def ask(self, tenant: str, name: str, **more: str) -> Reply:
        """Send a question, which this name tells from the others."""
        self.gates[name] = asyncio.Event()
        body = {"query": QUERY, "instruction": name}
        return asyncio.create_task(self.client.post("/ask", json=body, headers=self.headers[tenant] | more))

    async def crowd(self, tenant: str, waiting: int) -> list[Reply]:
        """Send so many questions of one tenant that this many wait."""
        sent = [self.ask(tenant, f"{tenant} {number}") for number in range(PLACES + waiting)]
        await self.until(lambda: len(self.begun) == PLACES and self.service.turns.waiting == waiting)
        return sent

    def let_go(self, *names: str) -> None:
        """Let these questions end, those that have not begun as soon as they do; without a name all."""
        for name in names or self.gates:
            self.gates[name].set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to become true."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def desk(apps: Apps, folder: Path, monkeypatch: pytest.MonkeyPatch, **quota: int) -> AsyncGenerator[Desk]:
    """An app in this event loop."""
    monkeypatch.setattr("interfaces.http.turns.os.cpu_count", lambda: PLACES)
    keys = write_keys(folder / "keys.toml", *((name, name, tuple(Role)) for name in NAMES))
    rag = apps.rag(folder / "uploads", keys=folder / "keys.toml", quota=quota)
    app = create_app(rag=rag)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE_S) as client,
    ):
        made = Desk(client, app.state.service, dict(zip(NAMES, keys, strict=True)))
        monkeypatch.setattr(rag, "aask", made.hold(rag.aask))
        yield made


async def test_the_next_question_is_that_of_the_tenant_with_none_under_way(
    apps: Apps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(apps, tmp_path, monkeypatch) as at:
        sent = await at.crowd("default", waiting=20)
        sent.append(at.ask("alpha", "alpha"))
        await at.until(lambda: at.begun[PLACES:] == ["alpha"])
        last = at.ask("empty", "empty")
        await at.until(lambda: at.service.turns.waiting == 21)
        at.let_go(at.begun[0])
        await at.until(lambda: at.begun[PLACES:] == ["alpha", "empty"])
        at.let_go()
        assert {reply.status_code for reply in await asyncio.gather(*sent)} == {200}
        assert (await last).json()["error"]["type"] == "EmptyCorpusError"


async def test_a_tenant_runs_no_more_questions_than_its_quota(
    apps: Apps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(apps, tmp_path, monkeypatch, questions=1) as at:
        sent = [at.ask("default", "first"), at.ask("default", "second")]
        await at.until(lambda: at.service.turns.waiting == 1)
        assert len(at.begun) == 1
        at.let_go()
        assert {reply.status_code for reply in await asyncio.gather(*sent)} == {200}


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
async def test_one_too_many_waiting_questions_of_a_tenant_are_refused_and_no_other_tenants(
    apps: Apps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    async with desk(apps, tmp_path, monkeypatch, waiting=3) as at:
        sent = await at.crowd("default", waiting=3)
        refused = await at.ask("default", "one more", **headers)
        sent.append(at.ask("alpha", "alpha"))
        await at.until(lambda: at.begun[PLACES:] == ["alpha"])
        at.let_go()
        assert {reply.status_code for reply in await asyncio.gather(*sent)} == {200}
    error = refused.json()["error"]
    assert (refused.status_code, error["type"]) == (429, "QuotaError")
    assert "3 questions of this tenant wait" in error["message"]
    assert "DISCO_RAG_API__QUOTA__WAITING" in error["hint"]
    assert int(refused.headers["retry-after"]) >= 1


async def test_files_are_read_while_questions_wait(apps: Apps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(apps, tmp_path, monkeypatch) as at:
        sent = await at.crowd("default", waiting=20)
        files = [("files", ("b.txt", b"A tide rises twice a day."))]
        taken = await at.client.post("/ingest", files=files, data={"corpus": "turns"}, headers=at.headers["default"])
        path = f"/ingest/{taken.json()['job']['id']}"
        async with asyncio.timeout(PATIENCE_S):
            while not (job := (await at.client.get(path, headers=at.headers["default"])).json()["job"])["ended"]:
                await asyncio.sleep(0.005)
        assert (job["status"], len(at.begun)) == ("done", PLACES)
        at.let_go()
        await asyncio.gather(*sent)


async def test_questions_that_wait_when_the_server_stops_are_told_so(
    apps: Apps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(apps, tmp_path, monkeypatch) as at:
        sent = await at.crowd("default", waiting=5)
        at.service.stop()
        replies = await asyncio.gather(*sent)
        assert {(reply.status_code, reply.json()["error"]["type"]) for reply in replies} == {(503, "StoppingError")}
        assert (at.service.turns.waiting, len(at.begun)) == (0, PLACES)


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
async def test_a_client_that_leaves_waits_no_more(
    apps: Apps, listen: Listen, uploads: Path, headers: dict[str, str]
) -> None:
    with ScriptedServer(lambda _: Scripted("late", delay_s=60)) as llm:
        app = apps(uploads, llm=llm.base_url, quota={"questions": 1})
        async with httpx.AsyncClient(base_url=listen(app), timeout=PATIENCE_S) as client:
            first = asyncio.create_task(client.post("/ask", json={"query": QUERY}, headers=headers))
            await asyncio.to_thread(until, lambda: llm.requests)
            second = asyncio.create_task(client.post("/ask", json={"query": QUERY}, headers=headers))
            await asyncio.to_thread(until, lambda: app.state.service.turns.waiting == 1)
            second.cancel()
            await asyncio.to_thread(until, lambda: app.state.service.turns.waiting == 0)
            assert app.state.service.under_way == 1
            first.cancel()
            await asyncio.to_thread(until, lambda: app.state.service.under_way == 0)
