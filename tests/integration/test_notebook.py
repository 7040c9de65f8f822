"""The notebook runs as it stands, and what it shows is drawn."""

# nbformat and nbclient are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import EXAMPLES


@pytest.mark.server
def test_the_tour_runs_and_draws_answer_and_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    notebook: Any = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    done = NotebookClient(notebook, timeout=300, backends={"metadata": {"path": EXAMPLES.parent}}).execute()
    outputs = (out for cell in done.cells for out in cell.get("outputs", ()))
    _, answer, tree, table = [out["data"].get("text/html", "") for out in outputs if "data" in out]
    assert "The sources disagree" in answer
    assert "<svg" in answer
    assert tree.startswith("<svg")
    assert "<table" in table
