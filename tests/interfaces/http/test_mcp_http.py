"""MCP over HTTP has the API's keys, roles, tenants, rates and audit log; over stdio it is what the docs show."""

import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from mcp import Client, StdioServerParameters

from interfaces.http.access import LOGGER, Role
from tests.conftest import EXAMPLES
from tests.interfaces.http.conftest import Address, Served
from tests.interfaces.http.mcp_parts import READING, connected, data_of, read, text_of
from tests.interfaces.http.parts import QUERY, TEXTS, logged, write_keys

ALL = tuple(Role)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_over_http_is_answered_and_told_each_stage(listening: Address, mode: str) -> None:
    stages = list[str | None]()

    async def note_progress(progress: float, total: float | None, message: str | None) -> None:
        stages.append(message)

    async with connected(listening(), mode=mode) as client:
        result = await client.call_tool("ask", {"question": QUERY}, progress_callback=note_progress)
    assert data_of(result)["answer"]["disagreements"]
    assert "verify" in stages


async def test_a_key_of_mcp_needs_the_role_read_and_sees_its_tenants_documents_only(
    listening: Address, keys: Path
) -> None:
    entries = [("r", "alpha", [Role.READ]), ("w", "alpha", [Role.WRITE]), ("s", "mcp-south", ALL)]
    reader, writer, other = write_keys(keys, *entries)
    url = listening(keys=keys)
    assert httpx.post(f"{url}/mcp", headers=writer, json=call("tools/list")).status_code == 403
    async with connected(url, reader) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
        documents = data_of(await client.call_tool("list_documents", {}))["documents"]
        assert len(documents) == len(TEXTS)
    async with connected(url, other) as client:
        assert data_of(await client.call_tool("list_documents", {}))["total"] == 0
        for tool in ("ask", "search"):
            assert "influenza" not in text_of(await client.call_tool(tool, {"question": "Who lowered it?"}))
        refused = await client.call_tool("read_document", {"doc_id": documents[0]["doc_id"]})
        assert "There is no document" in text_of(refused)


async def test_the_deadline_of_the_api_is_an_error_of_the_tools(listening: Address) -> None:
    async with connected(listening(deadline_s=0.001)) as client:
        late = await client.call_tool("ask", {"question": QUERY})
        assert late.is_error
        assert text_of(late).startswith("DeadlineError")


def test_a_request_of_mcp_counts_and_may_be_too_large(served: Served) -> None:
    client = served(requests_per_minute=2, body_kb=2)
    assert post(client, call("ping")).status_code == 200
    assert post(client, call("ping", text="x" * 3000)).status_code == 413
    assert [post(client, call("ping")).status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    ("has_keys", "headers", "status"),
    [
        (False, {"host": "evil.example"}, 403),
        (False, {"origin": "https://evil.example"}, 403),
        (False, {"host": "127.0.0.1:8080", "origin": "http://localhost:3000"}, 200),
        (True, {"host": "evil.example"}, 421),
        (True, {"origin": "https://evil.example"}, 403),
        (True, {"host": "rag.example"}, 200),
        (True, {"host": "rag.example:443", "origin": "https://rag.example"}, 200),
    ],
)
def test_only_names_of_this_server_are_answered_and_no_web_page_of_another_site(
    served: Served, keys: Path, has_keys: bool, headers: dict[str, str], status: int
) -> None:
    (mine,) = write_keys(keys, ("a", "alpha", ALL)) if has_keys else ({},)
    client = served(keys=keys if has_keys else None, hosts=("rag.example",))
    assert post(client, call("ping"), mine | headers).status_code == status


async def test_the_audit_log_names_what_mcp_showed_and_no_text(listening: Address, keys: Path, log: StringIO) -> None:
    (mine,) = write_keys(keys, ("auditor", "alpha", ALL))
    async with connected(listening(keys=keys), mine) as client:
        listed = data_of(await client.call_tool("list_documents", {}))["documents"]
        await client.call_tool("ask", {"question": QUERY})
        await client.call_tool("search", {"question": QUERY})
        await read(client, listed[0]["doc_id"])
    lines = logged(log, LOGGER)
    assert [line["event"] for line in lines] == ["listed", "read", "read", "read"]
    assert all(set(line["documents"]) <= {d["doc_id"] for d in listed} and line["documents"] for line in lines)
    assert {(line["key"], len(line["request_id"])) for line in lines} == {("auditor", 32)}
    assert "influenza" not in log.getvalue()
    assert "a.txt" not in log.getvalue()


def call(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def post(client: TestClient, body: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    accepted = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    return client.post("/mcp", json=body, headers=accepted | (headers or {}))


DOC = (EXAMPLES.parent / "docs" / "mcp.md").read_text(encoding="utf-8")


@pytest.mark.server
async def test_a_client_that_is_configured_as_the_docs_show_asks_what_was_ingested(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    shown = json.loads(DOC.split("```json")[1].split("```")[0].replace("/path/to", str(tmp_path)))
    server = shown["mcpServers"]["disco-rag"]
    assert server.pop("command") == "disco-rag"
    server["args"] = ["-m", "discorag", *server["args"]]
    server["env"] |= {"PYTHONPATH": ".", "HF_HUB_OFFLINE": "1", "DISCO_RAG_PARSER__KIND": "rules"}
    started = StdioServerParameters(command=sys.executable, cwd=EXAMPLES.parent, **server)
    ingest = [sys.executable, "-m", "discorag", "ingest", str(folder), "--corpus", "papers"]
    subprocess.run(ingest, check=True, env=os.environ | server["env"])
    async with Client(started, read_timeout_seconds=300) as client:
        answer = await client.call_tool("ask", {"question": QUERY, "corpus": "papers"})
        assert "12 %" in text_of(answer)
        cited = data_of(answer)["sources"][0]
        text = await read(client, cited["doc_id"])
        assert text[cited["span"]["start"] : cited["span"]["end"]] == cited["text"]


def test_the_docs_name_every_tool_and_no_other() -> None:
    table = DOC.split("## Tools")[1].split("## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == READING
