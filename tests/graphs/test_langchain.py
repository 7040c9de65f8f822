from langchain_core.runnables import RunnableLambda

from graphs import AskResult
from graphs.langchain import DiscoRetriever, as_runnable
from tests.conftest import EXAMPLES, Pipelines

QUERY = "Why are some tides higher than others?"


def text_of(result: AskResult) -> str:
    return result.answer.text


async def test_the_retriever_gives_documents_with_offsets_into_the_source(pipeline: Pipelines) -> None:
    rag = pipeline()
    await rag.aingest(EXAMPLES / "tides")
    retriever = DiscoRetriever(rag=rag, top_k=3, retriever="hybrid")
    found = await retriever.ainvoke(QUERY)
    assert len(found) == 3
    for document in found:
        text = rag.resources.store.document(rag.scope(), document.metadata["doc_id"]).text
        assert text[document.metadata["start"] : document.metadata["end"]] == document.page_content
        assert document.metadata["tree"]["edus"]


def test_retriever_and_runnable_also_work_without_an_event_loop(pipeline: Pipelines) -> None:
    rag = pipeline()
    rag.ingest(EXAMPLES / "tides")
    chain = as_runnable(rag, top_k=4) | RunnableLambda(text_of)
    assert "tide" in chain.invoke(QUERY)
    hits = rag.ask(QUERY, retriever="dense").hits
    assert [d.id for d in DiscoRetriever(rag=rag).invoke(QUERY)] == [h.chunk_id for h in hits]
