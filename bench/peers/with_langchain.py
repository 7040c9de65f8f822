"""LangChain: recursive splitter over the encoder's tokens, Hugging Face embeddings, Qdrant's embedded client."""

# Not installed beside the project: ``.venv-peers``.
# pyright: basic, reportMissingImports=false
from pathlib import Path

from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_qdrant import QdrantVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, VectorParams
from transformers import AutoTokenizer

from bench.peers.common import Task, main
from bench.peers.cross_encoder import CrossEncoder


class LangChain:
    """Its documented way from texts to a retriever."""

    def __init__(self, task: Task) -> None:
        self._task, self._model = task, HuggingFaceEmbeddings(model_name=task.encoder)
        self._model.embed_query("Once.")
        self._rerank = CrossEncoder(Path(task.reranker))
        client = QdrantClient(path=task.home)
        client.create_collection("papers", VectorParams(size=384, distance=Distance.COSINE))
        self._store = QdrantVectorStore(client, "papers", embedding=self._model)

    def ingest(self, texts: dict[str, str]) -> int:
        """Chunks of the encoder's tokens, without overlap."""
        splitter = RecursiveCharacterTextSplitter.from_huggingface_tokenizer(
            AutoTokenizer.from_pretrained(self._task.encoder), chunk_size=self._task.tokens, chunk_overlap=0
        )
        documents = [Document(page_content=text, metadata={"name": name}) for name, text in texts.items()]
        return len(self._store.add_documents(splitter.split_documents(documents)))

    def retrieve(self, question: str) -> int:
        """By vectors."""
        return len(self._search(question))

    def rerank(self, question: str) -> int:
        """By the cross-encoder over what was retrieved."""
        found = self._search(question)
        return len([found[i] for i in self._rerank.order(question, [document.page_content for document in found])])

    def _search(self, question: str) -> list[Document]:
        return self._store.similarity_search(question, k=self._task.top_k)


if __name__ == "__main__":
    main(LangChain)
