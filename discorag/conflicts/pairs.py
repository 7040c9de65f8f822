"""Which two units of two chunks at odds are the ones at odds."""

from __future__ import annotations

from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.schema.discourse import Edge
from discorag.schema.values import Span


def at_odds(edge: Edge, table: SentenceTable, target: int, source: int) -> tuple[int, int]:
    """Indices of the units at odds: of the edge's target chunk, then of its source chunk.

    As the engine found them; where it names no spans (a language model does not), the closest pair of statements.

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
    stated = [pair for pair in pairs if all(table.sentences[i].statement for i in pair)]
    return max(stated or pairs, key=lambda pair: float(table.vectors[pair[0]] @ table.vectors[pair[1]]))


def _at(table: SentenceTable, chunk: int, span: Span | None) -> int | None:
    """The unit in which a span starts."""
    if span is None:
        return None
    inside = (
        i for i in table.of_chunk(chunk) if table.sentences[i].span.start <= span.start < table.sentences[i].span.end
    )
    return next(inside, None)
