"""The notebook runs where it lies, and shows what is committed with it."""

# nbformat and nbclient are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import EXAMPLES


@pytest.mark.server
def test_the_tour_runs_and_shows_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    notebook: Any = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    committed = html_of(notebook)
    done = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": EXAMPLES}}).execute()
    for [answer] in (committed, html_of(done)):
        assert "The sources disagree" in answer


def html_of(notebook: Any) -> list[str]:
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
