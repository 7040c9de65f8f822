"""The best 40 chunks of each question by hybrid search, with the reranker's logits, their size and what they cover."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bench.answers.replies import complete_lines
from bench.evidence.sets import Questions
from discorag.config import LlmSettings, Settings, StoreSettings
from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.retrieval.search import search_chunks
from discorag.retrieval.width import CANDIDATES
from discorag.schema.document import Chunk, Document, Markup, Scope
from discorag.schema.metadata import read_filters
from discorag.schema.values import fingerprint
from discorag.store.records import Manifest
from eval.sample import DocSpan, Sample, SourceDocument
from nodes.backends import Backends


class Candidates(BaseModel):
    """A question's candidates, in the order of hybrid search.

    Args:
        key: The set and the question.
        logits: The reranker's scores.
        tokens: The candidates' sizes, in tokens of the encoder.
        covers: For each piece of gold evidence and each place where it stands, the candidates that hold a part of it,
            with the share that they hold.
    """

    model_config = ConfigDict(frozen=True)

    key: tuple[str, str]
    logits: tuple[float, ...]
    tokens: tuple[int, ...]
    covers: tuple[tuple[dict[int, float], ...], ...]

    def recall(self, kept: Sequence[int]) -> float:
        """The share of the evidence in these candidates: the mean over pieces, each at its best place."""
        found = (max(min(1.0, sum(place.get(i, 0.0) for i in kept)) for place in piece) for piece in self.covers)
        return sum(found) / len(self.covers)


def open_backends() -> Backends:
    """The default models over a store in memory, without a language model."""
    llm = LlmSettings(base_url=None, model="default", cache=None)
    return Backends.open(Settings(store=StoreSettings(kind="memory"), llm=llm))


def collect(name: str, questions: Questions, backends: Backends, file: Path) -> Iterator[Candidates]:
    """The candidates of every question; those that the file does not have are searched for and added to it."""
    known = {c.key: c for c in map(Candidates.model_validate_json, complete_lines(file))}
    missing = [s for s in questions.benchmark.samples if (name, s.id) not in known]
    scope = Scope(tenant="bench", corpus=f"{name}-{questions.benchmark.name}")
    if missing:
        asyncio.run(_store(questions, backends, scope))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        for sample in missing:
            within = sample.documents if questions.is_own else ()
            found = asyncio.run(_candidates(name, sample, within, backends, scope))
            known[found.key] = found
            lines.write(found.model_dump_json() + "\n")
            lines.flush()
    yield from (known[name, s.id] for s in questions.benchmark.samples)


async def _store(questions: Questions, backends: Backends, scope: Scope) -> None:
    for source in questions.benchmark.documents.values():
        document = _as_loaded(source)
        key = fingerprint(document.content_hash, {})
        counter, hierarchy = backends.encoder.tokens, build_hierarchy(document)
        chunks = cut_chunks(document, hierarchy, scope=scope, fingerprint=key, counter=counter)
        manifest = Manifest(
            doc_id=document.id_in(scope),
            uri=document.uri,
            title=document.title,
            content_hash=document.content_hash,
            fingerprint=key,
            versions={},
            chunks=len(chunks),
        )
        vectors = await backends.bare_encoder.encode_documents([c.text for c in chunks])
        backends.store.put(scope, document, manifest, chunks, vectors)


def _as_loaded(source: SourceDocument) -> Document:
    markup = Markup.INLINE if source.text.startswith("#") else Markup.NONE
    return Document(uri=source.id, title=source.title, text=source.text, markup=markup)


async def _candidates(name: str, sample: Sample, within: Sequence[str], backends: Backends, scope: Scope) -> Candidates:
    filters = read_filters({"doc_id": [scope.id_of(doc) for doc in within]} if within else {})
    found, read = await search_chunks(
        backends.store, backends.encoder, scope, sample.query, "hybrid", top_k=CANDIDATES, filters=filters
    )
    chunks = [read[hit.chunk_id] for hit in found.best]
    texts = [chunk.text for chunk in chunks]
    return Candidates(
        key=(name, sample.id),
        logits=await backends.reranker.scores(sample.query, texts),
        tokens=tuple(map(len, backends.encoder.tokens.token_offsets(texts))),
        covers=tuple(tuple(_cover(place, chunks) for place in piece.anywhere) for piece in sample.gold),
    )


def _cover(place: DocSpan, chunks: Sequence[Chunk]) -> dict[int, float]:
    """The chunks that hold a part of the place, with the share that they hold."""
    start, end = place.span.start, place.span.end
    held = {
        i: min(chunk.span.end, end) - max(chunk.span.start, start)
        for i, chunk in enumerate(chunks)
        if chunk.uri == place.doc
    }
    return {i: round(length / (end - start), 4) for i, length in held.items() if length > 0}
