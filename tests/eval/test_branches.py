from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from eval.running.branches import Branches
from nodes.context import AnswerContext
from nodes.state import AnswerInput
from tests.conftest import Examples, Pipelines
from tests.graphs.scripts import model, turn_of
from tests.servers.scripted import ScriptedServer

ASKED = AnswerInput(query="Does vitamin D prevent flu?")


@pytest.fixture
def rag(examples: Examples) -> DiscoRAG:
    return examples("vitamin-d")


def context_of(rag: DiscoRAG, **switches: Any) -> AnswerContext:
    return AnswerContext(backends=rag.backends, corpus="vitamin-d", **switches)


async def test_a_branch_without_the_plan_keeps_the_first_runs_graph_and_its_cost(rag: DiscoRAG) -> None:
    branches = Branches()
    full = await branches.run("q", ASKED, context_of(rag))
    bare = await branches.again("q", before="plan", context=context_of(rag, use_plan=False))
    assert full.answer.plan is not None
    assert bare.answer.plan is None
    assert bare.graph == full.graph
    assert bare.ledger.stages[:7] == full.ledger.stages[:7]  # up to relate: the very records
    assert [s.engine for s in bare.ledger.stages[7:]] == ["off", "local", "auto"]


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


async def test_a_model_is_not_asked_again_for_what_a_branch_reuses(pipeline: Pipelines, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Vitamin D lowered flu by 12 %.", encoding="utf-8")
    (tmp_path / "b.txt").write_text("Vitamin D had no effect on flu.", encoding="utf-8")
    with ScriptedServer(model()) as server:
        rag = pipeline(llm=server.base_url)
        await rag.aingest(tmp_path)
        branches = Branches()
        await branches.run("q", ASKED, AnswerContext(backends=rag.backends))
        await branches.again("q", before="plan", context=AnswerContext(backends=rag.backends, use_plan=False))
        turns = [turn_of(r) for r in server.requests]
    assert turns == ["graph", "plan", "answer", "answer"]


async def test_an_unknown_stage_and_a_forgotten_question_are_errors(rag: DiscoRAG) -> None:
    branches, context = Branches(), context_of(rag)
    await branches.run("q", ASKED, context)
    with pytest.raises(KeyError, match="planning"):
        await branches.again("q", before="planning", context=context)
    await branches.forget("q")
    with pytest.raises(KeyError, match="plan"):
        await branches.again("q", before="plan", context=context)
