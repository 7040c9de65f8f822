"""No step of a graph blocks the event loop: LangGraph's server refuses a run that does, and other runs would wait."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster
from blockbuster.blockbuster import BlockingError

from discorag.options import PRESETS
from discorag.schema.errors import ConfigError
from graphs import answer, ingest
from graphs.baselines import BASELINES
from nodes.backends import Backends
from nodes.context import AnswerContext, IngestContext
from tests.conftest import EXAMPLES, Pipelines
from tests.graphs.any_prompt import model
from tests.graphs.scripts import QUERY, TEXTS, turn_of, write_texts
from tests.servers.scripted import ScriptedServer

GRAPHS: dict[str, Any] = {"answer": answer.graph, "ingest": ingest.graph, **BASELINES}
PAGE = "<html><head><title>Winter</title></head><body><h1>Winter</h1><p>The sun is weak in winter.</p></body></html>"
HISTORY = [{"role": "user", "content": "What is vitamin D?"}, {"role": "assistant", "content": "A vitamin."}]
BY_ITSELF = [("answer", {"preset": preset}) for preset in PRESETS]
BY_MODEL: list[tuple[str, dict[str, Any]]] = [
    ("answer", {"verifier": "llm", "refine": 1, "parser": "paper"}),
    *((name, {}) for name in BASELINES),
]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Texts, and a page that another process converts."""
    return write_texts(tmp_path / "texts", {**TEXTS, "winter.html": PAGE})


@pytest.fixture
def guard() -> Iterator[BlockBuster]:
    """Once activated, it makes a blocking call on an event loop an error, also those that LangGraph's server lets pass.

    Only waiting for a lock is allowed: thread pools do it for a moment.
    """
    made = BlockBuster()
    del made.functions["threading.Lock.acquire"], made.functions["threading.Lock.acquire_lock"]
    yield made
    made.deactivate()


def test_every_graph_that_is_served_is_asked_here() -> None:
    assert GRAPHS.keys() == json.loads((EXAMPLES.parent / "langgraph.json").read_text("utf-8"))["graphs"].keys()


async def test_the_guard_sees_a_file_that_is_read(guard: BlockBuster) -> None:
    guard.activate()
    with pytest.raises(BlockingError):
        Path(__file__).read_text("utf-8")


async def read(texts: Path, backends: Backends) -> None:
    """Ingest the texts."""
    read = await GRAPHS["ingest"].ainvoke({"path": str(texts)}, context=IngestContext(backends=backends))
    assert {o["status"] for o in read["outcomes"]} == {"added"}


async def ask(graph: str, options: dict[str, Any], backends: Backends) -> list[dict[str, Any]]:
    """What failed in an answer."""
    context = AnswerContext(backends=backends, **options)
    done = await GRAPHS[graph].ainvoke({"query": QUERY, "history": HISTORY}, context=context)
    assert done["answer"]["sentences"] or done["answer"]["abstained"]
    return [failure for record in done["ledger"] for failure in record["failures"]]


async def test_no_step_blocks_without_a_language_model(guard: BlockBuster, pipeline: Pipelines, texts: Path) -> None:
    backends = pipeline().backends
    guard.activate()
    await read(texts, backends)
    answered = 0
    for graph, options in BY_ITSELF:
        with suppress(ConfigError):  # it needs a language model
            assert await ask(graph, options, backends) == []
            answered += 1
    assert answered >= len(PRESETS) - 3


async def test_no_step_blocks_with_a_language_model(guard: BlockBuster, pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(model) as server:
        backends = pipeline(llm=server.base_url).backends
        guard.activate()
        await read(texts, backends)
        for graph, options in [*BY_ITSELF, *BY_MODEL]:
            assert await ask(graph, options, backends) == [], options
        guard.deactivate()
    assert {"both", "answer"} <= {turn_of(request) for request in server.requests}
