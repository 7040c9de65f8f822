"""What a check of a store finds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from discorag.types.document import Scope


class Difference(BaseModel):
    """One thing that is not as it should be.

    Args:
        part: What differs of the document; leftovers are points of no document.
        tenant, corpus, doc_id, uri: The document; empty for leftovers.
        builder: The tree's, where it is a tree.
        note: In which way.

    Example:
        >>> from discorag.types.report import Difference
        >>> str(Difference(part="chunks", corpus="papers", uri="tides.md", note="2 of 3 are there"))
        'papers: tides.md: chunks: 2 of 3 are there'
    """

    model_config = ConfigDict(frozen=True)

    part: Literal["document", "chunks", "tree", "leftovers"]
    tenant: str = ""
    corpus: str = ""
    doc_id: str = ""
    uri: str = ""
    builder: str = ""
    note: str

    @property
    def scope(self) -> Scope:
        """Whose document it is."""
        return Scope(tenant=self.tenant, corpus=self.corpus)

    def __str__(self) -> str:
        what = f"tree {self.builder}" if self.builder else self.part
        return ": ".join(filter(None, (self.corpus, self.uri, what, self.note)))


class Report(BaseModel):
    """What is stored, counted, and all that differs from what the entries say.

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
