from langchain_core.runnables import RunnableLambda

from graphs import AskResult
from graphs.langchain import DiscoRetriever, as_runnable
from tests.conftest import Examples

QUERY = "Why are some tides higher than others?"


def text_of(result: AskResult) -> str:
    return result.answer.text


async def test_the_retriever_gives_documents_with_offsets_into_the_source(examples: Examples) -> None:
    rag = examples("tides")
    retriever = DiscoRetriever(rag=rag, corpus="tides", top_k=3, retriever="hybrid")
    found = await retriever.ainvoke(QUERY)
    assert len(found) == 3
    for document in found:
        text = rag.resources.store.document(rag.scope(corpus="tides"), document.metadata["doc_id"]).text
        assert text[document.metadata["start"] : document.metadata["end"]] == document.page_content
        assert document.metadata["tree"]["edus"]


def test_retriever_and_runnable_also_work_without_an_event_loop(examples: Examples) -> None:
    rag = examples("tides")
    chain = as_runnable(rag, corpus="tides", top_k=4) | RunnableLambda(text_of)
    assert "tide" in chain.invoke(QUERY)
    hits = rag.ask(QUERY, corpus="tides", retriever="dense").hits
    assert [d.id for d in DiscoRetriever(rag=rag, corpus="tides").invoke(QUERY)] == [h.chunk_id for h in hits]
