"""The answer where the documents have none: the reason, and the closest passages."""

from __future__ import annotations

from discorag.answer.selection import Selector
from discorag.types.answer import Answer, EvidenceSpan
from discorag.types.case import Case

CLOSEST = 3
"""Passages that are shown."""


async def abstain_from(case: Case, selector: Selector, reason: str) -> Answer:
    """An answer without sentences, with the sentences of the sources that come closest to the question.

    Args:
        case: With the question and the chunks that were found.
        selector: Ranks their sentences.
        reason: Why the question is not answered.

    Raises:
        ModelError: The endpoint of the encoder or the reranker failed.
    """
    table, relevance = await selector.rank(case)
    closest = [
        EvidenceSpan.of(case.chunks[unit.chunk - 1], unit.span)
        for unit in (table.units[i] for i in relevance.ranked)
        if not case.chunks[unit.chunk - 1].stands_for  # a summary has no place in a document
    ]
    return Answer(query=case.query, sentences=(), abstained=reason, nearest=tuple(closest[:CLOSEST]))
