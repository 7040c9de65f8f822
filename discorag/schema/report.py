"""What a check of a store finds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

Part = Literal["document", "chunks", "tree", "database", "index"]


class Difference(BaseModel, frozen=True):
    """One thing that is not as it should be.

    Args:
        part: What differs: of a document, the database's file, or the index.
        tenant, corpus, doc_id, uri: The document; empty where it is not one.
        note: In which way.
    """

    part: Part
    tenant: str = ""
    corpus: str = ""
    doc_id: str = ""
    uri: str = ""
    note: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.corpus, self.uri, self.part, self.note)))


class Report(BaseModel, frozen=True):
    """What is stored, counted, and all that is not as it was written."""

    documents: int
    chunks: int
    trees: int
    nodes: int
    differences: tuple[Difference, ...] = ()
