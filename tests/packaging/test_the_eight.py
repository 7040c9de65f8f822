"""The packages that this project is built on: each is declared, and used by what users run."""

import ast
from pathlib import Path

import pytest

from tests.packaging.requirements import CORE, EXTRAS, ROOT, names

PRODUCT = ("discorag", "graphs", "interfaces", "nodes", "prompts", "eval")
IMPORTED = ("langgraph", "langchain", "torch", "transformers", "qdrant-client", "sentence-transformers", "pydantic")


def importers(module: str) -> list[Path]:
    """The files of the product that import a module or a part of it."""
    return [file for folder in PRODUCT for file in (ROOT / folder).rglob("*.py") if module in _imported(file)]


def _imported(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", [*IMPORTED, "vllm"])
def test_the_package_is_declared(package: str) -> None:
    assert package in names([*CORE, *(r for listed in EXTRAS.values() for r in listed)])


@pytest.mark.parametrize("package", IMPORTED)
def test_the_product_imports_the_package(package: str) -> None:
    assert importers(package.replace("-", "_"))


def test_vllm_is_a_server_that_a_script_starts_and_no_part_of_the_development_environment() -> None:
    """`tests/deploy/test_vllm.py` runs the script."""
    assert "vllm" in (ROOT / "deploy/vllm.py").read_text("utf-8")
    assert importers("vllm") == []
    makefile = (ROOT / "Makefile").read_text("utf-8")
    installed = {
        name
        for line in makefile.splitlines()
        if "install_required," in line
        for name in line.strip(")").split(",")[1].split()
    }
    assert {"dev", "eval", "torch"} <= installed
    assert "vllm" not in names(r for extra in installed for r in EXTRAS[extra])
