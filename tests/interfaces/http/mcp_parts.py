"""What the tests of MCP share."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

READING = {"ask", "search", "audit", "list_corpora", "list_documents", "read_document"}


def text_of(result: CallToolResult) -> str:
    """What a tool said."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def data_of(result: CallToolResult) -> dict[str, Any]:
    """What a tool returned; it did not fail."""
    assert not result.is_error, text_of(result)
    return result.structured_content


async def read(client: Client, doc_id: str, **more: Any) -> str:
    """The text of a document."""
    return data_of(await client.call_tool("read_document", {"doc_id": doc_id, **more}))["text"]


@asynccontextmanager
async def connected(url: str, headers: dict[str, str] | None = None, **options: Any) -> AsyncGenerator[Client]:
    """The SDK's client of a server over HTTP."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), **options) as client,
    ):
        yield client
