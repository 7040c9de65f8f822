"""The public classes of the house and the examples in their docstrings, read without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path

ROOT = Path(__file__).parent.parent
PUBLIC = ("discorag", "graphs/facade.py", "graphs/langchain.py")
HEADING = "\nExample:\n"
_NO_EXAMPLE = {"Protocol", "Enum", "IntEnum", "StrEnum", "Exception", "_Section", "_EndpointSection", "BaseSettings"}
_SCHEMA = ".model_json_schema()"


@dataclass(frozen=True)
class PublicClass:
    """A public class.

    Args:
        module: Dotted.
        name: The class's.
        path: Its file.
        example: The section ``Example:`` of its docstring; empty if there is none.
        exempt: By rule: a protocol, an enumeration, an error, a section of the settings, or a form whose docstring a
            language model is sent within the schema.
    """

    module: str
    name: str
    path: str
    example: str
    exempt: bool


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
            exempt = _exempt(node) or (_SCHEMA in text and "BaseModel" in _bases(node))
            yield PublicClass(module, node.name, str(file), example, exempt)


def _exempt(node: ast.ClassDef) -> bool:
    return any(base in _NO_EXAMPLE or base.endswith("Error") for base in _bases(node))


def _bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
