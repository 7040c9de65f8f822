"""RDR² over several documents, a round at a time: whoever drives the rounds may look at each, and keep it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discorag.retrieval.registry import SelectedNodes, TreeQuery
from discorag.retrieval.routers.subtree import RetrievalSubtree, derive
from discorag.retrieval.routers.walk import Ending, Routed, stepped
from discorag.retrieval.selectors.evidence import within
from discorag.schema.ledger import Failure
from discorag.schema.usage import Usage

PASSAGES = 5
"""RDR² section 4.3."""
_UNROUTED = Failure(
    stage="route",
    kind="Unrouted",
    message="The router selected no passage in any document, and failed in some.",
    fallback="the passages nearest the question",
)


@dataclass(frozen=True)
class Rounds:
    """Walks through the headings of the documents that the best passages stand in.

    Args:
        walks: By the document's place in the forest, the best passage's first.

    Source: RDR² section 3.1.

    Example:
        >>> from discorag.retrieval.forest import Forest
        >>> from discorag.retrieval.registry import TreeQuery
        >>> from discorag.retrieval.rounds import Rounds
        >>> from discorag.retrieval.routers.local import LocalRouter
        >>> from discorag.retrieval.scores import Scores
        >>> forest, router = Forest({"tides": tree}), LocalRouter(encoder)
        >>> scores = Scores(forest, np.arange(len(tree.nodes)) * 1.0, forest.words)
        >>> asked = TreeQuery("Why does the moon pull the sea?", scores, 100, rag.backends.reranker, router)
        >>> rounds = asyncio.run(Rounds.begun(asked).next(asked))
        >>> rounds.told(asked)[0]["selected"], rounds.over
        ([[0, 1]], True)
    """

    walks: Mapping[int, Routed]

    @classmethod
    def begun(cls, asked: TreeQuery) -> Rounds:
        """Where the walks start: the best passages and those beside them are shown."""
        forest, retrieved = asked.scores.forest, dict[int, list[int]]()
        for leaf in _best(asked):
            retrieved.setdefault(int(forest.owners[leaf]), []).append(forest.local(leaf))
        return cls({d: Routed(subtree=derive(forest.of(d), leaves)) for d, leaves in retrieved.items()})

    @classmethod
    def read(cls, asked: TreeQuery, told: list[dict[str, Any]]) -> Rounds:
        """Rounds from what `told` gave, over the same documents; those that are gone since are left out."""
        places = {doc_id: place for place, doc_id in enumerate(asked.scores.forest.documents)}
        known = ((places[w["document"]], w) for w in told if w["document"] in places)
        return cls({place: _walk(asked, place, walk) for place, walk in known})

    def told(self, asked: TreeQuery) -> list[dict[str, Any]]:
        """The walks as JSON: the document, the leaves that are shown and were, those selected by step, the ending."""
        return [
            {
                "document": asked.scores.forest.documents[place],
                "shown": list(walk.subtree.lit),
                "seen": sorted(walk.subtree.seen),
                "selected": [list(step) for step in walk.steps],
                "ending": walk.ending,
            }
            for place, walk in self.walks.items()
        ]

    async def next(self, asked: TreeQuery) -> Rounds:
        """All walks that go on, one step further."""
        walks = await stepped(asked.question, list(self.walks.values()), asked.router, asked.unfold)
        return Rounds(dict(zip(self.walks, walks, strict=True)))

    @property
    def over(self) -> bool:
        """Whether all walks have ended."""
        return all(walk.ending is not None for walk in self.walks.values())

    @property
    def usage(self) -> Usage:
        """Tokens of the walks, since they were begun or read."""
        return sum((walk.usage for walk in self.walks.values()), Usage())

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What the router could not do, since they were begun or read."""
        return tuple(failure for walk in self.walks.values() for failure in walk.failures)

    def chosen(self, asked: TreeQuery) -> SelectedNodes:
        """What was selected, in step order, as far as it fits.

        Where the router refuses every document, so does this. Where it selected nothing because it failed, the best
        passages stand in, and that is told.
        """
        forest, scores = asked.scores.forest, asked.scores
        routed = [forest.number(d, leaf) for d, walk in self.walks.items() for leaf in walk.in_step_order]
        if routed:
            return SelectedNodes(within(routed, scores.sizes, asked.words), self.usage, self.failures)
        nearest = within(_best(asked), scores.sizes, asked.words)
        if any(walk.ending is Ending.FAILED for walk in self.walks.values()):
            return SelectedNodes(nearest, self.usage, (*self.failures, _UNROUTED))
        return SelectedNodes(nearest, self.usage, refused=True)


def _best(asked: TreeQuery) -> list[int]:
    leaves = asked.scores.forest.tree.leaves
    return np.argsort(-asked.scores.nodes[:leaves], kind="stable")[: asked.k or PASSAGES].tolist()


def _walk(asked: TreeQuery, place: int, told: dict[str, Any]) -> Routed:
    tree = asked.scores.forest.of(place)
    subtree = RetrievalSubtree(tree, tuple(told["shown"]), frozenset(told["seen"]))
    ending = Ending(told["ending"]) if told["ending"] else None
    return Routed(tuple(tuple(step) for step in told["selected"]), subtree=subtree, ending=ending)
