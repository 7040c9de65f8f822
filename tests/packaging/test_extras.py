"""The core without its extras; what each of them brings; and that nothing is asked for in vain."""

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest
from packaging.utils import canonicalize_name

from tests.packaging.requirements import CORE, EXTRAS, ROOT, closure, imported, names

LENT = ("postgres", "raptor", "torch", "eval")
PROVIDES = {name: [canonicalize_name(d) for d in found] for name, found in packages_distributions().items()}
BY_OTHERS = {"python-multipart", "langchain-ollama", "langchain-openai", "psycopg", "bm25s"}
"""Imported by a library of ours: FastAPI's for uploads, LangChain's for providers, SQLAlchemy's driver. Or read: the
stop words of bm25s."""
ABSENT = {"summac", "ray"}
"""Modules that are not installed here."""
WITH_OTHERS = {"langgraph_sdk", "pydantic_core"}
"""Modules of a distribution that another one brings and pins."""

BLOCKED = """
import importlib.metadata, json, os, sys
modules, distributions = json.loads(os.environ["BLOCKED"])
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in modules or name.startswith(tuple(m + "." for m in modules)):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
found = importlib.metadata.Distribution.from_name.__func__
def from_name(cls, name):
    if name in distributions:
        raise importlib.metadata.PackageNotFoundError(name)
    return found(cls, name)
importlib.metadata.Distribution.from_name = classmethod(from_name)
"""
"""What every process does at its start: converters are processes of their own."""
WITHOUT = """
import importlib, json, pkgutil, sys
from pathlib import Path
folder = Path(sys.argv[1])

import discorag, interfaces.cli.main, interfaces.facade, interfaces.langchain, eval.__main__
from discorag import DiscoRAG
from discorag.config import Settings
from discorag.schema.errors import ConfigError
from eval.metrics.sari import tokens_13a

for package in (discorag, importlib.import_module("nodes")):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

(folder / "a.txt").write_text("Tides turn twice a day because the moon pulls the sea. Few people notice.")
rag = DiscoRAG(Settings(store={"kind": "memory"}))
rag.ingest(folder)
said = {}
result = rag.ask("When do tides turn?")
said["answer"] = result.answer.text
[said["parser"]] = {r.model for r in result.ledger.stages if r.stage == "parse"}
calls = {
    "torch": lambda: DiscoRAG(Settings(store={"kind": "memory"}, encoder={"model": str(folder)})),
    "raptor": lambda: rag.ask("When?", retriever="raptor"),
    "eval": lambda: tokens_13a("a"),
    "postgres": lambda: DiscoRAG(Settings(database_url="postgresql+psycopg://localhost/none")),
}
for name, call in calls.items():
    try:
        call()
        said[name] = "nothing was missing"
    except ConfigError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said, in a process without the extras, to whoever asks for what they bring."""
    lent = names(r for extra in LENT for r in EXTRAS[extra]) - closure(CORE)
    modules = [name for name, found in PROVIDES.items() if lent & set(found) and name != "langgraph"]  # the core's too
    folder, start = tmp_path_factory.mktemp("texts"), tmp_path_factory.mktemp("start")
    (start / "sitecustomize.py").write_text(BLOCKED)
    own = {"PYTHONPATH": f"{start}{os.pathsep}{ROOT}", "BLOCKED": json.dumps([modules, sorted(lent)])}
    command = [sys.executable, "-c", WITHOUT, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | own)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_core_reads_text_and_answers_without_any_extra(said: dict[str, str]) -> None:
    assert "twice a day" in said["answer"]
    assert said["parser"] == "gum-6/fast/edu"


@pytest.mark.parametrize("name", ["torch", "raptor", "eval", "postgres"])
def test_a_missing_extra_is_named(said: dict[str, str], name: str) -> None:
    assert "not installed" in said[name]
    assert f"disco-rag[{name}]" in said[name]


def test_what_is_declared_is_imported_and_what_is_imported_is_declared() -> None:
    declared = names([*CORE, *(r for extra in LENT for r in EXTRAS[extra])])
    used = imported() - ABSENT
    assert declared - {d for top in used for d in PROVIDES[top]} == BY_OTHERS
    assert {top for top in used if not declared & set(PROVIDES[top])} == WITH_OTHERS
