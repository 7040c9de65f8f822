"""The graphs as LangGraph's users call them: what docs/graphs.md shows, and what goes wrong."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from discorag import AnswerContext, AnswerState, DiscoRAG, answer_graph, build_answer_graph
from discorag.models.loops import BackgroundLoop
from discorag.schema.errors import InputError, UnknownNameError
from graphs import sync
from graphs.baselines import BASELINES
from tests.conftest import Pipelines
from tests.graphs.from_python import CHECKS, environment, examples, program
from tests.graphs.scripts import ANSWER, QUERY, model, write_texts
from tests.servers.scripted import ScriptedServer

ASKED: Any = {"query": QUERY}


def test_every_example_is_short_and_checked() -> None:
    assert list(examples()) == list(CHECKS)
    assert max(len(code.splitlines()) for code in examples().values()) <= 15


def run(folder: Path, code: str, **variables: str) -> list[str]:
    """The lines that a program of its own process prints, whose store is in the folder."""
    command, variables = [sys.executable, "-c", code], environment(folder, **variables)
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_the_examples_run_without_a_model(tmp_path: Path) -> None:
    assert set(run(tmp_path, program())) >= set(CHECKS)


@pytest.mark.deep
def test_the_examples_run_with_a_model(tmp_path: Path) -> None:
    with ScriptedServer(model()) as server:
        assert set(run(tmp_path, program(), DISCO_RAG_MODEL=f"{server.base_url}#scripted")) >= set(CHECKS)
    assert server.requests


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines, tmp_path_factory: pytest.TempPathFactory) -> DiscoRAG:
    rag = shared_pipeline()
    rag.ingest(write_texts(tmp_path_factory.mktemp("texts") / "texts"))
    return rag


@pytest.fixture
def context(rag: DiscoRAG) -> AnswerContext:
    return AnswerContext(backends=rag.backends)


async def test_a_synchronous_call_works_where_an_event_loop_runs(context: AnswerContext) -> None:
    graph: Any = answer_graph
    asked = await graph.ainvoke(ASKED, context=context)
    assert graph.invoke(ASKED, context=context)["answer"] == asked["answer"]


def test_threads_that_ask_at_the_same_time_share_one_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[BackgroundLoop] = []

    class Slow(BackgroundLoop):
        def __init__(self) -> None:
            ready.wait(0.1)  # long enough for the other thread to ask; nothing sets it
            super().__init__()
            started.append(self)

    async def running() -> Any:
        return asyncio.get_running_loop()

    ready = Event()
    monkeypatch.setattr(sync, "BackgroundLoop", Slow)
    sync._started_loop.cache_clear()
    with ThreadPoolExecutor(2) as threads:
        loops = {call.result() for call in [threads.submit(sync.run_blocking, running) for _ in range(2)]}
    sync._started_loop.cache_clear()
    for loop in started:
        loop.close()
    assert len(loops) == len(started) == 1


async def test_an_own_node_may_call_the_graph_in_either_way(context: AnswerContext) -> None:
    inner: Any = answer_graph

    async def calls_synchronously(state: AnswerState, runtime: Any) -> Any:
        return {"plan": inner.invoke(ASKED, context=runtime.context)["answer"]["plan"]["paragraph"]}

    async def calls_asynchronously(state: AnswerState, config: Any) -> Any:
        assert config["configurable"]
        return {"plan": (await inner.ainvoke(ASKED, context=context))["answer"]["plan"]["paragraph"]}

    usual = inner.invoke(ASKED, context=context)["answer"]
    for node in (calls_synchronously, calls_asynchronously):
        graph: Any = build_answer_graph(nodes={"plan": node})
        assert graph.invoke(ASKED, context=context)["answer"] == usual
        assert (await graph.ainvoke(ASKED, context=context))["answer"] == usual


def test_every_baseline_can_be_called_synchronously(pipeline: Pipelines, tmp_path: Path) -> None:
    with ScriptedServer(lambda _: "Daily vitamin D lowered the incidence of influenza by 12 % [1].") as server:
        rag = pipeline(llm=server.base_url)
        rag.ingest(write_texts(tmp_path / "texts"))
        for graph in BASELINES.values():
            context = AnswerContext(backends=rag.backends, retriever="dense", abstain="never")
            assert cast("Any", graph).invoke(ASKED, context=context)["answer"]["sentences"]


def test_a_node_that_is_not_there_cannot_be_replaced() -> None:
    with pytest.raises(UnknownNameError, match=r"no node 'plam'.* relate, plan, "):
        build_answer_graph(nodes={"plam": dict})


class Desk(TypedDict, total=False):
    query: str
    answer: Any


def within(schema: type | None = None) -> Any:
    """The answer graph as the one node of another graph."""
    desk = cast("Any", StateGraph)(Desk, context_schema=schema)
    return desk.add_node("answer", answer_graph).add_edge(START, "answer").compile()


@dataclass
class Clerk:
    name: str


def test_a_context_of_another_kind_belongs_to_the_parent(rag: DiscoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    opens = AsyncMock(return_value=rag.backends)
    monkeypatch.setattr("nodes.context.default_backends", opens)
    for schema, given in ((Clerk, Clerk("Ada")), (Clerk, {"name": "Ada"}), (None, {"name": "Ada"}), (None, None)):
        assert within(schema).invoke(ASKED, context=given)["answer"]["sentences"]
    assert opens.called


async def test_a_parents_dictionary_of_our_options_is_used(rag: DiscoRAG) -> None:
    given = {"backends": rag.backends, "corpus": "elsewhere"}
    for schema in (None, AnswerContext):
        with pytest.raises(InputError, match="elsewhere"):
            within(schema).invoke(ASKED, context=given)
        with pytest.raises(InputError, match="elsewhere"):
            await within(schema).ainvoke(ASKED, context=given)


def test_an_option_that_is_unknown_is_named(context: AnswerContext) -> None:
    for graph in (answer_graph, within()):
        with pytest.raises(InputError, match="corpsu"):
            cast("Any", graph).invoke(ASKED, context={"corpsu": "x", "corpus": "y"})


def test_messages_are_the_same_when_the_replies_come_from_the_disk(pipeline: Pipelines, tmp_path: Path) -> None:
    def messages(rag: DiscoRAG) -> dict[str, str]:
        graph: Any = answer_graph
        found: dict[str, str] = {}
        for message, where in graph.stream(ASKED, context=AnswerContext(backends=rag.backends), stream_mode="messages"):
            found[where["langgraph_node"]] = found.get(where["langgraph_node"], "") + message.text
        return found

    with ScriptedServer(model()) as server:
        rag = pipeline(llm=server.base_url, cache=tmp_path / "cache")
        rag.ingest(write_texts(tmp_path / "texts"))
        first, paid = messages(rag), len(server.requests)
        assert ANSWER in first["relate"]
        assert messages(rag) == first
        assert len(server.requests) == paid
