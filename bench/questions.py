"""Loong's English questions and their papers, in a store of the benchmark's own: with sentence trees and EDU trees."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.edus import EduParser
from bench.process import settings
from bench.replies import respond
from bench.watch import WatchedEncoder, WatchedModel
from discorag import DiscoRAG
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.rst.parser import Limits, TreeParser
from eval.datasets.registry import load_benchmark
from eval.options import data_folder
from eval.running.corpus import ingest
from eval.sample import Benchmark, Sample
from graphs.facade import Progress
from nodes.resources import Resources
from tests.servers.scripted import ScriptedServer

HOME = Path(".disco-rag/bench/pipeline")
REMEMBERED = 65_536


@dataclass(frozen=True)
class Library:
    """The ingested papers and a pipeline that is watched.

    Args:
        rag: The pipeline.
        model: Its language model, `bench.replies` behind HTTP.
        encoder: Its encoder.
        sentences: Corpus whose trees are the rule parser's.
        edus: The same documents with trees over clause-like units.
    """

    rag: DiscoRAG
    model: WatchedModel
    encoder: WatchedEncoder
    sentences: str
    edus: str


class EduResources(Resources):
    """Resources whose trees are over clause-like units, whatever engine is asked for."""

    def parser(self, name: str, limits: Limits | None = None) -> TreeParser:
        """See `bench.edus`."""
        return EduParser()


def english(n: int) -> Benchmark:
    """The first ``n`` English questions of Loong's set 1 that ask something of their own, and their documents.

    Papers first; the task of papers at level 4 is the same text for all, so only one of them is taken.
    """
    whole = load_benchmark("loong", data_folder() / "loong")
    wanted = {"language": "en", "set": "1"}
    found: dict[str, Sample] = {}
    for sample in sorted(whole.samples, key=lambda s: s.strata["type"] != "paper"):
        if wanted.items() <= sample.strata.items():
            found.setdefault(sample.query, sample)
    samples = tuple(found.values())[:n]
    documents = {d: whole.documents[d] for s in samples for d in s.documents}
    return Benchmark(name="loong-bench", documents=documents, samples=samples)


@contextmanager
def opened(home: Path = HOME) -> Generator[Resources]:
    """The benchmark's own store, with the scripted model behind HTTP."""
    with ScriptedServer(respond) as server, Resources.open(settings(home, server.base_url)) as resources:
        yield resources


async def library(resources: Resources, benchmark: Benchmark, home: Path, progress: Progress | None) -> Library:
    """Ingest the documents twice, by sentences and by EDUs; unchanged ones are not ingested again."""
    memory = MemoEncoder(resources.bare_encoder, size=REMEMBERED)
    parts = (resources.settings, resources.store, memory)
    corpus = await ingest(DiscoRAG(resources=Resources(*parts, None)), benchmark, home, progress)
    edus = f"{corpus.name}-edus"
    by_edus = DiscoRAG(resources=EduResources(*parts, None))
    await by_edus.aingest(home / "documents" / corpus.name, corpus=edus, retriever="dense", progress=progress)
    return watched(resources, memory, corpus.name, edus)


def watched(resources: Resources, encoder: Encoder, sentences: str, edus: str) -> Library:
    """A pipeline over the same store whose calls of models are watched."""
    model, encoding = WatchedModel(resources.require_model()), WatchedEncoder(encoder)
    rag = DiscoRAG(resources=Resources(resources.settings, resources.store, encoding, model))
    return Library(rag=rag, model=model, encoder=encoding, sentences=sentences, edus=edus)
