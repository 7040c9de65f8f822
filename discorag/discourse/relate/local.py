"""The graph without a language model: conflicts between documents, and relations that a text states explicitly.

Precision first: every edge is based on a sentence of each chunk. Similarity alone is not a relation, so the graph may
be empty.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import combinations

from discorag.conflicts.detection import find_conflicts
from discorag.discourse.relate.stated import opening_relation, stated_relation
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable, sentences_of
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk


async def relate_chunks(inputs: AnswerInputs, encoder: Encoder) -> Outcome[RhetoricalGraph]:
    """The graph over ``inputs.chunks``, with at most one edge between two chunks.

    The edge is a conflict, else what one of the chunks states of the other. The encoder makes the vectors of sentences
    that the ingest did not store.

    Raises:
        ModelError: The encoder is an endpoint and fails.
    """
    table = await sentences_of(inputs, encoder)
    return Outcome(value=await asyncio.to_thread(_graph, inputs, table))


def _graph(inputs: AnswerInputs, table: SentenceTable) -> RhetoricalGraph:
    conflicts = find_conflicts(inputs.query, inputs.chunks, table)
    own = [[table.sentences[k] for k in table.of_chunk(n + 1)] for n in range(len(inputs.chunks))]
    edges: list[Edge] = []
    for i, j in combinations(range(len(inputs.chunks)), 2):
        a, b = inputs.chunks[i], inputs.chunks[j]
        conflict = conflicts.get(frozenset((a.id, b.id)))
        edges += [conflict] if conflict else _stated_edge(a, b, own[i], own[j])
    return RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks), edges=tuple(edges))


def _stated_edge(a: Chunk, b: Chunk, one: Sequence[Sentence], other: Sequence[Sentence]) -> Iterator[Edge]:
    if a.doc_id != b.doc_id:
        found = [(stated_relation(one, other), a, b), (stated_relation(other, one), b, a)]
        known = [(stated, source, target) for stated, source, target in found if stated]
        if known:
            stated, source, target = max(known, key=lambda k: k[0].share)
            yield _edge(source, target, stated.relation, stated.source, stated.target)
    elif abs(a.order - b.order) == 1 and one and other:
        first, then, last, opening = (a, b, one[-1], other[0]) if a.order < b.order else (b, a, other[-1], one[0])
        if relation := opening_relation(opening.text):
            yield _edge(then, first, relation, opening, last)


def _edge(source: Chunk, target: Chunk, relation: ChunkRelation, says: Sentence, said_of: Sentence) -> Edge:
    return Edge(source=source.id, target=target.id, relation=relation, source_span=says.span, target_span=said_of.span)
