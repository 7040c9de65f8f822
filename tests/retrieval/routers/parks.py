"""The document of RDR² table 16, rebuilt in our own words with its outline and its node ids."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import count, islice

from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.base import Source
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.retrieval.routers.walk import RetrievalSubtree, Router, Walk
from discorag.schema.document import Document, Markup
from discorag.schema.retrieval_tree import RetrievalTree

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


async def _six_flags() -> RetrievalTree:
    text = "\n\n".join(_blocks())
    document = Document(uri="parks.md", title=TITLE, text=text, markup=Markup.INLINE)
    source = Source(document=document, hierarchy=build_hierarchy(document))
    return (await HeadingBuilder(PackagedTokens()).build(source)).tree


def _blocks() -> Iterator[str]:
    ids = count()
    for level, heading, passages in _OUTLINE:
        yield f"{'#' * (level + 1)} {heading}"
        next(ids)
        for i in islice(ids, passages):
            yield _PASSAGES.get(i, f"Something else, told as number {i}.")


PARKS = asyncio.run(_six_flags())


def nodes(*ids: int) -> tuple[int, ...]:
    """The nodes of these ids of table 16, which gives the root -1; prompts give it 0, so theirs are one more."""
    every = RetrievalSubtree(PARKS, tuple(range(PARKS.leaves)), frozenset()).lines
    return tuple(every[i + 1].node for i in ids)


def ids(selected: Iterable[int]) -> list[int]:
    """The ids of table 16 of these nodes."""
    every = RetrievalSubtree(PARKS, tuple(range(PARKS.leaves)), frozenset()).lines
    of = {line.node: line.id - 1 for line in every}
    return [of[node] for node in selected]


def begin(*retrieved: int, by_passage: bool = False) -> Walk:
    """A walk that starts from the passages of these ids of table 16."""
    return Walk.begin(PARKS, nodes(*retrieved), by_passage=by_passage)


async def to_the_end(walk: Walk, router: Router, *, unfold: int = 5, question: str = QUESTION) -> Walk:
    """The walk when it is over."""
    await walk.run(question, router, unfold)
    return walk
