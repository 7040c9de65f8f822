"""The examples in the docstrings of public classes, run.

An example may use `asyncio`, `np` and the fixtures below by their names; everything else it imports.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import doctest
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prompts
from discorag import DiscoRAG
from discorag.config import LlmSettings, StoreSettings
from discorag.generation.prompted.conversation import Templates
from discorag.generation.prompted.paper import PaperTemplates
from discorag.generation.selection import Selector
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.chat import Draft
from discorag.models.encoder import PackagedEncoder
from discorag.models.gateway import Gateway
from discorag.models.protocol import Encoder, Request
from discorag.retrieval.builders.base import Source
from discorag.retrieval.builders.headings import HeadingBuilder
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk, Document, Hierarchy, Scope
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.store import Store, open_store
from nodes.templates import paper_templates, templates
from tests import house
from tests.conftest import Pipelines
from tests.inputs import chunks_of, inputs_from, selector_of
from tests.models import test_reranker
from tests.servers.qdrant import QdrantServer
from tests.servers.scripted import ScriptedServer
from tests.store.samples import sample

TIDES = """# Tides

The moon pulls the sea. Therefore tides rise twice a day.

## Spring tides

At full moon the sun helps. However, at half moon the sun hinders.
"""
TRIAL = "Vitamin D lowered the risk of influenza by 12 % in schoolchildren."
REVIEW = "Vitamin D did not lower the risk of influenza."
QUESTION = "Does vitamin D lower the risk of influenza?"
GIVEN = {"asyncio": asyncio, "np": np}


@pytest.fixture
def scope() -> Scope:
    """Tenant and corpus of everything below."""
    return Scope()


@pytest.fixture
def document() -> Document:
    """A page on tides: two headings, two paragraphs, four sentences."""
    return Document(uri="tides.md", title="Tides", text=TIDES, media_type="text/markdown")


@pytest.fixture
def hierarchy(document: Document) -> Hierarchy:
    return build_hierarchy(document)


@pytest.fixture
def source(document: Document, hierarchy: Hierarchy) -> Source:
    """The page as builders see it."""
    return Source(document, hierarchy)


@pytest.fixture
def chunk(document: Document, encoder: Encoder) -> Chunk:
    """The page in one chunk, with its tree."""
    return asyncio.run(chunks_of(document, encoder))[0]


@pytest.fixture
def inputs(encoder: Encoder) -> AnswerInputs:
    """A question with two chunks that disagree."""
    return asyncio.run(inputs_from({"trial.md": TRIAL, "review.md": REVIEW}, QUESTION, encoder))


@pytest.fixture
def selector(encoder: Encoder) -> Selector:
    """With the packaged models."""
    return selector_of(encoder)


@pytest.fixture
def tree(source: Source, encoder: Encoder) -> RetrievalTree:
    """The page's headings over its paragraphs."""
    return asyncio.run(HeadingBuilder(encoder.tokens).build(source)).tree


@pytest.fixture
def sample_of() -> Callable[..., Any]:
    """Makes a small document with manifest, chunks and vectors of length 8: ``sample_of(uri, texts)``."""
    return sample


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store in memory."""
    with open_store(StoreSettings(kind="memory"), ("test-encoder/1", 8)) as opened:
        yield opened


@pytest.fixture(scope="session")
def minilm() -> PackagedEncoder:
    """The packaged encoder itself, without a memory."""
    return PackagedEncoder()


@pytest.fixture(name="templates")
def _templates() -> Templates:
    """The prompts of the conversation."""
    return templates()


@pytest.fixture(name="paper_templates")
def _paper_templates() -> PaperTemplates:
    """The prompts of the paper's pipeline."""
    return paper_templates()


@pytest.fixture
def prompt() -> Callable[[str], prompts.Prompt]:
    """Loads a prompt by its name."""
    return prompts.load


class _Says:
    """Replies in the order given, in a model's place."""

    def __init__(self, replies: Sequence[str]) -> None:
        self._left = iter(replies)

    async def context_tokens(self) -> int:
        return 32_768

    async def send(self, request: Request[Any]) -> Draft:
        return Draft(text=next(self._left), finish_reason="stop")

    async def stream(self, request: Request[Any]) -> AsyncGenerator[str | Draft, None]:
        draft = await self.send(request)
        yield draft.text
        yield draft

    async def aclose(self) -> None:
        """Nothing to close."""


@pytest.fixture
def says() -> Callable[..., Gateway]:
    """Makes a language model that says these texts, one a call."""
    return lambda *replies: Gateway(LlmSettings(model="scripted", cache=None), chat=_Says(replies))


@pytest.fixture
def llm_url() -> Iterator[str]:
    """An OpenAI-compatible server on loopback that says one sentence, and embeds."""
    with ScriptedServer(lambda body: "Tides rise twice a day.") as server:
        yield server.base_url


@pytest.fixture
def rerank_url() -> Iterator[str]:
    """A server on loopback that scores longer texts higher."""
    with test_reranker.served() as server:
        yield server.url


@pytest.fixture
def nli_url() -> Iterator[str]:
    """A server on loopback that calls every pair entailed, at 0.75."""
    with test_reranker.served(
        lambda body: [[{"label": "entailment", "score": 0.75}] for _ in body["inputs"]]
    ) as server:
        yield server.url


@pytest.fixture
def cross_encoder(tmp_path: Path) -> Path:
    """A folder with a tiny cross-encoder, untrained."""
    return test_reranker.cross_encoder(tmp_path, labels=1)


@pytest.fixture
def qdrant_url() -> Iterator[str]:
    """A Qdrant server on loopback."""
    with QdrantServer() as server:
        yield server.url


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    """A pipeline over an empty store in memory."""
    return pipeline()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two notes that disagree."""
    (tmp_path / "notes").mkdir()
    for name, text in {"trial.md": TRIAL, "review.md": REVIEW}.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    return tmp_path / "notes"


EXAMPLES = [c for c in house.public_classes() if c.example]


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda c: f"{c.module}.{c.name}")
def test_the_example_prints_what_it_says(found: house.PublicClass, request: pytest.FixtureRequest) -> None:
    parsed = doctest.DocTestParser().get_doctest(found.example, {}, found.name, found.path, 0)
    names = _free(ast.parse("".join(e.source for e in parsed.examples)))
    parsed.globs = {**GIVEN, **{name: request.getfixturevalue(name) for name in sorted(names - GIVEN.keys())}}
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed, out=said.append)
    assert tried
    assert not failed, "".join(said)


def _free(code: ast.Module) -> set[str]:
    """The names that an example uses and does not make."""
    nodes = list(ast.walk(code))
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    made = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    made |= {n.asname or n.name for n in nodes if isinstance(n, ast.alias)}
    made |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    made |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    return used - made - set(dir(builtins))
