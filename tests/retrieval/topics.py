"""Made documents on topics, and an encoder that tells the topics apart; stored as an ingest would store them."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from discorag.ingest.segment.chunks import chunk_id
from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.values import Span, Vectors, fingerprint
from discorag.store.records import Manifest
from discorag.store.store import Store
from tests.retrieval.hashing import HashingTokens

SCOPE = Scope(tenant="topics", corpus="topics")
DIMENSION = 384
SENTENCES = 100
PER_TOPIC = 10
COSINE = 0.7
_VOCABULARY = 20_000


class TopicEncoder:
    """The vector of a text lies around the centre of the topic that it begins with; equal texts have equal vectors."""

    version = "topics-1"
    dimension = DIMENSION
    tokens = HashingTokens()

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""
        return np.stack([self._vector(text) for text in texts])

    async def encode_query(self, text: str) -> Vectors:
        """Unit vector, shape (d,)."""
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        centre, noise = (_direction(part) for part in (text.split(maxsplit=1)[0], text))
        return _unit(COSINE * centre + (1 - COSINE**2) ** 0.5 * noise)


def _direction(text: str) -> Vectors:
    """A random direction that the text determines, shape (d,)."""
    return _unit(np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSION, dtype=np.float32))


def _unit(vector: Vectors) -> Vectors:
    return vector / np.float32(np.linalg.norm(vector))


def made_document(number: int) -> Document:
    """Sentences of 10 to 30 made words, each beginning with the document's topic."""
    rng = np.random.default_rng(number)
    topic = f"Topic{number // PER_TOPIC}"
    words = ([f"w{w}" for w in rng.integers(_VOCABULARY, size=rng.integers(9, 30))] for _ in range(SENTENCES))
    text = " ".join(f"{topic} {' '.join(sentence)}." for sentence in words)
    return Document(uri=f"/topics/{number}.md", title=topic, text=text, media_type="text/markdown")


def put_whole(store: Store, document: Document, vector: Vectors) -> str:
    """Store a document as one chunk with this unit vector, shape (d,), in `SCOPE`; its id."""
    doc_id, key, text = document.id_in(SCOPE), fingerprint(document.content_hash, {}), document.text
    span = Span(start=0, end=len(text))
    chunk = Chunk(id=chunk_id(doc_id, key, 0), doc_id=doc_id, order=0, span=span, text=text, sentences=(span,))
    manifest = Manifest(
        doc_id=doc_id,
        uri=document.uri,
        title=document.title,
        content_hash=document.content_hash,
        fingerprint=key,
        versions={},
        chunks=1,
    )
    store.put(SCOPE, document, manifest, [chunk], vector[None])
    return doc_id
