"""How fast and how exact is search in the embedded store? Builds one in a temporary folder and measures it.

The nodes are made from real ones: passages of the benchmarks' documents are encoded once (``.disco-rag/bench``), and a
made node is a real vector turned by noise to a cosine of `COSINE`. The noise is Gaussian with the covariance of the
real vectors, so that made vectors spread in the directions in which real ones do. Half of a made text are sentences of
its passage, half are sentences of others. Queries are real sentences of passages that are not among the nodes.

Usage: ``python -m bench.search [--nodes 100000] [--tenants 1]``.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from discorag.models.encoder import PackagedEncoder
from discorag.settings import StoreSettings
from discorag.store.protocol import Manifest, SearchQuery
from discorag.store.store import Store, open_store
from discorag.text.chunks import chunk_id, cut_chunks
from discorag.text.headings import build_hierarchy
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.ids import digest, fingerprint
from discorag.types.rst_relations import Nuclearity, Relation
from discorag.types.rst_tree import RstTree, Split
from discorag.types.span import Span
from discorag.types.vectors import Vectors
from eval.datasets.registry import load_benchmark
from eval.options import data_folder
from eval.suite import load_suite

SUITES = ("quality", "lay-summaries", "qasper", "fairytaleqa")
PASSAGES = 1_500
QUERIES = 200
PER_DOCUMENT = 50
FILTERED = 10
"""Documents in the filter of the filtered search."""
COSINE = 0.8
CACHE = Path(".disco-rag/bench/passages.npz")
TOP_K = 10


class SearchTimes(BaseModel):
    """One kind of search: hits and their chunks, over all queries.

    Args:
        p50_ms: Median, milliseconds, once the files are in memory.
        p95_ms: 95th percentile, milliseconds.
        recall: Mean share of the exact top 10 that was found.
    """

    model_config = ConfigDict(frozen=True)

    p50_ms: float
    p95_ms: float
    recall: float = 1.0


class SearchFigures(BaseModel):
    """What was measured.

    Args:
        nodes: Chunks in the store.
        tenants: Tenants that they are dealt to; one is searched.
        queries: Number of queries.
        writes_per_s: Chunks stored a second, by `Store.put`.
        optimise_s: Seconds that `Store.optimise` took.
        exact: Times before it, by name: dense, hybrid, and both filtered to 10 documents.
        indexed: Times after it.
        neighbours: Median cosine of a vector to its nearest other one: real passages, made nodes.
    """

    model_config = ConfigDict(frozen=True)

    nodes: int
    tenants: int
    queries: int
    writes_per_s: float
    optimise_s: float
    exact: dict[str, SearchTimes]
    indexed: dict[str, SearchTimes]
    neighbours: tuple[float, float]


@dataclass(frozen=True)
class Passages:
    """Real passages: ``sentences[i]`` are the texts of passage i; ``vectors`` (n, d) and ``query_vectors`` (q, d)."""

    sentences: tuple[tuple[str, ...], ...]
    vectors: Vectors
    queries: tuple[str, ...]
    query_vectors: Vectors


def measure_search(nodes: int = 100_000, tenants: int = 1) -> SearchFigures:
    """Build a store of ``nodes`` chunks, dealt to ``tenants``, and search it before and after it is optimised.

    Raises:
        MissingPathError: The benchmarks' documents are not there.
    """
    passages = real_passages()
    with tempfile.TemporaryDirectory() as folder:
        settings = StoreSettings(path=Path(folder) / "store")
        store = open_store(settings, ("bench", passages.vectors.shape[1]))
        with store:
            writing, some = _fill(store, passages, nodes, tenants)
            searches = _searches(passages, some)
            exact, truth = _measured(store, searches, None)
            start = time.perf_counter()
            store.optimise()
            optimising = time.perf_counter() - start
            indexed, _ = _measured(store, searches, truth)
    made = np.concatenate(list(_made_vectors(passages.vectors, min(nodes, 10_000), PER_DOCUMENT)))
    return SearchFigures(
        nodes=nodes,
        tenants=tenants,
        queries=len(passages.queries),
        writes_per_s=nodes / writing,
        optimise_s=optimising,
        exact=exact,
        indexed=indexed,
        neighbours=(_nearest(passages.vectors), _nearest(made)),
    )


def real_passages() -> Passages:
    """The passages and queries with their vectors; encoded at the first call, then read from `CACHE`."""
    chunks = _chunks()
    texts = [[c.slice(s) for s in c.sentences] for c in chunks]
    order: list[int] = np.random.default_rng(0).permutation(len(texts)).tolist()
    kept, others = order[:PASSAGES], order[PASSAGES:]
    sentences = [s for i in others for s in texts[i] if 5 <= len(s.split()) <= 30]
    queries = tuple(sentences[:: max(1, len(sentences) // QUERIES)][:QUERIES])
    bodies = [chunks[i].text for i in kept]
    vectors = _encoded([*bodies, *queries])
    return Passages(tuple(tuple(texts[i]) for i in kept), vectors[: len(bodies)], queries, vectors[len(bodies) :])


def _chunks() -> list[Chunk]:
    """The documents of `SUITES` as the ingest cuts them."""
    found: list[Chunk] = []
    counter = PackagedEncoder().tokens
    for name in SUITES:
        suite = load_suite(name)
        for source in load_benchmark(suite.dataset, data_folder() / suite.path).documents.values():
            document = Document(uri=source.id, title=source.title, text=source.text)
            tree = build_hierarchy(document)
            found += cut_chunks(document, tree, scope=Scope(), fingerprint="bench", counter=counter)
    return found


def _encoded(texts: Sequence[str]) -> Vectors:
    """Vectors of the texts, shape (n, d); from the cache if it holds these texts."""
    key = digest("\x00".join(texts))
    if CACHE.exists():
        with np.load(CACHE) as kept:
            if str(kept["key"]) == key:
                return kept["vectors"]
    vectors = asyncio.run(PackagedEncoder().encode_documents(texts))
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    np.savez(CACHE, key=key, vectors=vectors)
    return vectors


def _made_vectors(real: Vectors, nodes: int, size: int) -> Iterator[Vectors]:
    """Made unit vectors, ``size`` at a time; node i is near passage ``i % len(real)``."""
    rng = np.random.default_rng(1)
    spread = (real - real.mean(axis=0)).astype(np.float32)
    for at in range(0, nodes, size):
        base = real[np.arange(at, min(at + size, nodes)) % len(real)]
        noise = rng.standard_normal((len(base), len(real)), dtype=np.float32) @ spread
        noise -= (noise * base).sum(axis=1, keepdims=True) * base
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        yield COSINE * base + (1 - COSINE**2) ** 0.5 * noise


def _made_texts(passages: Passages, nodes: int) -> Iterator[list[str]]:
    """The sentences of each made node: every second one of its passage, the others replaced by any passage's."""
    rng = np.random.default_rng(2)
    pool = [s for sentences in passages.sentences for s in sentences]
    for i in range(nodes):
        own = passages.sentences[i % len(passages.sentences)]
        yield [s if j % 2 == 0 else pool[rng.integers(len(pool))] for j, s in enumerate(own)]


def _fill(store: Store, passages: Passages, nodes: int, tenants: int) -> tuple[float, list[str]]:
    """Put the made documents; seconds spent in `Store.put`, and the ids of some documents of the first tenant."""
    seconds, first = 0.0, list[str]()
    texts = _made_texts(passages, nodes)
    for number, vectors in enumerate(_made_vectors(passages.vectors, nodes, PER_DOCUMENT)):
        scope = _scope(number % tenants)
        document, manifest, chunks = _document(scope, number, [next(texts) for _ in vectors])
        start = time.perf_counter()
        store.put(scope, document, manifest, chunks, vectors)
        seconds += time.perf_counter() - start
        if number % tenants == 0:
            first.append(manifest.doc_id)
    return seconds, first[:: max(1, len(first) // FILTERED)][:FILTERED]


def _scope(tenant: int) -> Scope:
    return Scope(tenant=f"tenant-{tenant}", corpus="bench")


def _document(scope: Scope, number: int, texts: Sequence[Sequence[str]]) -> tuple[Document, Manifest, list[Chunk]]:
    """A document with one chunk for each list of sentences."""
    document = Document(uri=f"/bench/{number}.md", title=f"Document {number}", text="\n\n".join(map(" ".join, texts)))
    key = fingerprint(document.content_hash, {})
    doc_id, chunks, start = document.id_in(scope), list[Chunk](), 0
    for order, sentences in enumerate(texts):
        chunks.append(_chunk(document, chunk_id(doc_id, key, order), doc_id, order, start, sentences))
        start = chunks[-1].span.end + 2
    manifest = Manifest(
        doc_id=doc_id,
        uri=document.uri,
        title=document.title,
        content_hash=document.content_hash,
        fingerprint=key,
        versions={},
        chunks=len(chunks),
    )
    return document, manifest, chunks


def _chunk(document: Document, id_: str, doc_id: str, order: int, start: int, sentences: Sequence[str]) -> Chunk:
    """A chunk whose tree hangs every sentence below the first ones: as large in the payload as a parsed one."""
    spans: list[Span] = []
    at = start
    for sentence in sentences:
        spans.append(Span(start=at, end=at + len(sentence)))
        at = spans[-1].end + 1
    n, link = len(spans), {"relation": Relation.ELABORATION, "nuclearity": Nuclearity.NS}
    splits = tuple(Split.model_validate({"start": i, "mid": i + 1, "end": n, **link}) for i in range(n - 1))
    return Chunk(
        id=id_,
        doc_id=doc_id,
        order=order,
        span=Span(start=start, end=at - 1),
        text=" ".join(sentences),
        sentences=tuple(spans),
        title=document.title,
        headings=("Section",),
        tree=RstTree(edus=tuple(spans), splits=splits),
    )


def _searches(passages: Passages, some: list[str]) -> dict[str, list[SearchQuery]]:
    """The queries of every kind of search."""
    kinds: dict[str, dict[str, object]] = {
        "dense": {"retrieval": "dense"},
        "hybrid": {"retrieval": "hybrid"},
        "dense, 10 documents": {"retrieval": "dense", "filters": {"doc_id": some}},
        "hybrid, 10 documents": {"retrieval": "hybrid", "filters": {"doc_id": some}},
    }
    pairs = list(zip(passages.queries, passages.query_vectors, strict=True))
    return {
        name: [SearchQuery.model_validate({"text": text, "vector": v, "top_k": TOP_K, **kind}) for text, v in pairs]
        for name, kind in kinds.items()
    }


Truth = dict[str, list[set[str]]]


def _measured(
    store: Store, searches: dict[str, list[SearchQuery]], truth: Truth | None
) -> tuple[dict[str, SearchTimes], Truth]:
    """Times of every kind of search, with the recall against ``truth``; and what was found."""
    times: dict[str, SearchTimes] = {}
    found: Truth = {}
    for name, queries in searches.items():
        _timed(store, queries)  # the first time they read from disk
        seconds, found[name] = _timed(store, queries)
        expected = truth[name] if truth else found[name]
        recall = np.mean([len(a & b) / max(1, len(b)) for a, b in zip(found[name], expected, strict=True)])
        p50, p95 = np.percentile(seconds, [50, 95]) * 1000
        times[name] = SearchTimes(p50_ms=float(p50), p95_ms=float(p95), recall=float(recall))
    return times, found


def _timed(store: Store, queries: Sequence[SearchQuery]) -> tuple[list[float], list[set[str]]]:
    """Seconds of every search with the chunks of its hits, and the ids that it found."""
    seconds: list[float] = []
    found: list[set[str]] = []
    for query in queries:
        start = time.perf_counter()
        ids = [hit.chunk_id for hit in store.search(_scope(0), query)]
        store.chunks(_scope(0), ids)
        seconds.append(time.perf_counter() - start)
        found.append(set(ids))
    return seconds, found


def _nearest(vectors: Vectors) -> float:
    """Median cosine of a vector to its nearest other one."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    return float(np.median(cosines.max(axis=1)))


def print_figures(figures: SearchFigures) -> None:
    """A table for people."""
    table = Table(title=f"{figures.nodes:,} nodes, {figures.tenants} tenant(s), {figures.queries} queries")
    for column in ("search, with payload", "exact p50 ms", "p95 ms", "indexed p50 ms", "p95 ms", "recall@10"):
        table.add_column(column, justify="left" if column.startswith("search") else "right")
    for name, before in figures.exact.items():
        after = figures.indexed[name]
        values = (before.p50_ms, before.p95_ms, after.p50_ms, after.p95_ms)
        table.add_row(name, *(f"{v:.2f}" for v in values), f"{after.recall:.3f}")
    console = Console()
    console.print(table)
    console.print(f"{figures.writes_per_s:,.0f} chunks/s written; optimised in {figures.optimise_s:.1f} s.")
    real, made = figures.neighbours
    console.print(f"Median cosine to the nearest other vector: {real:.2f} (real passages), {made:.2f} (made nodes).")


def main(
    nodes: Annotated[int, typer.Option(help="Chunks in the store.")] = 100_000,
    tenants: Annotated[int, typer.Option(help="Tenants they are dealt to.")] = 1,
) -> None:
    """Measure search in the embedded store."""
    print_figures(measure_search(nodes, tenants))


if __name__ == "__main__":
    typer.run(main)
