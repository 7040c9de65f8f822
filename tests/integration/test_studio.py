"""What LangGraph Studio needs of us, asked of the server that Studio talks to."""

# The SDK leaves its own JSON types open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from discorag.schema.ledger import STAGES
from tests.conftest import EXAMPLES
from tests.servers.loopback import free_port

ROOT = EXAMPLES.parent
QUERY = "Does vitamin D prevent flu?"
CONTEXT = {"corpus": "studio"}
ANSWERING = {
    *("prepare", "retrieve_chunks", "retrieve_sentence_tree", "route_headings", "read_all", "rerank"),
    *("assess", "parse", "relate", "plan", "generate", "verify", "refine", "abstain"),
}

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with studio(tmp_path_factory.mktemp("studio")) as found:
        yield found


@contextmanager
def studio(home: Path) -> Generator[str]:
    """`langgraph dev`, as `make studio` starts it, over a store in this folder: its address."""
    port = free_port()
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "DISCO_RAG_STORE__PATH": str(home / "store"),
    }
    langgraph = str(Path(sys.executable).parent / "langgraph")
    command = [langgraph, "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--config", str(ROOT / "langgraph.json")], cwd=home, env=env, stdout=log, stderr=log
        )
        try:
            yield wait_for(f"http://127.0.0.1:{port}", server, home / "log")
        finally:
            server.terminate()
            server.wait(20)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return url
        except httpx.TransportError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())


@pytest.fixture
def client(url: str) -> LangGraphClient:
    return get_client(url=url)


async def assistant_of(client: LangGraphClient, graph: str) -> str:
    return (await client.assistants.search(graph_id=graph))[0]["assistant_id"]


async def ingested(client: LangGraphClient) -> None:
    """The vitamin D corpus is in the store; ingest is idempotent, so every test may ask for it."""
    state: Any = await client.runs.wait(None, "ingest", input={"path": str(EXAMPLES / "vitamin-d")}, context=CONTEXT)
    assert {o["status"] for o in state["outcomes"]} <= {"added", "unchanged"}


@pytest.mark.parametrize(
    ("graph", "steps"),
    [
        ("answer", ANSWERING),
        ("full-context", {"prepare", "generate", "verify"}),
        ("ingest", {"scan", "document", "sweep"}),
    ],
)
async def test_both_graphs_are_drawn_with_schemas_that_describe_every_field(
    client: LangGraphClient, graph: str, steps: set[str]
) -> None:
    assistant = await assistant_of(client, graph)
    drawn = await client.assistants.get_graph(assistant)
    assert steps <= {str(n["id"]) for n in drawn["nodes"]}
    schemas = await client.assistants.get_schemas(assistant)
    for kind in ("input_schema", "output_schema", "state_schema", "context_schema"):
        properties: dict[str, Any] = (schemas.get(kind) or {}).get("properties", {})
        assert properties, kind
    for kind in ("input_schema", "context_schema"):
        for name, field in (schemas.get(kind) or {}).get("properties", {}).items():
            assert field.get("description"), f"{kind}.{name}"


async def test_a_run_streams_stage_events_and_ends_in_a_traced_answer(client: LangGraphClient) -> None:
    await ingested(client)
    events: list[tuple[str, Any]] = [
        (part.event, part.data)
        async for part in client.runs.stream(
            None, "answer", input={"query": QUERY}, context=CONTEXT, stream_mode=["custom", "updates", "values"]
        )
    ]
    assert "error" not in {name for name, _ in events}, events
    stages = [data["stage"] for name, data in events if name == "custom" and data.get("event") == "start"]
    assert stages == list(STAGES)
    updated = [next(iter(data)) for name, data in events if name == "updates"]
    assert updated == ["prepare", "retrieve_sentence_tree", *stages[2:]]
    answer = [data for name, data in events if name == "values"][-1]["answer"]
    assert all(s["evidence"] for s in answer["sentences"])
    assert answer["disagreements"]


async def test_the_plan_can_be_edited_before_generate_and_the_answer_follows_it(client: LangGraphClient) -> None:
    await ingested(client)
    over_chunks = {**CONTEXT, "retriever": "dense"}
    assistant = await assistant_of(client, "answer")
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(
        thread, assistant, input={"query": QUERY}, context=over_chunks, interrupt_before=["generate"]
    )
    stopped: Any = await client.threads.get_state(thread)
    assert stopped["next"] == ["generate"]
    assert "[" in stopped["values"]["plan"]
    edited = "Only tell what [2] says."
    await client.threads.update_state(thread, values={"plan": edited}, as_node="plan")
    done: Any = await client.runs.wait(thread, assistant, input=None, context=over_chunks)
    assert done["answer"]["plan"]["paragraph"] == edited
    cited = {e["chunk_id"] for s in done["answer"]["sentences"] for e in s["evidence"]}
    assert cited == {stopped["values"]["hits"][1]["chunk_id"]}
    history: Any = await client.threads.get_history(thread, limit=50)
    assert [h["next"] for h in history][:1] == [[]]
    assert any(h["values"].get("plan") == edited for h in history)
    assert any(h["values"].get("plan") == stopped["values"]["plan"] for h in history)


@pytest.mark.parametrize(
    ("graph", "given", "context", "said"),
    [
        ("answer", {"query": " "}, CONTEXT, "The query is empty. Ask a question."),
        ("answer", {"question": QUERY, "corpus": "studio"}, {}, "no text under 'query'.*corpus.* context"),
        (
            "answer",
            {"query": QUERY},
            {"corpus": "nope"},
            "Nothing is stored in corpus 'nope'. Corpora with documents: studio",
        ),
        ("answer", {"query": QUERY}, {"corpus": 3}, "corpus.*valid string"),
        ("answer", {"query": QUERY}, {**CONTEXT, "topk": 3}, "no option 'topk'. Known options: abstain.*top_k"),
        ("answer", {"query": QUERY}, {**CONTEXT, "preset": "foo"}, "preset: Input should be 'auto', 'written'"),
        ("ingest", {"path": "x"}, {**CONTEXT, "parsers": "x"}, "no option 'parsers'. Known options: corpus, parser"),
        ("ingest", {"folder": "x"}, CONTEXT, "No path was given"),
    ],
)
async def test_a_wrong_input_or_context_is_an_error_that_says_what_to_do(
    client: LangGraphClient, graph: str, given: dict[str, Any], context: Any, said: str
) -> None:
    await ingested(client)
    state: Any = await client.runs.wait(None, graph, input=given, context=context, raise_error=False)
    assert re.search(said, state["__error__"]["message"], re.DOTALL), state


async def test_a_preset_is_an_option_of_the_context(client: LangGraphClient) -> None:
    await ingested(client)
    context = {**CONTEXT, "preset": "disretrieval", "abstain": "never"}
    state: Any = await client.runs.wait(None, "answer", input={"query": QUERY}, context=context)
    assert any("discourse" in d for record in state["ledger"] for d in record["decisions"])
