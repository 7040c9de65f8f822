"""A LangChain agent that looks things up in the example corpora: ``python examples/langchain_agent.py``.

It wants the extra ``langchain`` and an endpoint whose model calls tools (``DISCO_RAG_LLM__BASE_URL``).
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from rich.console import Console

from discorag import DiscoRAG, DiscoRetriever
from discorag.config import LlmSettings, Settings, StoreSettings, read_settings

CORPUS = Path(__file__).parent / "vitamin-d"
QUESTION = "Does vitamin D prevent flu? Say where the sources disagree."


def answer(question: str, model: BaseChatModel) -> str:
    """What the agent says after its searches; any retriever can stand in the place of ``snapped``."""
    with DiscoRAG(Settings(store=StoreSettings(kind="memory"))) as rag:
        rag.ingest(CORPUS)
        agent = DiscoRetriever(rag=rag, retriever="snapped").agent(model, system_prompt="Search before you answer.")
        state = agent.invoke({"messages": [{"role": "user", "content": question}]})
    return str(state["messages"][-1].content)


def chat_model(settings: LlmSettings) -> BaseChatModel:
    """The configured endpoint as LangChain sees it."""
    return ChatOpenAI(model=settings.model, base_url=settings.base_url, api_key=settings.api_key)


if __name__ == "__main__":
    Console().print(answer(QUESTION, chat_model(read_settings().llm)))
