"""The walk follows a router as long as it changes something, and survives one that does not keep the rules."""

from __future__ import annotations

import pytest

from discorag.retrieval.routers.walk import Decision, Ending, RetrievalSubtree, Routed, derive, step_all
from discorag.schema.errors import ModelUnavailableError, Usage
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.routers.parks import QUESTION, ScriptedRouter, ids, nodes, walk


async def walked(tree: RetrievalTree, start: int, *decisions: Decision, expand_iter: int = 5) -> Routed:
    subtree = derive(tree, nodes(tree, start))
    return await walk(QUESTION, subtree, ScriptedRouter(list(decisions)), expand_iter)


def decision(tree: RetrievalTree, *answer: int, expand: int | None = None) -> Decision:
    return Decision(nodes(tree, *answer), None if expand is None else nodes(tree, expand)[0], Usage(calls=1))


async def test_table_16_is_walked_step_by_step(parks: RetrievalTree):
    first = ScriptedRouter([decision(parks, expand=0), decision(parks)])
    second = ScriptedRouter([decision(parks, 19, expand=40), decision(parks, 41, 44)])
    refused = await walk(QUESTION, derive(parks, nodes(parks, 17)), first)
    answered = await walk(QUESTION, derive(parks, nodes(parks, 19)), second)
    assert [ids(parks, s.lit) for s in first.shown] == [[17], [1, 2]]
    assert [ids(parks, s.lit) for s in second.shown] == [[19], [41, 42, 43, 44]]
    assert (refused.ending, refused.in_step_order) == (Ending.REFUSED, ())
    assert answered.ending is Ending.ANSWERED
    assert [ids(parks, step) for step in answered.steps] == [[19], [41, 44]]
    assert ids(parks, answered.in_step_order) == [19, 41, 44]


@pytest.mark.parametrize("again", [18, 40])
async def test_a_router_that_unfolds_what_is_unfolded_ends_the_walk(parks: RetrievalTree, again: int):
    routed = await walked(parks, 19, decision(parks, 19, expand=40), decision(parks, 41, expand=again))
    assert (routed.ending, ids(parks, routed.in_step_order)) == (Ending.LOOP, [19, 41])
    assert routed.failures == ()


@pytest.mark.parametrize("expand_iter", [0, 1, 2])
async def test_expansions_are_limited_and_the_last_passages_shown_can_still_be_selected(
    parks: RetrievalTree, expand_iter: int
):
    steps = [decision(parks, 19, expand=16), decision(parks, 17, expand=40), decision(parks, 41, expand=0)]
    routed = await walked(parks, 19, *steps, expand_iter=expand_iter)
    assert (routed.ending, len(routed.steps)) == (Ending.LIMIT, expand_iter + 1)
    assert ids(parks, routed.in_step_order) == [19, 17, 41][: expand_iter + 1]


@pytest.mark.parametrize(
    ("answer", "expand"),
    [((42,), None), ((41, 19), None), ((18,), None), ((), 41)],
    ids=["not yet shown", "no longer shown", "a heading", "a passage to expand"],
)
async def test_nodes_that_cannot_be_selected_are_counted_and_end_the_walk_with_what_it_has(
    parks: RetrievalTree, answer: tuple[int, ...], expand: int | None
):
    shown = 16 if answer == (42,) else 40
    steps = [decision(parks, 19, expand=shown), decision(parks, *answer, expand=expand)]
    routed = await walked(parks, 19, *steps)
    [failure] = routed.failures
    assert (routed.ending, failure.stage, failure.kind) == (Ending.FAILED, "route", "InvalidOutputError")
    assert ids(parks, routed.in_step_order) == [19]
    assert routed.usage.calls == 2


class DyingRouter:
    """Answers for one document, and fails for all others after paying for a call."""

    def __init__(self, good: RetrievalSubtree) -> None:
        self.good = good

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        if subtree is not self.good:
            raise ModelUnavailableError("The endpoint is gone.", usage=Usage(calls=1, repairs=1))
        return Decision(subtree.lit, usage=Usage(calls=1))


async def test_a_model_that_fails_in_one_document_leaves_the_others_alone(parks: RetrievalTree):
    good, bad = derive(parks, nodes(parks, 19)), derive(parks, nodes(parks, 17))
    walks = await step_all(QUESTION, [Routed(subtree=bad), Routed(subtree=good)], DyingRouter(good), 5)
    assert [walk.ending for walk in walks] == [Ending.FAILED, Ending.ANSWERED]
    assert [f.kind for walk in walks for f in walk.failures] == ["ModelUnavailableError"]
    assert sum((walk.usage for walk in walks), Usage()) == Usage(calls=2, repairs=1)
