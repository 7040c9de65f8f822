"""What `interfaces.facade.DiscoRAG` returns, and how HTTP and MCP send it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from discorag.generation.statement_views import structure_html
from discorag.generation.views import AnswerView, answer_html
from discorag.ingest.survey import DocumentOutcome, unread_summary
from discorag.schema.answer import Answer, EvidenceSpan
from discorag.schema.discourse import RhetoricalGraph
from discorag.schema.document import Scope
from discorag.schema.ledger import Ledger, StageRecord
from discorag.schema.values import Span
from discorag.store.records import Corpus, Hit
from discorag.store.store import Store
from discorag.text.differences import differing_words


class AskResult(BaseModel):
    """An answer with everything that led to it. ``draft`` has the citations; ``seconds`` is wall time.

    If the ``model_failed``, the answer is the one without a language model.

    ``evidence`` has, by chunk id, the parts of the chunk that were read; a chunk without an entry was read as a whole.

    Example:
        >>> _ = rag.ingest(notes, parser="rules")
        >>> result = rag.ask("Does vitamin D lower the risk of influenza?")
        >>> [sentence.evidence[0].title for sentence in result.answer.sentences]
        ['review', 'trial']
        >>> [str(found.relation) for found in result.answer.disagreements], len(result.ledger.failures)
        (['CONTRADICTS'], 0)
    """

    model_config = ConfigDict(frozen=True)

    answer: Answer
    hits: tuple[Hit, ...]
    evidence: dict[str, tuple[Span, ...]] = {}
    graph: RhetoricalGraph | None
    draft: str
    model_failed: bool = False
    ledger: Ledger
    seconds: float

    @classmethod
    def of(cls, state: Mapping[str, Any], seconds: float) -> Self:
        """The result that a finished run of the answer graph left in its state."""
        return cls(
            answer=Answer.model_validate(state["answer"]),
            hits=tuple(Hit(**h) for h in state["hits"]),
            evidence=_parts(state.get("evidence") or {}),
            graph=RhetoricalGraph.model_validate(state["graph"]) if state.get("graph") else None,
            draft=state.get("draft", ""),
            model_failed=state.get("model_failed", False),
            ledger=_ledger_of(state["ledger"]),
            seconds=seconds,
        )

    def __str__(self) -> str:
        return self.answer.text

    def _repr_html_(self) -> str:
        """For notebooks: the answer with its sources; below it the statements and the plan, to be unfolded."""
        return answer_html(self.answer) + structure_html(self.answer)


class IngestResult(BaseModel):
    """What became of every document, and what it cost. ``seconds`` is wall time; documents run side by side.

    Example:
        >>> result = rag.ingest(notes, parser="rules")
        >>> [outcome.status.value for outcome in result.outcomes], len(result.ledger.failures)
        (['added', 'added'], 0)
    """

    model_config = ConfigDict(frozen=True)

    outcomes: tuple[DocumentOutcome, ...]
    ledger: Ledger
    seconds: float

    @property
    def unread(self) -> str:
        """A sentence on what could not be read of the documents; empty if all was read."""
        return unread_summary(outcome.unread for outcome in self.outcomes)

    @classmethod
    def of(cls, state: Mapping[str, Any], seconds: float) -> Self:
        """The result that a finished run of the ingest graph left in its state."""
        outcomes = tuple(map(DocumentOutcome.model_validate, state["outcomes"]))
        return cls(outcomes=outcomes, ledger=_ledger_of(state["ledger"]), seconds=seconds)


def _parts(evidence: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, tuple[Span, ...]]:
    return {chunk: tuple(Span(start=start, end=end) for start, end in spans) for chunk, spans in evidence.items()}


def _ledger_of(records: list[dict[str, Any]]) -> Ledger:
    return Ledger.merged(StageRecord.model_validate(r) for r in records)


class CitationMark(BaseModel, frozen=True):
    """A place in a sentence at which sources are cited.

    Args:
        at: How many characters of its text stand before it.
        numbers: The numbers of the sources.
    """

    at: int
    numbers: tuple[int, ...]


class NumberedAnswer(BaseModel):
    """An answer with the numbers that clients should show.

    ``text`` is its sentences as running text. ``sources`` are the passages that its sentences rest on, in the order of
    first citation; ``citations`` are each sentence's numbers in this list, from 1, and ``marks`` the places in each
    sentence at which they stand. ``differences`` are the words that differ between the two texts of each
    disagreement, in characters of each text.
    """

    answer: Answer
    text: str
    sources: tuple[EvidenceSpan, ...] = ()
    citations: tuple[tuple[int, ...], ...] = ()
    marks: tuple[tuple[CitationMark, ...], ...] = ()
    differences: tuple[tuple[tuple[Span, ...], tuple[Span, ...]], ...] = ()

    @classmethod
    def numbered(cls, answer: Answer, **more: Any) -> Self:
        """The answer with its numbers; ``more`` are further fields."""
        view = AnswerView(answer)
        return cls(
            answer=answer,
            text=answer.text,
            sources=tuple(view.sources),
            citations=tuple(tuple(view.numbers(sentence)) for sentence in answer.sentences),
            marks=tuple(
                tuple(CitationMark(at=at, numbers=tuple(numbers)) for at, numbers in view.marks(sentence))
                for sentence in answer.sentences
            ),
            differences=tuple(differing_words(d.a.text, d.b.text) for d in answer.disagreements),
            **more,
        )


class StoredDocument(BaseModel):
    """A stored document: ``name`` and ``size`` (in bytes) are its file's, ``written`` is when it was stored.

    ``unread`` counts by kind what the file holds that could not be read.
    """

    doc_id: str
    name: str
    title: str
    chunks: int
    content_hash: str
    size: int
    written: datetime | None
    unread: dict[str, int] = {}


class Documents(BaseModel):
    """A part of the documents of a corpus, by name, and how many there are."""

    total: int
    documents: list[StoredDocument]

    @classmethod
    def of(cls, store: Store, scope: Scope, offset: int, limit: int) -> Self:
        """Some documents of a scope, for clients, who see a part of a path only where documents have the same title."""
        part, total = store.page(scope, offset, limit)
        names, same = store.source_names(scope, part), {"doc_id", "chunks", "content_hash", "written", "unread"}
        documents = [
            StoredDocument(
                name=PurePath(m.uri).name, title=names[m.uri], size=m.file_bytes, **m.model_dump(include=same)
            )
            for m in part
        ]
        return cls(total=total, documents=documents)


class Corpora(BaseModel):
    """The corpora that hold documents, by name.

    ``index`` says how they are searched if the index cannot be used, e.g. because the Qdrant server does not answer.
    """

    corpora: list[Corpus]
    index: str = ""

    @classmethod
    def of(cls, store: Store, tenant: str) -> Self:
        """The corpora in which the tenant has documents."""
        return cls(corpora=store.corpora(tenant), index=store.check_index())
