"""``disco-rag --engine ray`` over a folder of documents and a PostgreSQL database, for tests and benchmarks."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psutil
from sqlalchemy import create_engine, inspect

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.store.store import open_store


class Home:
    """Documents, a database, and the command; what it starts is known by the database's URL."""

    def __init__(self, folder: Path, database: str, texts: Iterable[str]) -> None:
        self.folder, self.documents, self.database = folder, folder / "documents", database
        self.documents.mkdir(parents=True)
        for i, text in enumerate(texts):
            (self.documents / f"{i}.md").write_text(text, "utf-8")

    def run(self, *arguments: str, engine: str = "ray") -> subprocess.Popen[str]:
        """Start a command."""
        mine = {"DISCO_RAG_DATABASE_URL": self.database, "DISCO_RAG_HOME": str(self.folder / "home")}
        env = {**os.environ, **mine, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", "import discorag; discorag.main()", *arguments, "--engine", engine]
        return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def actors(self) -> list[psutil.Process]:
        """The actors that are ready to work."""
        return [p for p in self.processes() if (p.info["cmdline"] or [""])[0].startswith("ray::MapWorker")]

    def processes(self) -> Iterator[psutil.Process]:
        """All processes of its commands, Ray's own included."""
        for process in psutil.process_iter(["environ", "cmdline"]):
            environment: dict[str, str] = process.info["environ"] or {}
            if environment.get("DISCO_RAG_DATABASE_URL") == self.database:
                yield process

    def kill_all(self) -> None:
        """Kill what is left of them."""
        for process in self.processes():
            process.kill()

    def count(self) -> int:
        """How many documents are stored."""
        with create_engine(self.database).connect() as db:
            found = inspect(db).has_table("documents")
            return int(db.exec_driver_sql("SELECT count(*) FROM documents").scalar_one()) if found else 0

    def stored(self) -> dict[str, int]:
        """The chunks of each document."""
        settings = StoreSettings.model_validate({"database_url": self.database, "path": self.folder / "store"})
        with open_store(settings) as store:
            return {Path(m.uri).name: len(store.chunks_of(Scope(), m.doc_id)) for m in store.manifests(Scope())}


def short_texts(count: int) -> list[str]:
    """Texts of one chunk."""
    return [f"# Tide {i}\n\nThe tide at place {i} rises {i} metres.\n" for i in range(count)]


def wait_for(what: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until something holds, as long as a process runs."""
    while not what():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
