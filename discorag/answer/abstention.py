"""The answer where the documents have none: why, and what comes nearest."""

from __future__ import annotations

from discorag.claims.units import units_in
from discorag.models.protocol import Encoder
from discorag.types.answer import Answer, EvidenceSpan
from discorag.types.case import Case
from discorag.types.chunk import Chunk

NEAREST = 3
"""Passages that are shown."""


async def abstention(case: Case, encoder: Encoder, because: str) -> Answer:
    """An answer without sentences: ``because`` says why, and of the best chunks the statement nearest to the question.

    Raises:
        ModelError: The encoder's endpoint failed.
    """
    sources = [chunk for chunk in case.chunks if not chunk.stands_for]  # a summary has no place in a document
    nearest = [await _nearest(chunk, case.query, encoder) for chunk in sources[:NEAREST]]
    return Answer(query=case.query, sentences=(), abstained=because, nearest=tuple(nearest))


async def _nearest(chunk: Chunk, question: str, encoder: Encoder) -> EvidenceSpan:
    units = units_in((chunk,))
    stated = [unit for unit in units if unit.statement] or units
    vectors = await encoder.encode_documents([unit.text for unit in stated])
    return EvidenceSpan.of(chunk, stated[int((vectors @ await encoder.encode_query(question)).argmax())].span)
