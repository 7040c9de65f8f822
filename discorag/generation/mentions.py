"""A refusal's sentences about words that no passage of the question has; they are looked up in the whole scope."""

from discorag.generation.calibration import terms_not_in
from discorag.schema.document import Scope
from discorag.schema.metadata import Filters
from discorag.store.store import Store
from discorag.text.terms import terms

_READ = 40  # passages of the lookup that are read


def describe_absence(store: Store, scope: Scope, filters: Filters, absent: list[str]) -> str:
    """Say which of these terms no text of the scope has, and which are missing only from the passages that were found.

    One search finds passages with any of them or of their plurals, and these passages are read. A term that is not
    indexed is not said to be absent from the scope, nor is any if there are more passages than are read. Blocks.
    """
    indexed = [term for term in absent if terms(term)]
    wanted = " ".join(f"{term} {term}s" for term in indexed)
    hits = store.search_words(scope, wanted, filters, _READ)
    chunks = store.stored_chunks(scope, [hit.chunk_id for hit in hits])
    nowhere = terms_not_in([*chunks.values()], indexed) if len(hits) < _READ else []
    elsewhere = [term for term in absent if term not in nowhere]
    said = ""
    if nowhere:
        words = f"word{'s' * (len(nowhere) > 1)} {', '.join(nowhere)}"  # the index does not find QXTP in QXTP_v2
        said += f" Nothing in the text of {_name_documents(store, scope, filters)} has the {words}."
    if elsewhere:
        said += f" No passage that was found mentions {', '.join(elsewhere)}."
    return said


def _name_documents(store: Store, scope: Scope, filters: Filters) -> str:
    """The documents that were searched: how many they are, or that filters accept them."""
    if filters:
        return "the documents that the filters accept"
    count = store.page(scope, 0, 0)[1]
    return f"the {count} documents" if count > 1 else "the only document"
