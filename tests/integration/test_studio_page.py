"""LangGraph Studio with a language model, named in ``.env`` as docs/studio.md shows it: every preset, every graph."""

# The SDK leaves its own JSON types open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from discorag.options import PRESETS
from tests.graphs.any_prompt import model
from tests.graphs.scripts import ANSWER
from tests.integration.studio import PAGE, pieces, run_pieces, studio
from tests.servers.scripted import ScriptedServer

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
SERVED_AT = "http://localhost:8000/v1"
"""The language model's address on the page."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names after all Python of the page, whose commands set up the server."""
    home = tmp_path_factory.mktemp("studio")
    with ScriptedServer(model) as served:
        for command in "".join(pieces("sh")).splitlines():
            if command != "make studio":
                subprocess.run(command.replace(SERVED_AT, served.base_url), shell=True, cwd=home, check=True)
        assert served.base_url in (home / ".env").read_text(encoding="utf-8")
        with studio(home) as url:
            yield run_pieces(PAGE, url)


def failures(state: dict[str, Any]) -> list[Any]:
    return [failure for record in state["ledger"] for failure in record["failures"]]


def test_the_page_runs_as_it_stands_with_a_model(session: dict[str, Any]) -> None:
    for name in ("done", "edited", "other", "by_preset", "written", "paper"):
        assert failures(session[name]) == [], name
    assert session["written"]["answer"]["sentences"][0]["text"] in ANSWER
    assert {"graph", "plan"} <= session["state"]["values"]["turns"].keys()
    assert session["baselines"].keys() >= {"full-context", "markers"}
    assert [failures(done) for done in session["baselines"].values()] == [[]] * 4


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_answers(session: dict[str, Any], preset: str) -> None:
    context = {**session["corpus"], "preset": preset}
    done = session["client"].runs.wait(None, "answer", input=session["question"], context=context)
    assert done["answer"]["sentences"]
    assert failures(done) == []
