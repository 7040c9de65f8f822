"""RDR²'s router: examples from pages, their actions, the training on them and its measures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.retrieval.routers.prompted import read_decision, router_of
from discorag.retrieval.routers.walk import Decision
from eval.datasets.asqa import load_asqa_pages
from tests.conftest import Pipelines
from tests.eval.helpers import FIXTURES
from tests.servers.scripted import Body, ScriptedServer
from tests.training.tiny import tiny_model
from training.router.examples import Example, label, steps, write
from training.router.score import Scores, score

CUP, BRIDGE = "Who won the Lantern Cup?", "When was the Orre bridge built?"


async def pages(rag: DiscoRAG, home: Path) -> list[Example]:
    return await steps(rag, load_asqa_pages(FIXTURES / "asqa/pages"), home, passages=5)


def said(example: Example, nodes: tuple[int, ...]) -> set[str]:
    return {line.text for line in example.subtree.lines if line.node in nodes}


async def test_examples_answer_where_an_answer_stands_expand_where_it_hides_and_refuse_elsewhere(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    rag = pipeline()
    found = await label(rag, await pages(rag, tmp_path), by_a_model=False)
    cup = [e for e in found if e.question == CUP and "Lantern Cup" in e.subtree.lines[0].text]
    women = next(e for e in cup if any("Mira Holt" in line.text for line in e.subtree.lines))
    assert said(women, women.action.answer) == {"In 2011 Mira Holt beat the holder in five sets."}
    assert said(women, women.action.expand) == {"Men"}
    bridge = [e for e in found if e.question == BRIDGE and "Lantern Cup" in e.subtree.lines[0].text]
    assert {e.kind for e in bridge} <= {"refuse"}
    counts = write(found, tmp_path / "examples.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "examples.jsonl").read_text("utf-8").splitlines()]
    assert sum(counts.values()) == len(lines) == len(found)
    for line, example in zip(lines, found, strict=True):
        [prompt], [completion] = line["prompt"], line["completion"]
        assert example.question in prompt["content"]
        assert read_decision(completion["content"], example.subtree) == example.action


async def test_a_model_labels_without_the_answer_and_what_it_cannot_label_is_left_out(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    def model(body: Body) -> str:
        title, *lines = body["messages"][0]["content"].split("<document>\n")[-1].split("\n</document>")[0].split("\n")
        passages = [line.strip() for line in lines if ": =" not in line]
        return "\n".join(f"[ANSWER] {line}" for line in passages) if "Orre bridge" in title else "no"

    with ScriptedServer(model) as server:
        rag = pipeline(llm=server.base_url)
        found = await label(rag, await pages(rag, tmp_path), by_a_model=True)
    assert {e.subtree.lines[0].text for e in found} == {"Orre bridge"}
    assert all(e.action.answer == e.subtree.passages for e in found)


def test_actions_are_measured_as_the_authors_do() -> None:
    scores = Scores()
    scores.add(Decision((1, 2), (7,)), Decision((2, 3, 4), (7, 8)))  # F1 2 / 5, precision 1 / 2
    scores.add(Decision((1,)), None)
    scores.add(Decision((), (7,)), Decision())
    scores.add(Decision(), Decision())
    scores.add(Decision(), Decision((1,)))
    assert scores.row() == ["20.0 (2)", "25.0 (2)", "50.0 (2)", "20.0 (5)"]


@pytest.mark.deep
async def test_lora_trains_a_router_on_the_examples_and_its_actions_are_measured(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    pytest.importorskip("trl")
    transformers: Any = pytest.importorskip("transformers")
    from training.sft import main

    rag = pipeline()
    found = await label(rag, await pages(rag, tmp_path), by_a_model=False)
    file, out = tmp_path / "examples.jsonl", tmp_path / "router"
    write([replace(e, action=Decision()) for e in found], file)
    main(file, tiny_model(tmp_path / "tiny", window=4096), out, epochs=1, rank=8, rate=1e-2, batch=1, length=4096)
    writer: Any = transformers.pipeline("text-generation", model=str(out))

    def trained(body: Body) -> str:
        return writer(body["messages"], max_new_tokens=16, do_sample=False)[0]["generated_text"][-1]["content"]

    with ScriptedServer(trained) as server:
        measured = await score(router_of(pipeline(llm=server.base_url).backends), found[:2])
    assert len(measured.unreadable) == 2
