"""MCP over HTTP: keys, roles, tenants, quotas and the audit log are the API's; pages of other sites stay out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from fastapi.testclient import TestClient
from mcp import Client

from interfaces.http.access import Role
from tests.interfaces.http.conftest import Listen, Serve
from tests.interfaces.http.mcp_parts import connected, data_of, read, text_of
from tests.interfaces.http.parts import QUERY, TEXTS, Apps, bearer, write_keys

NOTE = {"name": "note.md", "text": "# Tides\n\nThe Quillfeather trial measured tides. Tides rise twice a day."}
ALL = tuple(Role)
DOCS = len(TEXTS)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys.toml"


async def total(client: Client, corpus: str | None = None) -> int:
    """How many documents the client sees."""
    return data_of(await client.call_tool("list_documents", {"corpus": corpus}))["total"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_one_store_answers_clients_of_mcp_and_of_openai_alike(
    apps: Apps, listen: Listen, uploads: Path, mode: str
) -> None:
    url, stages = listen(apps(uploads)), list[str | None]()

    async def told(progress: float, total: float | None, message: str | None) -> None:
        stages.append(message)

    async with connected(url, mode=mode) as client:
        result = await client.call_tool("ask", {"question": QUERY}, progress_callback=told)
    chat = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0).chat.completions
    said = chat.create(model="disco-rag", messages=[{"role": "user", "content": QUERY}]).choices[0].message.content
    assert said
    assert text_of(result) == said.strip()
    assert data_of(result)["answer"]["disagreements"]
    assert "verify" in stages


@pytest.mark.parametrize("headers", [{}, bearer("dr-wrong"), bearer("")])
def test_mcp_is_not_answered_without_a_valid_key(
    apps: Apps, serve: Serve, uploads: Path, keys: Path, headers: dict[str, str]
) -> None:
    write_keys(keys, ("a", "alpha", ALL))
    reply = serve(apps(uploads, keys=keys)).post("/mcp", json=call("tools/list"), headers=headers)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert reply.json()["error"]["type"] == "NoKeyError"


async def test_a_key_of_mcp_may_do_what_its_roles_say_and_nothing_else(
    apps: Apps, listen: Listen, uploads: Path, keys: Path
) -> None:
    reader, writer = write_keys(keys, ("r", "alpha", [Role.READ]), ("w", "alpha", [Role.WRITE]))
    url = listen(apps(uploads, keys=keys))
    async with connected(url, reader) as client:
        refused = await client.call_tool("ingest", NOTE)
        assert refused.is_error
        assert "This key may not write." in text_of(refused)
        assert await total(client) == DOCS
    assert httpx.post(f"{url}/mcp", headers=writer, json=call("tools/list")).status_code == 403


async def test_what_a_tenant_ingests_by_mcp_is_its_own_and_the_apis_too(
    apps: Apps, listen: Listen, uploads: Path, keys: Path
) -> None:
    mine, other = write_keys(keys, ("n", "mcp-north", ALL), ("s", "mcp-south", ALL))
    url, reports = listen(apps(uploads, keys=keys)), list[tuple[float, float | None]]()

    async def told(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total))

    async with connected(url, mine) as client:
        (outcome,) = data_of(await client.call_tool("ingest", NOTE, progress_callback=told))["outcomes"]
        assert (outcome["status"], outcome["name"]) == ("added", "note.md")
        assert "twice a day" in text_of(await client.call_tool("ask", {"question": "How often do tides rise?"}))
        assert "Quillfeather" in await read(client, outcome["doc_id"])
    assert reports[-1] == (1, 1)
    listed = httpx.get(f"{url}/documents", headers=mine).json()["documents"]
    assert [d["doc_id"] for d in listed] == [outcome["doc_id"]]
    async with connected(url, other) as client:
        assert await total(client) == 0
        for tool in ("ask", "search"):
            assert "Quillfeather" not in text_of(await client.call_tool(tool, {"question": "Quillfeather tides?"}))
        for tool in ("show_tree", "read_document"):
            refused = await client.call_tool(tool, {"doc_id": outcome["doc_id"]})
            assert "There is no document" in text_of(refused)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "../note.md"}, "not a plain file name"),
        ({"name": "note.exe"}, "unknown format"),
        ({"name": "note.pdf"}, "failed"),
        ({"text": " "}, "holds no text"),
    ],
)
async def test_a_document_that_cannot_be_stored_is_an_error_that_says_why(
    apps: Apps, listen: Listen, uploads: Path, given: dict[str, str], said: str
) -> None:
    async with connected(listen(apps(uploads))) as client:
        result = await client.call_tool("ingest", NOTE | given | {"corpus": "refused"})
        assert said in text_of(result)
        assert await total(client, "refused") == 0


async def test_quotas_and_deadlines_of_the_api_are_errors_of_the_tools(
    apps: Apps, listen: Listen, uploads: Path
) -> None:
    quota = {"questions_per_minute": 1, "documents": 0}
    async with connected(listen(apps(uploads, quota=quota))) as client:
        assert not (await client.call_tool("search", {"question": QUERY})).is_error
        for tool in ("ask", "search"):
            assert "TooManyRequestsError" in text_of(await client.call_tool(tool, {"question": QUERY}))
        assert "QuotaError" in text_of(await client.call_tool("ingest", NOTE))
    async with connected(listen(apps(uploads, deadline_s=0.001))) as client:
        late = await client.call_tool("ask", {"question": QUERY})
        assert late.is_error
        assert text_of(late).startswith("DeadlineError")


def test_a_request_of_mcp_counts_and_may_be_too_large(apps: Apps, serve: Serve, uploads: Path) -> None:
    client = serve(apps(uploads, requests_per_minute=3, body_kb=2))
    assert post(client, call("ping")).status_code == 200
    assert post(client, call("ping", text="x" * 3000)).status_code == 413
    assert 'route="/mcp"' in client.get("/metrics").text
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
    apps: Apps, serve: Serve, uploads: Path, keys: Path, has_keys: bool, headers: dict[str, str], status: int
) -> None:
    (mine,) = write_keys(keys, ("a", "alpha", ALL)) if has_keys else ({},)
    client = serve(apps(uploads, keys=keys if has_keys else None, hosts=("rag.example",)))
    assert post(client, call("ping"), mine | headers).status_code == status


async def test_the_audit_log_names_what_mcp_showed_and_changed_and_no_text(
    apps: Apps, listen: Listen, uploads: Path, keys: Path, audit: Path
) -> None:
    (mine,) = write_keys(keys, ("auditor", "mcp-audit", ALL))
    async with connected(listen(apps(uploads, keys=keys)), mine) as client:
        (outcome,) = data_of(await client.call_tool("ingest", NOTE))["outcomes"]
        await client.call_tool("ask", {"question": "How often do tides rise?"})
        await client.call_tool("search", {"question": "How often do tides rise?"})
        await client.call_tool("list_documents", {})
        await client.call_tool("show_tree", {"doc_id": outcome["doc_id"]})
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["accepted", "read", "read", "listed", "read"]
    assert all(line["documents"] == [outcome["doc_id"]] and line["key"] == "auditor" for line in lines)
    assert all(len(line["request_id"]) == 32 for line in lines)
    assert "Quillfeather" not in audit.read_text()
    assert "note.md" not in audit.read_text()


def call(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def post(client: TestClient, body: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    accepted = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    return client.post("/mcp", json=body, headers=accepted | (headers or {}))
