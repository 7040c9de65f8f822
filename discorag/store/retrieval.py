"""Around a search: is there a question, is there something to search; and the search that leaves nothing out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote

from discorag.store.protocol import Hit, Store
from discorag.text.tokens import TokenCounter
from discorag.types.document import Scope
from discorag.types.errors import EmptyCorpusError, QueryError

FENCE = 20
"""Tokens that a prompt puts around a chunk."""
_NAMED = 10  # corpora that an error names


def check_query(query: str) -> str:
    """The query without surrounding white space. Raises `QueryError` if nothing is left."""
    if not query.strip():
        raise QueryError("The query is empty.", hint="Ask a question.")
    return query.strip()


def nothing_in(store: Store, scope: Scope) -> EmptyCorpusError:
    """Why nothing was found in a scope, and which corpora there are where it is empty. Blocks."""
    if store.manifests(scope):
        said = f"Nothing in corpus {scope.corpus!r} matches the question and its filters."
        return EmptyCorpusError(said, hint="Check the filters.")
    said = f"Nothing is stored in corpus {scope.corpus!r}"
    others = store.corpora(scope.tenant)
    if not others:
        return EmptyCorpusError(f"{said}, nor in any other.", hint="Ingest documents first (disco-rag ingest PATH).")
    named = [f"{c.name} ({c.documents} {'document' if c.documents == 1 else 'documents'})" for c in others[:_NAMED]]
    more = [f"{len(others) - _NAMED} more"] if len(others) > _NAMED else []
    there = ", ".join([*named, *more])
    return EmptyCorpusError(f"{said}; there are: {there}.", hint=f"Ask with --corpus {quote(others[0].name)}")


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
