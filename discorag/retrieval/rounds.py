"""RDR² over several documents, a round at a time: the caller may look at each round, and store it as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discorag.retrieval.registry import SelectedNodes, TreeQuery
from discorag.retrieval.routers.walk import Walk, WalkRules
from discorag.retrieval.selectors import leaf_ranking, within_budget
from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure
from discorag.schema.retrieval_tree import RetrievalTree

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
    """Walks through the headings of the documents that hold the best passages, by the document's place in the forest.

    Source: RDR² section 3.1.
    """

    walks: Mapping[int, Walk]

    @classmethod
    def begin(cls, query: TreeQuery, rules: WalkRules) -> Rounds:
        """Where the walks start."""
        forest, retrieved = query.scores.forest, dict[int, list[int]]()
        for leaf in _best(query):
            retrieved.setdefault(int(forest.owners[leaf]), []).append(forest.local(leaf))
        return cls({d: Walk.begin(forest.of(d), leaves, rules, query.question) for d, leaves in retrieved.items()})

    @classmethod
    def from_json(cls, query: TreeQuery, rules: WalkRules, walks: list[dict[str, Any]]) -> Rounds:
        """Rounds from what `to_json` gave, over the same documents; walks of deleted documents are left out."""
        forest = query.scores.forest
        places = {doc_id: place for place, doc_id in enumerate(forest.documents)}
        known = ((places[w["document"]], w) for w in walks if w["document"] in places)
        return cls({place: _walk(forest.of(place), rules, walk) for place, walk in known})

    def to_json(self, query: TreeQuery) -> list[dict[str, Any]]:
        """The walks as JSON, their leaves by number."""
        return [
            {
                "document": query.scores.forest.documents[place],
                "retrieved": list(walk.retrieved),
                "queue": [list(leaves) for leaves in walk.queue],
                "seen": sorted(walk.seen),
                "expansions": walk.expansions,
                "selected": [list(step) for step in walk.steps],
                "failed": walk.failed,
            }
            for place, walk in self.walks.items()
        ]

    async def next(self, query: TreeQuery) -> Rounds:
        """Take every unfinished walk one step further, all at the same time."""
        steps = (walk.next(query.question, query.router, query.unfold) for walk in self.walks.values())
        return Rounds(dict(zip(self.walks, await asyncio.gather(*steps), strict=True)))

    @property
    def unfinished(self) -> int:
        """Walks that go on."""
        return sum(bool(walk.queue) for walk in self.walks.values())

    @property
    def usage(self) -> Usage:
        """Tokens of the walks, since they began or were read."""
        return sum((walk.usage for walk in self.walks.values()), Usage())

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What the router could not do, since they began or were read."""
        return tuple(failure for walk in self.walks.values() for failure in walk.failures)

    def selection(self, query: TreeQuery) -> SelectedNodes:
        """What was selected, in step order, as far as it fits.

        Where the router refuses every document, so does this. Where it selected nothing because it failed, the best
        passages are used instead, and a failure says so.
        """
        forest, scores = query.scores.forest, query.scores
        routed = [forest.number(d, leaf) for d, walk in self.walks.items() for leaf in walk.selected]
        if routed:
            return SelectedNodes(within_budget(routed, scores.sizes, query.words), self.usage, self.failures)
        nearest = within_budget(_best(query), scores.sizes, query.words)
        if any(walk.failed for walk in self.walks.values()):
            return SelectedNodes(nearest, self.usage, (*self.failures, _UNROUTED))
        return SelectedNodes(nearest, self.usage, refused=True)


def _best(query: TreeQuery) -> list[int]:
    scores = query.scores
    return leaf_ranking(scores.nodes[: scores.forest.tree.leaves])[: query.k or PASSAGES]


def _walk(tree: RetrievalTree, rules: WalkRules, walk: dict[str, Any]) -> Walk:
    return Walk(
        tree,
        rules,
        retrieved=tuple(walk["retrieved"]),
        queue=tuple(map(tuple, walk["queue"])),
        seen=frozenset(walk["seen"]),
        expansions=walk["expansions"],
        steps=tuple(map(tuple, walk["selected"])),
        failed=walk["failed"],
    )
