"""The store that the settings name."""

from __future__ import annotations

from discorag.settings import StoreSettings
from discorag.store.protocol import Store
from discorag.types.errors import ConfigError


def open_store(settings: StoreSettings, *, dimension: int, encoder_version: str) -> Store:
    """Open it, making it if it is not there.

    Args:
        settings: The server's ``url``, else kind and place.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        ConfigError: Both a server and a store in memory are asked for.
        StoreError: See `EdgeStore` (locked, damaged, or filled by another encoder) and `ServerStore`.
    """
    if settings.url is not None:
        return _on_server(settings, settings.url, dimension, encoder_version)
    if settings.kind == "memory":
        from qdrant_client import QdrantClient

        from discorag.store.client import QdrantStore

        return QdrantStore(QdrantClient(":memory:"), dimension=dimension, encoder_version=encoder_version)
    from discorag.store.edge import EdgeStore

    return EdgeStore(settings.path, dimension=dimension, encoder_version=encoder_version)


def _on_server(settings: StoreSettings, url: str, dimension: int, encoder_version: str) -> Store:
    if settings.kind == "memory":
        raise ConfigError(
            f"The store is to be in memory and at {url}.",
            hint="Unset DISCO_RAG_STORE__KIND or DISCO_RAG_STORE__URL.",
        )
    from discorag.store.client import ServerStore

    return ServerStore(
        url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        prefix=settings.prefix,
        timeout_s=settings.timeout_s,
        dimension=dimension,
        encoder_version=encoder_version,
    )
