"""The packages that this project is built on: each is declared, and used by what users run."""

import pytest

from tests.packaging.requirements import CORE, EXTRAS, GROUPS, ROOT, imported, names

IMPORTED = ("langgraph", "langchain", "torch", "transformers", "qdrant-client", "sentence-transformers", "pydantic")


@pytest.mark.parametrize("package", [*IMPORTED, "vllm"])
def test_the_package_is_declared(package: str) -> None:
    assert package in names([*CORE, *(r for listed in EXTRAS.values() for r in listed)])


@pytest.mark.parametrize("package", IMPORTED)
def test_the_product_imports_the_package(package: str) -> None:
    assert package.replace("-", "_") in imported()


def test_vllm_is_a_server_that_a_script_starts_and_no_part_of_the_development_environment() -> None:
    """`tests/deploy/test_vllm.py` runs the script."""
    assert "vllm" in (ROOT / "deploy/vllm.py").read_text("utf-8")
    assert "vllm" not in imported()
    makefile = (ROOT / "Makefile").read_text("utf-8")
    installed = {
        name
        for line in makefile.splitlines()
        if "install_required," in line
        for name in line.strip(")").split(",")[1].split()
    }
    assert {"dev", "eval", "torch"} <= installed
    assert "vllm" not in names(r for name in installed for r in (EXTRAS | GROUPS)[name])
