"""What `interfaces.facade.DiscoRAG` gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from discorag.discourse.formats.drawing import graph_svg
from discorag.generation.views import answer_html
from discorag.ingest.survey import DocumentOutcome
from discorag.schema.answer import Answer
from discorag.schema.discourse import RhetoricalGraph
from discorag.schema.ledger import Ledger, StageRecord
from discorag.schema.values import Span
from discorag.store.records import Hit


class AskResult(BaseModel):
    """An answer with everything that led to it. ``draft`` has the citations; ``seconds`` is wall time.

    ``evidence`` are the parts that were read of a chunk, by its id; of one that is not there, the whole.

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
            ledger=ledger_of(state["ledger"]),
            seconds=seconds,
        )

    def __str__(self) -> str:
        return self.answer.text

    def _repr_html_(self) -> str:
        """For notebooks: the answer with its sources, and the graph behind it."""
        return answer_html(self.answer) + (graph_svg(self.graph) if self.graph and self.graph.edges else "")


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


def _parts(evidence: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, tuple[Span, ...]]:
    return {chunk: tuple(Span(start=start, end=end) for start, end in spans) for chunk, spans in evidence.items()}


def ledger_of(records: list[dict[str, Any]]) -> Ledger:
    """The ledger of a run's records."""
    return Ledger.merged(StageRecord.model_validate(r) for r in records)
