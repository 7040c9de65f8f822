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

KEPT = "kept"
"""Kind of the store that the keeper has open."""
_HELD = frozenset({"room", "one", "alone", "last"})
"""What lasts as long as a block, and ends with this process; all else is a call that may be made again."""


def make_worker(settings: Settings, address: str) -> FastAPI:
    """The app of a worker, in its process.

    Args:
        settings: The server's.
        address: Of the keeper.
    """
    from graphs.api import create_app

    begun(settings)
    keeper = Keeper(address)
    if settings.store.kind in ("edge", "server"):
        settings = _with_kept_store(settings, keeper)
    return create_app(settings, shared=_shared(keeper))


def _with_kept_store(settings: Settings, keeper: Keeper) -> Settings:
    from discorag.store.open import register_store
    from graphs.workers.store import open_kept

    register_store(KEPT, partial(open_kept, keeper))
    return settings.model_copy(update={"store": settings.store.model_copy(update={"kind": KEPT})})


def _shared(keeper: Keeper) -> Shared:
    from graphs.serving.service import Shared

    return Shared(**{name: cast("Any", _There(keeper, name)) for name in Shared.__dataclass_fields__})


class _There:
    """A thing of the keeper's; its methods are called there."""

    def __init__(self, keeper: Keeper, name: str) -> None:
        self._keeper, self._name = keeper, name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._keeper.hold if method in _HELD else self._keeper.acall, self._name, method)
