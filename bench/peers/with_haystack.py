"""Haystack: document splitter, sentence-transformers, Qdrant's embedded client."""

# Not installed beside the project: ``.venv-peers``.
# pyright: basic, reportMissingImports=false
from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.writers import DocumentWriter
from haystack_integrations.components.embedders.sentence_transformers import (
    SentenceTransformersDocumentEmbedder,
    SentenceTransformersTextEmbedder,
)
from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever
from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

from bench.peers.common import Task, main
from bench.peers.cross_encoder import CrossEncoder


@component
class Rerank:
    """Documents in the order of the cross-encoder."""

    def __init__(self, folder: str) -> None:
        self._model = CrossEncoder(Path(folder))

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """All documents, best first."""
        order = self._model.order(query, [document.content or "" for document in documents])
        return {"documents": [documents[i] for i in order]}


class Haystack:
    """Pipelines as its documentation has them. Its splitter counts words."""

    def __init__(self, task: Task) -> None:
        store = QdrantDocumentStore(path=task.home, embedding_dim=384, similarity="cosine")
        quiet = {"model": task.encoder, "progress_bar": False}
        self._ingest, self._query, self._reranked = Pipeline(), Pipeline(), Pipeline()
        for name, part in (
            ("split", DocumentSplitter(split_by="word", split_length=task.words, split_overlap=0)),
            ("embed", SentenceTransformersDocumentEmbedder(**quiet)),
            ("write", DocumentWriter(store)),
        ):
            self._ingest.add_component(name, part)
        self._ingest.connect("split", "embed")
        self._ingest.connect("embed", "write")
        for pipeline in (self._query, self._reranked):
            pipeline.add_component("embed", SentenceTransformersTextEmbedder(**quiet))
            pipeline.add_component("search", QdrantEmbeddingRetriever(store, top_k=task.top_k))
            pipeline.connect("embed.embedding", "search.query_embedding")
        self._reranked.add_component("rerank", Rerank(task.reranker))
        self._reranked.connect("search.documents", "rerank.documents")
        self._ingest.warm_up()
        self._ingest.get_component("embed").run([Document(content="Once.")])

    def ingest(self, texts: dict[str, str]) -> int:
        """Chunks of words, without overlap."""
        documents = [Document(content=text, meta={"name": name}) for name, text in texts.items()]
        return self._ingest.run({"split": {"documents": documents}})["write"]["documents_written"]

    def retrieve(self, question: str) -> int:
        """By vectors."""
        return len(self._query.run({"embed": {"text": question}})["search"]["documents"])

    def rerank(self, question: str) -> int:
        """By a ranker behind the retriever."""
        found = self._reranked.run({"embed": {"text": question}, "rerank": {"query": question}})
        return len(found["rerank"]["documents"])


if __name__ == "__main__":
    main(Haystack)
