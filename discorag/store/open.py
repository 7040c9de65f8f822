"""The stores by name, and the one that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discorag.registry import Registry
from discorag.settings import StoreSettings
from discorag.store.base import ShardStore
from discorag.store.check import Mended
from discorag.store.protocol import Store
from discorag.types.errors import ConfigError

MakeStore = Callable[[StoreSettings, int, str], Store]
"""From the settings, the length of a vector and the encoder's version to an open store."""

STORES = Registry[MakeStore]("store", "disco_rag.stores")
"""Stores by name, as ``DISCO_RAG_STORE__KIND`` knows them."""

register_store = STORES.register

STORES.offer("edge", "discorag.store.edge:open_edge", "Qdrant Edge, in a folder")
STORES.offer("memory", "discorag.store.client:open_memory", "Qdrant in memory, lost at exit")
STORES.offer("server", "discorag.store.client:open_server", "a Qdrant server; chosen by its url")


Opening = Callable[[StoreSettings, int, str], tuple[Store, Mended]]


def open_mended(settings: StoreSettings, dimension: int, encoder_version: str) -> tuple[Store, Mended]:
    """Open a store that may be damaged, and make right what can be told from what is stored.

    Raises:
        ConfigError: It is in memory, or of a kind that cannot be mended.
        StoreError: See `discorag.store.mend.mended`.
    """
    if (kind := _kind(settings)) == "edge":
        from discorag.store.mend import mended

        return mended(settings.path, **_made(settings, dimension, encoder_version))
    store = open_store(settings, dimension=dimension, encoder_version=encoder_version)
    if kind == "server" and isinstance(store, ShardStore):
        return store, store.mend()
    store.close()
    raise ConfigError(f"A store of kind {kind!r} cannot be repaired.", hint="Ingest again.")


def open_migrated(settings: StoreSettings, dimension: int, encoder_version: str) -> tuple[Store, Mended]:
    """Open a store of an earlier format as one of this one. Raises as `open_mended`; `StoreError` if it is of this."""
    if _kind(settings) != "edge":
        raise ConfigError("Only stores in folders have formats.", hint="disco-rag repair adds what a server lacks.")
    from discorag.store.mend import migrated

    return migrated(settings.path, **_made(settings, dimension, encoder_version))


def _made(settings: StoreSettings, dimension: int, encoder_version: str) -> dict[str, Any]:
    return {"dimension": dimension, "encoder_version": encoder_version, "min_free_mb": settings.min_free_mb}


def _kind(settings: StoreSettings) -> str:
    return "server" if settings.url is not None and settings.kind == "edge" else settings.kind


def open_store(settings: StoreSettings, *, dimension: int, encoder_version: str) -> Store:
    """Open the store that the settings name, making it if it is not there.

    Args:
        settings: The server's ``url``, else kind and place.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        UnknownNameError: There is no store of this kind.
        ConfigError: Both a server and a store in memory are asked for, or a server without a url.
        StoreError: See `EdgeStore` (locked, damaged, or filled by another encoder) and `ServerStore`.
    """
    kind = _kind(settings)
    if kind == "memory" and settings.url is not None:
        raise ConfigError(
            f"The store is to be in memory and at {settings.url}.",
            hint="Unset DISCO_RAG_STORE__KIND or DISCO_RAG_STORE__URL.",
        )
    return STORES[kind](settings, dimension, encoder_version)
