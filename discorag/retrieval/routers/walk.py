"""RDR²'s walk through a document: what a router sees in each step, until nothing is left to show.

Source: RDR² section 3.1 (equations 2 to 6), sections 3.2 and 3.3, appendix A.1. The paper abbreviates its retrieval
subtree as RST; here RST is Rhetorical Structure Theory only.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal, NamedTuple, Protocol, Self

from discorag.schema.errors import ModelError, Usage
from discorag.schema.ledger import Failure
from discorag.schema.retrieval_tree import RetrievalTree

STAGE = "route"


class Line(NamedTuple):
    """A node that a router sees, with its heading or passage; ``id`` (in prompts) and ``depth`` are 0 for the root."""

    id: int
    node: int
    depth: int
    kind: Literal["passage", "heading", "collapsed"]
    text: str


@dataclass(frozen=True)
class RetrievalSubtree:
    """What is visible of a tree of headings: all structure nodes (inner nodes), and the content nodes in ``passages``.

    ``seen`` are the content nodes (leaves) that were shown before or wait in the queue: no heading hides them.
    """

    tree: RetrievalTree
    passages: tuple[int, ...]
    seen: frozenset[int]
    has_headings: bool = True

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The visible nodes in pre-order; their ids are their places in the pre-order of all nodes."""
        order, stack = list[tuple[int, int]](), [(root, 0) for root in self._from_last(self.tree.roots)]
        while stack:
            node, depth = stack.pop()
            order.append((node, depth))
            stack += [(child, depth + 1) for child in self._from_last(self.tree.nodes[node].children)]
        shown, lines = frozenset(self.passages), list[Line]()
        for i, (index, depth) in enumerate(order):
            node = self.tree.nodes[index]
            if index in shown:
                lines.append(Line(i, index, depth, "passage", node.text))
            elif node.children and self.has_headings:
                kind = "collapsed" if self.hidden(index) else "heading"
                lines.append(Line(i, index, depth, kind, node.heading or node.text))
        return tuple(lines)

    @property
    def collapsed(self) -> tuple[int, ...]:
        """Structure nodes that hide passages, in pre-order."""
        return tuple(line.node for line in self.lines if line.kind == "collapsed")

    def hidden(self, node: int) -> tuple[int, ...]:
        """Leaves that are shown for the first time if the structure node ``node`` is unfolded, in text order.

        They are the passages directly under the heading. Its subheadings, which are always visible, are unfolded one by
        one (RDR² section 3.2, "content nodes under a single router-selected heading"; appendix D).
        """
        own = (child for child in self.tree.nodes[node].children if child < self.tree.leaves)
        return tuple(leaf for leaf in own if leaf not in self.seen)

    def _from_last(self, nodes: Sequence[int]) -> list[int]:
        """Nodes in reverse text order, so that a stack gives them back in text order."""
        return sorted(nodes, key=lambda i: (self.tree.nodes[i].spans[0].start, i), reverse=True)


@dataclass(frozen=True)
class Decision:
    """A router's actions in one step: visible leaves for [ANSWER], collapsed structure nodes for [EXPAND].

    Without any, it is [REFUSE].
    """

    answer: tuple[int, ...] = ()
    expand: tuple[int, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Router(Protocol):
    """Decides the next step in one document."""

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """What to select and unfold among the visible nodes. Raises `ModelError` if a model fails."""
        ...


@dataclass
class Walk:
    """A walk through one document; it is over when nothing waits to be shown.

    Args:
        tree: A tree of headings (`HeadingBuilder`).
        retrieved: The leaves from which it started, best first.
        queue: Groups of leaves to show, one group a step.
        seen: Leaves that were shown or are in the queue.
        expansions: Headings that were put into the queue.
        steps: The leaves that each step selected, none twice in a step (equation 6).
    """

    tree: RetrievalTree
    retrieved: tuple[int, ...]
    queue: deque[tuple[int, ...]]
    seen: set[int]
    expansions: int = 0
    steps: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    usage: Usage = field(default_factory=Usage)
    failures: list[Failure] = field(default_factory=list[Failure])

    @classmethod
    def begin(cls, tree: RetrievalTree, retrieved: Iterable[int], *, by_passage: bool = False) -> Self:
        """Start a walk from the retrieved leaves and their siblings (appendix A.1, algorithm 1).

        All of them are shown at once (equation 3), or with ``by_passage`` those of one retrieved leaf after another
        (appendix D, and the authors' code). Algorithm 1 also shows content nodes above and below them. Here there are
        none, because every content node is a leaf under a structure node.
        """
        leaves = tuple(retrieved)
        groups = deque(dict.fromkeys(_with_siblings(tree, leaf) for leaf in leaves))
        seen = set(chain.from_iterable(groups))
        return cls(tree, leaves, groups if by_passage else deque([tuple(sorted(seen))]), seen)

    @property
    def subtree(self) -> RetrievalSubtree:
        """What the router sees in the next step."""
        return RetrievalSubtree(self.tree, self.queue[0], frozenset(self.seen))

    @property
    def selected(self) -> list[int]:
        """The routed leaves in the order in which they were selected (equation 5)."""
        return list(chain.from_iterable(self.steps))

    async def run(self, question: str, router: Router, unfold: int) -> None:
        """Walk to the end (equations 2 to 4).

        The new passages under each heading that the router unfolds join the queue, for at most ``unfold`` headings
        (RDR² table 9; with 0 the router only selects). A step that the router fails to decide selects nothing.
        """
        while self.queue:
            subtree = self.subtree
            self.queue.popleft()
            try:
                decision = await router.decide(question, subtree)
            except ModelError as error:
                self.failures.append(Failure.of(STAGE, error, fallback="the passages selected before"))
                self.usage += error.usage or Usage()
                continue
            self.usage += decision.usage
            opened = tuple(dict.fromkeys(decision.expand))[: unfold - self.expansions]
            self.expansions += len(opened)
            groups = [subtree.hidden(heading) for heading in opened]
            self.queue += groups
            self.seen.update(*groups)
            self.steps.append(tuple(dict.fromkeys(decision.answer)))


def _with_siblings(tree: RetrievalTree, leaf: int) -> tuple[int, ...]:
    [parent] = tree.parents[leaf]
    return tuple(child for child in tree.nodes[parent].children if child < tree.leaves)
