"""Around a search: checks of the question, sources with the same content, and the search that returns everything."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from discorag.models.protocol import TokenCounter
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import EmptyCorpusError, QueryError
from discorag.schema.metadata import AnyOf, Filters, accepts
from discorag.schema.values import amount
from discorag.store.records import Hit
from discorag.store.search import find_enough
from discorag.store.store import Store

T = TypeVar("T")
ATTEMPTS = 10
"""How often a search is repeated, if what it found is deleted or replaced before it is read."""
_NAMED = 10  # corpora that an error names


def check_query(query: str) -> str:
    """The query without surrounding white space. Raises `QueryError` if nothing is left."""
    if not query.strip():
        raise QueryError("The query is empty.", hint="Ask a question.")
    return query.strip()


def nothing_in(store: Store, scope: Scope) -> EmptyCorpusError:
    """Why nothing was found in a scope; if it is empty, the error names the corpora that are not. Blocks."""
    if store.has(scope):
        message = f"Nothing in corpus {scope.corpus!r} matches the question and its filters."
        return EmptyCorpusError(message, hint="Check the filters.")
    nothing = f"Nothing is stored in corpus {scope.corpus!r}"
    others = store.corpora(scope.tenant)
    if not others:
        return EmptyCorpusError(f"{nothing}, nor in any other.", hint="Ingest documents first.")
    named = [f"{c.name} ({amount(c.documents, 'documents')})" for c in others[:_NAMED]]
    more = [f"{len(others) - _NAMED} more"] if len(others) > _NAMED else []
    there = ", ".join([*named, *more])
    return EmptyCorpusError(f"{nothing}. Corpora with documents: {there}.", hint="Name one of them as the corpus.")


@dataclass(frozen=True)
class Distinct(Generic[T]):
    """The best of what was found, with documents of the same content as one. ``copies``: document -> names of the other
    files.
    """

    best: list[T]
    copies: Mapping[str, list[str]]


def distinct(store: Store, scope: Scope, find: Callable[[int], Sequence[tuple[T, str]]], wanted: int) -> Distinct[T]:
    """The best ``wanted``; documents with the same text count once, as the first of them by URI. Blocks.

    ``find`` returns the best n, each with its document.
    """
    copies = dict[str, list[str]]()

    def first_of_each_text(hits: Sequence[tuple[T, str]]) -> list[T]:
        copies.clear()
        first, source = dict[str, str](), {doc_id: doc_id for _, doc_id in hits}
        for manifest in store.manifests(scope, list(source)):
            content = manifest.text_hash or manifest.content_hash
            known = source[manifest.doc_id] = first.setdefault(content, manifest.doc_id)
            if known != manifest.doc_id:
                copies.setdefault(known, []).append(Path(manifest.uri).name)
        return [item for item, doc_id in hits if source[doc_id] == doc_id]

    return Distinct(find_enough(find, first_of_each_text, wanted), copies)


def distinct_chunks(
    store: Store, scope: Scope, find: Callable[[int], list[Hit]], wanted: int
) -> tuple[Distinct[Hit], dict[str, Chunk]]:
    """`distinct` over chunks: the hits, and by id the chunks, which had to be read anyway. Blocks.

    What is deleted or replaced between the search and the reading is searched for again, and at last left out.
    """
    read: dict[str, Chunk] = {}

    def with_documents(n: int) -> list[tuple[Hit, str]]:
        hits: list[Hit] = []
        for _ in range(ATTEMPTS):
            hits = find(n)
            read.update(store.stored_chunks(scope, [h.chunk_id for h in hits if h.chunk_id not in read]))
            if all(hit.chunk_id in read for hit in hits):
                break
        return [(hit, read[hit.chunk_id].doc_id) for hit in hits if hit.chunk_id in read]

    hits = distinct(store, scope, with_documents, wanted)
    return hits, {hit.chunk_id: read[hit.chunk_id] for hit in hits.best}


def everything(
    store: Store, scope: Scope, filters: Filters, *, counter: TokenCounter, room: int | None = None
) -> tuple[Distinct[Hit], bool]:
    """Every chunk of the scope's documents, each with score 0, and whether some are left out. Blocks.

    Documents come in the order of the filter ``doc_id``, else by uri, those of one text once unless filters may tell
    them apart; their chunks in text order, up to ``room`` tokens if there is such a limit. Call it in a block of
    `discorag.store.database.Database.read`: it reads documents one after the other.

    Raises:
        NotFoundError: The filter ``doc_id`` names a document that is not stored.
    """
    named, tells_apart = filters.get("doc_id"), filters.keys() - {"doc_id"}
    wanted = map(str, named.values) if isinstance(named, AnyOf) else (m.doc_id for m in store.manifests(scope))
    ids = list(dict.fromkeys(wanted))
    every = Distinct(ids, {})
    own = every if tells_apart else distinct(store, scope, lambda n: [(i, i) for i in ids[:n]], len(ids) or 1)
    hits: list[Hit] = []
    for chunk in (c for doc_id in own.best for c in store.chunks_of(scope, doc_id)):
        if not accepts(filters, chunk.metadata, chunk.doc_id):
            continue
        if room is not None:
            room -= len(counter.token_offsets([chunk.text])[0])
            if room < 0:
                return Distinct(hits, own.copies), True
        hits.append(Hit(chunk_id=chunk.id, score=0.0))
    return Distinct(hits, own.copies), False
