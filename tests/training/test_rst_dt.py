"""The prompted parser on a made-up document in RST-DT's layout."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from discorag.schema.errors import ConfigError
from tests.servers.scripted import ScriptedServer
from training.parser import rst_dt

FOLDER = Path(__file__).parent / "fixtures/rst-dt"
REPLY = """EDUs:
[1] The mill closed its doors in May,
[2] because orders had fallen.
[3] Forty people lost their work,
[4] and ten moved away.
RST ANALYSIS:
RELATION(EDU2, EDU1): CAUSE
RELATION(EDU4, EDU3): SEQUENCE
RELATION(EDU3-4, EDU1-2): ELABORATION
TREE STRUCTURE:
ROOT[1-4]
|--- NUCLEUS[1-2] (N)
|    |--- NUCLEUS[1] The mill closed its doors in May, (N)
|    |--- SATELLITE[2] because orders had fallen. (S): CAUSE
|--- SATELLITE[3-4] (S): ELABORATION
|    |--- NUCLEUS[3] Forty people lost their work, (N)
|    |--- NUCLEUS[4] and ten moved away. (N): SEQUENCE"""


def test_scores_are_those_of_nodes_over_the_classes_of_rst_dt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command()(rst_dt.main)
    monkeypatch.chdir(tmp_path)
    with ScriptedServer(lambda _: REPLY) as server:
        monkeypatch.setenv("DISCO_RAG_MODEL", f"{server.base_url}#scripted")
        ended = CliRunner().invoke(app, [str(FOLDER)])
    assert ended.exit_code == 0, ended.output
    # Three nodes: all are found, with their nuclearity; a list is not a sequence.
    said = dict(line.split() for line in ended.output.splitlines()[1:])
    assert said == {"span": "100.0", "nuclearity": "100.0", "relation": "66.7", "full": "66.7", "seg": "100.0"}


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("elaboration-object-attribute-e", "Elaboration"),
        ("problem-solution-n", "Topic-Comment"),
        ("topic-shift", "Topic-Change"),
        ("topic-comment", "Topic-Comment"),
        ("temporal-same-time", "Temporal"),
        ("Same-Unit", "Same-Unit"),
        ("explanation-argumentative", "Explanation"),
    ],
)
def test_labels_belong_to_their_classes(label: str, name: str) -> None:
    assert rst_dt.class_of_label(label) == name


def test_a_folder_without_trees_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \.dis files"):
        rst_dt.load_rst_dt(tmp_path)
