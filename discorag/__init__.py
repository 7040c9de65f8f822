"""Discourse-aware retrieval-augmented generation: ``from discorag import DiscoRAG``.

Below lies the core: types, algorithms, and what talks to the outside world. It imports no LangGraph; only the names
here reach up to the wiring, when they are first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interfaces.facade import AskResult, DiscoRAG, IngestResult
    from interfaces.langchain import DiscoRetriever

__all__ = ["AskResult", "DiscoRAG", "DiscoRetriever", "IngestResult", "main"]


def main() -> None:
    """The command line."""
    from interfaces.cli.cli_help import main as run

    run()


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """The public classes, imported at their first use: that takes a second, and this module's import none."""
        if name in ("AskResult", "DiscoRAG", "IngestResult"):
            from interfaces import facade

            return getattr(facade, name)
        if name == "DiscoRetriever":
            from interfaces.langchain import DiscoRetriever

            return DiscoRetriever
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
