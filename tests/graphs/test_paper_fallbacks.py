"""``preset=paper`` where a model does not do all: what stands in, what is counted, whose trees are read."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.generation.prompted.paper import PAIR_TOKENS
from discorag.models.tokens import likely_tokens
from tests.conftest import Pipelines
from tests.graphs.paper_scripts import (
    PIPELINE,
    TEXTS,
    chunks_of,
    fenced,
    marked,
    model,
    name_of,
    opened,
    outside,
    prompt_of,
)
from tests.graphs.scripts import QUERY, write_texts
from tests.inputs import stage_of
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", TEXTS)


def graph_without(*pairs: tuple[int, int], k: int = 3) -> str:
    lines = {(i, j): f"CHUNK[{i}] -> CHUNK[{j}]: SUPPORTS" for i, j in permutations(range(1, k + 1), 2)}
    return "\n".join(line for pair, line in lines.items() if pair not in pairs)


def test_a_pair_without_a_line_is_unrelated_and_counted_and_the_models_graph_stays(
    pipeline: Pipelines, texts: Path
) -> None:
    with ScriptedServer(model({"graph": graph_without((1, 3))})) as server:
        result = opened(pipeline, server, texts, parser="paper").ask(QUERY, preset="paper")
        plan = server.requests[1]
    assert "CHUNK[1] -> CHUNK[3]" not in outside(plan)
    assert outside(plan).count("SUPPORTS") == 5
    relate = stage_of(result.ledger, "relate")
    assert (relate.engine, relate.failures, relate.usage.calls) == ("llm", (), 1)
    assert relate.counts == {"pairs without a line": 1}


def test_a_graph_whose_lines_do_not_fit_the_context_is_asked_for_in_parts_that_read_all_chunks(
    pipeline: Pipelines, texts: Path
) -> None:
    few: dict[str, Any] = {"parser": "local", "plan_tokens": 32, "answer_tokens": 32}
    with ScriptedServer(model({"graph": graph_without()})) as server:
        opened(pipeline, server, texts, parser="local").ask(QUERY, preset="paper", **few)
        whole = likely_tokens(prompt_of(server.requests[0]))
        rag = opened(pipeline, server, texts, parser="local", context_tokens=whole + 3 * PAIR_TOKENS)
        result = rag.ask(QUERY, preset="paper", **few)
        graphs = [r for r in server.requests if name_of(r) == "graph"]
    assert [prompt_of(g).rpartition("\n")[2] for g in graphs] == [
        f"This time write only the lines whose source is one of CHUNK[{i}] to CHUNK[{i}]." for i in (1, 2, 3)
    ]
    assert all(len(fenced(g, "chunk")) == 3 for g in graphs)
    assert result.graph is not None
    assert len(result.graph.edges) == 6
    assert stage_of(result.ledger, "relate").counts == {"graph calls": 3}


def test_a_tree_that_fails_is_the_local_parsers_and_counted(pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(model({"tree": "no tree"})) as server:
        rag = opened(pipeline, server, texts)
        result = rag.ask(QUERY, preset="paper")
        requests = server.requests
    assert [name_of(r) for r in requests].count("tree") == 6
    assert [(f.stage, f.kind, f.fallback) for f in result.ledger.failures] == [
        ("parse", "InvalidOutputError", TrainedParser().version)
    ] * 3
    assert all("|1" in chunk for chunk in fenced(requests[-1], "chunk"))
    parse = stage_of(result.ledger, "parse")
    assert (parse.engine, parse.model) == ("local", TrainedParser().version)


def test_chunks_that_another_parser_parsed_are_parsed_again(pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(model()) as server:
        result = opened(pipeline, server, texts, parser="local").ask(QUERY, preset="paper")
        requests = server.requests
    assert [name_of(r) for r in requests] == PIPELINE
    assert stage_of(result.ledger, "parse").usage.calls == 3
    assert all(chunk.count("<elab|") == chunk.count("|1") == 1 for chunk in fenced(requests[-1], "chunk"))


def test_trees_that_the_papers_parser_made_at_ingest_cost_one_call_a_chunk_once(
    pipeline: Pipelines, texts: Path
) -> None:
    with ScriptedServer(model()) as server:
        rag = pipeline(llm=server.base_url)
        ingested = rag.ingest(texts, parser="paper")
        at_ingest = [name_of(r) for r in server.requests]
        result = rag.ask(QUERY, preset="paper")
        after = [name_of(r) for r in server.requests[3:]]
    assert at_ingest == ["tree"] * 3
    assert ingested.ledger.failures == ()
    assert after == ["graph", "plan", "answer"]
    assert (stage_of(result.ledger, "parse").engine, stage_of(result.ledger, "parse").usage.calls) == ("stored", 0)


def test_the_local_parser_keeps_the_trees_that_are_stored(pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(model()) as server:
        rag = opened(pipeline, server, texts, parser="local")
        result = rag.ask(QUERY, preset="paper", parser="local")
        requests = server.requests
    assert [name_of(r) for r in requests] == ["graph", "plan", "answer"]
    assert fenced(requests[-1], "chunk") == [marked(c) for c in chunks_of(rag, result)]
    assert stage_of(result.ledger, "parse").engine == "stored"
