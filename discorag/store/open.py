"""The stores by name, and the one that the settings name."""

from __future__ import annotations

from collections.abc import Callable

from discorag.registry import Registry
from discorag.settings import StoreSettings
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
    kind = "server" if settings.url is not None and settings.kind == "edge" else settings.kind
    if kind == "memory" and settings.url is not None:
        raise ConfigError(
            f"The store is to be in memory and at {settings.url}.",
            hint="Unset DISCO_RAG_STORE__KIND or DISCO_RAG_STORE__URL.",
        )
    return STORES[kind](settings, dimension, encoder_version)
