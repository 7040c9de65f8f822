"""How long choosing evidence by retrieval trees takes, beside a search of the same nodes in the store.

Usage: ``python -m bench.query [--sizes 10000 ...] [--out FILE]``; each size is a store of its own in a temporary
folder.

Measured is the way from a query's vector to spans of evidence: documents, the scores of their nodes, the choice, the
spans. Documents have 100 made sentences and two trees: one of the sentences alone, which retrievers over flat trees
search, and one by bisection, which stands for all others. A vector is a topic's centre turned to a cosine of `COSINE`;
ten documents share a topic, and questions are about topics. So in a large store the trees of a question's documents are
mostly not those of the last questions, and are read from disk. ``htsir`` and ``rdr2`` ask a model, whose time would be
measured; they are left out.

The floor is Qdrant Edge's own search for the best nodes of the same trees, in a shard of its own: the store keeps the
vectors of nodes in its database.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Annotated, Any, get_args
from zlib import crc32

import numpy as np
import qdrant_edge as qe
import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from bench.build_process import SCOPE, put_whole
from discorag.models.encoder import PackagedEncoder
from discorag.models.reranker import reranker_from
from discorag.settings import RerankerSettings, StoreSettings
from discorag.store.edge import HNSW_EF
from discorag.store.outline import node_id
from discorag.store.protocol import SearchQuery
from discorag.store.store import Store, open_store
from discorag.text.tokens import TokenCounter
from discorag.trees.builder import Builder
from discorag.trees.builders.bisection import BisectionBuilder
from discorag.trees.builders.flat import FlatSentenceBuilder
from discorag.trees.builders.node_text import Concat
from discorag.trees.index import TreeIndex, evidence_of
from discorag.trees.registry import RETRIEVERS, Asked
from discorag.trees.routers.local import LocalRouter
from discorag.trees.scores import NodeScores
from discorag.types.document import Document
from discorag.types.vectors import Vectors

OUT = Path("bench/results/query.json")
SIZES = (10_000, 100_000, 500_000)
TARGET_NODES = 500_000
QUESTIONS = 50
WARM = 5
"""Questions that are asked before, untimed."""
RAW_TOP_K = 100
FACTOR, SPARE_MS = 1.5, 5.0
"""The target: at most so many times the floor, and so many milliseconds on top."""
DOCUMENTS = 20
EVIDENCE_WORDS = 400
"""As ``search_documents`` and ``evidence_words`` of a question are by default."""
SENTENCES = 100
PER_TOPIC = 10
COSINE = 0.7
DIMENSION = 384
MODELS = frozenset({"htsir", "rdr2"})
_FLAT = frozenset({"flat-sentences", "flat-chunks"})
_BATCH = 50
_VOCABULARY = 20_000


class Row(BaseModel):
    """One retriever over one store.

    Args:
        nodes: Nodes in the store.
        retriever: Its name.
        node_scores: How it scores nodes.
        p50_ms, p95_ms: From a query's vector to the spans of evidence, milliseconds.
        raw_p50_ms: Qdrant Edge's own search for the best `RAW_TOP_K` nodes of the same trees, median.
        excess_ms: How much p50 is above the target.
    """

    model_config = ConfigDict(frozen=True)

    nodes: int
    retriever: str
    node_scores: NodeScores
    p50_ms: float
    p95_ms: float
    raw_p50_ms: float
    excess_ms: float


class TopicEncoder:
    """An `Encoder` without a model: the vector of a text lies around the centre of the topic that it begins with.

    Equal texts have equal vectors. The tokenizer is the packaged encoder's.
    """

    version = "topics-1"
    dimension = DIMENSION

    @property
    def tokens(self) -> TokenCounter:
        """The packaged encoder's."""
        return PackagedEncoder().tokens

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""
        return np.stack([self._vector(text) for text in texts])

    async def encode_query(self, text: str) -> Vectors:
        """Unit vector, shape (d,)."""
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        centre, noise = (_unit(part) for part in (text.split(maxsplit=1)[0], text))
        return _normal(COSINE * centre + (1 - COSINE**2) ** 0.5 * noise)


def _unit(text: str) -> Vectors:
    """A random direction that the text determines, shape (d,)."""
    return _normal(np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSION, dtype=np.float32))


def _normal(vector: Vectors) -> Vectors:
    return vector / np.float32(np.linalg.norm(vector))


def made_document(number: int) -> Document:
    """One of the documents: sentences of 10 to 30 made words, each beginning with the document's topic."""
    rng = np.random.default_rng(number)
    topic = f"Topic{number // PER_TOPIC}"
    words = ([f"w{w}" for w in rng.integers(_VOCABULARY, size=rng.integers(9, 30))] for _ in range(SENTENCES))
    text = " ".join(f"{topic} {' '.join(sentence)}." for sentence in words)
    return Document(uri=f"/bench/{number}.md", title=topic, text=text, media_type="text/markdown")


def questions(topics: int, count: int) -> list[str]:
    """``count`` questions about topics drawn at random."""
    drawn = np.random.default_rng(1).integers(topics, size=count)
    return [f"Topic{topic} question {i}" for i, topic in enumerate(drawn)]


def indices(store: Store) -> dict[bool, TreeIndex]:
    """The trees of the store: flat (True) and by bisection (False)."""
    builders: dict[bool, Builder] = {True: FlatSentenceBuilder(), False: BisectionBuilder(Concat())}
    return {flat: TreeIndex(store, SCOPE, TopicEncoder(), b, "mean") for flat, b in builders.items()}


async def fill(store: Store, nodes: int, console: Console) -> tuple[int, float]:
    """Put documents with both trees until the store holds ``nodes`` nodes; then let it index them.

    Returns:
        Documents, and nodes a second: made and stored, indexing left out.
    """
    encoder, trees, number = TopicEncoder(), indices(store), 0
    per_document, start = SENTENCES + 2 * SENTENCES - 1, time.perf_counter()
    while number * per_document < nodes:
        batch = [made_document(number + i) for i in range(min(_BATCH, -(-nodes // per_document) - number))]
        ids = [put_whole(store, d, await encoder.encode_query(d.title)) for d in batch]
        for index in trees.values():
            await index.ensure(ids)
        number += len(batch)
        console.print(f"{number * per_document:,} nodes in {time.perf_counter() - start:.0f} s")
    speed = number * per_document / (time.perf_counter() - start)
    store.optimise()
    return number, speed


async def _milliseconds(ask: Callable[[str], Awaitable[object]], asked: Sequence[str]) -> list[float]:
    """Of every question but the first `WARM`, which warm up."""
    taken: list[float] = []
    for question in asked:
        start = time.perf_counter()
        await ask(question)
        taken.append(1000 * (time.perf_counter() - start))
    return taken[WARM:]


async def _rows(store: Store, folder: Path, nodes: int, topics: int) -> list[Row]:
    asked, trees = questions(topics, WARM + QUESTIONS), indices(store)
    vectors = dict(zip(asked, await TopicEncoder().encode_documents(asked), strict=True))
    floor: dict[bool, float] = {}
    for flat in trees:
        ask = raw(node_shard(store, folder / f"floor-{flat}", flat), vectors)
        floor[flat] = percentiles(await _milliseconds(ask, asked))[0]
    rows: list[Row] = []
    for name, retriever in RETRIEVERS.items():
        if name in MODELS:
            continue
        flat = retriever.builder in _FLAT
        for by in get_args(NodeScores):
            p50, p95 = percentiles(await _milliseconds(_evidence(name, trees[flat], vectors, by), asked))
            rows.append(row(nodes, name, by, p50, p95, floor[flat]))
    return rows


def row(nodes: int, name: str, by: NodeScores, p50: float, p95: float, raw: float) -> Row:
    """With what p50 is above the target."""
    excess = p50 - (FACTOR * raw + SPARE_MS)
    figures = {"p50_ms": p50, "p95_ms": p95, "raw_p50_ms": raw, "excess_ms": excess}
    return Row(nodes=nodes, retriever=name, node_scores=by, **{key: round(value, 2) for key, value in figures.items()})


def percentiles(milliseconds: Sequence[float]) -> tuple[float, float]:
    """The 50th and the 95th; of at least two values."""
    cuts = quantiles(milliseconds, n=100, method="inclusive")
    return cuts[49], cuts[94]


def node_shard(store: Store, folder: Path, flat: bool) -> qe.EdgeShard:
    """A shard of Qdrant Edge with the nodes of all trees of one kind, optimised."""
    dense = {"dense": qe.EdgeVectorParams(size=DIMENSION, distance=qe.Distance.Cosine)}
    shard = qe.EdgeShard.create(str(folder), qe.EdgeConfig(vectors=dense, wal_enabled=False))
    builder = FlatSentenceBuilder.name if flat else BisectionBuilder.name
    for manifest in store.manifests(SCOPE):
        outline = store.outlines(SCOPE, builder, [manifest.doc_id])[manifest.doc_id]
        ids = [node_id(outline.key, at) for at in range(len(outline.shape.words))]
        vectors = store.vectors(SCOPE, ids)
        points = [qe.Point(i, {"dense": v.tolist()}, {}) for i, v in zip(ids, vectors, strict=True)]
        shard.update(qe.UpdateOperation.upsert_points(points))
    shard.optimize()
    return shard


def raw(shard: qe.EdgeShard, vectors: Mapping[str, Vectors]) -> Callable[[str], Awaitable[Sequence[tuple[str, float]]]]:
    """The floor: from a question to the ids of the best nodes with their cosines."""

    async def ask(question: str) -> Sequence[tuple[str, float]]:
        query = qe.Query.Nearest(vectors[question].tolist(), using="dense")
        params = qe.SearchParams(hnsw_ef=max(HNSW_EF, RAW_TOP_K))
        request = qe.QueryRequest(limit=RAW_TOP_K, query=query, params=params)
        return [(str(point.id), point.score) for point in await asyncio.to_thread(shard.query, request)]

    return ask


def _evidence(
    name: str, index: TreeIndex, vectors: Mapping[str, Vectors], by: NodeScores
) -> Callable[[str], Awaitable[object]]:
    """The whole way of a retriever that asks neither reranker nor router."""
    encoder = PackagedEncoder()
    models = reranker_from(RerankerSettings()), LocalRouter(encoder)

    async def ask(question: str) -> object:
        query = SearchQuery(vector=vectors[question], text=question)
        doc_ids = (await index.documents(query, DOCUMENTS)).found
        scores = await index.scores(query, doc_ids, by=by, texts=False)
        chosen = await RETRIEVERS[name].choose(Asked(question, scores, EVIDENCE_WORDS, *models))
        return evidence_of(scores, chosen.nodes, EVIDENCE_WORDS)

    return ask


async def measured(nodes: int, console: Console) -> tuple[list[Row], float]:
    """The rows of a store of about ``nodes`` nodes, and nodes stored a second."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(StoreSettings(path=Path(folder) / "store"), (TopicEncoder.version, DIMENSION)) as store,
    ):
        documents, speed = await fill(store, nodes, console)
        return await _rows(store, Path(folder), nodes, -(-documents // PER_TOPIC)), speed


def result(rows: Sequence[Row], speeds: Mapping[int, float]) -> dict[str, Any]:
    """The result file; the worst excess is None where the store of `TARGET_NODES` nodes was not measured."""
    worst = max((r.excess_ms for r in rows if r.nodes == TARGET_NODES), default=None)
    return {
        "rows": [r.model_dump() for r in rows],
        "worst_excess_ms_500k": worst,
        "nodes_stored_per_s": {n: round(speed) for n, speed in speeds.items()},
        "questions": QUESTIONS,
        "documents_searched": DOCUMENTS,
    }


def show(rows: Sequence[Row], console: Console) -> None:
    """The table for people."""
    table = Table("nodes", "retriever", "scores", title=f"Milliseconds a query; target {FACTOR:g} x raw + {SPARE_MS:g}")
    for name in ("p50", "p95", "raw p50", "above target"):
        table.add_column(name, justify="right")
    for r in rows:
        figures = (f"{value:.1f}" for value in (r.p50_ms, r.p95_ms, r.raw_p50_ms, r.excess_ms))
        table.add_row(f"{r.nodes:,}", r.retriever, r.node_scores, *figures)
    console.print(table)


def main(
    sizes: Annotated[list[int] | None, typer.Option(help="Nodes in the store; may be given several times.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    console, rows, speeds = Console(), list[Row](), dict[int, float]()
    for nodes in sorted(sizes or SIZES):
        found, speeds[nodes] = asyncio.run(measured(nodes, console))
        rows += found
    show(rows, console)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result(rows, speeds), indent=2) + "\n", encoding="utf-8")
    console.print(f"Written to {out}.")


if __name__ == "__main__":
    typer.run(main)
