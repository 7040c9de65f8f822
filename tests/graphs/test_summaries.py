"""``context=nodes``: summaries reach the reader, and what is written from them is traced to the documents."""

import re
from pathlib import Path
from typing import Literal

import pytest

from discorag import AskResult, DiscoRAG
from discorag.schema.document import Chunk, Scope
from tests.conftest import Pipelines
from tests.graphs.scripts import write_texts
from tests.servers.scripted import Body, ScriptedServer

QUESTION = "What do bees do at the hive?"
SUMMARY = "Bees fly out, dance at the hive and store honey."
FACT = "The seventh bee dances at the hive on a warm morning."
SAID = {
    f"{name}.md": f"# {name}\n\n"
    + " ".join(f"The {n} {name} dances at the hive on a warm morning." for n in numbers)
    + "\n\n"
    + " ".join(f"The {n} {name} flies to a field of clover, which is far away." for n in numbers)
    for name, numbers in {
        "bee": ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
        "wasp": ("tall", "small", "red", "black", "brown", "old", "young", "last"),
    }.items()
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "notes", SAID)


def opened(pipeline: Pipelines, folder: Path, llm: str | None = None) -> DiscoRAG:
    rag = pipeline(llm=llm)
    rag.ingest(folder, parser="rules", retriever="dense")
    return rag


def read(rag: DiscoRAG, result: AskResult) -> list[Chunk]:
    """The passages that the reader was given."""
    return rag.backends.store.chunks(Scope(), [hit.chunk_id for hit in result.hits])


def assert_traced_to_documents(result: AskResult) -> None:
    spans = [e for s in result.answer.sentences for e in s.evidence]
    assert spans
    assert all(e.text == SAID[f"{e.title}.md"][e.span.start : e.span.end] for e in spans)


def reader(body: Body) -> str:
    """Writes summaries where it is asked for one, else a fact of a leaf, citing the summary above it."""
    prompt = body["messages"][-1]["content"]
    if "<passage 1>" not in prompt:
        return SUMMARY
    cited = re.findall(r"<passage (\d+)>\nSource: bee [^\n]*Summary\n", prompt)
    return f"{FACT[:-1]} [{cited[0]}]. The moon is made of cheese [{cited[0]}]."


@pytest.mark.parametrize("preset", ["raptor", "htsir"])
def test_a_reader_sees_summaries_and_what_it_cites_to_them_is_traced_to_the_leaves_below(
    pipeline: Pipelines, folder: Path, preset: Literal["raptor", "htsir"]
) -> None:
    with ScriptedServer(reader) as server:
        rag = opened(pipeline, folder, server.base_url)
        result = rag.ask(QUESTION, preset=preset)
        said = [b["messages"][-1]["content"] for b in server.requests]
    [prompt] = [text for text in said if "<passage 1>" in text]
    assert SUMMARY in prompt
    assert any(chunk.stands_for for chunk in read(rag, result))
    assert_traced_to_documents(result)
    fact, invented = result.answer.sentences
    assert (fact.text, [e.text for e in fact.evidence], invented.supported) == (FACT, [FACT], False)
    assert not result.ledger.failures


@pytest.mark.parametrize("preset", ["raptor", "htsir"])
def test_without_a_language_model_too(pipeline: Pipelines, folder: Path, preset: Literal["raptor", "htsir"]) -> None:
    rag = opened(pipeline, folder)
    result = rag.ask(QUESTION, preset=preset)
    assert any(chunk.stands_for for chunk in read(rag, result))
    assert not result.answer.problems
    assert_traced_to_documents(result)
