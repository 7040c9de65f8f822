"""What LangGraph Studio needs of us, asked of the server that Studio talks to."""

# The SDK leaves its own JSON types open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import re
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from discorag.schema.errors import DiscoRagError
from discorag.schema.ledger import STAGES
from tests.conftest import EXAMPLES
from tests.integration.studio import PAGE, run_pieces, studio

QUERY = "Does vitamin D prevent flu?"
CONTEXT = {"corpus": "vitamin-d"}
ANSWERING = {
    *("prepare", "retrieve_chunks", "retrieve_sentence_tree", "route_headings", "read_all", "rerank"),
    *("assess", "parse", "relate", "plan", "generate", "verify", "refine", "abstain"),
}

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with studio(tmp_path_factory.mktemp("studio")) as found:  # in a new clone: there is no .env
        yield found


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
        ("answer", {"question": QUERY, "corpus": "vitamin-d"}, {}, "no text under 'query'.*corpus.* context"),
        (
            "answer",
            {"query": QUERY},
            {"corpus": "nope"},
            "Nothing is stored in corpus 'nope'. Corpora with documents: vitamin-d",
        ),
        ("answer", {"query": QUERY}, {"corpus": 3}, "corpus.*valid string"),
        ("answer", {"query": QUERY}, {**CONTEXT, "topk": 3}, "no option 'topk'. Known options: abstain.*top_k"),
        ("answer", {"query": QUERY}, {**CONTEXT, "preset": "foo"}, "preset: Input should be 'auto', 'written'"),
        ("full-context", {"query": QUERY}, {**CONTEXT, "topk": 3}, "no option 'topk'"),
        ("ingest", {"path": "x"}, {**CONTEXT, "parsers": "x"}, "no option 'parsers'. Known options: corpus, parser"),
        (
            "answer",
            {"query": QUERY},
            {**CONTEXT, "preset": "paper"},
            "no language model is configured.*DISCO_RAG_MODEL",
        ),
        ("ingest", {"folder": "x"}, CONTEXT, "No path was given"),
    ],
)
async def test_a_wrong_input_or_context_is_an_error_that_says_what_to_do(
    client: LangGraphClient, graph: str, given: dict[str, Any], context: Any, said: str
) -> None:
    await ingested(client)
    state: Any = await client.runs.wait(None, graph, input=given, context=context, raise_error=False)
    assert re.search(said, state["__error__"]["message"], re.DOTALL), state


def errors(kind: type[DiscoRagError] = DiscoRagError) -> Iterator[type[DiscoRagError]]:
    yield kind
    for derived in kind.__subclasses__():
        yield from errors(derived)


@pytest.mark.parametrize("kind", [kind for kind in errors() if not kind.__module__.startswith("interfaces.")])
def test_the_server_shows_what_each_of_our_errors_says(kind: type[DiscoRagError]) -> None:
    from langgraph_api.serde import default  # takes a second

    shown: Any = default(kind("The store is full.", hint="Make room."))
    assert shown == {"error": kind.__name__, "message": "The store is full. Make room."}


async def test_a_preset_is_an_option_of_the_context(client: LangGraphClient) -> None:
    await ingested(client)
    context = {**CONTEXT, "preset": "disretrieval", "abstain": "never"}
    state: Any = await client.runs.wait(None, "answer", input={"query": QUERY}, context=context)
    assert any("discourse" in d for record in state["ledger"] for d in record["decisions"])


def test_the_page_runs_as_it_stands_without_a_model(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    page, _, _ = PAGE.partition("## With a language model")
    session = run_pieces(page, url)
    assert {o["status"] for o in session["read"]["outcomes"]} <= {"added", "unchanged"}
    assert session["done"]["answer"]["disagreements"]
    assert session["state"]["next"] == ["generate"]
    assert "Only tell what [2] says." in session["edited"]["answer"]["plan"]["paragraph"]
    assert "topk" in session["failed"]["__error__"]["message"]
    assert len(capsys.readouterr().out.splitlines()) > 10
    hits = [hit["chunk_id"] for hit in session["state"]["values"]["hits"]]
    for answer, number in ((session["edited"], 2), (session["other"], 1)):
        cited = {e["chunk_id"] for s in answer["answer"]["sentences"] for e in s["evidence"]}
        assert cited == {hits[number - 1]}
    assert "discourse" in str(session["by_preset"]["ledger"])
