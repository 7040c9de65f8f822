"""Rhetorical relations between chunks: the 21 labels of Disco-RAG fig. 9."""

from __future__ import annotations

from enum import StrEnum


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
