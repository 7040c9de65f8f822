"""What the tools return beside their text: texts as they are, whoever shows them escapes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.documents import Document as Found
from pydantic import BaseModel, Field

from discorag.generation.answer_view import AnswerView
from discorag.schema.answer import Difference, Disagreement, EvidenceSpan, Support
from discorag.store.records import Corpus, Manifest
from interfaces.facade import AskResult

_ID = "The document's id, as the other tools and the resources take it."
_SPAN = "Characters of the document's canonical text, which the resource of the document gives."


class Passage(BaseModel):
    """A stretch of a document."""

    doc_id: str = Field(description=_ID)
    title: str
    start: int = Field(description=_SPAN)
    end: int = Field(description=_SPAN)
    page: int | None = Field(default=None, description="Its page, where the document has pages.")
    text: str
    also_in: list[str] = Field(default=[], description="Names of other files with the same content.")

    @classmethod
    def of(cls, span: EvidenceSpan) -> Passage:
        """What an answer cites."""
        return cls(
            doc_id=span.doc_id,
            title=span.title,
            start=span.span.start,
            end=span.span.end,
            page=span.page,
            text=span.text,
            also_in=list(span.also_in),
        )


class Hit(Passage):
    """A passage that was found."""

    headings: list[str] = Field(description="The headings above it, outermost first.")
    score: float = Field(description="Higher is better; scores of different questions do not compare.")

    @classmethod
    def found(cls, document: Found) -> Hit:
        """What the retriever gave."""
        return cls(text=document.page_content, **document.metadata)


class Sentence(BaseModel):
    """A sentence of the answer."""

    text: str
    support: Support = Field(description="Whether the sources support it; not verified: nothing checked it.")
    sources: list[int] = Field(
        description="Numbers from 1: of its sources if it is supported, of the closest passages if it is not verified."
    )
    reason: str = Field(default="", description="Why it has this state.")


class Contradiction(BaseModel):
    """Two sources at odds."""

    relation: str
    a: Passage
    b: Passage
    differs: list[Difference] = Field(description="In what, each in the words of both.")

    @classmethod
    def of(cls, d: Disagreement) -> Contradiction:
        """One of an answer."""
        return cls(relation=str(d.relation), a=Passage.of(d.a), b=Passage.of(d.b), differs=list(d.differs))


class Fallback(BaseModel):
    """A step that went otherwise than it was meant to."""

    stage: str
    message: str
    used_instead: str


class Disagreements(BaseModel):
    """Where the sources that bear on a question contradict each other."""

    disagreements: list[Contradiction]

    @classmethod
    def of(cls, found: Sequence[Disagreement]) -> Disagreements:
        """Those of an answer."""
        return cls(disagreements=[Contradiction.of(d) for d in found])


class Answered(Disagreements):
    """An answer, each sentence with its sources; or none."""

    text: str
    abstained: str = Field(description="Why the documents do not answer the question; empty where they do.")
    unsure: bool = Field(description="Whether the documents may not answer it: the sentences are the closest passages.")
    nearest: list[Passage] = Field(description="What they say instead, where they do not.")
    sentences: list[Sentence]
    sources: list[Passage] = Field(description="Numbered from 1.")
    fallbacks: list[Fallback] = Field(description="What a language model was to do and did not.")
    seconds: float

    @classmethod
    def to(cls, result: AskResult) -> Answered:
        """The answer that says this result."""
        answer, view = result.answer, AnswerView(result.answer)
        return cls(
            text=answer.text,
            abstained=answer.abstained,
            unsure=answer.unsure,
            nearest=[Passage.of(e) for e in answer.nearest],
            sentences=[
                Sentence(text=s.text, support=s.support, sources=view.numbers(s), reason=s.reason)
                for s in answer.sentences
            ],
            sources=[Passage.of(e) for e in view.sources],
            disagreements=Disagreements.of(answer.disagreements).disagreements,
            fallbacks=[
                Fallback(stage=f.stage, message=f.message, used_instead=f.fallback) for f in result.ledger.failures
            ],
            seconds=result.seconds,
        )


class Hits(BaseModel):
    """What was found for a question, best first."""

    passages: list[Hit]


class Listed(BaseModel):
    """A stored document."""

    doc_id: str = Field(description=_ID)
    name: str = Field(description="Name of the file.")
    title: str
    chunks: int

    @classmethod
    def of(cls, manifest: Manifest) -> Listed:
        """What is shown of a manifest: folders of the server are nobody's business."""
        m = manifest
        return cls(doc_id=m.doc_id, name=Path(m.uri).name, title=m.title, chunks=m.chunks)


class Corpora(BaseModel):
    """The corpora that hold documents, by name."""

    corpora: list[Corpus]


class Documents(BaseModel):
    """A part of the stored documents, by path, and how many there are."""

    total: int
    documents: list[Listed]


class Trees(BaseModel):
    """RST trees of some chunks of a document."""

    doc_id: str = Field(description=_ID)
    title: str
    chunks: list[int] = Field(description="Numbers of the chunks that are shown, from 0.")
    total: int = Field(description="Chunks of the document.")
    format: str
    trees: str = Field(description="The trees in this format.")


class Outcome(BaseModel):
    """What became of a document; ``status`` is None while it is being read."""

    doc_id: str = Field(description=_ID)
    name: str
    status: str | None
    chunks: int
    note: str = Field(description="Why it failed, was skipped or is a duplicate.")


class Ingested(BaseModel):
    """What became of every document."""

    outcomes: list[Outcome]
