"""RDR²'s walk through a document: what a router sees of it, and the steps until the router is done.

Source: RDR² section 3.1 (equations 2 to 6), sections 3.2 and 3.3, appendix A.1. The paper abbreviates its retrieval
subtree as RST; here RST is Rhetorical Structure Theory only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Protocol

from discorag.discourse.parse.inline import escape
from discorag.schema.errors import InvalidOutputError, InvariantError, ModelError, Usage
from discorag.schema.ledger import Failure
from discorag.schema.retrieval_tree import RetrievalTree

STAGE = "route"


@dataclass(frozen=True)
class RetrievalSubtree:
    """All structure nodes (inner nodes) of a tree, and of its content nodes (leaves) those that are lit, in text order.

    ``seen`` are the leaves that have been shown so far, those of ``lit`` included; it only grows.
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
            InvariantError: ``node`` is not a structure node of the tree.

        Source: RDR² section 3.2, equation 3.
        """
        if not self.tree.leaves <= node < len(self.tree.nodes):
            raise InvariantError(
                f"Node {node} cannot be expanded: it is not an inner node.",
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
    """The subtree from which routing starts: the retrieved passages and their siblings are lit.

    Algorithm 1 also lights content nodes above and below them; here every content node is a leaf under a structure
    node, so there are none. Without retrieved passages only headings are visible.

    Raises:
        InvariantError: A retrieved node is not a leaf.

    Source: RDR² appendix A.1, algorithm 1.
    """
    lit: set[int] = set()
    for leaf in retrieved:
        if not 0 <= leaf < tree.leaves:
            raise InvariantError(
                f"Node {leaf} is not a leaf: this tree's are 0 to {tree.leaves - 1}.",
                hint="Pass the leaves below an inner node: tree.leaves_of.",
            )
        groups = [tree.nodes[parent].children for parent in tree.parents[leaf]] or [tree.roots]
        lit.update(node for group in groups for node in group if node < tree.leaves)
    return RetrievalSubtree(tree, tuple(sorted(lit)), frozenset(lit))


@dataclass(frozen=True)
class Decision:
    """A router's actions in one step: lit leaves that [ANSWER] selects, and the structure node that [EXPAND] unfolds.

    With neither it is [REFUSE].
    """

    answer: tuple[int, ...] = ()
    expand: int | None = None
    usage: Usage = field(default_factory=Usage)


class Router(Protocol):
    """Decides the next step in one document."""

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """What to select and what to unfold, among visible nodes.

        Raises:
            ModelError: From routers that call a model.
        """
        ...


class Ending(StrEnum):
    """Why a walk ended.

    ``ANSWERED``: the last step selected passages and unfolded nothing. ``REFUSED``: it did neither. ``LOOP``: it
    unfolded what hides nothing. ``LIMIT``: no expansion was left. ``FAILED``: see the failures.
    """

    ANSWERED = "answered"
    REFUSED = "refused"
    LOOP = "loop"
    LIMIT = "limit"
    FAILED = "failed"


@dataclass(frozen=True)
class Routed:
    """A walk through one document: for each step the leaves that it selected (equation 6), none of them twice.

    ``ending`` says why it ended, None while it has not; ``failures`` what a router could not do: what was selected
    before stays.
    """

    steps: tuple[tuple[int, ...], ...] = ()
    subtree: RetrievalSubtree = field(kw_only=True)
    ending: Ending | None = None
    usage: Usage = field(default_factory=Usage)
    failures: tuple[Failure, ...] = ()

    @property
    def in_step_order(self) -> tuple[int, ...]:
        """The routed leaves in the order in which they were selected (equation 5)."""
        return tuple(chain.from_iterable(self.steps))


async def step_all(question: str, walks: Sequence[Routed], router: Router, expand_iter: int) -> list[Routed]:
    """Take each walk (begun with `derive`) one step further, all at the same time; ended ones stay as they are.

    A walk ends when the router unfolds nothing, unfolds what hides nothing, or has used up its ``expand_iter``
    expansions, of which 0 only selects (RDR² table 9). A decision that a model could not make, or that names nodes
    which are not visible, is dropped and counted as a failure, and ends the walk of that document.

    Source: RDR² section 3.1.
    """
    return list(await asyncio.gather(*(_step(question, walk, router, expand_iter) for walk in walks)))


async def _step(question: str, walk: Routed, router: Router, expand_iter: int) -> Routed:
    if walk.ending is not None:
        return walk
    try:
        decision = await router.decide(question, walk.subtree)
        _check_visible(decision, walk.subtree)
    except ModelError as error:
        failure = Failure.of(STAGE, error, fallback="the passages selected before")
        usage = walk.usage + (error.usage or Usage())
        return replace(walk, ending=Ending.FAILED, usage=usage, failures=(failure,))
    # lit leaves are new ones: no step repeats another's
    steps = (*walk.steps, tuple(dict.fromkeys(decision.answer)))
    limit = len(steps) > expand_iter
    opened = walk.subtree if decision.expand is None or limit else walk.subtree.expand(decision.expand)
    ending = None
    if opened is walk.subtree and decision.expand is not None:
        ending = Ending.LIMIT if limit else Ending.LOOP
    elif opened is walk.subtree:
        ending = Ending.ANSWERED if decision.answer else Ending.REFUSED
    return Routed(steps, subtree=opened, ending=ending, usage=walk.usage + decision.usage)


def _check_visible(decision: Decision, subtree: RetrievalSubtree) -> None:
    headings = range(subtree.tree.leaves, len(subtree.tree.nodes))
    wrong = sorted(set(decision.answer) - set(subtree.lit))
    if decision.expand is not None and decision.expand not in headings:
        wrong.append(decision.expand)
    if wrong:
        raise InvalidOutputError(
            f"The router selected nodes that are not there to select: {wrong}.",
            hint="It may answer with lit leaves and expand inner nodes.",
            usage=decision.usage,
        )
