"""Ollama from nothing to an answer, as the page shows it; and a model for each role."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.config import ModelRoles, StoreSettings, read_settings
from discorag.schema.errors import ConfigError
from tests.conftest import EXAMPLES
from tests.interfaces.test_cli import run
from tests.servers.ollama import OllamaServer
from tests.servers.scripted import Body, ScriptedServer

PAGE = (EXAMPLES.parent / "docs/language-models.md").read_text(encoding="utf-8")
ANSWER = "The pooled trials show no protection against influenza [1]."
TEXT = "# Tides\n\n" + "\n\n".join(
    f"The moon pulls the sea from place number {i}. Therefore the tide rises there twice a day." for i in range(12)
)


def model(body: Body) -> str:
    """Writes `ANSWER`; where a schema asks for JSON, an empty object of it."""
    asked: dict[str, Any] = body.get("format") or body.get("response_format", {}).get("json_schema", {}).get("schema")
    if not asked:
        return ANSWER
    empty: dict[str, Any] = {"array": [], "string": ANSWER}
    properties: dict[str, dict[str, Any]] = asked.get("properties", {})
    return json.dumps({name: empty.get(part.get("type", ""), {}) for name, part in properties.items()})


def test_the_walk_through_with_ollama_ends_in_a_written_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = PAGE.split("## With Ollama")[1].split("```sh\n")[1].split("```")[0]
    (tmp_path / "examples").symlink_to(EXAMPLES)
    environment: dict[str, Any] = {"DISCO_RAG_LLM__CACHE": str(tmp_path / "cache")}
    printed: list[str] = []
    with OllamaServer(model, installed={"qwen3:8b": 40_960}, capabilities=["completion", "thinking"]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        for program, *words in map(shlex.split, walk.splitlines()):
            if program == "disco-rag":
                printed.append(run(tmp_path, *words, **environment))
            elif program == "export":
                environment |= dict(word.split("=", 1) for word in words)
    _, asked, again = printed
    assert all("no protection against influenza" in text for text in (asked, again))
    assert {body["model"] for body in server.requests} == {"qwen3:8b"}
    assert {(body["options"]["num_ctx"], body["think"]) for body in server.requests} == {(32_768, False)}


def test_changing_the_reader_rebuilds_no_tree_and_changing_the_summariser_does(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text(TEXT, encoding="utf-8")
    with ScriptedServer(model) as server:

        def calls(reader: str, summariser: str) -> tuple[int, int]:
            """How often each of the two was asked for one answer."""
            settings = read_settings().model_copy(
                update={
                    "store": StoreSettings(path=tmp_path / "store"),
                    "models": ModelRoles(summariser=f"{server.base_url}#{summariser}"),
                    "llm": read_settings().llm.model_copy(update={"cache": None, "retries": 0}),
                }
            )
            before = len(server.requests)
            with DiscoRAG(settings, llm=f"{server.base_url}#{reader}") as rag:
                rag.ingest(tmp_path / "tides.md", parser="rules", retriever="dense")
                rag.ask("Why does the tide rise?", retriever="htsir", engine="llm")
            names = [body["model"] for body in server.requests[before:]]
            return names.count(reader), names.count(summariser)

        first, other_reader, other_summariser = (
            calls(*names) for names in (("small", "brief"), ("large", "brief"), ("large", "terse"))
        )
    assert first[0] > 0
    assert first[1] > 0
    assert other_reader[0] > 0
    assert other_reader[1] == 0
    assert other_summariser[1] == first[1]


def test_a_name_without_a_provider_is_refused_with_the_way_to_write_it(tmp_path: Path) -> None:
    said = run(tmp_path, "ask", "Why?", "--llm", "qwen3", ok=2)
    assert re.search(r"'qwen3' cannot be used.*ollama:qwen3, openai:qwen3 or http://", " ".join(said.split()))
    with pytest.raises(ConfigError, match="ollama:qwen3, openai:qwen3 or http://"):
        DiscoRAG(llm="qwen3")
