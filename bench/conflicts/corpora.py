"""The corpora of the benchmark, each in a store of its own, so that a second run encodes nothing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePath

from bench.answers.replies import open_product
from discorag.conflicts.statements import AuditDocument
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.qasper import load_qasper
from eval.options import data_folder
from eval.sample import Benchmark
from interfaces.audit import read_documents

FILINGS = {"arvana": "*avni*.txt", "boxscore": "*boxscore*.txt", "adm": "20??-form10-k.txt"}
"""Annual reports of three companies, four to six years each; no other company of the set has more than one."""
_TALES, _PAPERS = 40, 12
_VERSION = re.compile(r"^\| (\w+) \| (old|new) \| v?([\d.]+) \|", re.MULTILINE)


def read_project(name: str, home: Path) -> tuple[list[AuditDocument], list[AuditDocument]]:
    """The documentation of a project at its older and at its newer version."""
    data = data_folder() / "docversions"
    versions = {age: v for p, age, v in _VERSION.findall((data / "README.md").read_text("utf-8")) if p == name}
    for age, version in versions.items():
        if not (at := home / "versions" / name / f"{name}-{version}").exists():
            shutil.copytree(data / name / age, at)
    old, new = (f"{name}-{versions[age]}" for age in ("old", "new"))
    folder = home / "versions" / name
    return read_folder(name, folder, home, old), read_folder(name, folder, home, new)


def read_filings(name: str, home: Path) -> list[AuditDocument]:
    """The annual reports of a company."""
    folder = home / "filings" / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in (data_folder() / "loong/doc/financial").glob(FILINGS[name]):
        shutil.copy(path, folder)
    return read_folder(name, folder, home)


def read_unrelated(home: Path) -> dict[str, list[AuditDocument]]:
    """Tales and papers, each on a matter of its own."""
    return {
        "tales": read_texts("tales", load_fairytaleqa(data_folder() / "fairytaleqa"), _TALES, home),
        "papers": read_texts("papers", load_qasper(data_folder() / "qasper/qasper-sample-v0.3.json"), _PAPERS, home),
    }


def read_texts(name: str, benchmark: Benchmark, count: int, home: Path) -> list[AuditDocument]:
    """The first documents of a data set."""
    folder = home / "texts-of" / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(list(benchmark.documents.values())[:count]):
        (folder / f"{number:03}.md").write_text(document.text, "utf-8")
    return read_folder(name, folder, home)


def read_folder(name: str, folder: Path, home: Path, part: str = "") -> list[AuditDocument]:
    """The documents of a folder, or of one of its subfolders."""
    with open_product(home / name) as rag:
        scope, store = rag.scope(corpus=name), rag.backends.store
        if not store.has(scope):
            rag.ingest_for_audit(folder, corpus=name)
        chosen = [m for m in store.manifests(scope) if part in {"", PurePath(m.uri).parent.name}]
        return rag.run(lambda: read_documents(store, rag.backends.encoder, scope, chosen))
