"""Nodes are coroutines; LangGraph's synchronous methods run them on one event loop in a thread of its own."""

import os
from collections.abc import Awaitable, Callable
from contextlib import closing
from contextvars import ContextVar
from functools import cache
from inspect import iscoroutinefunction, signature
from threading import Lock
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import get_runtime

from discorag.models.loops import BackgroundLoop

T = TypeVar("T")
Node = Callable[..., Any] | Runnable[Any, Any]
"""A node as LangGraph takes it: a function of the state, a coroutine function, or a runnable such as a graph."""

_is_on_loop: ContextVar[bool] = ContextVar("is_on_loop", default=False)


_starting = Lock()


@cache
def _started_loop() -> BackgroundLoop:
    return BackgroundLoop()


def _shared_loop() -> BackgroundLoop:
    with _starting:  # the threads of a batch ask for it at the same time
        return _started_loop()


def _forget_loop() -> None:
    _started_loop.cache_clear()
    _starting.release()


# A thread does not survive a fork:
os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_forget_loop)


def run_blocking(call: Callable[[], Awaitable[T]]) -> T:
    """Return what the call returns. It may be made from any thread, also one in which an event loop runs.

    A call that is made while another one runs gets a loop of its own: on the same loop, both would wait for ever.
    """

    async def marked() -> T:
        _is_on_loop.set(True)
        return await call()

    if not _is_on_loop.get():
        return _shared_loop().run(marked)
    with closing(BackgroundLoop()) as loop:
        return loop.run(marked)


class TwoWayNode(Runnable[Any, Any]):
    """A node over a coroutine function that LangGraph can call synchronously too.

    Args:
        call: Takes the state and, if it names them as parameters, ``runtime`` and ``config``.
    """

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self.name = call.__name__
        self._call = call
        self._wanted = {"runtime", "config"} & signature(call).parameters.keys()

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """The node's update."""
        arguments = self._arguments(config)
        return run_blocking(lambda: self._call(input, **arguments))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """The node's update."""
        return await self._call(input, **self._arguments(config))

    def _arguments(self, config: RunnableConfig | None) -> dict[str, Any]:
        known = {"config": lambda: config, "runtime": get_runtime}
        return {name: known[name]() for name in self._wanted}


def two_way(node: Node) -> Node:
    """The node in a form that can be called synchronously and asynchronously; only coroutine functions lack one."""
    return TwoWayNode(node) if iscoroutinefunction(node) else node
