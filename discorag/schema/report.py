"""What a check of a store finds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Part = Literal["document", "chunks", "tree", "database", "index"]


class Difference(BaseModel):
    """One thing that is not as it should be.

    Args:
        part: What differs: of a document, the database's file, or the index.
        tenant, corpus, doc_id, uri: The document; empty where it is not one.
        note: In which way.

    Example:
        >>> from discorag.schema.report import Difference
        >>> str(Difference(part="chunks", corpus="papers", uri="tides.md", note="2 of 3 are there"))
        'papers: tides.md: chunks: 2 of 3 are there'
    """

    model_config = ConfigDict(frozen=True)

    part: Part
    tenant: str = ""
    corpus: str = ""
    doc_id: str = ""
    uri: str = ""
    note: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.corpus, self.uri, self.part, self.note)))


class Report(BaseModel):
    """What is stored, counted, and all that is not as it was written.

    Example:
        >>> sample_of("tides.md", ["The moon pulls the sea.", "Tides rise."]).put_in(store)
        >>> report = store.check()
        >>> report.documents, report.chunks, report.differences
        (1, 2, ())
    """

    model_config = ConfigDict(frozen=True)

    documents: int
    chunks: int
    trees: int
    nodes: int
    differences: tuple[Difference, ...] = ()
