"""Ray's actors and a PostgreSQL database: each document once, whoever dies."""

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interfaces.cli.main import app
from tests.servers.on_ray import Home, short_texts, wait_for

DOCUMENTS = 24


@pytest.fixture
def home(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Home]:
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    opened = Home(tmp_path, new_database(), short_texts(DOCUMENTS))
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
