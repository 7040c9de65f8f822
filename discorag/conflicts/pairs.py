"""Which two units of two chunks at odds are the ones at odds."""

from __future__ import annotations

from discorag.conflicts.statement import Compared, Statement
from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.schema.discourse import Edge
from discorag.schema.values import Span


def at_odds(edge: Edge, table: SentenceTable, target: int, source: int) -> tuple[int, int]:
    """Indices of the units at odds: of the edge's target chunk, then of its source chunk.

    As the engine found them; where it names no spans (a language model does not), the closest pair of statements,
    pairs whose claims are at odds first.

    Args:
        edge: The edge.
        table: Units of the inputs.
        target: Number of the edge's target chunk.
        source: Number of its source chunk.
    """
    named = (_at(table, target, edge.target_span), _at(table, source, edge.source_span))
    if named[0] is not None and named[1] is not None:
        return named[0], named[1]
    pairs = [(a, b) for a in table.of_chunk(target) for b in table.of_chunk(source)]
    return max(pairs, key=lambda pair: _contrast(table, *pair))


def _at(table: SentenceTable, chunk: int, span: Span | None) -> int | None:
    """The unit in which a span starts."""
    if span is None:
        return None
    inside = (
        i for i in table.of_chunk(chunk) if table.sentences[i].span.start <= span.start < table.sentences[i].span.end
    )
    return next(inside, None)


def _contrast(table: SentenceTable, a: int, b: int) -> tuple[bool, bool, float]:
    left, right = table.sentences[a], table.sentences[b]
    similarity = float(table.vectors[a] @ table.vectors[b])
    opposed = Compared(Statement(left.text), Statement(right.text), similarity).effect is not None
    return opposed, left.statement and right.statement, similarity
