"""A walk shows what the rules say, queues what the router unfolds, and outlives a model that fails."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.models.tokens import PackagedTokens
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, Walk
from discorag.schema.errors import ModelUnavailableError, Usage
from eval.retrievers import Part, begin_without
from tests.retrieval.builders.checks import source_of
from tests.retrieval.routers.parks import PARKS, QUESTION, TITLE, begin, ids, nodes, to_the_end


@dataclass
class ScriptedRouter:
    """Gives out its decisions in order, then refuses; the subtrees that it was shown are kept."""

    decisions: list[Decision]
    shown: list[RetrievalSubtree] = field(default_factory=list[RetrievalSubtree])

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        self.shown.append(subtree)
        return self.decisions.pop(0) if self.decisions else Decision()


def decision(*answer: int, expand: tuple[int, ...] = ()) -> Decision:
    return Decision(nodes(*answer), nodes(*expand), Usage(calls=1))


def test_the_rebuilt_document_has_the_ids_of_table_16() -> None:
    headings = {-1: TITLE, 0: "Introduction", 3: "History", 4: "Initial planning and construction", 16: "1990s"}
    headings |= {18: "2000s", 20: "2010s", 29: "Firsts, bests, and other records", 40: "Records", 45: "Awards"}
    headings |= {30: "Firsts and ones of a kind", 48: "Events", 54: "Areas and attractions", 56: "Star Mall"}
    headings |= {157: "Tower", 168: "Former Attractions"}
    lines = begin(41).subtree.lines
    assert {line.id - 1: line.text for line in lines if line.kind != "passage"} == headings
    assert ids([line.node for line in lines if line.kind == "passage"]) == [41, 42, 43, 44]


async def test_table_16_starts_from_each_passage_by_itself() -> None:
    """Appendix D: 17 leads to a refusal, 19 to the records."""
    replies = [decision(expand=(0,)), decision(19, expand=(40,)), decision(), decision(41, 44)]
    router = ScriptedRouter(replies)
    walk = await to_the_end(begin(17, 19, by_passage=True), router)
    assert [ids(subtree.passages) for subtree in router.shown] == [[17], [19], [1, 2], [41, 42, 43, 44]]
    assert ids(walk.selected) == [19, 41, 44]
    assert walk.usage.calls == 4


async def test_all_headings_of_a_set_are_unfolded_one_by_one_and_none_twice() -> None:
    """Equation 4: expansions are a set."""
    router = ScriptedRouter([decision(19, expand=(40, 16, 40)), decision(41, expand=(54,))])
    walk = await to_the_end(begin(19), router)
    assert [ids(subtree.passages) for subtree in router.shown] == [[19], [41, 42, 43, 44], [17], [55]]
    assert [ids(step) for step in walk.steps] == [[19], [41], [], []]
    hidden = [set(ids(subtree.collapsed)) for subtree in router.shown]
    assert {40, 16} <= hidden[0]
    assert not {40, 16} & hidden[1]  # 16 waits in the queue
    assert not {3, 29, 54} & hidden[3]  # headings above headings only hide nothing themselves


@pytest.mark.parametrize("unfold", [0, 1, 2])
async def test_expansions_are_limited_and_the_last_passages_shown_can_still_be_selected(unfold: int) -> None:
    steps = [decision(19, expand=(16, 40)), decision(17, expand=(0,)), decision(41)]
    walk = await to_the_end(begin(19), ScriptedRouter(steps), unfold=unfold)
    assert ids(walk.selected) == [19, 17, 41][: unfold + 1]


@pytest.mark.parametrize(
    ("without", "shown", "headings", "selected"),
    [
        ("structure", (42,), False, ()),
        ("content", (), True, ()),
        ("refuse", (41, 42, 43, 44), True, (42,)),
    ],
)
async def test_ablations_of_a_router_that_refuses(
    without: Part, shown: tuple[int, ...], headings: bool, selected: tuple[int, ...]
) -> None:
    router = ScriptedRouter([])
    walk = await to_the_end(begin_without(without, QUESTION, PARKS, nodes(42)), router)
    [subtree] = router.shown
    assert ids(subtree.passages) == list(shown)
    assert any(line.kind == "collapsed" for line in subtree.lines) is headings
    assert ids(walk.selected) == list(selected)


async def test_ablations_start_elsewhere_or_give_all_passages_of_an_unfolded_heading() -> None:
    starts = {tuple(begin_without("similarity", seed, PARKS, nodes(42)).queue) for seed in "abcdefgh"}
    assert len(starts) > 1
    first, again = (begin_without("similarity", "a", PARKS, nodes(42)) for _ in range(2))
    assert first == again
    walk = begin_without("refuse", QUESTION, PARKS, nodes(19))
    walk = await to_the_end(walk, ScriptedRouter([decision(expand=(40,))]))
    assert [ids(step) for step in walk.steps] == [[], [41, 42, 43, 44]]


class DyingRouter:
    """Fails once after paying for a call, then selects all."""

    alive = False

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        if not self.alive:
            self.alive = True
            raise ModelUnavailableError("The endpoint is gone.", usage=Usage(calls=1, repairs=1))
        return Decision(subtree.passages, usage=Usage(calls=1))


async def test_a_model_that_fails_at_one_start_leaves_the_others_alone() -> None:
    walk = await to_the_end(begin(17, 19, by_passage=True), DyingRouter())
    assert [f.kind for f in walk.failures] == ["ModelUnavailableError"]
    assert ids(walk.selected) == [19]
    assert walk.usage == Usage(calls=2, repairs=1)


@st.composite
def pages(draw: st.DrawFn) -> str:
    """A page of headings on three levels and one-line paragraphs."""
    lines = draw(st.lists(st.sampled_from(["# A", "## B", "### C", "One fact.", "Another fact."]), min_size=1))
    return "\n\n".join(["A first fact.", *lines])


@given(pages(), st.data())
async def test_a_walk_that_unfolds_everything_shows_every_passage_once(page: str, data: st.DataObject) -> None:
    tree = (await HeadingBuilder(PackagedTokens()).build(source_of(page))).tree

    class Curious:
        async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
            assert [line.id for line in subtree.lines if line.depth == 0] == [0]
            return Decision(subtree.passages, subtree.collapsed)

    start = data.draw(st.lists(st.integers(0, tree.leaves - 1), max_size=3, unique=True))
    by_passage = data.draw(st.booleans())
    walk = Walk.begin(tree, start, by_passage=by_passage)
    await walk.run(QUESTION, Curious(), tree.leaves)
    assert sorted(walk.selected) == list(range(tree.leaves)) or (by_passage and not start)
