"""``disco-rag mcp`` as a process that a client starts, and its options."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from typer.testing import CliRunner

from discorag.types.errors import ConfigError
from graphs.cli import app as cli
from tests.conftest import EXAMPLES
from tests.serving.mcp_parts import data_of, resource, text_of
from tests.serving.parts import QUERY, TEXTS


@pytest.mark.server
async def test_a_client_starts_it_ingests_asks_and_ends_it(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    own = {"STORE__PATH": tmp_path / "store", "PARSER__KIND": "rules"}
    run = ["-c", "from graphs.cli import main; main()", "mcp", "--folder", str(folder), "--corpus", "mine"]
    started = StdioServerParameters(
        command=sys.executable,
        args=run,
        cwd=EXAMPLES.parent,
        env={"PYTHONPATH": ".", "HF_HUB_OFFLINE": "1"} | {f"DISCO_RAG_{name}": str(v) for name, v in own.items()},
    )
    async with Client(started, read_timeout_seconds=300) as client:
        outcomes = data_of(await client.call_tool("ingest", {"path": "."}))["outcomes"]
        assert [o["status"] for o in outcomes] == ["added"] * len(TEXTS)
        answer = await client.call_tool("ask", {"question": QUERY, "corpus": "mine"})
        assert "12 %" in text_of(answer)
        cited = data_of(answer)["sources"][0]
        text = await resource(client, f"disco-rag://documents/{cited['doc_id']}")
        assert text[cited["start"] : cited["end"]] == cited["text"]
    shown = CliRunner(env={"DISCO_RAG_STORE__PATH": str(own["STORE__PATH"])}).invoke(
        cli, ["status", "--corpus", "mine", "--json"]
    )
    assert {m["doc_id"] for m in json.loads(shown.stdout)} == {o["doc_id"] for o in outcomes}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--port", "8081"], "go with --http"),
        (["--http", "--folder", "."], "go with --http"),
        (["--http", "--host", "0.0.0.0"], "without keys"),
    ],
)
def test_options_that_would_be_ignored_or_open_the_server_are_refused(options: list[str], said: str) -> None:
    made = CliRunner().invoke(cli, ["mcp", *options])
    assert isinstance(made.exception, ConfigError)
    assert said in made.exception.message
