"""The rhetorical graph over the retrieved chunks (Disco-RAG section 3, "Inter-Chunk Rhetorical Graph")."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator

from discorag.schema.chunk_relations import DISAGREEMENTS, ChunkRelation
from discorag.schema.errors import InvariantError
from discorag.schema.notebook import Drawn
from discorag.schema.span import Span


class Edge(BaseModel):
    """A directed relation from chunk ``source`` to chunk ``target`` (chunk ids).

    ``source_span`` and ``target_span`` are the sentences that carry it, in document offsets, where the engine knows;
    ``confidence`` is from 0 to 1, where the engine gives one.

    Example:
        >>> from discorag.schema.chunk_relations import ChunkRelation
        >>> from discorag.schema.graph import Edge
        >>> Edge(source="c1", target="c2", relation=ChunkRelation.CONTRADICTS).disagrees
        True
    """

    model_config = ConfigDict(frozen=True)

    source: str
    target: str
    relation: ChunkRelation
    source_span: Span | None = None
    target_span: Span | None = None
    confidence: float | None = None

    @property
    def disagrees(self) -> bool:
        """Whether the two chunks are at odds (CONTRADICTS or CONTRASTS_WITH)."""
        return self.relation in DISAGREEMENTS

    @property
    def outdates(self) -> bool:
        """Whether a sentence of the source, a newer version of the target's document, is at odds with one of it."""
        return self.relation is ChunkRelation.REPLACES and self.source_span is not None


class RhetoricalGraph(Drawn, BaseModel):
    """Chunks in retrieval order and at most one relation for every ordered pair of them.

    Raises:
        InvariantError: A chunk appears twice, an edge leaves the chunk list, joins a chunk to itself, repeats a pair,
            or is labelled UNRELATED (pydantic reports it as ``ValidationError``).

    Example:
        >>> from discorag.schema.chunk_relations import ChunkRelation
        >>> from discorag.schema.graph import Edge, RhetoricalGraph
        >>> edge = Edge(source="review", target="trial", relation=ChunkRelation.CONTRADICTS)
        >>> graph = RhetoricalGraph(chunks=("trial", "review"), edges=(edge,))
        >>> graph.number(edge.source), str(edge.relation), graph.number(edge.target)
        (2, 'CONTRADICTS', 1)
    """

    model_config = ConfigDict(frozen=True)

    chunks: tuple[str, ...]
    edges: tuple[Edge, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> RhetoricalGraph:
        known = set(self.chunks)
        if len(known) != len(self.chunks):
            raise InvariantError("A chunk appears twice in the graph.")
        pairs: set[tuple[str, str]] = set()
        for e in self.edges:
            if e.source not in known or e.target not in known:
                raise InvariantError(f"Edge {e.source} -> {e.target} leaves the graph's chunks.")
            if e.source == e.target or (e.source, e.target) in pairs:
                raise InvariantError(f"Edge {e.source} -> {e.target} is a loop or appears twice.")
            if e.relation is ChunkRelation.UNRELATED:
                raise InvariantError("UNRELATED is the absence of an edge.")
            pairs.add((e.source, e.target))
        return self

    def number(self, chunk_id: str) -> int:
        """One-based number under which prompts, plans and answers cite the chunk."""
        return self.chunks.index(chunk_id) + 1
