# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from discorag import AskResult, DiscoRAG
from discorag.retrieval.registry import RETRIEVERS
from discorag.schema.errors import InputError
from examples.langchain_agent import QUESTION, answer
from interfaces.langchain import TOOL, DiscoRetriever
from tests.conftest import EXAMPLES, Pipelines

QUERY = "Why are some tides higher than others?"


class Scripted(GenericFakeChatModel):
    """Says what it was given, and remembers what it was told and offered."""

    seen: list[list[BaseMessage]]
    tools: list[BaseTool]

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.seen.append(messages)
        return super()._generate(messages, *args, **options)

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **options: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        self.tools += [t for t in tools if isinstance(t, BaseTool)]
        return self


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines) -> DiscoRAG:
    rag = shared_pipeline()
    rag.ingest(EXAMPLES / "tides", retriever="dense")
    return rag


def scripted(*messages: AIMessage | str) -> Scripted:
    return Scripted(messages=iter(messages), seen=[], tools=[])


def text_of(result: AskResult) -> str:
    return result.answer.text


QUICK = {"hybrid", "snapped"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.deep]) for name in RETRIEVERS]
)
def test_every_retriever_gives_the_evidence_that_an_answer_rests_on(rag: DiscoRAG, name: str) -> None:
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
async def test_an_agent_searches_with_the_retriever_before_it_answers(rag: DiscoRAG, asynchronous: bool) -> None:
    call = AIMessage("", tool_calls=[{"name": TOOL, "args": {"query": QUERY}, "id": "1", "type": "tool_call"}])
    model = scripted(call, "Spring tides come at new and full moon.")
    retriever = DiscoRetriever(rag=rag, retriever="snapped")
    agent = retriever.agent(model, system_prompt="Search first.")
    asked = {"messages": [{"role": "user", "content": QUERY}]}
    state = await agent.ainvoke(asked) if asynchronous else agent.invoke(asked)
    assert state["messages"][-1].content == "Spring tides come at new and full moon."
    assert [t.name for t in model.tools] == [TOOL] * 2
    (told,) = [m for m in model.seen[-1] if isinstance(m, ToolMessage)]
    for document in retriever.invoke(QUERY):
        assert f"[{document.metadata['title']}] {document.page_content}" in told.content


def test_the_example_runs_against_a_scripted_model() -> None:
    call = AIMessage("", tool_calls=[{"name": TOOL, "args": {"query": QUESTION}, "id": "1", "type": "tool_call"}])
    model = scripted(call, "Only in people who lack it.")
    assert answer(QUESTION, model) == "Only in people who lack it."
    (told,) = [m for m in model.seen[-1] if isinstance(m, ToolMessage)]
    assert "The Harlow Winter Trial" in str(told.content)
