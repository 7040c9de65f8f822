"""Around a search: checks of the question, why nothing was found, and the search that returns everything."""

from discorag.models.protocol import TokenCounter
from discorag.schema.document import Scope
from discorag.schema.errors import EmptyCorpusError, QueryError
from discorag.schema.metadata import AnyOf, Filters, accepts
from discorag.schema.values import amount
from discorag.store.records import Distinct, Hit
from discorag.store.search import drop_copies
from discorag.store.store import Store

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


def everything(
    store: Store, scope: Scope, filters: Filters, *, counter: TokenCounter, room: int | None = None
) -> tuple[Distinct, bool]:
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
    every = [Hit(doc_id, 0.0) for doc_id in ids]
    own = Distinct(every, {}) if tells_apart else drop_copies(every, store.owners(scope, ids, of_documents=True))
    hits: list[Hit] = []
    for chunk in (c for document in own.best for c in store.chunks_of(scope, document.chunk_id)):
        if not accepts(filters, chunk.metadata, chunk.doc_id):
            continue
        if room is not None:
            room -= len(counter.token_offsets([chunk.text])[0])
            if room < 0:
                return Distinct(hits, own.copies), True
        hits.append(Hit(chunk_id=chunk.id, score=0.0))
    return Distinct(hits, own.copies), False
