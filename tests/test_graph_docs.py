"""docs/graphs.md draws the graphs as the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from graphs import answer, chat, ingest

PAGE = Path(__file__).parents[1] / "docs" / "graphs.md"
GRAPHS: dict[str, Any] = {"answer": answer.graph, "chat": chat.graph, "ingest": ingest.graph}


def drawn(graph: Any) -> str:
    """The flowchart without its front matter and colours."""
    lines = graph.get_graph().draw_mermaid().splitlines()
    kept = [line.strip() for line in lines[lines.index("graph TD;") :] if "classDef" not in line]
    return "\n".join(kept).strip()


@pytest.mark.parametrize("name", GRAPHS)
def test_the_page_draws_what_the_code_prints(name: str) -> None:
    blocks = dict(re.findall(r"## (\w+)\n.*?```mermaid\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    shown = "\n".join(line.strip() for line in blocks[name].splitlines())
    assert shown == drawn(GRAPHS[name])
