"""The store that the settings name."""

from __future__ import annotations

from discorag.settings import StoreSettings
from discorag.store.protocol import Store


def open_store(settings: StoreSettings, *, dimension: int, encoder_version: str) -> Store:
    """Open it, making it if it is not there.

    Args:
        settings: Kind and place.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.

    Raises:
        StoreError: See `EdgeStore`: locked, damaged, or filled by another encoder.
    """
    if settings.kind == "memory":
        from qdrant_client import QdrantClient

        from discorag.store.client import QdrantStore

        return QdrantStore(QdrantClient(":memory:"), dimension=dimension, encoder_version=encoder_version)
    from discorag.store.edge import EdgeStore

    return EdgeStore(settings.path, dimension=dimension, encoder_version=encoder_version)
