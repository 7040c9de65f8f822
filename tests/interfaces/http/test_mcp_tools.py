"""Tools, as the one user of a process has them."""

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from discorag import DiscoRAG
from discorag.generation.views import answer_markdown
from discorag.schema.errors import StoreError
from interfaces.mcp.server import LocalServer, Server
from tests.conflicts.test_audit import LEAFLET, POLICY, write
from tests.conftest import Pipelines
from tests.graphs.scripts import model
from tests.interfaces.http.mcp_parts import READING, data_of, read, text_of
from tests.interfaces.http.parts import QUERY, TEXTS, Apps
from tests.servers.scripted import Scripted, ScriptedServer

HOSTILE = 'Tides <b>rise</b> twice [1] a day, says <a href="http://evil.example">the moon</a> in its ![report](x).'


def over(rag: DiscoRAG) -> Server:
    return LocalServer(lambda: rag)


@pytest.fixture
def server(apps: Apps, uploads: Path) -> Server:
    return over(apps.rag(uploads))


async def test_every_tool_only_reads_and_describes_all_that_it_takes(server: Server) -> None:
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        assert {t.name for t in tools} == READING
        assert {t.name for t in tools if t.annotations and t.annotations.read_only_hint} == READING
        for tool in tools:
            fields = tool.input_schema["properties"]
            assert tool.description
            assert tool.output_schema
            assert all("description" in f or "enum" in f for f in fields.values()), tool.name
            integers = [f for f in fields.values() if f.get("type") == "integer"]
            assert all({"minimum", "maximum"} <= f.keys() for f in integers)


async def test_an_answer_is_what_the_pipeline_says_as_chat_shows_it_and_each_stage_is_told(
    apps: Apps, uploads: Path, server: Server
) -> None:
    async with Client(server) as client:
        stages: list[str | None] = []

        async def note_progress(progress: float, total: float | None, message: str | None) -> None:
            stages.append(message)

        result = await client.call_tool("ask", {"question": QUERY}, progress_callback=note_progress)
        answer = (await apps.rag(uploads).aask(QUERY)).answer
        assert text_of(result) == "".join(answer_markdown(answer)).strip()
        found = data_of(result)
        assert found["text"] == answer.text
        assert found["answer"] == answer.model_dump(mode="json")
        cited = [found["sources"][n - 1]["text"] for numbers in found["citations"] for n in numbers]
        assert cited == [e.text for s in answer.sentences for e in s.evidence]
        assert found["answer"]["disagreements"]
        assert {"parse", "plan", "verify"} <= set(stages)
        refused = await client.call_tool("ask", {"question": "Who won the chess championship of 1972?"})
        assert text_of(refused).startswith("The documents do not answer this.")
        assert data_of(refused)["answer"]["abstained"]


async def test_an_audit_lists_the_open_findings_of_a_corpus_surest_first(pipeline: Pipelines, tmp_path: Path) -> None:
    rag, folder = pipeline(), write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET)
    rag.ingest_for_audit(folder)
    async with Client(over(rag)) as client:
        first = await client.call_tool("audit", {"corpus": "shop", "limit": 1})
        (finding,) = data_of(first)["findings"]
        assert (finding["verdict"], finding["tier"], data_of(first)["total"]) == ("contradicts", "sure", 3)
        document = await read(client, finding["left"]["doc_id"], corpus="shop")
        span = finding["left"]["span"]
        assert document[span["start"] : span["end"]] == finding["left"]["quote"]
        assert '"Refund policy" says 30 days, "Shop leaflet" says 14 days.' in text_of(first)
        for found in rag.last_audit(corpus="shop").findings:
            rag.settle(found.id, corpus="shop")
        assert data_of(await client.call_tool("audit", {"corpus": "shop"}))["findings"] == []
        assert (await client.call_tool("audit", {"corpus": "nothing"})).is_error


@pytest.mark.parametrize("retriever", ["snapped", "hybrid"])
async def test_a_passage_is_what_its_offsets_say_in_the_text_of_its_document(server: Server, retriever: str) -> None:
    async with Client(server) as client:
        given = {"question": QUERY, "limit": 2, "retriever": retriever}
        passages = data_of(await client.call_tool("search", given))["passages"]
        assert len(passages) == 2
        for p in passages:
            assert (await read(client, p["doc_id"]))[p["start"] : p["end"]] == p["text"]
            part = {"start": p["start"], "length": p["end"] - p["start"]}
            assert await read(client, p["doc_id"], **part) == p["text"]


async def test_documents_are_listed_in_parts_and_read(server: Server) -> None:
    async with Client(server) as client:
        listed = data_of(await client.call_tool("list_documents", {"offset": 1, "limit": 1}))
        (document,) = listed["documents"]
        assert (listed["total"], document["name"]) == (len(TEXTS), "b.txt")
        assert "did not lower" in await read(client, document["doc_id"])


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("read_document", {"doc_id": "nothing"}, "NotFoundError: There is no document 'nothing'"),
        ("read_document", {"doc_id": "nothing", "start": -1}, "greater than or equal to 0"),
        ("search", {"question": QUERY, "limit": 10**30}, "less than or equal to 100"),
        ("list_documents", {"limit": 0}, "greater than or equal to 1"),
        ("search", {"question": QUERY, "filters": {"year": {"from": 2020}}}, "InputError: The range of filter 'year'"),
        ("ask", {"question": QUERY, "retriever": "magic"}, "Known names: dense"),
        ("ask", {"question": QUERY, "corpus": "empty"}, "EmptyCorpusError"),
        ("ask", {"question": " "}, "QueryError"),
    ],
)
async def test_what_cannot_be_done_is_an_error_that_says_what_to_do(
    server: Server, tool: str, given: dict[str, Any], said: str
) -> None:
    async with Client(server) as client:
        result = await client.call_tool(tool, given)
        assert result.is_error
        assert said in text_of(result)


async def test_what_was_not_raised_on_purpose_is_not_told(
    server: Server, apps: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Client(server) as client:

        def broken(*_: object) -> None:
            raise RuntimeError("Quillfeather")

        monkeypatch.setattr(apps.shared.store, "page", broken)
        result = await client.call_tool("list_documents", {})
        assert result.is_error
        assert "Quillfeather" not in text_of(result)


async def test_what_sources_wrote_is_shown_as_text(pipeline: Pipelines) -> None:
    rag = pipeline()
    await rag.aadd_texts([HOSTILE])
    async with Client(over(rag)) as client:
        answer = await client.call_tool("ask", {"question": "How often do tides rise?"})
        found = await client.call_tool("search", {"question": "How often do tides rise?"})
    assert "<b>" not in text_of(answer)
    assert "![report]" not in text_of(answer)
    assert "&#91;1] a day" in text_of(answer)
    assert HOSTILE in data_of(found)["passages"][0]["text"]


async def test_a_store_that_cannot_be_opened_is_tried_again_at_the_next_call(apps: Apps, uploads: Path) -> None:
    rag = apps.rag(uploads)
    tries = iter([StoreError("Another process owns it.", hint="End it.")])

    def open_rag() -> DiscoRAG:
        for error in tries:
            raise error
        return rag

    async with Client(LocalServer(open_rag)) as client:
        first = await client.call_tool("list_documents", {})
        assert text_of(first) == "StoreError: Another process owns it. End it."
        assert data_of(await client.call_tool("list_documents", {}))["total"] == len(TEXTS)


async def test_a_model_is_asked_no_more_when_the_client_gives_up(apps: Apps, uploads: Path) -> None:
    with ScriptedServer(lambda body: Scripted(str(model()(body)), delay_s=0.5)) as llm:
        async with Client(over(apps.rag(uploads, llm=llm.base_url))) as client:
            with anyio.move_on_after(0.2):
                await client.call_tool("ask", {"question": QUERY})
            await asyncio.sleep(1)
        assert len(llm.requests) <= 1
