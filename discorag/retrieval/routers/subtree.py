"""What a router sees of a document: all its headings, and the passages that are unfolded now.

Source: RDR² section 3.2 and appendix A.1, algorithm 1. The paper abbreviates its retrieval subtree as RST; here RST
is Rhetorical Structure Theory only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from discorag.discourse.parse.inline import escape
from discorag.schema.errors import InvariantError
from discorag.schema.retrieval_tree import RetrievalTree


@dataclass(frozen=True)
class RetrievalSubtree:
    """All structure nodes (inner nodes) of a tree, and of its content nodes (leaves) those that are lit.

    Args:
        tree: The document's tree, most naturally `discorag.retrieval.builders.headings.HeadingBuilder`'s.
        lit: Leaves that are shown now, in text order.
        seen: Leaves that have been shown so far, those of ``lit`` included; it only grows.

    Example:
        >>> from discorag.retrieval.routers.subtree import derive
        >>> print(derive(tree, [0]).render())
        0 #: Tides
         1: The moon pulls the sea. Therefore tides rise twice a day.
         2 #+: Spring tides
    """

    tree: RetrievalTree
    lit: tuple[int, ...]
    seen: frozenset[int]

    @cached_property
    def order(self) -> tuple[tuple[int, int], ...]:
        """Every node with its depth, in pre-order; a node's place in it is its id in prompts, the first root's is 0.

        In a cluster tree a node with several parents stands under the first of them only.
        """
        found: dict[int, int] = {}
        stack = [(root, 0) for root in self._from_last(self.tree.roots)]
        while stack:
            node, depth = stack.pop()
            if node not in found:
                found[node] = depth
                stack += [(child, depth + 1) for child in self._from_last(self.tree.nodes[node].children)]
        return tuple(found.items())

    @cached_property
    def visible(self) -> frozenset[int]:
        """Structure nodes and lit leaves: what a router may select."""
        return frozenset(range(self.tree.leaves, len(self.tree.nodes))) | frozenset(self.lit)

    @cached_property
    def collapsed(self) -> tuple[int, ...]:
        """Structure nodes that hide passages, in pre-order."""
        return tuple(node for node, _ in self.order if node >= self.tree.leaves and self.hidden(node))

    def hidden(self, node: int) -> tuple[int, ...]:
        """Leaves that unfolding the structure node ``node`` would show for the first time, in text order.

        They are the passages directly under the heading: its subheadings, which are always shown, are unfolded one by
        one (RDR² section 3.2, "content nodes under a single router-selected heading"; appendix D).
        """
        own = (child for child in self.tree.nodes[node].children if child < self.tree.leaves)
        return tuple(leaf for leaf in own if leaf not in self.seen)

    def expand(self, node: int) -> RetrievalSubtree:
        """The subtree after [EXPAND]: the lit passages give way to those that ``node`` hid.

        It is this very object if ``node`` hides nothing.

        Raises:
            InvariantError: ``node`` is no structure node of the tree.

        Source: RDR² section 3.2, equation 3.
        """
        if not self.tree.leaves <= node < len(self.tree.nodes):
            raise InvariantError(
                f"Node {node} cannot be expanded: it is no inner node.",
                hint=f"Inner nodes are {self.tree.leaves} to {len(self.tree.nodes) - 1}.",
            )
        hidden = self.hidden(node)
        return RetrievalSubtree(self.tree, hidden, self.seen | set(hidden)) if hidden else self

    def render(self) -> str:
        """One escaped line per visible node, indented by its depth, ``id: text``, in pre-order.

        A heading's id is followed by ``#``, a collapsed one's by ``#+``. Texts cannot imitate lines or close fences:
        white space in them is single spaces, and ``& < > |`` are character entities.

        Source: RDR² section 3.3 (newline-delimited, indented "id: text"); the marks are ours.
        """
        collapsed = set(self.collapsed)
        lines: list[str] = []
        for number, (index, depth) in enumerate(self.order):
            if index in self.visible:
                node = self.tree.nodes[index]
                mark = f" #{'+' if index in collapsed else ''}" if node.children else ""
                lines.append(f"{' ' * depth}{number}{mark}: {escape(' '.join((node.heading or node.text).split()))}")
        return "\n".join(lines)

    def _from_last(self, nodes: Sequence[int]) -> list[int]:
        """Nodes in reverse text order, so that a stack gives them back in text order."""
        return sorted(nodes, key=lambda i: (self.tree.nodes[i].spans[0].start, i), reverse=True)


def derive(tree: RetrievalTree, retrieved: Iterable[int]) -> RetrievalSubtree:
    """The subtree from which routing starts: the retrieved passages and the passages beside them are lit.

    Algorithm 1 also lights content nodes above and below them; here every content node is a leaf under a structure
    node, so there are none. Without retrieved passages only headings are visible.

    Args:
        tree: The document's tree.
        retrieved: Leaves of it.

    Raises:
        InvariantError: A retrieved node is no leaf.

    Source: RDR² appendix A.1, algorithm 1.
    """
    lit: set[int] = set()
    for leaf in retrieved:
        if not 0 <= leaf < tree.leaves:
            raise InvariantError(
                f"Node {leaf} is no leaf: this tree's are 0 to {tree.leaves - 1}.",
                hint="Pass the leaves below an inner node: tree.leaves_of.",
            )
        groups = [tree.nodes[parent].children for parent in tree.parents[leaf]] or [tree.roots]
        lit.update(node for group in groups for node in group if node < tree.leaves)
    return RetrievalSubtree(tree, tuple(sorted(lit)), frozenset(lit))
