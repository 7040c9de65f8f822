"""The floor that times are divided by: one encoding of the question by torch in fp32 and one hybrid search."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from discorag import DiscoRAG
from discorag.models.packaged import MINILM, packaged_folder
from discorag.models.sentence_encoder import load_named
from discorag.store.records import SearchQuery


@cache
def torch_encoder() -> Any:  # typed in part only
    """The packaged MiniLM by sentence-transformers, in fp32."""
    return load_named(str(packaged_folder(MINILM.name)))


def floor_s(
    rag: DiscoRAG, query: str, *, corpus: str | None = None, filters: Mapping[str, Sequence[str]] | None = None
) -> float:
    """Seconds of processor time; torch's model is loaded before they are counted."""
    model = torch_encoder()
    start = time.process_time()
    [vector] = model.encode([query], normalize_embeddings=True, show_progress_bar=False)
    search = SearchQuery(vector=vector, text=query, retrieval="hybrid", filters=dict(filters or {}))
    rag.backends.store.search(rag.scope(corpus=corpus), search)
    return time.process_time() - start
