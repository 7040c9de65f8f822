"""The document of RDR² table 16, rebuilt in our own words with its outline and its node ids, and scripted routers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice

from hypothesis import strategies as st

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import Source
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, Routed, Router, derive, step_all
from discorag.schema.document import Document
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.strategies import retrieval_trees

QUESTION = "What is the tallest ride at six flags over texas?"

# Level, heading, number of passages directly under it. Where the table elides nodes, the number keeps its ids.
_OUTLINE = (
    (1, "Introduction", 2),
    (1, "History", 0),
    (2, "Initial planning and construction", 11),
    (2, "1990s", 1),
    (2, "2000s", 1),
    (2, "2010s", 8),
    (1, "Firsts, bests, and other records", 0),
    (2, "Firsts and ones of a kind", 9),
    (2, "Records", 4),
    (2, "Awards", 2),
    (1, "Events", 5),
    (1, "Areas and attractions", 1),
    (2, "Star Mall", 100),
    (2, "Tower", 10),
    (1, "Former Attractions", 1),
)

_PASSAGES = {
    1: "The theme park covers 212 acres in Arlington, between Dallas and Fort Worth.",
    2: "A company runs the park; it also owns just over half of the partnership to which the park belongs.",
    17: "The 1990s were a hard decade, although they began well, with the Texas Giant roller coaster.",
    19: "In 2001 came Titan, the park's tallest and fastest coaster; in 2003 came Superman Tower of Power.",
    41: "Tallest roller coaster in Texas: Titan, 245 feet.",
    42: "Fastest roller coaster in Texas: Titan, 85 miles per hour.",
    43: "Largest oil derrick on land: Oil Derrick, 300 feet.",
    44: "Tallest swing ride in the world: Texas SkyScreamer, 400 feet, 2013.",
}

TITLE = "Six Flags Over Texas"


async def six_flags() -> RetrievalTree:
    text = "\n\n".join(_blocks())
    document = Document(uri="parks.md", title=TITLE, text=text, media_type="text/markdown")
    source = Source(document=document, hierarchy=build_hierarchy(document))
    return (await HeadingBuilder(PackagedTokens()).build(source)).tree


def _blocks() -> Iterator[str]:
    ids = count()
    for level, heading, passages in _OUTLINE:
        yield f"{'#' * (level + 1)} {heading}"
        next(ids)
        for i in islice(ids, passages):
            yield _PASSAGES.get(i, f"Something else, told as number {i}.")


def nodes(tree: RetrievalTree, *ids: int) -> tuple[int, ...]:
    """The nodes of these ids of table 16, which gives the root -1; prompts give it 0, so theirs are one more."""
    order = derive(tree, ()).order
    return tuple(order[i + 1][0] for i in ids)


def ids(tree: RetrievalTree, selected: Iterable[int]) -> list[int]:
    """The ids of table 16 of these nodes."""
    of = {node: i - 1 for i, (node, _) in enumerate(derive(tree, ()).order)}
    return [of[node] for node in selected]


@dataclass
class ScriptedRouter:
    """Gives out its decisions in order; the subtrees that it was shown are kept."""

    decisions: list[Decision]
    shown: list[RetrievalSubtree] = field(default_factory=list[RetrievalSubtree])

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        self.shown.append(subtree)
        return self.decisions[len(self.shown) - 1]


async def walk(question: str, subtree: RetrievalSubtree, router: Router, expand_iter: int = 5) -> Routed:
    """A walk through one document until it ends."""
    routed = Routed(subtree=subtree)
    while routed.ending is None:
        [routed] = await step_all(question, [routed], router, expand_iter)
    return routed


@st.composite
def subtrees(draw: st.DrawFn) -> RetrievalSubtree:
    tree = draw(retrieval_trees(max_leaves=7))
    return derive(tree, draw(st.sets(st.integers(0, tree.leaves - 1), max_size=3)))
