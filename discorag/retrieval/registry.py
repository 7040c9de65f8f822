"""All retrievers by name: those over chunks, and those over trees, each a builder and a way to choose among nodes.

To add one: a `ChunkRetriever` or a `TreeRetriever`, in `discorag.retrieval.retrievers` or in another package, and its
name: here, by `register_retriever`, or by an entry point of the group ``disco_rag.retrievers``.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from discorag.discourse.parse.parser import UnitParser
from discorag.models.reranker import Reranker
from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.retrieval.builders.base import Builder
from discorag.retrieval.forest import NodeVectors, Scores
from discorag.retrieval.routers.walk import Router
from discorag.schema.document import Scope
from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure
from discorag.store.records import Hit, SearchQuery
from discorag.store.store import Store

POOL = 30
"""Three times the ten nodes that HTSIR keeps; its paper names no number ("a subset of candidate nodes")."""
UNFOLD = 5
"""RDR² table 9: the most expansions that it tries, and the best."""


@dataclass(frozen=True)
class TreeTools:
    """What builders need: models, and a parser that joins sentences and paragraphs."""

    backends: Toolbox
    parser: UnitParser


@dataclass(frozen=True)
class TreeQuery:
    """A question over the scored nodes of the documents that are searched.

    ``words`` is the budget of evidence, in the unit of the sizes. ``k`` is a parameter of the retriever; None: the
    number of its paper. HTSIR's reranker reads ``pool`` nodes. RDR²'s router may ``unfold`` this many headings in a
    document.
    """

    question: str
    scores: Scores
    words: int
    reranker: Reranker
    router: Router | None = None
    k: int | None = None
    pool: int = POOL
    unfold: int = UNFOLD


@dataclass(frozen=True)
class SelectedNodes:
    """Nodes whose text is evidence, and what selecting them cost.

    ``refused``: the router refused every document (RDR²'s [REFUSE]). The nodes are then the nearest ones, and not
    evidence.
    """

    nodes: Sequence[int]
    usage: Usage = field(default_factory=Usage)
    failures: tuple[Failure, ...] = ()
    refused: bool = False


Choose = Callable[[TreeQuery], Awaitable[SelectedNodes]]


@dataclass(frozen=True)
class TreeRetriever:
    """A retriever over trees.

    Args:
        builder: `Builder.name`, under which the trees are stored. Retrievers may share them.
        build: Makes that builder.
        choose: Selects evidence among scored nodes.
        vectors: How inner nodes are encoded.
        summaries: Whether a language model, if there is one, writes the texts of inner nodes. These are then encoded.
        reads: Whether ``choose`` reads the texts of nodes, which takes longer (`TreeIndex.scores`).
        routed: Whether a router walks the headings (RDR²), so that a language model is needed.
    """

    builder: str
    build: Callable[[TreeTools], Builder]
    choose: Choose
    vectors: NodeVectors = "mean"
    summaries: bool = False
    reads: bool = False
    routed: bool = False


@dataclass(frozen=True)
class ChunkRetriever:
    """Ranks a scope's chunks for a query: the first n, best first. Blocks. None: every chunk, in document order.

    The ranking may hold copies and what is not stored any more: `Store.take` drops both.
    """

    search: Callable[[Store, Scope, SearchQuery, int], list[Hit]] | None


Retriever = ChunkRetriever | TreeRetriever
RETRIEVERS = Registry[Retriever]("retriever", "disco_rag.retrievers")
"""All names of ``retriever=``."""

register_retriever = RETRIEVERS.register

for _name, _help in {
    "dense": "chunks by their vectors",
    "hybrid": "chunks by vectors and BM25, fused by rank (k = 60)",
    "all": "every chunk, in document order",
    "sentences": "single sentences (a baseline of DISRetrieval)",
    "chunks": "chunks of 100 words (a baseline of DISRetrieval)",
    "snapped": "ours: runs of sentences whose borders follow the author's paragraphs and headings",
    "bisection": "halves of halves of the sentences (a baseline of DISRetrieval)",
    "discourse": "DISRetrieval: RST over the sentences of each paragraph, then over the paragraphs",
    "raptor": "RAPTOR: clusters and their summaries, the best nodes of all layers",
    "raptor-traversal": "RAPTOR: the same from the roots down, layer by layer",
    "htsir": "HTSIR: the author's sections and their summaries, reranked",
    "rdr2": "RDR2: a language model walks the headings",
    "rdr2-passages": "the same, once from each retrieved passage (RDR2, appendix D)",
}.items():
    RETRIEVERS.offer(_name, f"discorag.retrieval.retrievers:{_name.upper().replace('-', '_')}", _help)


def tree_retriever(name: str) -> TreeRetriever | None:
    """The retriever over trees of this name; None if it is one over chunks. Raises `UnknownNameError`."""
    retriever = RETRIEVERS[name]
    return retriever if isinstance(retriever, TreeRetriever) else None


def tree_retrievers() -> dict[str, TreeRetriever]:
    """All retrievers over trees by name."""
    return {name: found for name in RETRIEVERS if (found := tree_retriever(name))}
