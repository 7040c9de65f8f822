"""Calls between processes: what is raised comes through, nobody else gets in, what is held ends with who held it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from discorag.types.errors import NotFoundError, StoreDamagedError, StoreError, StoreFullError
from graphs.serving.problems import RefusedError
from graphs.workers import wire
from graphs.workers.wire import Calls, Keeper, Line


class Thing:
    """What is asked for."""

    def __init__(self) -> None:
        self.held = 0

    def double(self, number: int) -> int:
        return 2 * number

    async def later(self, number: int, *, more: int) -> int:
        await asyncio.sleep(0)
        return number + more

    def fail(self, error: Exception) -> None:
        raise error

    @asynccontextmanager
    async def room(self, most: int) -> AsyncGenerator[None]:
        if self.held >= most:
            raise RefusedError(503, "BusyError", "Full.", headers={"Retry-After": "5"})
        self.held += 1
        try:
            yield
        finally:
            self.held -= 1


@pytest.fixture
def thing() -> Thing:
    return Thing()


@pytest.fixture
def address(tmp_path: Path) -> str:
    return str(tmp_path / "keeper")


@pytest.fixture
async def keeper(address: str, thing: Thing) -> AsyncIterator[Keeper]:
    with Calls(address, {"thing": thing}, asyncio.get_running_loop()) as calls:
        yield Keeper(address)
        await asyncio.to_thread(calls.__exit__)


async def test_methods_are_called_and_awaited_where_they_are(keeper: Keeper) -> None:
    assert await keeper.acall("thing", "double", 21) == 42
    assert await keeper.acall("thing", "later", 1, more=2) == 3


@pytest.mark.parametrize(
    "error",
    [
        NotFoundError("No.", hint="Look."),
        StoreFullError("Full.", hint="Make room."),
        StoreDamagedError("Damaged.", hint="Repair.", differences=("one", "two")),
        RefusedError(429, "QuotaError", "Too many.", hint="Wait.", headers={"Retry-After": "7"}),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_error_comes_through_as_what_it_is(keeper: Keeper, error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        await keeper.acall("thing", "fail", error)
    assert vars(raised.value) == vars(error)
    assert str(raised.value) == str(error)
    assert await keeper.acall("thing", "double", 1) == 2


async def test_what_is_held_is_held_until_the_block_ends(keeper: Keeper, thing: Thing) -> None:
    async with keeper.hold("thing", "room", 1):
        assert thing.held == 1
        with pytest.raises(RefusedError) as refused:
            async with keeper.hold("thing", "room", 1):
                pass
        assert refused.value.headers == {"Retry-After": "5"}
    assert thing.held == 0


async def test_what_is_held_ends_with_its_holder(keeper: Keeper, thing: Thing, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang_up(connection: Line) -> None:
        """What the system does with the connections of a process that is killed."""
        connection.close()

    monkeypatch.setattr(keeper, "_leave", hang_up)
    async with keeper.hold("thing", "room", 1):
        assert thing.held == 1
    for _ in range(500):
        await asyncio.sleep(0.01)
        if not thing.held:
            return
    raise AssertionError


async def test_what_was_waited_for_in_vain_is_not_held(keeper: Keeper, thing: Thing) -> None:
    async def hold() -> None:
        async with keeper.hold("thing", "room", 1):
            await asyncio.sleep(60)

    for _ in range(20):
        task = asyncio.create_task(hold())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0.2)
    async with keeper.hold("thing", "room", 1):
        pass


async def test_a_call_waits_for_a_keeper_that_is_started_again(address: str, thing: Thing) -> None:
    loop, keeper = asyncio.get_running_loop(), Keeper(address)
    calls = Calls(address, {"thing": thing}, loop).__enter__()
    assert await keeper.acall("thing", "double", 1) == 2
    await asyncio.to_thread(calls.__exit__)
    waiting = asyncio.create_task(keeper.acall("thing", "double", 2))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    with Calls(address, {"thing": thing}, loop) as again:
        assert await waiting == 4
        await asyncio.to_thread(again.__exit__)


async def test_without_a_keeper_a_call_is_an_error_at_last(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PATIENCE_S", 0.1)
    with pytest.raises(StoreError, match="does not answer"):
        await Keeper(address).acall("thing", "double", 1)


async def test_a_stranger_is_not_let_in(keeper: Keeper, address: str) -> None:
    def knock() -> None:
        Client(address, "AF_UNIX", authkey=b"guess")

    with pytest.raises(AuthenticationError):
        await asyncio.to_thread(knock)
    assert await keeper.acall("thing", "double", 1) == 2
