"""Which retrievers over trees there are, and what each is: a builder, and a way to choose among the nodes.

To add one: a `TreeRetriever`, in `discorag.retrieval.retrievers` or in another package, and its name, here, by
`register_retriever`, or by an entry point of the group ``disco_rag.retrievers``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from discorag.discourse.parse.units import UnitParser
from discorag.models.reranker import Reranker
from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.retrieval.builder import Builder
from discorag.retrieval.routers.walk import Router
from discorag.retrieval.scores import Scores
from discorag.schema.ledger import Failure
from discorag.schema.rst_tree import RstTree
from discorag.schema.usage import Usage

POOL = 30
"""Three times the ten that HTSIR keeps: its paper has "a subset of candidate nodes" and no number."""
UNFOLD = 5
"""RDR² table 9: the most that it tries, and its best."""


@dataclass(frozen=True)
class TreeTools:
    """What builders are made of.

    Args:
        box: The running pipeline's parts.
        parser: Joins sentences and paragraphs to trees.
        parses: The last parses, by a digest of their texts.

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> from discorag.retrieval.registry import RETRIEVERS, TreeTools
        >>> tools = TreeTools(rag.backends, RuleParser(), parses={})
        >>> RETRIEVERS["rdr2"].build(tools).name
        'headings'
    """

    box: Toolbox
    parser: UnitParser
    parses: MutableMapping[str, RstTree]


@dataclass(frozen=True)
class TreeQuery:
    """A question over scored nodes.

    Args:
        question: Its text.
        scores: The nodes of the documents that are searched.
        words: Budget of evidence, in the unit of the sizes: words, unless the question has it in tokens.
        reranker: For HTSIR.
        router: For RDR².
        k: The retriever's own k; None: its paper's.
        pool: Nodes that HTSIR's reranker is given.
        unfold: Headings that RDR²'s router may unfold in a document.

    Example:
        >>> from discorag.retrieval.forest import Forest
        >>> from discorag.retrieval.registry import RETRIEVERS, TreeQuery
        >>> from discorag.retrieval.scores import Scores
        >>> scores = Scores(Forest({"tides": tree}), np.arange(4.0), tree.words)
        >>> asked = TreeQuery("Why do tides rise?", scores, words=10, reranker=rag.backends.reranker, router=None)
        >>> asyncio.run(RETRIEVERS["sentences"].choose(asked)).nodes
        (1,)
    """

    question: str
    scores: Scores
    words: int
    reranker: Reranker
    router: Router
    k: int | None = None
    pool: int = POOL
    unfold: int = UNFOLD


@dataclass(frozen=True)
class SelectedNodes:
    """Nodes whose text is evidence, best first where their order says so; and what choosing took.

    Args:
        nodes: The chosen ones; of a refusal those nearest to the question, which are no evidence.
        usage: Tokens of language models.
        failures: What a model could not do.
        refused: Whether who chooses says that no document answers the question (RDR²'s [REFUSE] in all of them).

    Example:
        >>> from discorag.retrieval.registry import SelectedNodes
        >>> chosen = SelectedNodes(nodes=[2, 0])
        >>> chosen.nodes, chosen.failures
        ([2, 0], ())
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
        builder: Whose trees: `Builder.name`, under which they are stored. Retrievers may share them.
        build: Makes that builder.
        choose: Evidence among scored nodes.
        vectors: How inner nodes are encoded.
        summaries: Whether a language model, where there is one, writes inner nodes' texts, which are encoded then.
        reads: Whether ``choose`` reads the texts of nodes, which takes time (`TreeIndex.scores`).
        rounds: Whether it can be driven a round at a time as well (`discorag.retrieval.rounds`).

    Example:
        >>> from discorag.retrieval.registry import RETRIEVERS
        >>> RETRIEVERS["discourse"].builder, RETRIEVERS["raptor"].vectors
        ('discourse', 'text')
    """

    builder: str
    build: Callable[[TreeTools], Builder]
    choose: Choose
    vectors: Literal["mean", "text"] = "mean"
    summaries: bool = False
    reads: bool = False
    rounds: bool = False


RETRIEVERS = Registry[TreeRetriever]("retriever over trees", "disco_rag.retrievers")
"""Retrievers over trees by name, as ``retriever=`` knows them beside ``dense``, ``hybrid`` and ``all``."""

register_retriever = RETRIEVERS.register

for _name, _help in {
    "sentences": "single sentences (a baseline of DISRetrieval)",
    "chunks": "chunks of 100 words (a baseline of DISRetrieval)",
    "smoothed": "a control: sentences scored with their neighbours",
    "expand": "a control: the best sentences with their neighbours",
    "slide": "a control: all runs of 2, 4, 8 and 16 sentences",
    "snapped": "ours: runs of sentences whose borders follow the author's paragraphs and headings",
    "bisection": "halves of halves of the sentences (a baseline of DISRetrieval)",
    "windows": "seven neighbours at a time (a baseline of RAPTOR)",
    "discourse": "DISRetrieval: RST over the sentences of each paragraph, then over the paragraphs",
    "unified": "ours: headings and paragraphs, RST inside paragraphs",
    "raptor": "RAPTOR: clusters and their summaries, the best nodes of all layers",
    "raptor-traversal": "RAPTOR: the same from the roots down, layer by layer",
    "htsir": "HTSIR: the author's sections and their summaries, reranked",
    "rdr2": "RDR2: a router walks the headings",
}.items():
    RETRIEVERS.offer(_name, f"discorag.retrieval.retrievers:{_name.upper().replace('-', '_')}", _help)
