"""The house itself: our packages are ours, and the files that others rely on name things that exist."""

import importlib
import json
from pathlib import Path

import pytest

from tests.house import ROOT, public_classes


@pytest.mark.parametrize("package", ["discorag", "nodes", "graphs", "prompts", "eval", "training"])
def test_packages_come_from_this_repository_and_not_from_a_foreign_distribution(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    assert Path(module.__file__).parent == ROOT / package


def test_langgraph_json_describes_graphs_that_exist_and_hold_no_checkpointer() -> None:
    for graph in json.loads((ROOT / "langgraph.json").read_text())["graphs"].values():
        assert graph["description"]
        module, _, name = graph["path"].partition(":")
        assert getattr(importlib.import_module(module), name).checkpointer is None


def test_the_command_line_starts_without_torch_and_mcp() -> None:
    import subprocess
    import sys

    heavy = {"torch", "transformers", "sentence_transformers", "mcp"}
    code = f"import sys, graphs.cli, graphs.facade; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_public_class_has_an_example() -> None:
    """What it prints is checked by `tests.test_examples`."""
    assert not [f"{c.module}.{c.name}" for c in public_classes() if not (c.example or c.exempt)]


@pytest.mark.parametrize("package", ["discorag", "nodes", "graphs", "prompts", "eval", "training"])
def test_no_file_grows_long(package: str) -> None:
    assert [f for f in (ROOT / package).rglob("*.py") if len(f.read_text("utf-8").splitlines()) > 500] == []
