"""A LangChain agent that looks things up in the example corpora: ``python examples/langchain_agent.py``.

It wants a model that calls tools (``DISCO_RAG_MODEL=ollama:qwen3:8b``, say).
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

from pathlib import Path

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from rich.console import Console

from discorag import DiscoRAG, DiscoRetriever
from discorag.config import Settings, StoreSettings, read_settings
from discorag.models.providers import connect

CORPUS = Path(__file__).parent / "vitamin-d"
QUESTION = "Does vitamin D prevent flu? Say where the sources disagree."


def answer(question: str, model: BaseChatModel) -> str:
    """What the agent says after its searches; any retriever can replace ``snapped``."""
    with DiscoRAG(Settings(store=StoreSettings(kind="memory"))) as rag:
        rag.ingest(CORPUS)
        search = DiscoRetriever(rag=rag, retriever="snapped").tool()
        agent = create_agent(model, [search], system_prompt="Search before you answer.")
        state = agent.invoke({"messages": [{"role": "user", "content": question}]})
    return str(state["messages"][-1].content)


if __name__ == "__main__":
    Console().print(answer(QUESTION, connect(read_settings().llm_for("reader")).chat))
