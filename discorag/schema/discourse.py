"""Discourse structure: RST trees inside chunks, the rhetorical graph between chunks, and the plan of an answer."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import Self

from pydantic import BaseModel, Field, model_validator

from discorag.schema.errors import InvariantError
from discorag.schema.statements import StatementRole
from discorag.schema.values import Span


class Relation(StrEnum):
    """How two adjacent spans relate. Values are the paper's names (Disco-RAG, fig. 8).

    JOINT (coordinate units) is not in the paper's list; `PAPER_RELATIONS` leaves it out.
    """

    ELABORATION = "ELABORATION"
    EXPLANATION = "EXPLANATION"
    EVIDENCE = "EVIDENCE"
    EXAMPLE = "EXAMPLE"
    CONTRAST = "CONTRAST"
    COMPARISON = "COMPARISON"
    CONCESSION = "CONCESSION"
    ANTITHESIS = "ANTITHESIS"
    CAUSE = "CAUSE"
    RESULT = "RESULT"
    CONSEQUENCE = "CONSEQUENCE"
    PURPOSE = "PURPOSE"
    CONDITION = "CONDITION"
    TEMPORAL = "TEMPORAL"
    SEQUENCE = "SEQUENCE"
    BACKGROUND = "BACKGROUND"
    CIRCUMSTANCE = "CIRCUMSTANCE"
    SUMMARY = "SUMMARY"
    RESTATEMENT = "RESTATEMENT"
    EVALUATION = "EVALUATION"
    INTERPRETATION = "INTERPRETATION"
    ATTRIBUTION = "ATTRIBUTION"
    DEFINITION = "DEFINITION"
    CLASSIFICATION = "CLASSIFICATION"
    JOINT = "JOINT"

    @property
    def code(self) -> str:
        """Four letters that name the relation inside a prompt; unique in the inventory."""
        return self.value[:4].lower()


PAPER_RELATIONS = tuple(r for r in Relation if r is not Relation.JOINT)
BY_CODE = {r.code: r for r in Relation}


class Nuclearity(StrEnum):
    """Which side carries the main information: nucleus-satellite, satellite-nucleus, or both."""

    NS = "NS"
    SN = "SN"
    NN = "NN"


class Split(BaseModel, frozen=True):
    """An inner node: EDUs ``[start, mid)`` and ``[mid, end)``, zero-based, joined by a relation.

    ``confidence`` is the probability that borders, nuclearity and relation are right; None if the parser gives none.
    """

    start: int = Field(ge=0)
    mid: int
    end: int
    relation: Relation
    nuclearity: Nuclearity
    confidence: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.start < self.mid < self.end:
            raise InvariantError(f"Split [{self.start}, {self.mid}, {self.end}) has an empty side.")
        if self.relation is Relation.JOINT and self.nuclearity is not Nuclearity.NN:
            raise InvariantError("JOINT joins two nuclei; its nuclearity must be NN.")
        return self


class RstTree(BaseModel, frozen=True):
    """A binary RST tree over the EDUs of one text.

    Args:
        edus: Spans in the document's canonical text, in order, disjoint.
        splits: The n - 1 inner nodes in pre-order (root first, left before right).

    Raises:
        InvariantError: EDUs overlap or are out of order, or the splits are not one binary tree over them (pydantic
            raises it as ``ValidationError``).

    Source: Disco-RAG section 3, "Intra-Chunk RST Tree"; fig. 10 (binary; one nucleus or two).
    """

    edus: tuple[Span, ...] = Field(min_length=1)
    splits: tuple[Split, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        for a, b in zip(self.edus, self.edus[1:], strict=False):
            if b.start < a.end:
                raise InvariantError(f"EDU at {b.start} overlaps the one that ends at {a.end}.")
        expected = tuple(_preorder(self._by_span, len(self.edus)))
        if expected != self.splits:
            raise InvariantError(f"{len(self.splits)} splits do not form one binary tree in pre-order.")
        return self

    @cached_property
    def _by_span(self) -> dict[tuple[int, int], Split]:
        return {(s.start, s.end): s for s in self.splits}

    def split_at(self, start: int, end: int) -> Split:
        """The inner node that covers EDUs ``[start, end)``; ``KeyError`` if it is not a constituent."""
        return self._by_span[start, end]

    def head(self, start: int, end: int) -> int:
        """The most nuclear EDU of a constituent (Marcu's promotion); the left one, if both sides are nuclei."""
        while end - start > 1:
            split = self.split_at(start, end)
            start, end = (split.mid, end) if split.nuclearity is Nuclearity.SN else (start, split.mid)
        return start

    @property
    def span(self) -> Span:
        """Characters from the first EDU's start to the last one's end."""
        return Span(start=self.edus[0].start, end=self.edus[-1].end)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The depth of the split at each of the n - 1 gaps between EDUs, in text order; the root's depth is 1.

        Depths and labels determine the tree: a span is split at its shallowest gap.
        """
        depth = {(0, len(self.edus)): 1}
        gaps = [0] * len(self.splits)
        for s in self.splits:  # pre-order: a parent comes before its children
            d = depth[s.start, s.end]
            gaps[s.mid - 1] = d
            depth[s.start, s.mid] = depth[s.mid, s.end] = d + 1
        return tuple(gaps)

    @cached_property
    def satellite_weight(self) -> tuple[float, ...]:
        """How much each EDU is a satellite; 0 is the most nuclear (Marcu).

        It is the sum of the confidences of the satellite links above the EDU. A link without confidence counts as 1.
        """
        links = {(0, len(self.edus)): 0.0}
        for s in self.splits:
            above, weight = links[s.start, s.end], 1.0 if s.confidence is None else s.confidence
            links[s.start, s.mid] = above + weight * (s.nuclearity is Nuclearity.SN)
            links[s.mid, s.end] = above + weight * (s.nuclearity is Nuclearity.NS)
        return tuple(links[i, i + 1] for i in range(len(self.edus)))


def from_splits(edus: tuple[Span, ...], splits: dict[tuple[int, int], Split]) -> RstTree:
    """The tree over ``edus`` with these splits, given by ``(start, end)`` in any order."""
    return RstTree(edus=edus, splits=tuple(_preorder(splits, len(edus))))


def _preorder(by_span: dict[tuple[int, int], Split], n: int) -> Iterator[Split]:
    stack = [(0, n)]
    while stack:
        start, end = stack.pop()
        if end - start < 2:
            continue
        split = by_span.get((start, end))
        if split is None:
            raise InvariantError(f"No node joins EDUs {start + 1} to {end}: the tree is not whole.")
        yield split
        stack += [(split.mid, end), (start, split.mid)]


class ChunkRelation(StrEnum):
    """What the source chunk does for the target chunk. UNRELATED is the absence of an edge."""

    SUPPORTS = "SUPPORTS"
    CONTRADICTS = "CONTRADICTS"
    ELABORATES = "ELABORATES"
    EXEMPLIFIES = "EXEMPLIFIES"
    CAUSES = "CAUSES"
    RESULTS_FROM = "RESULTS_FROM"
    ENABLES = "ENABLES"
    PREVENTS = "PREVENTS"
    PRECEDES = "PRECEDES"
    FOLLOWS = "FOLLOWS"
    SIMULTANEOUS = "SIMULTANEOUS"
    BACKGROUND_FOR = "BACKGROUND_FOR"
    GENERALIZES = "GENERALIZES"
    SPECIFIES = "SPECIFIES"
    COMPARES_WITH = "COMPARES_WITH"
    CONTRASTS_WITH = "CONTRASTS_WITH"
    SUPPLEMENTS = "SUPPLEMENTS"
    REPLACES = "REPLACES"
    MOTIVATES = "MOTIVATES"
    JUSTIFIES = "JUSTIFIES"
    UNRELATED = "UNRELATED"


EDGE_RELATIONS = tuple(r for r in ChunkRelation if r is not ChunkRelation.UNRELATED)
DISAGREEMENTS = frozenset({ChunkRelation.CONTRADICTS, ChunkRelation.CONTRASTS_WITH})


class Edge(BaseModel, frozen=True):
    """A directed relation from chunk ``source`` to chunk ``target`` (chunk ids).

    ``source_span`` and ``target_span`` are the sentences on which it rests, in document offsets, if the engine knows
    them. ``reason`` says why in one plain sentence, if the engine knows it; the local one does for conflicts.
    """

    source: str
    target: str
    relation: ChunkRelation
    source_span: Span | None = None
    target_span: Span | None = None
    reason: str = ""

    @property
    def disagrees(self) -> bool:
        """Whether the two chunks disagree (CONTRADICTS or CONTRASTS_WITH)."""
        return self.relation in DISAGREEMENTS

    @property
    def outdates(self) -> bool:
        """Whether the source is a newer version that conflicts with the target; a stated cue alone does not count."""
        return self.relation is ChunkRelation.REPLACES and bool(self.reason)


class RhetoricalGraph(BaseModel, frozen=True):
    """Chunks in retrieval order and at most one relation for every ordered pair of them.

    Raises:
        InvariantError: A chunk appears twice. Or an edge names an unknown chunk, joins a chunk to itself, repeats a
            pair, or is UNRELATED (pydantic raises it as ``ValidationError``).
    """

    chunks: tuple[str, ...]
    edges: tuple[Edge, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        known = set(self.chunks)
        if len(known) != len(self.chunks):
            raise InvariantError("A chunk appears twice in the graph.")
        pairs: set[tuple[str, str]] = set()
        for e in self.edges:
            if e.source not in known or e.target not in known:
                raise InvariantError(f"Edge {e.source} -> {e.target} names a chunk that is not in the graph.")
            if e.source == e.target or (e.source, e.target) in pairs:
                raise InvariantError(f"Edge {e.source} -> {e.target} is a loop or appears twice.")
            if e.relation is ChunkRelation.UNRELATED:
                raise InvariantError("UNRELATED is the absence of an edge.")
            pairs.add((e.source, e.target))
        return self


class Reference(BaseModel, frozen=True):
    """A citation inside a plan: chunk number and, if given, an inclusive range of its units; all one-based."""

    chunk: int = Field(ge=1)
    first: int | None = None
    last: int | None = None


class PlanStep(BaseModel, frozen=True):
    """One step of the plan, which is a sentence in a plan in prose, and what it cites, in order.

    A step of a plan over statements has their numbers and says what they do for the question; it cites the passages
    that they quote.
    """

    text: str
    references: tuple[Reference, ...] = ()
    statements: tuple[int, ...] = ()
    role: StatementRole | None = None


class Plan(BaseModel, frozen=True):
    """A plan as a person reads and edits it, and its steps, which are known once the answer is verified."""

    paragraph: str
    steps: tuple[PlanStep, ...] = ()
