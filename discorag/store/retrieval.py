"""Around a search: is there a question, is there something to search; and the search that leaves nothing out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discorag.store.protocol import Hit, Store
from discorag.text.tokens import TokenCounter
from discorag.types.document import Scope
from discorag.types.errors import EmptyCorpusError, QueryError

FENCE = 20
"""Tokens that a prompt puts around a chunk."""


def check_query(query: str) -> str:
    """The query without surrounding white space. Raises `QueryError` if nothing is left."""
    if not query.strip():
        raise QueryError("The query is empty.", hint="Ask a question.")
    return query.strip()


def found(hits: list[Hit], scope: Scope) -> list[Hit]:
    """The hits, if there are any. Raises `EmptyCorpusError` if not."""
    if not hits:
        raise EmptyCorpusError(
            f"Nothing to retrieve from in tenant {scope.tenant!r}, corpus {scope.corpus!r}.",
            hint="Ingest documents first (disco-rag ingest PATH), or check tenant, corpus and filters.",
        )
    return hits


def everything(
    store: Store,
    scope: Scope,
    filters: Mapping[str, Sequence[str]],
    *,
    counter: TokenCounter,
    room: int | None = None,
) -> list[Hit]:
    """Every chunk of the scope's documents, each with score 0: the full context, for baselines.

    Documents come in the order of the filter ``doc_id``, else by uri; their chunks in text order. Blocks.

    Args:
        store: Where the documents are.
        scope: Whose.
        filters: As in `SearchQuery`.
        counter: Counts tokens.
        room: Tokens that fit the reader's context: what comes after them is left out. None: no limit.

    Raises:
        NotFoundError: The filter ``doc_id`` names a document that is not stored.
    """
    rest = {key: set(values) for key, values in filters.items() if key != "doc_id"}
    ids = filters.get("doc_id") or [m.doc_id for m in store.manifests(scope)]
    hits: list[Hit] = []
    for chunk in (c for doc_id in dict.fromkeys(ids) for c in store.chunks_of(scope, doc_id)):
        if any(chunk.metadata.get(key) not in accepted for key, accepted in rest.items()):
            continue
        if room is not None:
            room -= len(counter.token_offsets([chunk.text])[0]) + FENCE
            if room < 0:
                break
        hits.append(Hit(chunk_id=chunk.id, score=0.0))
    return hits
