"""The commands and their help, without importing what they do: ``disco-rag --help`` is quick."""

import os
from pathlib import Path
from typing import Annotated

import typer

ABOUT = "Answer questions over your documents, each sentence with its source, and find contradictions in them."
HOME_HELP = "Folder that holds all stored data (default: as configured, else the user's data folder)."
COMMANDS = {
    "demo": "Read the example documents, answer three questions, and open the page.",
    "ingest": "Read documents into the store; changed ones are replaced, vanished ones deleted.",
    "ask": "Answer a question, with the source of every sentence; or answer a file of questions. Exit code 3: the "
    "language model failed, and the answer is the one without it.",
    "show": "Show a document's trees.",
    "audit": "Find contradictions between documents. Exit code 1: one is sure, or a file cannot be read.",
    "status": "List the stored documents of all corpora, and the models in use.",
    "corpora": "List the corpora that hold documents.",
    "tune": "Find the settings that serve your own questions best, and what gain to expect from them.",
    "delete": "Delete a document from the store.",
    "parse": "Print the RST tree of a whole document without storing it.",
    "serve": "Serve the page, the HTTP API and MCP until SIGTERM or Ctrl-C.",
    "mcp": "Serve tools to one client of the Model Context Protocol, over standard input and output.",
    "key": "Create an API key. It is shown once, on standard error; its entry for the key file is on standard output.",
    "models": "Download the models that the pipeline is to use.",
    "check": "Check that everything stored is complete and undamaged; changes nothing. Exit code 1: it is not.",
    "reindex": "Rebuild the index from the database, without encoding anything.",
    "backup": "Write all documents of all tenants, with chunks, trees and vectors, into one file.",
    "restore": "Restore a backup into an empty store: all of it, or nothing.",
}
"""Name -> help; `interfaces.cli.main` takes it from here."""


def new_app() -> typer.Typer:
    """The application, without its commands."""
    app = typer.Typer(no_args_is_help=True, help=ABOUT, pretty_exceptions_enable=False, add_completion=False)
    app.callback()(_use_home)
    return app


def _use_home(home: Annotated[Path | None, typer.Option(help=HOME_HELP)] = None) -> None:
    """Let this process, and those that it starts, store below ``home``."""
    if home is not None:
        os.environ["DISCO_RAG_HOME"] = str(home.absolute())


def show_help() -> None:
    """Print the commands and exit."""
    app = new_app()
    for name, text in COMMANDS.items():
        app.command(name, help=text)(lambda: None)
    app(["--help"], prog_name="disco-rag")
