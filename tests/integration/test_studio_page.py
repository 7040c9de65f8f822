"""LangGraph Studio with a language model, named in ``.env`` as docs/studio.md shows it: every preset, every graph."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from discorag.options import PRESETS
from tests.graphs.any_prompt import model
from tests.graphs.scripts import ANSWER
from tests.integration.studio import PAGE, pieces, run_pieces, studio
from tests.servers.scripted import ScriptedServer

SERVED_AT = "http://localhost:8000/v1"
"""The language model's address on the page."""


def failures(state: dict[str, Any]) -> list[Any]:
    return [failure for record in state["ledger"] for failure in record["failures"]]


def set_up(home: Path, address: str) -> None:
    """Run the page's commands in a folder, without those that start the server."""
    for command in "".join(pieces("sh", PAGE)).splitlines():
        if command != "make studio":
            subprocess.run(command.replace(SERVED_AT, address), shell=True, cwd=home, check=True)


# One test, because each worker of pytest would start a server of its own.
@pytest.mark.server
def test_the_page_and_every_preset_run_with_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCO_RAG_MODEL", "http://127.0.0.1:9/v1")  # .env replaces it
    with ScriptedServer(model) as served:
        set_up(tmp_path, served.base_url)
        with studio(tmp_path) as url:
            session = run_pieces(PAGE, url)
            runs, question = session["client"].runs, session["question"]
            for preset in PRESETS:
                session[preset] = runs.wait(
                    None, "answer", input=question, context={**session["corpus"], "preset": preset}
                )
    answers = {name: session[name] for name in ("done", "edited", "other", "by_preset", "written", "paper", *PRESETS)}
    answers |= session["baselines"]
    assert {name: failures(state) for name, state in answers.items() if failures(state)} == {}
    assert all(state["answer"]["sentences"] for state in answers.values())
    assert session["written"]["answer"]["sentences"][0]["text"].rstrip(".") in ANSWER
    assert session["state"]["values"]["statements"]["statements"]
