"""The nodes of one document that can be retrieved: every builder makes such a tree, every selector walks it."""

from functools import cached_property
from typing import Self

from pydantic import BaseModel, Field, model_validator

from discorag.schema.errors import InvariantError
from discorag.schema.values import Span


class RetrievalNode(BaseModel, frozen=True):
    """A node that can be retrieved.

    Args:
        text: What is embedded: a leaf's own characters, or a text that stands for everything below an inner node.
        spans: The characters of the document that it covers, ascending and disjoint; one for a leaf.
        children: Indices of its children in the tree, ascending; none for a leaf.
        layer: 0 for leaves, above them one more than the highest child.
        heading: The section's heading, if the node is a section.
        context: For a sentence, the title and the headings above it, which are searched with it.
    """

    text: str = Field(min_length=1, repr=False)
    spans: tuple[Span, ...] = Field(min_length=1)
    children: tuple[int, ...] = ()
    layer: int = Field(default=0, ge=0)
    heading: str = ""
    context: str = ""


class RetrievalTree(BaseModel, frozen=True):
    """The retrievable nodes of one document: its leaves in text order, then inner nodes, children before parents.

    A *tree* in the field's loose sense: there may be several roots, and in a cluster tree a node may have several
    parents (RAPTOR section 3, soft clustering).

    Args:
        builder: Name of the builder, such as ``discourse``.
        nodes: Leaf ``i`` is node ``i``.

    Raises:
        InvariantError: Leaves overlap or are out of order, a child comes after its parent, or a layer is wrong
            (pydantic raises it as ``ValidationError``).
    """

    builder: str
    nodes: tuple[RetrievalNode, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        at = 0
        for i, node in enumerate(self.nodes):
            if i < self.leaves:
                if len(node.spans) != 1 or node.spans[0].start < at:
                    raise InvariantError(f"Leaf {i} is not one span after leaf {i - 1}.")
                at = node.spans[0].end
            elif not node.children or list(node.children) != sorted({c for c in node.children if 0 <= c < i}):
                raise InvariantError(f"The children of node {i} are not earlier nodes in order: {node.children}.")
            above = 1 + max((self.nodes[c].layer for c in node.children), default=-1)
            if node.layer != above:
                raise InvariantError(f"Node {i} is on layer {node.layer}; its children put it on layer {above}.")
        return self

    @cached_property
    def leaves(self) -> int:
        """How many of the nodes are leaves: the first ones."""
        return next((i for i, n in enumerate(self.nodes) if n.children), len(self.nodes))

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The parents of every node: none for a root, more than one only in cluster trees."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            for child in node.children:
                found[child].append(i)
        return tuple(map(tuple, found))

    @property
    def roots(self) -> tuple[int, ...]:
        """Nodes without a parent."""
        return tuple(i for i, parents in enumerate(self.parents) if not parents)
