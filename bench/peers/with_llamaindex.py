"""LlamaIndex: sentence splitter, Hugging Face embeddings, Qdrant's embedded client."""

# Not installed beside the project: ``.venv-peers``.
# pyright: basic, reportMissingImports=false
from pathlib import Path

from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.vector_stores.qdrant import QdrantVectorStore
from pydantic import PrivateAttr
from qdrant_client import QdrantClient
from transformers import AutoTokenizer

from bench.peers.common import Task, main
from bench.peers.cross_encoder import CrossEncoder


class Rerank(BaseNodePostprocessor):
    """Nodes in the order of the cross-encoder."""

    _model: CrossEncoder = PrivateAttr()

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._model = CrossEncoder(Path(folder))

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        assert query_bundle is not None
        return [nodes[i] for i in self._model.order(query_bundle.query_str, [n.node.get_content() for n in nodes])]


class LlamaIndex:
    """Its documented way from texts to a retriever."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._model = HuggingFaceEmbedding(model_name=task.encoder, embed_batch_size=32)
        self._model.get_text_embedding("Once.")
        self._rerank = Rerank(task.reranker)
        store = QdrantVectorStore("papers", client=QdrantClient(path=task.home))
        self._storage = StorageContext.from_defaults(vector_store=store)

    def ingest(self, texts: dict[str, str]) -> int:
        """Chunks of the encoder's tokens, without overlap."""
        count = AutoTokenizer.from_pretrained(self._task.encoder).tokenize
        splitter = SentenceSplitter(chunk_size=self._task.tokens, chunk_overlap=0, tokenizer=count)
        documents = [Document(text=text, doc_id=name) for name, text in texts.items()]
        nodes = splitter.get_nodes_from_documents(documents)
        index = VectorStoreIndex(nodes, storage_context=self._storage, embed_model=self._model)
        self._retriever = index.as_retriever(similarity_top_k=self._task.top_k)
        return len(nodes)

    def retrieve(self, question: str) -> int:
        """By vectors."""
        return len(self._retriever.retrieve(question))

    def rerank(self, question: str) -> int:
        """By a node postprocessor."""
        return len(self._rerank.postprocess_nodes(self._retriever.retrieve(question), query_str=question))


if __name__ == "__main__":
    main(LlamaIndex)
