"""The house itself: our packages are ours, and the files that others rely on name things that exist."""

import importlib
import json

from tests.house import ROOT


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
