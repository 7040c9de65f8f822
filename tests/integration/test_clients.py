"""Clients that know nothing of us answer from one store: LangGraph's SDK, OpenAI's, and that of MCP."""

# The SDK leaves its own JSON types open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest
from langgraph_sdk import get_client

from discorag import DiscoRAG
from discorag.config import ApiSettings, Settings, StoreSettings
from interfaces.http.app import create_app
from tests.conftest import EXAMPLES
from tests.integration.test_studio import QUERY, studio
from tests.interfaces.http.mcp_parts import connected, text_of
from tests.interfaces.http.parts import Listening

pytestmark = [pytest.mark.deep, pytest.mark.server, pytest.mark.timeout(300)]


async def test_three_unmodified_clients_have_the_same_answer_from_one_store(tmp_path: Path) -> None:
    with studio(tmp_path) as url:
        langgraph = get_client(url=url)
        await langgraph.runs.wait(None, "ingest", input={"path": str(EXAMPLES / "vitamin-d")})
        asked: Any = {"messages": [{"role": "user", "content": QUERY}]}
        state: Any = await langgraph.runs.wait(None, "chat", input=asked)
    said = state["messages"][-1]["content"]
    settings = Settings(store=StoreSettings(path=tmp_path / "store"), api=ApiSettings(uploads=tmp_path / "up"))
    with DiscoRAG(settings) as rag, Listening(create_app(rag=rag)) as server:
        chat = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0).chat.completions
        [choice] = chat.create(model="disco-rag", messages=[{"role": "user", "content": QUERY}]).choices
        async with connected(server.url) as client:
            told = text_of(await client.call_tool("ask", {"question": QUERY}))
    assert choice.message.content == said
    assert told == said.strip()
