"""Answered questions for metric tests."""

from typing import Any

from eval.metrics.base import Given
from eval.sample import Sample, SourceDocument


def given(answer: str, *, source: str | None = None, **fields: Any) -> Given:
    """``answer`` to a sample with ``fields``, whose only document, if any, has the text ``source``."""
    documents = {"d": SourceDocument(id="d", title="d", text=source)} if source else {}
    sample = Sample.model_validate({"id": "q", "query": "?", "documents": tuple(documents), **fields})
    return Given(sample=sample, documents=documents, answer=answer)
