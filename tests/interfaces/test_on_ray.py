"""Ray's actors and a PostgreSQL database: each document once, whoever dies."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.store.store import open_store
from interfaces.cli.main import app

DOCUMENTS = 24


class Home:
    """Documents, a database, and the command on Ray."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.documents, self.database = folder, folder / "documents", database
        self.documents.mkdir()
        for i in range(DOCUMENTS):
            (self.documents / f"{i}.md").write_text(f"# Tide {i}\n\nThe tide at place {i} rises {i} metres.\n", "utf-8")

    def run(self, *arguments: str) -> subprocess.Popen[str]:
        mine = {"DISCO_RAG_DATABASE_URL": self.database, "DISCO_RAG_HOME": str(self.folder / "home")}
        env = {**os.environ, **mine, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", "import discorag; discorag.main()", *arguments, "--engine", "ray"]
        return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def actors(self) -> list[psutil.Process]:
        return [p for p in self._processes() if (p.info["cmdline"] or [""])[0].startswith("ray::MapWorker")]

    def _processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter(["environ", "cmdline"]):
            if (process.info["environ"] or {}).get("DISCO_RAG_DATABASE_URL") == self.database:
                yield process

    def kill_all(self) -> None:
        for process in self._processes():
            process.kill()

    def stored(self) -> dict[str, int]:
        """The chunks of each document."""
        settings = StoreSettings.model_validate({"database_url": self.database, "path": self.folder / "store"})
        with open_store(settings) as store:
            return {Path(m.uri).name: len(store.chunks_of(Scope(), m.doc_id)) for m in store.manifests(Scope())}


def wait_for(what: Callable[[], object], process: subprocess.Popen[str]) -> None:
    while not what():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)


@pytest.fixture
def home(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Home]:
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    opened = Home(tmp_path, new_database())
    yield opened
    opened.kill_all()


@pytest.mark.deep
@pytest.mark.server
def test_each_document_is_stored_once_though_driver_and_actor_are_killed_and_questions_are_answered(home: Home) -> None:
    driver = home.run("ingest", str(home.documents), "--parser", "rules", "--retriever", "dense")
    wait_for(home.actors, driver)
    driver.kill()
    driver.wait()
    again = home.run("ingest", str(home.documents), "--parser", "rules", "--retriever", "dense")
    wait_for(home.actors, again)
    home.actors()[0].kill()
    said = again.communicate()[0]
    assert again.returncode == 0, said
    assert home.stored() == {f"{i}.md": 1 for i in range(DOCUMENTS)}
    questions, replies = home.folder / "questions.jsonl", home.folder / "replies.jsonl"
    questions.write_text("".join(f'{{"question": "How much does the tide at place {i} rise?"}}\n' for i in (3, 4)))
    asked = home.run("ask", "--batch", str(questions), "--out", str(replies))
    assert "2 of 2 answered" in asked.communicate()[0]
    answers = [json.loads(line)["result"]["answer"] for line in replies.read_text("utf-8").splitlines()]
    assert sorted(a["sentences"][0]["text"] for a in answers)[0] == "The tide at place 3 rises 3 metres."


def test_ray_wants_a_database_on_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("The tide rises.")
    monkeypatch.setenv("DISCO_RAG_HOME", str(tmp_path / "home"))
    done = CliRunner().invoke(app, ["ingest", str(tmp_path / "a.txt"), "--engine", "ray"])
    assert "Set DISCO_RAG_DATABASE_URL" in str(done.exception)
