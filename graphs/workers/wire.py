"""Calls from one process of this user to another one: Python's own `multiprocessing.connection` over a Unix socket.

Who connects must know the key of the family (`multiprocessing.Process.authkey`, which children inherit), and the socket
lies in a folder that is its user's alone: what is sent is pickled. A call is the name of a thing, a method of it and
its arguments; the answer is what the method returned or raised. A thing can also be *held*: a context manager that is
entered there and left when the caller says so, or when it has died.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from socket import SHUT_RD, socket
from threading import Thread, current_thread
from time import monotonic, sleep
from typing import Any, NamedTuple, Self, TypeAlias

from discorag.types.errors import StoreError

Line: TypeAlias = "Connection[Any, Any]"
"""What anything is sent and received over."""
PATIENCE_S = 60.0
"""How long a call waits for a keeper that is not there: it is started again, and opens the store."""
_PAUSE_S = 0.05
_GONE = (EOFError, OSError, AuthenticationError)  # the other side has ended


class Call(NamedTuple):
    """A method of a thing with its arguments; ``held``: what it gives is entered, and left at the next message."""

    thing: str
    method: str
    args: tuple[Any, ...]
    named: dict[str, Any]
    held: bool = False


class Calls:
    """Answers calls between ``with`` and its end, each caller's in a thread of its own; calls under way are finished.

    Args:
        address: Path of the socket.
        things: What can be asked for, by name.
        loop: Where what is awaitable is awaited; it must go on running.
        on_error: Told of every error that a caller is sent.
    """

    def __init__(
        self,
        address: str,
        things: Mapping[str, object],
        loop: asyncio.AbstractEventLoop,
        on_error: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        Path(address).unlink(missing_ok=True)  # of a process that was killed
        self._listener = Listener(address, "AF_UNIX", backlog=128, authkey=current_process().authkey)
        self._things, self._loop, self._on_error = things, loop, on_error
        self._callers: dict[Thread, Line] = {}
        self._over = False

    def __enter__(self) -> Self:
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._listener.close()
        for thread, connection in [*self._callers.items()]:
            with suppress(OSError), socket(fileno=os.dup(connection.fileno())) as end:
                end.shutdown(SHUT_RD)
            with suppress(RuntimeError):  # it has only just come, and is about to start
                thread.join(PATIENCE_S)

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except (EOFError, AuthenticationError, ConnectionError):  # whoever came has left, or is a stranger
                continue
            except OSError:  # closed
                return None
            if self._over:  # it had come before the listener was closed, which wakes nobody
                return connection.close()
            thread = Thread(target=self._serve, args=(connection,), daemon=True)
            self._callers[thread] = connection
            thread.start()

    def _serve(self, connection: Line) -> None:
        """The calls of one caller, one after another."""
        with connection, suppress(*_GONE):
            while True:
                call = connection.recv()
                if call.held:
                    self._hold(connection, self._found(call))
                else:
                    self._answer(connection, partial(self._result, call))
        del self._callers[current_thread()]

    def _found(self, call: Call) -> Any:
        return getattr(self._things[call.thing], call.method)(*call.args, **call.named)

    def _result(self, call: Call) -> Any:
        found = self._found(call)
        return _awaited(found, self._loop) if inspect.isawaitable(found) else found

    def _hold(self, connection: Line, held: AbstractAsyncContextManager[None]) -> None:
        if not self._answer(connection, lambda: _awaited(held.__aenter__(), self._loop)):
            return
        try:
            connection.recv()
        finally:
            _awaited(held.__aexit__(None, None, None), self._loop)
        connection.send((True, None))

    def _answer(self, connection: Line, call: Callable[[], Any]) -> bool:
        """Send what it returns or raises; whether it returned."""
        try:
            reply = True, call()
        except Exception as error:  # noqa: BLE001 - it is raised again where it was asked for
            self._on_error(error)
            reply = False, error
        connection.send(reply)
        return reply[0]


def _awaited(found: Awaitable[Any], loop: asyncio.AbstractEventLoop) -> Any:
    async def result() -> Any:
        return await found

    return asyncio.run_coroutine_threadsafe(result(), loop).result()


class Keeper:
    """The process that keeps what workers share, as they see it.

    Every call is made again if the keeper has died meanwhile, so each must be one that may be repeated.

    Args:
        address: Path of its socket.

    Raises:
        StoreError: By any call: there is no keeper, and was none for `PATIENCE_S`.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._free: deque[Line] = deque()

    def call(self, thing: str, method: str, *args: Any, **named: Any) -> Any:
        """What the method returns. Raises what it raises."""
        connection, result = self._asked(Call(thing, method, args, named))
        self._free.append(connection)
        return result

    async def acall(self, thing: str, method: str, *args: Any, **named: Any) -> Any:
        """`call`, in a thread."""
        return await asyncio.to_thread(self.call, thing, method, *args, **named)

    @asynccontextmanager
    async def hold(self, thing: str, method: str, *args: Any, **named: Any) -> AsyncGenerator[None]:
        """A block within what the method gives, a context manager. It is left when this process dies, too."""
        call = Call(thing, method, args, named, held=True)
        entering = asyncio.ensure_future(asyncio.to_thread(self._asked, call))
        try:
            connection, _ = await asyncio.shield(entering)
        except asyncio.CancelledError:
            entering.add_done_callback(_hang_up)
            raise
        try:
            yield
        finally:
            await asyncio.shield(asyncio.to_thread(self._leave, connection))

    def _leave(self, connection: Line) -> None:
        with suppress(*_GONE):  # with it went what was held
            connection.send(None)
            connection.recv()
            self._free.append(connection)

    def _asked(self, call: Call) -> tuple[Line, Any]:
        end = monotonic() + PATIENCE_S
        while True:
            connection = None
            try:
                connection = self._connection()
                connection.send(call)
                returned, result = connection.recv()
            except _GONE as error:
                if connection:
                    connection.close()
                if monotonic() > end:
                    said = "The process that keeps what the workers share does not answer."
                    raise StoreError(said, hint="It is started again; see the server's log.") from error
                sleep(_PAUSE_S)
                continue
            if returned:
                return connection, result
            self._free.append(connection)
            raise result

    def _connection(self) -> Line:
        with suppress(IndexError):
            return self._free.pop()
        return Client(self._address, "AF_UNIX", authkey=current_process().authkey)


def _hang_up(entering: asyncio.Future[tuple[Line, Any]]) -> None:
    if not entering.cancelled() and entering.exception() is None:
        entering.result()[0].close()
