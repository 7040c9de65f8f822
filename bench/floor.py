"""The floor that times are divided by: one encoding of the question by torch in fp32 and one hybrid search."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from discorag import DiscoRAG
from discorag.models.encoder import PackagedEncoder, encoded
from discorag.models.loops import InTurn
from discorag.store.protocol import SearchQuery


def floor_s(
    rag: DiscoRAG, query: str, *, corpus: str | None = None, filters: Mapping[str, Sequence[str]] | None = None
) -> float:
    """Seconds of processor time; torch's model is loaded before they are counted."""
    encoder = rag.resources.bare_encoder
    assert isinstance(encoder, PackagedEncoder)
    model = encoder.loaded()
    start = time.process_time()
    [vector] = encoded(model, [query], size=1, turns=InTurn())
    search = SearchQuery(vector=vector, text=query, retrieval="hybrid", filters=dict(filters or {}))
    rag.resources.store.search(rag.scope(corpus=corpus), search)
    return time.process_time() - start
