"""The corpora of the benchmark, stored once, so that a second run encodes nothing."""

import re
import shutil
from pathlib import Path, PurePath

from discorag import DiscoRAG
from discorag.conflicts.statements import AuditDocument
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.qasper import load_qasper
from eval.options import data_folder
from eval.sample import Benchmark
from interfaces.audit import read_documents

HOME = Path(".disco-rag/bench/conflicts")
"""Folder of the store, and of copies of the documents in folders whose names say whom they speak for."""
FILINGS = {"arvana": "*avni*.txt", "boxscore": "*boxscore*.txt", "adm": "20??-form10-k.txt"}
"""Annual reports of three companies, four to six years each; no other company of the set has more than one."""
_TALES, _PAPERS = 40, 12
_VERSION = re.compile(r"^\| (\w+) \| (old|new) \| v?([\d.]+) \|", re.MULTILINE)


def read_project(rag: DiscoRAG, name: str) -> tuple[list[AuditDocument], list[AuditDocument]]:
    """The documentation of a project at its older and at its newer version."""
    data = data_folder() / "docversions"
    versions = {age: v for p, age, v in _VERSION.findall((data / "README.md").read_text("utf-8")) if p == name}
    for age, version in versions.items():
        if not (at := HOME / "versions" / name / f"{name}-{version}").exists():
            shutil.copytree(data / name / age, at)
    old, new = (f"{name}-{versions[age]}" for age in ("old", "new"))
    folder = HOME / "versions" / name
    return read_folder(rag, folder, old), read_folder(rag, folder, new)


def read_filings(rag: DiscoRAG, name: str) -> list[AuditDocument]:
    """The annual reports of a company."""
    folder = HOME / "filings" / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in (data_folder() / "loong/doc/financial").glob(FILINGS[name]):
        shutil.copy(path, folder)
    return read_folder(rag, folder)


def read_unrelated(rag: DiscoRAG) -> dict[str, list[AuditDocument]]:
    """Tales and papers, each on a matter of its own."""
    return {
        "tales": read_texts(rag, "tales", load_fairytaleqa(data_folder() / "fairytaleqa"), _TALES),
        "papers": read_texts(rag, "papers", load_qasper(data_folder() / "qasper/qasper-sample-v0.3.json"), _PAPERS),
    }


def read_texts(rag: DiscoRAG, name: str, benchmark: Benchmark, count: int) -> list[AuditDocument]:
    """The first documents of a data set."""
    folder = HOME / "texts-of" / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(list(benchmark.documents.values())[:count]):
        (folder / f"{number:03}.md").write_text(document.text, "utf-8")
    return read_folder(rag, folder)


def read_folder(rag: DiscoRAG, folder: Path, part: str = "") -> list[AuditDocument]:
    """The documents of a folder, or of one of its subfolders; its corpus has its name."""
    scope, store = rag.scope(corpus=folder.name), rag.backends.store
    if not store.has(scope):
        rag.ingest_for_audit(folder)
    chosen = [m for m in store.manifests(scope) if part in {"", PurePath(m.uri).parent.name}]
    return rag.run(lambda: read_documents(store, rag.backends.encoder, [(scope, chosen)]))
