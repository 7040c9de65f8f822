"""Checks around a search: is there a question, and is there something to search."""

from __future__ import annotations

from discorag.errors import EmptyCorpusError, QueryError
from discorag.store.protocol import Hit
from discorag.text.document import Scope


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
