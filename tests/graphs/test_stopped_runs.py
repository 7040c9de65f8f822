"""Runs that stop and go on: reviews, edits, forks, contexts that are not repeated, other releases, killed processes."""

import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from discorag import AnswerContext, DiscoRAG, answer_graph, build_answer_graph
from discorag.schema.errors import ConfigError, InputError, NotFoundError
from nodes import context, given
from nodes.answer.assess import NO_EVIDENCE
from nodes.answer.prepare import prepare
from tests.conftest import Pipelines
from tests.graphs.from_python import environment
from tests.graphs.scripts import QUERY, write_texts

ASKED: Any = {"query": QUERY}
THREAD: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines, tmp_path_factory: pytest.TempPathFactory) -> DiscoRAG:
    rag = shared_pipeline()
    rag.ingest(write_texts(tmp_path_factory.mktemp("texts") / "texts"), corpus="vitamins")
    return rag


@pytest.fixture
def defaults(rag: DiscoRAG, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes the pipeline's backends those of the process."""

    def forget() -> None:
        given._shared.cache_clear()
        context._defaults.cache_clear()

    forget()
    monkeypatch.setattr(context, "default_backends", AsyncMock(return_value=rag.backends))
    yield
    forget()


def stopped(rag: DiscoRAG, *, before: str = "generate", **nodes: Any) -> Any:
    """A graph whose run on the first thread has stopped before a node."""
    graph: Any = build_answer_graph(nodes=nodes, checkpointer=InMemorySaver(), interrupt_before=[before])
    graph.invoke(ASKED, THREAD, context=AnswerContext(backends=rag.backends, corpus="vitamins"))
    assert graph.get_state(THREAD).next == (before,)
    return graph


def resume(graph: Any, rag: DiscoRAG, command: Any = None) -> Any:
    return graph.invoke(command, THREAD, context=AnswerContext(backends=rag.backends, corpus="vitamins"))


@contextmanager
def refused(kind: type[Exception], *words: str) -> Generator[None]:
    with pytest.raises(kind) as raised:
        yield
    assert all(word in str(raised.value) for word in words), str(raised.value)


@pytest.mark.usefixtures("defaults")
@pytest.mark.parametrize("edited", ["Say what [2] saw.", {"plan": "Say what [2] saw."}])
def test_a_review_shows_plan_and_passages_and_goes_on_with_the_plan_that_comes_back(edited: Any) -> None:
    graph: Any = build_answer_graph(checkpointer=InMemorySaver())
    found = graph.invoke(ASKED, THREAD, context={"corpus": "vitamins", "review": True})
    [stop] = found["__interrupt__"]
    assert stop.value["plan"]
    assert stop.response_schema["properties"]["plan"]["default"] == stop.value["plan"]
    for wrong in (7, "", {"plam": "Say [1]."}):
        with refused(InputError, "resumed with a plan", '{"plan": "..."}'):
            graph.invoke(Command(resume=wrong), THREAD)
    with refused(InputError, "The plan cites [9]", "resume again"):
        graph.invoke(Command(resume="Say what [9] saw."), THREAD)
    state = graph.invoke(Command(resume=edited), THREAD)
    assert state["answer"]["plan"]["paragraph"] == "Say what [2] saw."
    assert "no effect" in state["answer"]["sentences"][0]["text"]


@pytest.mark.usefixtures("defaults")
async def test_a_review_needs_a_checkpointer() -> None:
    graph: Any = answer_graph
    with refused(ConfigError, "review=True", "checkpointer=InMemorySaver()"):
        await graph.ainvoke(ASKED, THREAD, context=AnswerContext(corpus="vitamins", review=True))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"plam": "Say [1]."}, ["no key 'plam'", "plan"]),
        ({"plan": ["Say [1]."]}, ["plan", "string"]),
        ({"hits": [{"chunk": "1"}]}, ["hits.0.chunk_id"]),
        ({"trees": {"1": {"root": "broken"}}}, ["trees.1"]),
        ({"graph": {"chunks": ["a", "a"]}}, ["graph", "twice"]),
    ],
)
async def test_an_edit_that_nodes_cannot_read_is_refused_and_nothing_is_lost(
    rag: DiscoRAG, edit: dict[str, Any], words: list[str]
) -> None:
    graph = stopped(rag)
    with refused(InputError, *words):
        graph.update_state(THREAD, edit)
    with refused(InputError, *words):
        await graph.aupdate_state(THREAD, edit)
    assert resume(graph, rag)["answer"]["sentences"]


def test_hits_that_are_not_stored_are_named(rag: DiscoRAG) -> None:
    graph = stopped(rag, before="relate")
    before = graph.get_state(THREAD).values["hits"]
    graph.update_state(THREAD, {"hits": [{"chunk_id": "of-nothing", "score": 1.0}]}, as_node="parse")
    with refused(NotFoundError, "of-nothing"):
        resume(graph, rag)
    graph.update_state(THREAD, {"hits": before}, as_node="parse")
    assert resume(graph, rag)["answer"]["sentences"]


@pytest.mark.parametrize("node", [None, "parse", "plan"])
def test_an_edit_that_leaves_no_evidence_is_made_where_the_run_can_abstain(rag: DiscoRAG, node: str | None) -> None:
    graph = stopped(rag)
    with refused(InputError, "no evidence is left", 'as_node="rerank"'):
        graph.update_state(THREAD, {"hits": []}, as_node=node)
    graph.update_state(THREAD, {"hits": []}, as_node="rerank")
    assert resume(graph, rag)["answer"]["abstained"] == NO_EVIDENCE


def test_a_plan_without_its_passages_is_followed_as_far_as_it_goes(rag: DiscoRAG) -> None:
    graph = stopped(rag)
    graph.update_state(THREAD, {"plan": "Say what [9] saw. Then say what [2] saw."}, as_node="plan")
    answer = resume(graph, rag)["answer"]
    assert any("[9]" in note for note in answer["notes"])


def test_a_run_with_backends_of_its_own_asks_for_its_context(rag: DiscoRAG) -> None:
    graph = stopped(rag)
    with refused(ConfigError, "without a context", "Pass the context again"):
        graph.invoke(None, THREAD)
    assert resume(graph, rag)["answer"]["sentences"]


@pytest.mark.usefixtures("defaults")
def test_a_new_question_does_not_take_the_options_of_the_last_one() -> None:
    graph: Any = build_answer_graph(checkpointer=InMemorySaver())
    graph.invoke(ASKED, THREAD, context={"corpus": "vitamins"})
    with refused(InputError, "default"):
        graph.invoke(ASKED, THREAD)


def test_a_run_of_another_release_is_refused_and_its_thread_can_be_used(rag: DiscoRAG) -> None:
    async def before(state: Any, runtime: Any) -> Any:
        update = await prepare(state, runtime)
        del update["started_with"]
        return update

    old: Any = build_answer_graph(nodes={"prepare": before}, checkpointer=(saver := InMemorySaver()))
    with refused(InputError, "Another release", "Ask the question again"):
        resume(old, rag, ASKED)
    with refused(InputError, "Another release"):
        resume(new := build_answer_graph(checkpointer=saver), rag)
    assert resume(new, rag, ASKED)["answer"]["sentences"]


KILLED = """
import sys
from langgraph.checkpoint.sqlite import SqliteSaver
from discorag import EXAMPLES, build_answer_graph, ingest_graph

def wait(state):
    print("relating", flush=True)
    sys.stdin.read()

ingest_graph.invoke({"path": str(EXAMPLES / "vitamin-d")}, context={"corpus": "studies"})
with SqliteSaver.from_conn_string("threads.sqlite") as saver:
    graph = build_answer_graph(nodes={"relate": wait}, checkpointer=saver)
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke({"query": "Does it prevent influenza?"}, thread, context={"corpus": "studies"}, durability="sync")
"""
RESUMED = """
from langgraph.checkpoint.sqlite import SqliteSaver
from discorag import build_answer_graph

with SqliteSaver.from_conn_string("threads.sqlite") as saver:
    graph = build_answer_graph(checkpointer=saver)
    thread = {"configurable": {"thread_id": "1"}}
    assert graph.get_state(thread).next == ("relate",)
    state = graph.invoke(None, thread)
    assert [r["stage"] for r in state["ledger"]].count("parse") == 1, state["ledger"]
    assert state["answer"]["sentences"]
"""


def test_a_killed_run_goes_on_in_another_process_with_its_options(tmp_path: Path) -> None:
    variables = environment(tmp_path)
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", KILLED], cwd=tmp_path, env=variables, **pipes) as process:
        assert process.stdout
        assert process.stdout.readline() == "relating\n"
        process.kill()
    subprocess.run([sys.executable, "-c", RESUMED], cwd=tmp_path, env=variables, check=True)
