"""One of several processes that answer requests; what they share is kept by the keeper."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from discorag.settings import Settings
from graphs.workers.process import begun
from graphs.workers.wire import Keeper

if TYPE_CHECKING:
    from fastapi import FastAPI

    from graphs.serving.service import Shared

_HELD = frozenset({"room", "one", "alone", "last"})
"""What lasts as long as a block, and ends with this process; all else is a call that may be made again."""


def make_worker(settings: Settings, address: str) -> FastAPI:
    """The app of a worker, in its process.

    Args:
        settings: The server's.
        address: Of the keeper.
    """
    from graphs.api import create_app
    from graphs.workers.store import with_kept_store

    begun(settings)
    keeper = Keeper(address)
    if settings.store.kind in ("edge", "server"):
        settings = with_kept_store(settings, keeper)
    return create_app(settings, shared=_shared(keeper))


def _shared(keeper: Keeper) -> Shared:
    from graphs.serving.service import Shared

    return Shared(**{name: cast("Any", _There(keeper, name)) for name in Shared.__dataclass_fields__})


class _There:
    """A thing of the keeper's; its methods are called there."""

    def __init__(self, keeper: Keeper, name: str) -> None:
        self._keeper, self._name = keeper, name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._keeper.hold if method in _HELD else self._keeper.acall, self._name, method)
