"""Finds the words before a quotation that a reader needs to understand it."""

import re
from collections.abc import Iterator, Sequence

from discorag.schema.answer import AnswerInputs, EvidenceSpan
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.cues import REFERS_BACK

_POINTS_BACK = re.compile(
    r"\W*(?:\w+\W+){0,4}?(?:he|she|it|they|him|her|them|his|its|their|this|these|those|such)\b", re.IGNORECASE
)
"""A sentence with a pronoun or demonstrative among its first five words."""


def add_leads(evidence: Sequence[EvidenceSpan], inputs: AnswerInputs) -> Iterator[EvidenceSpan]:
    """The evidence, each quotation after its lead, if it needs one: the beginning of its sentence, and the sentence
    before that if it points back. A lead is context; one that is evidence itself is left out.
    """
    chunks = {chunk.id: chunk for chunk in inputs.chunks}
    for e in evidence:
        lead = None if e.is_context else _lead(e, chunks[e.chunk_id])
        if lead and not any(e.chunk_id == o.chunk_id and o.span.contains(lead) for o in evidence):
            yield EvidenceSpan.of(chunks[e.chunk_id], lead, is_context=True)
        yield e


def _lead(quotation: EvidenceSpan, chunk: Chunk) -> Span | None:
    units = [unit for unit in chunk.sentences if unit.start <= quotation.span.start]
    if not units:
        return None
    start, end = units[-1].start, quotation.span.end
    text = chunk.slice(Span(start=start, end=end))
    if len(units) > 1 and (REFERS_BACK.match(text) or _POINTS_BACK.match(text)):
        start = units[-2].start
    words = chunk.slice(Span(start=start, end=quotation.span.start)) if start < quotation.span.start else ""
    return Span(start=start, end=start + len(words.rstrip())) if any(map(str.isalnum, words)) else None
