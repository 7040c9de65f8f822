"""The commands and what each says of itself, without importing what they do: ``disco-rag --help`` is quick."""

from __future__ import annotations

from typer.core import TyperCommand, TyperGroup

ABOUT = "Ask your documents: trees, a graph and a plan show how the sources of an answer relate to each other."
COMMANDS = {
    "ingest": "Read documents into the store; changed ones are replaced, vanished ones deleted.",
    "ask": "Answer a question, every sentence with its sources; or a file of questions.",
    "show": "Show a document's trees, or the graph or plan for a question.",
    "audit": "Find where documents disagree, and why; exit code 1 for a sure contradiction.",
    "status": "List what is stored.",
    "corpora": "List the corpora that hold documents.",
    "estimate": "Estimate what an ingest would do and cost, without storing anything.",
    "delete": "Delete a document from the store.",
    "parse": "Write the RST tree over a whole document, which is not stored; or a tree's file in another format.",
    "serve": "Serve the HTTP API until SIGTERM or Ctrl-C; requests under way are finished, or ended after a while.",
    "mcp": "Serve tools and resources to clients of the Model Context Protocol, over standard input and output.",
    "key": "Create an API key: it is shown once, on standard error; its entry for the file of keys goes to standard "
    "output.",
    "models": "List and download the models that the pipeline uses.",
    "check": "Check that everything stored is complete and undamaged; exit code 1 if not. Changes nothing.",
    "reindex": "Rebuild the index from the database, without encoding anything.",
    "backup": "Write all documents of all tenants, with chunks, trees and vectors, into one file.",
    "restore": "Restore a backup into an empty store: all of it, or nothing.",
}
"""Name -> help; `interfaces.cli.main` takes it from here."""


def show_help() -> None:
    """Print it and exit."""
    commands = [TyperCommand(name, help=text) for name, text in COMMANDS.items()]
    group = TyperGroup(name="disco-rag", commands=commands, help=ABOUT, no_args_is_help=True, rich_markup_mode="rich")
    group.main(prog_name="disco-rag")
