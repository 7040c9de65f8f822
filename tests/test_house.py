"""The house itself: our packages are ours, and the files that others rely on name things that exist."""

import importlib
import json
from pathlib import Path

import pytest

from tests.house import ROOT


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
    code = f"import sys, interfaces.cli.main, interfaces.facade; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
