"""Nodes of retrieval trees: sizes, and the layers of those retrieved (RAPTOR tables 10, 18-21; DISRetrieval 5)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from time import perf_counter
from typing import Any

from discorag.retrieval.registry import tree_retriever
from discorag.retrieval.search import TreeSearch, search_trees
from discorag.schema.errors import ConfigError
from discorag.schema.metadata import read_filters
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import count_words
from eval.running.session import Session
from nodes.context import AnswerContext

BEST = 20
"""Nodes of a question that are looked at (DISRetrieval, appendix E.1)."""
HIGHEST = 4
"""Layer; what is above counts there."""


async def node_statistics(session: Session, retriever: str, **options: Any) -> dict[str, float]:
    """Measure -> mean, over the trees of the suite's documents and over its questions.

    Raises:
        ConfigError: The retriever has no trees.
    """
    named = tree_retriever(retriever)
    if named is None:
        raise ConfigError(f"{retriever!r} has no trees.", hint="Name a retriever over trees.")
    found = replace(named, reads=True)
    corpus, backends = await session.corpus(session.rag), session.rag.backends
    scope, seen = session.rag.scope(corpus=corpus.name), dict[str, RetrievalTree]()
    wanted = AnswerContext(retriever=retriever, **options).tree_options
    values: dict[str, list[float]] = defaultdict(list)
    for sample in session.benchmark.samples:
        wanted_ids, start = [corpus.stored[d] for d in sample.documents], perf_counter()
        filters = read_filters({"doc_id": wanted_ids})
        tools = backends.tree_tools(session.suite.parser)
        search = await search_trees(found, tools, backends.store, scope, sample.query, filters, wanted)
        if search.query is None:
            continue
        for built in search.index.built:
            values["tokens of a language model, a document"].append(built.usage.total)
        if search.index.built:
            values["seconds, a document"].append((perf_counter() - start) / len(search.index.built))
        chosen = await found.choose(search.query)
        for name, value in _of_question(search, chosen.nodes):
            values[name].append(value)
        forest = search.query.scores.forest
        seen |= {doc_id: forest.of(place) for place, doc_id in enumerate(forest.documents)}
    for tree in seen.values():
        for name, value in _of_tree(tree):
            values[name].append(value)
    return {name: fmean(each) for name, each in sorted(values.items())}


def _of_tree(tree: RetrievalTree) -> Iterator[tuple[str, float]]:
    words = [count_words(node.text) for node in tree.nodes]
    yield from (("words of a leaf", n) for n in words[: tree.leaves])
    for node, n in zip(tree.nodes[tree.leaves :], words[tree.leaves :], strict=True):
        below = [words[child] for child in node.children]
        yield "words of an inner node", n
        yield "children of an inner node", len(below)
        yield "words of an inner node / of its children", n / sum(below)


def _of_question(search: TreeSearch, chosen: Sequence[int]) -> Iterator[tuple[str, float]]:
    assert search.query is not None
    scores = search.query.scores

    def height(node: int) -> int:
        return scores.forest.node(node).layer

    share = Counter(min(height(node), HIGHEST) for node in chosen)
    for layer in range(HIGHEST + 1):
        yield f"% of chosen nodes on layer {layer}", 100 * share[layer] / len(chosen)
    best = (-scores.nodes).argsort(kind="stable")[:BEST].tolist()
    inner = [node for node in best if node >= scores.forest.tree.leaves]
    yield f"% of the best {BEST} nodes above leaves", 100 * len(inner) / len(best)
    yield from (("height of one of them", float(height(node))) for node in inner)
    yield from (("leaves below one of them", len(scores.forest.tree.leaves_below(node))) for node in inner)
