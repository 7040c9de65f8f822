"""Discourse-aware retrieval-augmented generation: ``from discorag import DiscoRAG``.

The packages below are the core: types, algorithms, and what talks to the outside world. It imports no LangGraph; only
the names here import the packages above, when they are first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphs.answer import build as build_answer_graph
    from graphs.answer import graph as answer_graph
    from graphs.ingest import graph as ingest_graph
    from interfaces.facade import EXAMPLES, DiscoRAG
    from interfaces.langchain import DiscoRetriever, answer_tool
    from interfaces.results import AskResult, IngestResult
    from nodes.context import AnswerContext
    from nodes.state import AnswerState

__all__ = [
    "EXAMPLES",
    "AnswerContext",
    "AnswerState",
    "AskResult",
    "DiscoRAG",
    "DiscoRetriever",
    "IngestResult",
    "answer_graph",
    "answer_tool",
    "build_answer_graph",
    "ingest_graph",
    "main",
]


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return __all__


def main() -> None:
    """The command line; its help is shown without importing what the commands do."""
    if sys.argv[1:] in ([], ["--help"]):
        from interfaces.cli.cli_help import show_help

        show_help()
    from interfaces.cli.main import main as run

    run()


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """The public names, imported at their first use: that takes a second, and this module's import none."""
        if name in ("DiscoRAG", "EXAMPLES"):
            from interfaces import facade

            return getattr(facade, name)
        if name in ("AskResult", "IngestResult"):
            from interfaces import results

            return getattr(results, name)
        if name in ("DiscoRetriever", "answer_tool"):
            from interfaces import langchain

            return getattr(langchain, name)
        if name in ("answer_graph", "build_answer_graph"):
            from graphs import answer

            return answer.graph if name == "answer_graph" else answer.build
        if name == "ingest_graph":
            from graphs.ingest import graph

            return graph
        if name == "AnswerContext":
            from nodes.context import AnswerContext

            return AnswerContext
        if name == "AnswerState":
            from nodes.state import AnswerState

            return AnswerState
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
