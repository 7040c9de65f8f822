from typing import Any

import pytest

from discorag import DiscoRAG
from eval.running.branches import Branches
from nodes.context import AnswerContext
from nodes.state import AnswerInput
from tests.conftest import Examples

ASKED = AnswerInput(query="Does vitamin D prevent flu?")


@pytest.fixture
def rag(examples: Examples) -> DiscoRAG:
    return examples("vitamin-d")


def context_of(rag: DiscoRAG, **switches: Any) -> AnswerContext:
    return AnswerContext(backends=rag.backends, corpus="vitamin-d", **switches)


async def test_a_second_branch_starts_from_the_first_run_and_not_from_the_branch_before_it(rag: DiscoRAG) -> None:
    branches = Branches()
    full = await branches.run("q", ASKED, context_of(rag))
    no_graph = await branches.again("q", before="relate", context=context_of(rag, use_graph=False))
    no_plan = await branches.again("q", before="plan", context=context_of(rag, use_plan=False))
    assert no_graph.graph is None
    assert no_graph.hits == full.hits
    assert no_plan.graph == full.graph


async def test_a_branch_that_switches_nothing_gives_the_first_answer_again(rag: DiscoRAG) -> None:
    branches, context = Branches(), context_of(rag)
    full = await branches.run("q", ASKED, context)
    for before in ("parse", "relate", "plan", "generate", "verify"):
        assert (await branches.again("q", before=before, context=context)).answer == full.answer


async def test_a_refused_question_is_refused_in_every_branch(rag: DiscoRAG) -> None:
    branches, context = Branches(), context_of(rag, abstain="auto")
    asked = AnswerInput(query="Who painted the ceiling of the Sistine Chapel?")
    full = await branches.run("q", asked, context)
    assert full.answer.abstained
    assert (await branches.again("q", before="plan", context=context)).answer == full.answer


async def test_an_unknown_stage_and_a_forgotten_question_are_errors(rag: DiscoRAG) -> None:
    branches, context = Branches(), context_of(rag)
    await branches.run("q", ASKED, context)
    with pytest.raises(KeyError, match="planning"):
        await branches.again("q", before="planning", context=context)
    await branches.forget("q")
    with pytest.raises(KeyError, match="plan"):
        await branches.again("q", before="plan", context=context)
