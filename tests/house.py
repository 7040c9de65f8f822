"""The public classes of the house and the examples in their docstrings, read without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path

ROOT = Path(__file__).parent.parent
PUBLIC = ("discorag", "interfaces/facade.py", "interfaces/langchain.py")
HEADING = "\nExample:\n"


@dataclass(frozen=True)
class PublicClass:
    """A public class.

    Args:
        module: Dotted.
        name: The class's.
        path: Its file.
        example: The section ``Example:`` of its docstring; empty if there is none.
    """

    module: str
    name: str
    path: str
    example: str


def public_classes() -> list[PublicClass]:
    """All of `PUBLIC`, in the order of their files."""
    files = (f for place in PUBLIC for f in (sorted((ROOT / place).rglob("*.py")) or [ROOT / place]))
    return [found for file in files for found in _in_file(file)]


def _in_file(file: Path) -> Iterator[PublicClass]:
    text = file.read_text(encoding="utf-8")
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            _, _, example = f"\n{cleandoc(ast.get_docstring(node) or '')}\n".partition(HEADING)
            yield PublicClass(module, node.name, str(file), example)
