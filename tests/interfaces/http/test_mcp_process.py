"""``disco-rag mcp`` as a process that a client starts, and its options."""

import json
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import EXAMPLES
from tests.interfaces.http.mcp_parts import READING, data_of, read, text_of
from tests.interfaces.http.parts import QUERY, TEXTS

DOC = (EXAMPLES.parent / "docs" / "mcp.md").read_text(encoding="utf-8")


@pytest.mark.server
async def test_a_client_that_is_configured_as_the_docs_show_ingests_and_asks(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    shown = json.loads(DOC.split("```json")[1].split("```")[0].replace("/path/to", str(tmp_path)))
    server = shown["mcpServers"]["disco-rag"]
    assert server.pop("command") == "disco-rag"
    server["args"] = ["-c", "from interfaces.cli.main import main; main()", *server["args"]]
    server["env"] |= {"PYTHONPATH": ".", "HF_HUB_OFFLINE": "1", "DISCO_RAG_PARSER__KIND": "rules"}
    started = StdioServerParameters(command=sys.executable, cwd=EXAMPLES.parent, **server)
    async with Client(started, read_timeout_seconds=300) as client:
        outcomes = data_of(await client.call_tool("ingest", {"path": "."}))["outcomes"]
        assert [o["status"] for o in outcomes] == ["added"] * len(TEXTS)
        answer = await client.call_tool("ask", {"question": QUERY, "corpus": "papers"})
        assert "12 %" in text_of(answer)
        cited = data_of(answer)["sources"][0]
        text = await read(client, cited["doc_id"])
        assert text[cited["span"]["start"] : cited["span"]["end"]] == cited["text"]


def test_the_docs_name_every_tool_and_no_other() -> None:
    table = DOC.split("## Tools")[1].split("## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == READING | {"ingest"}
