"""What a program does: hand over texts and models, ask many questions; and LangChain's retriever and agent."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from discorag import DiscoRAG
from discorag.config import Settings
from discorag.ingest.texts import GivenText
from discorag.retrieval.registry import RETRIEVERS, tree_retriever
from discorag.schema.errors import InputError
from examples.langchain_agent import QUESTION, answer
from interfaces.langchain import TOOL, DiscoRetriever
from tests.conftest import EXAMPLES, Pipelines
from tests.graphs.any_prompt import model
from tests.servers.scripted import ScriptedServer

MEMORY = Settings.model_validate({"store": {"kind": "memory"}, "llm": {"cache": None}})
TIDES = "The moon pulls the sea, and so the tide rises twice a day."
COFFEE = "Coffee contains caffeine, which keeps people awake at night."


def test_texts_of_an_iterator_are_stored_with_their_metadata_and_asked() -> None:
    texts = (text for text in (TIDES, GivenText(COFFEE, metadata={"title": "On coffee", "kind": "drink"})))
    with DiscoRAG(MEMORY) as rag:
        assert [o.status.value for o in rag.add_texts(texts, parser="rules").outcomes] == ["added", "added"]
        [sentence] = rag.ask("What keeps people awake?", filters={"kind": ["drink"]}).answer.sentences
        assert (sentence.text, sentence.evidence[0].title) == (COFFEE, "On coffee")


def test_a_text_that_is_given_again_under_its_name_replaces_the_former() -> None:
    with DiscoRAG(MEMORY) as rag:
        rag.add_documents([Document(TIDES, id="tides")], parser="rules")
        rag.add_texts([COFFEE], parser="rules")
        again = rag.add_documents([Document("The sun pulls the sea a little.", id="tides")], parser="rules")
        assert [o.status.value for o in again.outcomes] == ["replaced"]
        assert len(rag.documents()) == 2


def test_a_text_that_looks_like_front_matter_stays_text() -> None:
    with DiscoRAG(MEMORY) as rag:
        rag.add_texts(["---\ntitle: none\n---\nThe moon pulls the sea."], parser="rules")
        [manifest] = rag.documents()
        assert "title: none" in rag.backends.store.document(rag.scope(), manifest.doc_id).text
        with pytest.raises(InputError, match="Text 1 is empty"):
            rag.add_texts([TIDES, " \n"])


def test_a_chat_model_that_a_program_brings_writes_the_answer() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("The moon pulls the sea [1.1].")] * 9))
    with DiscoRAG(MEMORY, llm=model) as rag:
        rag.add_texts([TIDES], parser="rules")
        result = rag.ask("Why does the tide rise?", engine="llm", use_graph=False, use_plan=False)
    assert result.answer.text == "The moon pulls the sea."
    [stage] = [s for s in result.ledger.stages if s.stage == "generate"]
    assert (stage.engine, stage.model) == ("llm", "GenericFakeChatModel")


QUERY = "Why are some tides higher than others?"


class Scripted(GenericFakeChatModel):
    """Says what it was given, and remembers what it was told."""

    seen: list[list[BaseMessage]]

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.seen.append(messages)
        return super()._generate(messages, *args, **options)

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **options: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines) -> DiscoRAG:
    rag = shared_pipeline()
    rag.ingest(EXAMPLES / "tides", retriever="dense")
    return rag


@pytest.fixture(scope="module")
def with_router(shared_pipeline: Pipelines) -> Iterator[DiscoRAG]:
    with ScriptedServer(model) as server:
        rag = shared_pipeline(llm=server.base_url)
        rag.ingest(EXAMPLES / "tides", retriever="dense")
        yield rag


def scripted(*messages: AIMessage | str) -> Scripted:
    return Scripted(messages=iter(messages), seen=[])


QUICK = {"hybrid", "snapped"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.deep]) for name in RETRIEVERS]
)
def test_every_retriever_gives_the_evidence_that_an_answer_rests_on(name: str, request: pytest.FixtureRequest) -> None:
    retriever = tree_retriever(name)
    rag: DiscoRAG = request.getfixturevalue("with_router" if retriever and retriever.routed else "rag")
    found = DiscoRetriever(rag=rag, retriever=name).invoke(QUERY)
    hits = rag.ask(QUERY, retriever=name).hits
    assert list(dict.fromkeys(d.metadata["chunk_id"] for d in found)) == [h.chunk_id for h in hits]
    assert [d.metadata["score"] for d in found] == sorted((d.metadata["score"] for d in found), reverse=True)
    assert len({d.id for d in found}) == len(found) > 0
    for document in found:
        text = rag.backends.store.document(rag.scope(), document.metadata["doc_id"]).text
        assert text[document.metadata["start"] : document.metadata["end"]] == document.page_content
        assert document.metadata["tree"]["edus"]


async def test_it_takes_a_retrievers_switches_and_agrees_with_its_sync_twin(rag: DiscoRAG) -> None:
    few = await DiscoRetriever(rag=rag, retriever="hybrid", top_k=3).ainvoke(QUERY)
    assert len(few) == 3
    short = DiscoRetriever(rag=rag, retriever="sentences", switches={"evidence_words": 40})
    words = sum(len(d.page_content.split()) for d in await short.ainvoke(QUERY))
    assert 0 < words <= 40
    assert short.invoke(QUERY) == await short.ainvoke(QUERY)


def test_nothing_found_is_an_empty_list_and_an_unknown_retriever_an_error(rag: DiscoRAG) -> None:
    assert DiscoRetriever(rag=rag, corpus="empty").invoke(QUERY) == []
    with pytest.raises(InputError, match="retriever"):
        DiscoRetriever(rag=rag, retriever="nearest").invoke(QUERY)


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_an_agent_searches_with_the_tool_before_it_answers(rag: DiscoRAG, asynchronous: bool) -> None:
    call = AIMessage("", tool_calls=[{"name": TOOL, "args": {"query": QUERY}, "id": "1", "type": "tool_call"}])
    model = scripted(call, "Spring tides come at new and full moon.")
    retriever = DiscoRetriever(rag=rag, retriever="snapped")
    agent = create_agent(model, [retriever.tool()])
    asked: Any = {"messages": [{"role": "user", "content": QUERY}]}
    state = await agent.ainvoke(asked) if asynchronous else agent.invoke(asked)
    assert state["messages"][-1].content == "Spring tides come at new and full moon."
    (told,) = [m for m in model.seen[-1] if isinstance(m, ToolMessage)]
    for document in retriever.invoke(QUERY):
        assert f"[{document.metadata['title']}] {document.page_content}" in told.content


def test_the_example_runs_against_a_scripted_model() -> None:
    call = AIMessage("", tool_calls=[{"name": TOOL, "args": {"query": QUESTION}, "id": "1", "type": "tool_call"}])
    model = scripted(call, "Only in people who lack it.")
    assert answer(QUESTION, model) == "Only in people who lack it."
    (told,) = [m for m in model.seen[-1] if isinstance(m, ToolMessage)]
    assert "The Harlow Winter Trial" in str(told.content)
