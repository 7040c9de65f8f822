"""The answer where the documents have none: the reason, and the closest passages."""

from __future__ import annotations

from discorag.generation.selection import Selector
from discorag.schema.answer import Answer, EvidenceSpan
from discorag.schema.answer_inputs import AnswerInputs

CLOSEST = 3
"""Passages that are shown."""


async def abstain_from(inputs: AnswerInputs, selector: Selector, reason: str) -> Answer:
    """An answer without sentences, with the sentences of the sources that come closest to the question.

    Args:
        inputs: With the question and the chunks that were found.
        selector: Ranks their sentences.
        reason: Why the question is not answered.

    Raises:
        ModelError: The endpoint of the encoder or the reranker failed.
    """
    table, relevance = await selector.rank(inputs)
    closest = [
        EvidenceSpan.of(inputs.chunks[unit.chunk - 1], unit.span)
        for unit in (table.sentences[i] for i in relevance.ranked)
        if not inputs.chunks[unit.chunk - 1].stands_for  # a summary has no place in a document
    ]
    return Answer(query=inputs.query, sentences=(), abstained=reason, nearest=tuple(closest[:CLOSEST]))
