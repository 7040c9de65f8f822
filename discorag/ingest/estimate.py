"""What an ingest would do and cost, before it is done: counted exactly where that is cheap, else from a sample."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from pydantic import BaseModel, ConfigDict

from discorag.config import Settings
from discorag.ingest.reader import Reader
from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.survey import Survey, manifest_of, versions
from discorag.models.protocol import Encoder
from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.errors import InputError
from discorag.store.store import Store

SAMPLE = 8  # chunks that are encoded to measure the encoder's speed
PROMPT_OVERHEAD = 880  # tokens of the tree prompt around a chunk
TREE_OUTPUT = 6  # tokens that a tree takes for each token of its chunk: 5.5 as JSON, 6.3 as the paper draws it


class Estimate(BaseModel):
    """What an ingest would do. Tokens are the encoder's; the language model's may differ by a few tenths."""

    model_config = ConfigDict(frozen=True)

    documents: int
    unchanged: int
    unreadable: int
    aside: int
    characters: int
    chunks: int
    encoder_tokens: int
    encode_seconds: float
    llm_calls: int
    llm_tokens_in: int
    llm_tokens_out: int


async def estimate(
    survey: Survey, *, scope: Scope, settings: Settings, store: Store, encoder: Encoder, parser: str, calls: bool
) -> Estimate:
    """Read and cut every document that would be stored, and encode a sample of its chunks.

    ``parser`` is the version of the parser that would be used, ``calls`` whether it calls a language model for each
    chunk.
    """

    def fingerprint(document: Document) -> str:
        stages = versions(document.uri, settings, parser=parser, encoder=encoder.version)
        return manifest_of(document, scope, stages).fingerprint

    stored = {m.doc_id: m.fingerprint for m in await asyncio.to_thread(store.manifests, scope)}
    documents = await _readable(survey, settings)
    fresh = [d for d in documents if stored.get(d.id_in(scope)) != fingerprint(d)]
    chunks = [c for d in fresh for c in await asyncio.to_thread(_chunks, d, scope, settings, encoder)]
    offsets = await asyncio.to_thread(encoder.tokens.token_offsets, [c.text for c in chunks])
    tokens = sum(map(len, offsets))
    return Estimate(
        documents=len(fresh),
        unchanged=len(documents) - len(fresh),
        unreadable=len(survey.sources) - len(documents),
        aside=len(survey.aside),
        characters=sum(len(d.text) for d in fresh),
        chunks=len(chunks),
        encoder_tokens=tokens,
        encode_seconds=await _seconds(chunks, encoder),
        llm_calls=len(chunks) if calls else 0,
        llm_tokens_in=tokens + PROMPT_OVERHEAD * len(chunks) if calls else 0,
        llm_tokens_out=tokens * TREE_OUTPUT if calls else 0,
    )


async def _readable(survey: Survey, settings: Settings) -> list[Document]:
    documents: list[Document] = []
    with Reader(settings.reading) as reader:
        for source in survey.sources:
            with suppress(InputError):  # counted: the difference is `unreadable`
                documents.append(await reader.read(source))
    return documents


def _chunks(document: Document, scope: Scope, settings: Settings, encoder: Encoder) -> list[Chunk]:
    return cut_chunks(
        document,
        build_hierarchy(document),
        scope=scope,
        fingerprint="estimate",
        counter=encoder.tokens,
        chunk_tokens=settings.reading.chunk_tokens,
    )


async def _seconds(chunks: Sequence[Chunk], encoder: Encoder) -> float:
    """Time to encode all chunks, from a sample spread over them; the model is loaded before the clock starts."""
    sample = [c.text for c in chunks[:: max(1, len(chunks) // SAMPLE)]][:SAMPLE]
    if not sample:
        return 0.0
    await encoder.encode_documents(["."])
    start = time.perf_counter()
    await encoder.encode_documents(sample)
    return (time.perf_counter() - start) * len(chunks) / len(sample)
