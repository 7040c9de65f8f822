"""A draft as its sentences, and what becomes of it when nothing verifies it."""

from __future__ import annotations

from discorag.text.citations import without_references
from discorag.text.sentences import sentence_spans
from discorag.types.answer import Answer, AnswerSentence
from discorag.types.case import Case


def unverified(case: Case, draft: str, reason: str) -> Answer:
    """The draft's sentences, all unsupported for the same ``reason``: verification itself failed."""
    k = len(case.chunks)
    texts = [without_references(s, chunks=k).strip() for s in drafted_sentences(draft, k)]
    return Answer(
        query=case.query, sentences=tuple(AnswerSentence(text=t, reason=reason) for t in texts), plan=case.plan
    )


def drafted_sentences(draft: str, chunks: int) -> list[str]:
    """The sentences of a draft, citations included, without those that are nothing else."""
    sentences = (span.of(line) for line in draft.splitlines() for span in sentence_spans(line))
    return [s for s in sentences if without_references(s, chunks=chunks).strip(" .。")]
