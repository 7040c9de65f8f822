"""Parts by name: ours can all be made, unknown names say which there are, another package's need no change of ours."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discorag.config import RerankerSettings, Settings
from discorag.discourse.parse.parser import PARSERS, Limits, UnitParser
from discorag.models.encoder import ENCODERS
from discorag.models.protocol import TreeParser
from discorag.models.reranker import RERANKERS, reranker_from
from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.retrieval.registry import RETRIEVERS
from discorag.schema.errors import InputError, UnknownNameError
from interfaces.cli.main import app
from nodes.backends import Backends
from nodes.context import AnswerContext, IngestContext
from tests.conftest import Pipelines

ROOT, PLUGIN = Path(__file__).parents[2], Path(__file__).parent / "plugin"
ALL: tuple[Registry[Any], ...] = (PARSERS, RETRIEVERS, ENCODERS, RERANKERS)


@pytest.mark.parametrize("registry", ALL, ids=lambda r: r.kind)
def test_every_name_of_ours_has_its_part_and_a_line_of_help(registry: Registry[Any]) -> None:
    assert registry
    for name in registry:
        assert registry[name] is not None
        assert f"{name}: " in registry.described()


def test_unknown_names_fail_with_the_known_ones_wherever_they_are_given(pipeline: Pipelines, tmp_path: Path) -> None:
    rag = pipeline()
    (tmp_path / "a.txt").write_text("Iron rusts.")
    for switch, name in (("parser", "fastt"), ("retriever", "rapter")):
        with pytest.raises(InputError, match=r"There is no .* Known names: .*"):
            rag.ask("Why?", **{switch: name})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rules"):
        rag.ingest(tmp_path / "a.txt", parser="fastt")
    with pytest.raises(UnknownNameError, match="packaged, sentence-transformers, endpoint"):
        Backends.open(Settings.model_validate({"store": {"kind": "memory"}, "encoder": {"kind": "packed"}}))
    with pytest.raises(UnknownNameError, match="packaged"):
        reranker_from(RerankerSettings(kind="max"))


def test_help_and_schema_list_the_names_of_the_registries() -> None:
    shown = " ".join(CliRunner().invoke(app, ["ingest", "--help"], env={"COLUMNS": "200"}).output.split())
    assert all(name in shown for name in PARSERS)
    answer, ingest = AnswerContext.model_json_schema()["properties"], IngestContext.model_json_schema()["properties"]
    assert answer["parser"]["enum"] == ["auto", *PARSERS]
    assert set(answer["retriever"]["enum"]) == set(RETRIEVERS)
    assert ingest["parser"]["enum"] == ["auto", "none", *PARSERS]


def test_a_parser_of_chunks_only_leaves_the_trees_of_retrievers_to_the_local_one(pipeline: Pipelines) -> None:
    backends = pipeline(llm="http://127.0.0.1:9/v1").backends
    assert not isinstance(backends.parser("paper", Limits()), UnitParser)
    assert backends.tree_tools("paper").parser is backends.parser("local")


async def test_a_question_takes_the_trees_that_an_ingest_made_with_another_parser(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    rag = pipeline()
    (tmp_path / "a.txt").write_text("Iron rusts. It is wet. Gold does not rust.\n\nRings are of gold. They shine.")
    await rag.aingest(tmp_path / "a.txt", parser="rules")
    asked = await rag.aask("What rusts?")
    built = {stage.stage: stage.counts.get("trees built", 0) for stage in asked.ledger.stages}
    assert built["retrieve"] == 0
    again = await rag.aingest(tmp_path / "a.txt", parser="local", refresh=True)
    assert next(s for s in again.ledger.stages if s.stage == "build_tree").counts["trees built"] == 1


def test_another_package_brings_parts_of_every_kind_without_a_change_of_ours(tmp_path: Path) -> None:
    site, note = tmp_path / "site", tmp_path / "note.txt"
    note.write_text(
        "A pump failed because it was cheap. The effect is small. Only rain limits the effect.\n\nIt was late."
    )
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(site),
    ]
    subprocess.run([*pip, "--no-index", str(PLUGIN)], check=True, cwd=tmp_path)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}
    run = [sys.executable, str(PLUGIN / "use.py"), str(note)]
    done = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["asked"] == ["encoder", "parser", "reranker", "retriever", "units"]
    assert (told["parser"], told["encoder"]) == ("tiny-parser", "tiny-encoder")


@pytest.mark.timeout(60)
def test_the_factory_of_a_parser_may_ask_for_another_parser(
    pipeline: Pipelines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def factory(tools: Toolbox, _limits: Limits) -> TreeParser:
        return tools.parser("rules")

    monkeypatch.setattr("nodes.backends.PARSERS", {"rules": PARSERS["rules"], "built-on-rules": factory})
    backends = pipeline().backends
    assert backends.parser("built-on-rules") is backends.parser("rules")
