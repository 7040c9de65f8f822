"""A stored retrieval tree level by level, as a reader unfolds it.

Trees of overlapping runs of sentences (`snapped`, the default) and trees of leaves alone have no levels of
their own: their leaves are shown below the document's sections and paragraphs, which the runs' borders follow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from itertools import takewhile

from pydantic import BaseModel

from discorag.ingest.segment.headings import build_hierarchy
from discorag.retrieval.builders.base import inner
from discorag.schema.document import Document, Hierarchy, Kind, Scope
from discorag.schema.errors import NotFoundError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, first_words
from discorag.store.outline import leaf_runs
from discorag.store.recent import Recent
from discorag.store.store import Store

TEXT = 600
"""Characters of a node's text that are shown."""
STRETCHES = 200
"""Stretches of the document that are shown of one node: a cluster's sentences may lie far apart."""
_WORDS = 60
_REMEMBERED = Recent[RetrievalTree](16)
"""By the document's content and the tree's builder."""


class NodeKind(StrEnum):
    """What a shown node is: a leaf (``text``), or what it is named by; a ``summary`` says it in other words."""

    TEXT = "text"
    SECTION = "section"
    RELATION = "relation"
    SUMMARY = "summary"
    GROUP = "group"


class ShownNode(BaseModel, frozen=True):
    """A node as a reader sees it, with its parent (None for a root) and the beginning of its text.

    ``spans`` are the stretches of the document that it covers, ``leaves`` those at or below it, ``children`` how many
    nodes lie directly below it, ``relation`` how these relate, where a parser said so.
    """

    node: int
    parent: int | None
    kind: NodeKind
    text: str
    heading: str
    relation: str
    spans: tuple[Span, ...]
    leaves: int
    children: int


class Levels(BaseModel, frozen=True):
    """A part of the tree of a document by one builder; ``builders`` has those of which a tree is stored."""

    builder: str = ""
    builders: tuple[str, ...] = ()
    leaves: int = 0
    roots: int = 0
    nodes: tuple[ShownNode, ...] = ()


def unfold(
    store: Store,
    scope: Scope,
    doc_id: str,
    builder: str | None = None,
    below: Sequence[int] = (),
    offset: int = 0,
    limit: int = 100,
) -> Levels:
    """What lies directly below some nodes of a stored tree, or the roots; nothing is built. Blocks.

    ``builder`` None: the first of which a tree is stored; the result is empty where none is. Of the children of each
    node ``limit`` are shown, from ``offset`` on.

    Raises:
        NotFoundError: The document, its tree by this builder, or a node is not there.
    """
    document = store.document(scope, doc_id)
    stored = tuple(sorted(store.tree_builders(scope, doc_id), key=lambda name: (name != "snapped", name)))
    if builder is None and not stored:
        return Levels()
    chosen = builder or stored[0]
    tree = _with_levels(store.tree(scope, doc_id, chosen), document)
    nodes, runs = list[ShownNode](), leaf_runs(tree)
    if (highest := max(below, default=0)) >= len(tree.nodes):
        raise NotFoundError(f"The tree has no node {highest}.", hint=f"It has {len(tree.nodes)}, from 0.")
    for parent, children in [(at, tree.nodes[at].children) for at in below] or [(None, tree.roots)]:
        ordered = sorted(children, key=lambda n: tree.nodes[n].spans[0].start)
        nodes += [_show(tree, node, parent, runs[node]) for node in ordered[offset : offset + limit]]
    return Levels(builder=chosen, builders=stored, leaves=tree.leaves, roots=len(tree.roots), nodes=tuple(nodes))


def _with_levels(tree: RetrievalTree, document: Document) -> RetrievalTree:
    """The tree itself, or, where it has no levels of its own, the author's over its leaves."""
    if not has_no_levels(tree):
        return tree
    key = f"{document.content_hash} {tree.builder} {tree.leaves}"
    return _REMEMBERED.get(key) or _REMEMBERED.put(key, build_author_levels(tree, build_hierarchy(document)))


def has_no_levels(tree: RetrievalTree) -> bool:
    """Whether all that it has are leaves and runs of neighbouring leaves, some of which overlap, or no runs at all."""
    runs = [node.children for node in tree.nodes[tree.leaves :]]
    flat = all(run[-1] < tree.leaves and run[-1] - run[0] == len(run) - 1 for run in runs)
    return flat and (not runs or any(len(parents) > 1 for parents in tree.parents))


def build_author_levels(tree: RetrievalTree, hierarchy: Hierarchy) -> RetrievalTree:
    """The leaves of a tree below the sections and paragraphs in which they stand.

    A node with a single child is left out, and the child takes its place.
    """
    nodes = list(tree.nodes[: tree.leaves])
    below = defaultdict[int | None, list[int]](list)
    parts = [i for i, part in enumerate(hierarchy.nodes) if part.kind is not Kind.SENTENCE]
    for leaf, node in enumerate(nodes):
        below[_owner(hierarchy, parts, node.spans[0])].append(leaf)
    for i, part in reversed(list(enumerate(hierarchy.nodes))):
        children = below.pop(i, [])
        if len(children) > 1:
            text = part.heading or _beginning(tree, part.span)
            nodes.append(inner(nodes, children, text, heading=part.heading))
            children = [len(nodes) - 1]
        below[part.parent] += children
    return RetrievalTree(builder=tree.builder, nodes=tuple(nodes))


def _beginning(tree: RetrievalTree, part: Span) -> str:
    """The first words of the leaves in a part of the document."""
    first = bisect_left(range(tree.leaves), part.start, key=lambda leaf: tree.nodes[leaf].spans[0].start)
    inside = takewhile(lambda leaf: part.contains(leaf.spans[0]), tree.nodes[first : min(first + _WORDS, tree.leaves)])
    return first_words((leaf.text for leaf in inside), _WORDS)


def _owner(hierarchy: Hierarchy, parts: Sequence[int], leaf: Span) -> int:
    """The innermost section, paragraph or document around a leaf."""
    at = parts[bisect_right(parts, leaf.start, key=lambda part: hierarchy.nodes[part].span.start) - 1]
    while at and not hierarchy.nodes[at].span.contains(leaf):
        at = hierarchy.nodes[at].parent or 0
    return at


def _show(tree: RetrievalTree, at: int, parent: int | None, runs: Sequence[tuple[int, int]]) -> ShownNode:
    """A node whose leaves are these runs."""
    node = tree.nodes[at]
    leaves = [leaf for start, stop in runs for leaf in tree.nodes[start:stop]]
    spans = [Span(start=tree.nodes[a].spans[0].start, end=tree.nodes[b - 1].spans[0].end) for a, b in runs[:STRETCHES]]
    return ShownNode(
        node=at,
        parent=parent,
        kind=_kind(node, leaves),
        text=node.text if len(node.text) <= TEXT else f"{node.text[:TEXT].rstrip()}…",
        heading=node.heading,
        relation=node.relation,
        spans=tuple(spans),
        leaves=len(leaves),
        children=len(node.children),
    )


def _kind(node: RetrievalNode, leaves: Sequence[RetrievalNode]) -> NodeKind:
    if not node.children:
        return NodeKind.TEXT
    if node.heading:
        return NodeKind.SECTION
    below = (word for leaf in leaves for word in leaf.text.split())
    own_words = node.text.split()[:-1]  # the last word may be cut
    if any(own != there for own, there in zip(own_words, below, strict=False)):
        return NodeKind.SUMMARY
    return NodeKind.RELATION if node.relation else NodeKind.GROUP
