"""Summary of a Haystack (Laban et al. 2024): queries whose insights are scattered over a topic's 100 documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from bench.retrieval.questions import Question
from eval.datasets.reading import checked, normal, read_json
from eval.sample import SourceDocument


class _Insight(BaseModel):
    insight_id: str = Field(min_length=1)
    insight: str = Field(pattern=r"\S")


class _Subtopic(BaseModel):
    subtopic_id: str = Field(min_length=1)
    query: str = Field(pattern=r"\S")
    insights: tuple[_Insight, ...] = Field(min_length=1)


class _Document(BaseModel):
    document_id: str = Field(min_length=1)
    document_text: str = Field(pattern=r"\S")
    insights_included: tuple[str, ...]


class _Topic(BaseModel):
    topic: str
    subtopics: tuple[_Subtopic, ...]
    documents: tuple[_Document, ...] = Field(min_length=1)


def load_summhay(path: Path) -> Iterator[Question]:
    """The queries of a topic over all its documents.

    A document is gold if it includes one of the query's insights; where in it the insight stands is not labelled. The
    references are the insights' own sentences, of which documents hold paraphrases.

    Args:
        path: An official ``topic_*.json``.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, or a field is missing; names file and field.
        InvariantError: A document repeats an id.
    """
    topic = checked(_Topic, read_json(path), str(path))
    documents = tuple(
        SourceDocument(id=document.document_id, title=topic.topic, text=normal(document.document_text))
        for document in topic.documents
    )
    for subtopic in topic.subtopics:
        wanted = {insight.insight_id for insight in subtopic.insights}
        yield Question(
            id=subtopic.subtopic_id,
            question=normal(subtopic.query),
            documents=documents,
            gold_documents=frozenset(d.document_id for d in topic.documents if wanted & set(d.insights_included)),
            references=tuple(normal(insight.insight) for insight in subtopic.insights),
        )
