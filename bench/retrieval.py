"""How much of the gold evidence each retriever finds: ``python -m bench.retrieval`` (``make bench-retrieval``).

Every retriever over trees, by the name that users give it, and the controls of `bench.controls`, on the documents of
`eval.splits` on which nothing was fitted or chosen. A question is asked of its own documents: nothing is searched for
first. Without a language model, so summaries are extractive and the router goes by similarity.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import report
from bench.answers.replies import open_product
from bench.controls import register_controls
from bench.stats import mean
from discorag.ingest.segment.headings import build_hierarchy
from discorag.retrieval.builders.base import Builder, Source
from discorag.retrieval.forest import Forest, Scores, node_vectors
from discorag.retrieval.index import fuse_scores
from discorag.retrieval.registry import TreeQuery, TreeRetriever, tree_retrievers
from discorag.retrieval.search import evidence_of
from discorag.schema.document import Document, Markup
from discorag.schema.errors import ConfigError
from discorag.schema.values import Vectors, digest
from discorag.store.outline import Outline, TreeArrays
from discorag.text.bm25 import TermCounts
from eval.datasets.registry import load_benchmark
from eval.metrics.base import Given
from eval.metrics.evidence import SpanRecall
from eval.options import data_folder
from eval.sample import Benchmark, DocSpan, Sample, SourceDocument
from eval.splits import groups
from nodes.backends import Backends

OUT = Path("bench/results/retrieval.json")
SETS = {"qmsum": ("test.jsonl", "val.jsonl"), "fairytaleqa": ("",)}
"""Long documents with labelled evidence, and their files below the data folder."""
BASELINE = "sentences"
AGAINST = (BASELINE, "bisection", "slide", "snapped-random")
"""Baselines and controls that others are compared with."""

Found = dict[str, dict[str, float]]
"""Retriever -> question -> recall of its evidence, 0 to 100."""


def load(dataset: str, most: int) -> Iterator[tuple[Benchmark, list[Sample]]]:
    """At most ``most`` documents that are only scored on, chosen by their ids' digests, each with its questions."""
    scored = sorted(groups(dataset, "score"), key=digest)[:most]
    for file in SETS[dataset]:
        benchmark = load_benchmark(dataset, data_folder() / dataset / file)
        for name in scored:
            if own := [s for s in benchmark.samples if s.gold and s.documents == (name,)]:
                yield benchmark, own


class Measurement:
    """Retrievers over the documents of one benchmark.

    Args:
        backends: The product's models.
        names: Names of retrievers over trees.
        words: Budget of evidence.
    """

    def __init__(self, backends: Backends, names: Sequence[str], words: int) -> None:
        self._backends, self._words = backends, words
        tools = backends.tree_tools("local")
        self._retrievers = {name: tree_retrievers()[name] for name in names}
        self._builders = {name: retriever.build(tools) for name, retriever in self._retrievers.items()}

    async def recall(self, benchmark: Benchmark, samples: Sequence[Sample]) -> Found:
        """The recall of all retrievers on questions about the same documents."""
        documents = [benchmark.documents[d] for d in samples[0].documents]
        found: Found = defaultdict(dict)
        for name, retriever in self._retrievers.items():
            forest, cosines, terms = await self._index(retriever, self._builders[name], documents)
            for sample in samples:
                query = await self._backends.encoder.encode_query(sample.query)
                nodes = fuse_scores(cosines(query), terms.bm25(sample.query, forest.tree.groups))
                evidence = await self._evidence(retriever, sample.query, Scores(forest, nodes, forest.tree.words))
                given = Given(sample=sample, documents=benchmark.documents, answer="", evidence=evidence)
                found[name][sample.id] = await SpanRecall(self._words).score(given) or 0.0
        return found

    async def _index(
        self, retriever: TreeRetriever, builder: Builder, documents: Iterable[SourceDocument]
    ) -> tuple[Forest, Callable[[Vectors], Any], TermCounts]:
        """The documents' trees as one, their nodes' cosines to a vector, and the terms of the leaves."""
        trees = {d.id: (await builder.build(_source(d))).tree for d in documents}
        vectors = [await node_vectors(tree, self._backends.encoder, retriever.vectors) for tree in trees.values()]
        outlines = [Outline.of(tree, found) for tree, found in zip(trees.values(), vectors, strict=True)]
        forest = Forest({doc_id: TreeArrays.of(tree) for doc_id, tree in trees.items()}, trees)

        def cosines(query: Vectors) -> Any:
            return forest.join([o.cosines(found @ query) for o, found in zip(outlines, vectors, strict=True)])

        return forest, cosines, TermCounts.join([outline.terms for outline in outlines])

    async def _evidence(self, retriever: TreeRetriever, question: str, scores: Scores) -> tuple[DocSpan, ...]:
        """What an answer would see, as characters of the documents; nothing where the retriever refuses."""
        backends = self._backends
        query = TreeQuery(question, scores, self._words, backends.reranker)
        chosen = await retriever.choose(query)
        if chosen.refused:
            return ()
        places = evidence_of(scores, chosen.nodes, self._words)
        return tuple(DocSpan(doc=doc, span=span) for doc, spans in places.items() for span in spans)


def _source(document: SourceDocument) -> Source:
    markup = Markup.INLINE if document.text.startswith("#") else Markup.NONE
    loaded = Document(uri=document.id, title=document.title, text=document.text, markup=markup)
    return Source(loaded, build_hierarchy(loaded))


def figures(found: Found, against: Sequence[str]) -> dict[str, Any]:
    """For each retriever the mean, and the paired difference to others with its 95 % interval, in points."""
    made: dict[str, Any] = {}
    for name, values in found.items():
        made[name] = {"n": len(values), "recall": mean([*values.values()], 1)}
        for other in (o for o in against if o != name and o in found):
            made[name][f"less_{other}"] = mean([value - found[other][q] for q, value in values.items()], 1)
    return made


async def _measured(backends: Backends, dataset: str, names: Sequence[str], words: int, most: int) -> Found:
    found: Found = defaultdict(dict)
    measurement = Measurement(backends, names, words)
    for benchmark, samples in track(list(load(dataset, most)), description=dataset, console=Console(stderr=True)):
        for name, values in (await measurement.recall(benchmark, samples)).items():
            found[name] |= values
    return found


def main(
    retrievers: Annotated[str, typer.Option(help="Names, comma-separated; all if empty.")] = "",
    datasets: Annotated[str, typer.Option(help="Names, comma-separated.")] = ",".join(SETS),
    words: Annotated[int, typer.Option(help="Budget of evidence.")] = 300,
    documents: Annotated[int, typer.Option(help="Documents of a dataset, at most.")] = 100,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of an empty store.")] = Path(".disco-rag/bench/retrieval"),
) -> None:
    """Measure, write, show."""
    register_controls()
    unrouted = [name for name, found in tree_retrievers().items() if not found.routed]
    names = list(dict.fromkeys([BASELINE, *(retrievers.split(",") if retrievers else unrouted)]))
    if unknown := [name for name in names if name not in tree_retrievers()]:
        raise ConfigError(f"There is no retriever {unknown[0]!r}.", hint=f"There are {', '.join(tree_retrievers())}.")
    with open_product(home) as rag:
        found = {d: asyncio.run(_measured(rag.backends, d, names, words, documents)) for d in datasets.split(",")}
    made = {dataset: figures(recall, AGAINST) for dataset, recall in found.items()}
    report.write(out, made)
    table = Table("retriever", *made)
    for name in names:
        table.add_row(name, *(f"{of[name]['recall']['value']:.1f}" for of in made.values()))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
