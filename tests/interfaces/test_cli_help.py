"""The help that is shown without importing the commands."""

from __future__ import annotations

import subprocess
import sys

import typer

from interfaces.cli.cli_help import COMMANDS
from interfaces.cli.main import app


def test_help_names_every_command() -> None:
    assert typer.main.get_group(app).commands.keys() == COMMANDS.keys()


def test_help_imports_none_of_what_the_commands_need() -> None:
    code = (
        "import sys; sys.argv = ['disco-rag', '--help'];"
        "heavy = {'torch', 'langgraph', 'openai', 'pydantic', 'numpy'};"
        "from discorag import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted(heavy & sys.modules.keys()))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Usage: disco-rag " in printed
    assert "Answer a question" in printed
    assert printed.rstrip().endswith("[]")
