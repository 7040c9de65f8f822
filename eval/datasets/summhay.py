"""Summary of a Haystack (Laban et al. 2024): overviews over the hundred documents of a topic, each insight labelled."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.errors import MissingPathError
from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, read_json, unique
from eval.datasets.wikicontradict import sentences, stating
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

_INSTRUCTION = "Answer with an overview: one sentence for each point that the documents make on the question."


class _Insight(BaseModel):
    insight_id: str
    insight: str = Field(pattern=r"\S")


class _Subtopic(BaseModel):
    subtopic_id: str
    query: str = Field(pattern=r"\S")
    insights: list[_Insight] = Field(min_length=1)


class _Article(BaseModel):
    document_id: str
    document_text: str = Field(pattern=r"\S")
    insights_included: list[str]


class _Topic(BaseModel):
    topic_id: str
    subtopics: list[_Subtopic]
    documents: list[_Article] = Field(min_length=1)


def load_summhay(path: Path) -> Benchmark:
    """All topics of a folder, ``topic_*.json``; a question's own documents are those of its topic.

    Raises:
        MissingPathError: No such file.
        DataError: A file is cut off, lacks a field, or an id appears twice.
    """
    topics = [load_topic(file) for file in sorted(path.glob("topic_*.json"))]
    if not topics:
        raise MissingPathError(f"{path} holds no topic_*.json.", hint="`python -m eval data` says where they are.")
    return Benchmark(
        name="summhay",
        documents={name: document for topic in topics for name, document in topic.documents.items()},
        samples=unique((sample for topic in topics for sample in topic.samples), path),
        dropped=dict(sum((Counter(topic.dropped) for topic in topics), Counter[str]())),
    )


def load_topic(file: Path) -> Benchmark:
    """One topic. The insights of a question are its ``claims``, and each is a piece of gold evidence.

    The data says which documents include an insight, not where: the place is the sentence that shares most words with
    it, in each of those documents.

    Raises:
        MissingPathError: No such file.
        DataError: As `load_summhay`.
    """
    topic = read_json(_Topic, file)
    documents = {article.document_id: _document(article) for article in topic.documents}
    including: dict[str, list[SourceDocument]] = defaultdict(list)
    for article in topic.documents:
        for insight in article.insights_included:
            including[insight].append(documents[article.document_id])
    samples = [
        Sample(
            id=subtopic.subtopic_id,
            query=subtopic.query,
            instruction=_INSTRUCTION,
            documents=tuple(documents),
            claims=tuple(insight.insight for insight in subtopic.insights),
            gold=_gold(subtopic, including),
        )
        for subtopic in topic.subtopics
    ]
    nowhere = sum(len(sample.claims) - len(sample.gold) for sample in samples)
    dropped = {"insights that no document includes": nowhere} if nowhere else {}
    return Benchmark(name=topic.topic_id, documents=documents, samples=unique(samples, file), dropped=dropped)


def _gold(subtopic: _Subtopic, including: Mapping[str, list[SourceDocument]]) -> tuple[Gold, ...]:
    found = ((i, tuple(_stated(i.insight, d) for d in including.get(i.insight_id, ()))) for i in subtopic.insights)
    return tuple(Gold(label=insight.insight, anywhere=places) for insight, places in found if places)


def _stated(insight: str, document: SourceDocument) -> DocSpan:
    parts = sentences(document.text)
    sentence = parts[min(stating(parts, insight))]
    start = document.text.index(sentence)
    return DocSpan(doc=document.id, span=Span(start=start, end=start + len(sentence)))


def _document(article: _Article) -> SourceDocument:
    builder = TextBuilder()
    builder.add(article.document_text)
    return builder.document(article.document_id, article.document_id)
