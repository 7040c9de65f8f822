"""What the nodes that build or ask retrieval trees have in common."""

from __future__ import annotations

from discorag.trees.index import TreeIndex
from discorag.trees.registry import TreeRetriever
from discorag.types.document import Scope
from discorag.types.ledger import Failure
from nodes.resources import Resources
from nodes.stage import Stage


def tree_index(retriever: TreeRetriever, deps: Resources, scope: Scope, parser: str) -> TreeIndex:
    """The trees of a retriever's builder; inner nodes are encoded by their summaries where a model writes them."""
    how = "text" if deps.model and retriever.summaries else retriever.vectors
    return TreeIndex(deps.store, scope, deps.encoder, retriever.build(deps.tree_tools(parser)), how)


def noted(stage: Stage, index: TreeIndex) -> None:
    """Put what building trees took, and what failed in it, into the stage's record."""
    made = index.effort
    stage.usage += made.usage
    stage.failures += [
        Failure(stage=stage.name, kind="summary", message=message, fallback="extractive text")
        for message in made.failures
    ]
    stage.counts = {"trees built": made.built, "parses": made.parsed, "parses known": made.reused}
