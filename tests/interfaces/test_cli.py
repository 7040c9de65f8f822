"""The command line, as its entry point runs it."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import typer

from discorag.config import StoreSettings
from discorag.options import AnswerOptions
from discorag.schema.document import Scope
from discorag.store.records import SearchQuery
from discorag.store.store import open_store
from interfaces.cli.cli_help import COMMANDS
from interfaces.cli.main import app, main
from tests.conftest import EXAMPLES
from tests.graphs.scripts import model
from tests.servers.scripted import Scripted, ScriptedServer

ROOT = EXAMPLES.parent


def run(home: Path, *arguments: str, ok: int = 0, both: bool = False, **environment: str) -> str:
    """The command as its entry point runs it; what it printed (with ``both`` or when it is to fail, errors too)."""
    env = {"DISCO_RAG_STORE__PATH": str(home / "s"), **environment}
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(home)
        patch.setattr(sys, "argv", ["disco-rag", *arguments])
        for name, value in env.items():
            patch.setenv(name, value)
        code = exit_code(main)
    assert code == ok, out.getvalue() + err.getvalue()
    return out.getvalue() + (err.getvalue() if ok or both else "")


def exit_code(command: Callable[[], None]) -> int:
    try:
        command()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def run_json(home: Path, *arguments: str) -> Any:
    return json.loads(run(home, *arguments, "--json"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("cli")
    ingested = run_json(home, "ingest", str(EXAMPLES / "vitamin-d"))
    assert {o["status"] for o in ingested["outcomes"]} == {"added"}
    (home / "t.tune").write_text("la", encoding="utf-8")
    (home / "t.md").write_text("Tides.", encoding="utf-8")
    return home


def test_ask_prints_sources_and_disagreements_and_on_request_plan_and_cost(home: Path) -> None:
    question = "Does vitamin D prevent flu?"
    short, long = run(home, "ask", question), run(home, "ask", question, "--plan", "--ledger")
    for part in ("[1]", "characters", "The sources disagree:"):
        assert part in short
    for part in ("\nPlan\n", "Time and cost", "verify"):
        assert part not in short
        assert part in long
    assert "tokens" not in long  # no language model, no columns for it


def test_ask_as_json_holds_the_whole_result(home: Path) -> None:
    result = run_json(home, "ask", "Does vitamin D prevent flu?", "--set", "top_k=4", "--set", "use_plan=false")
    assert len(result["hits"]) == 4
    assert result["answer"]["plan"] is None
    assert result["answer"]["sentences"][0]["evidence"][0]["span"]["end"] > 0


@pytest.mark.parametrize("parser", ["local", "rules"])
def test_a_document_is_parsed_as_one_tree_and_not_stored(tmp_path: Path, parser: str) -> None:
    source = [str(EXAMPLES / "vitamin-d" / "pooled-analysis.md"), "--parser", parser]
    shown = run(tmp_path, "parse", *source)
    assert len(set(re.findall(r"\b(\d+): ", shown))) > 10
    assert run(tmp_path, "parse", *source, "--format", "rs3").startswith("<rst>")
    assert not (tmp_path / "s").exists()


def test_explain_prints_all_options_with_their_origins_and_asks_nothing(home: Path) -> None:
    lines = [
        re.split(r"\s{2,}", line.strip()) for line in run(home, "ask", "--explain", "--set", "top_k=5").splitlines()
    ]
    table = {name: (value, origin) for name, value, origin in lines[1:]}
    assert table.keys() == AnswerOptions.model_fields.keys()
    assert table["top_k"] == ("5", "given")
    assert table["retriever"] == ("dense", "implied by top_k")
    assert table["preset"] == ("verbatim", "no language model is configured")
    found = run_json(home, "ask", "--explain")
    assert found["options"].keys() == found["origins"].keys() == table.keys()
    written = run(home, "ask", "--explain", "--llm", "http://127.0.0.1:9/v1#none")
    assert re.search(r"preset +written +a language model is configured", written)


def test_status_tells_what_is_stored(home: Path) -> None:
    assert len(run_json(home, "status")) == 6
    assert "6 documents" in run(home, "status")


def test_status_says_that_the_qdrant_server_does_not_answer(home: Path) -> None:
    said = " ".join(run(home, "status", both=True, DISCO_RAG_STORE__URL="http://127.0.0.1:9").split())
    assert "6 documents" in said
    assert "Searches are exact (http://127.0.0.1:9 does not answer" in said


def test_without_a_name_status_lists_all_corpora_and_the_only_one_is_asked(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("Tides rise twice a day.", "utf-8")
    run(tmp_path, "ingest", "tides.md", "--corpus", "sea", "--parser", "none")
    asked = " ".join(run(tmp_path, "ask", "How often do tides rise?", both=True).split())
    assert "twice a day" in asked
    assert "Corpus sea, the only one that holds documents." in asked
    run(tmp_path, "ingest", "tides.md", "--corpus", "shore", "--parser", "none")
    assert [d["corpus"] for d in run_json(tmp_path, "status")] == ["sea", "shore"]
    assert "2 documents" in run(tmp_path, "status")
    for command in (["ask", "How often do tides rise?"], ["status", "--corpus", "lake"]):
        said = " ".join(run(tmp_path, *command, ok=2).split())
        assert "Corpora with documents: sea (1 document), shore (1 document)." in said
    assert "shore" not in run(tmp_path, "status", "--corpus", "sea")


def test_status_says_who_and_when_a_document_speaks_for(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("---\nentity: Acme\nversion: 2.0\n---\n# Policy\n\nTides rise twice a day.", "utf-8")
    run(tmp_path, "ingest", "p.md", "--parser", "none")
    assert "1 document, 1 chunk." in run(tmp_path, "status")
    assert run_json(tmp_path, "status")[0]["identity"] == {"entity": "Acme", "version": "2.0"}
    assert "Acme, version 2.0" in " ".join(run(tmp_path, "status").split())


def test_a_part_of_a_title_a_file_name_or_an_id_names_a_document(home: Path) -> None:
    whole = run(home, "show", "tree", "pooled-analysis.md")
    assert run(home, "show", "tree", "LED-anal") == run(home, "show", "tree", "a Pooled Analysis") == whole
    short = re.search(r"^([0-9a-f]{8}) +Vitamin D supplements", run(home, "status"), re.MULTILINE)
    assert short is not None
    assert run(home, "show", "tree", short[1]) == whole


def test_several_matches_are_listed_and_none_is_deleted(tmp_path: Path) -> None:
    for name in ("a/tides.md", "b/tides.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f"# Tides of {name}\n\nThey rise.", encoding="utf-8")
    run(tmp_path, "ingest", str(tmp_path))
    said = " ".join(run(tmp_path, "delete", "tides.md", ok=2).split())
    assert "2 documents match 'tides.md'" in said
    assert "Tides of a/tides.md (tides.md)" in said
    assert "Tides of b" in run(tmp_path, "delete", "b/tides.md")


def test_corpora_are_listed_and_an_empty_one_names_them(home: Path) -> None:
    (listed,) = run_json(home, "corpora")
    assert (listed["name"], listed["documents"], listed["chunks"] > 6) == ("default", 6, True)
    assert listed["written"].endswith("Z")
    assert listed["written"][:10] in run(home, "corpora")
    said = " ".join(run(home, "ask", "x", "--corpus", "none", ok=2).split())
    assert "Nothing is stored in corpus 'none'. Corpora with documents: default (6 documents). Name one of" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ingest", "nowhere"], "MissingPathError"),
        (["ask", ""], "QueryError"),
        (["ask", "x", "--set", "nonsense"], "name=value"),
        (["ask", "x", "--set", "corpus=none"], "no option 'corpus'"),
        (["ask", "x", "--set", "generator=llm"], "no option 'generator'. Use engine."),
        (["ask", "x", "--set", "preset=verbatim", "--set", "engine=llm"], "exclude each other"),
        (["ask", "--explain", "--set", "preset=written"], "DISCO_RAG_MODEL"),
        (["ask", "--explain", "--graph", "--plan"], "--graph and --plan would have no effect"),
        (["ask", "x", "--preset", "paper"], "--set preset=VALUE"),
        (["ask", "x", "--top-k=5"], "--set top_k=VALUE"),
        (["ask", "x", "--retriever"], "requires an argument"),
        (["ask", "x\udcff"], "UTF-8"),
        (["ingest", ""], "No path"),
        (["delete", ""], "0 documents match"),
        (["delete", "vitamin"], "documents match 'vitamin': "),
        (["show", "tree", "analysis", "--corpus", "none"], "Corpora with documents: default (6 documents). Name"),
        (["show", "tree", "pooled-analysis.md", "--chunk", "99"], "no chunk 99"),
        (["parse", "gone.md"], "does not exist"),
        (["parse", "t.tune"], "unknown format"),
        (["parse", "t.md", "--format", "pdf"], "text, rs3, json"),
        (["parse", "t.md", "--parser", "paper"], "DISCO_RAG_MODEL"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do_and_exit_code_2(home: Path, arguments: list[str], said: str) -> None:
    text = run(home, *arguments, ok=2)
    assert said in re.sub(r"\s+", " ", text)
    assert "Traceback" not in text


def test_commands_work_while_another_process_has_the_store_open(home: Path) -> None:
    with open_store(StoreSettings(path=home / "s")) as store:
        assert store.search(Scope(), SearchQuery(vector=np.eye(384, dtype=np.float32)[0]))  # it has the index
        assert len(run_json(home, "status")) == 6
        stages = run_json(home, "ask", "Does vitamin D prevent flu?")["ledger"]["stages"]
        retrieved = next(s for s in stages if s["stage"] == "retrieve")
        assert "index: exact (another process has it open)" in retrieved["decisions"]


def test_a_failed_document_gives_exit_code_1_and_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "bad.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "t" / "good.txt").write_text("Tides rise.", encoding="utf-8")
    text = run(tmp_path, "ingest", str(tmp_path / "t"), ok=1)
    bad, told = tmp_path / "t" / "bad.txt", "".join(text.split())  # long paths wrap
    assert f"failed{bad}" in told
    assert f"{bad}:{bad}" not in told
    assert "1 added" in text
    audited = run(tmp_path, "audit", str(tmp_path / "t"), ok=1)
    assert "0 contradictions" in audited
    assert "Not complete: 1 of the files could not be read." in audited


def test_status_names_the_language_model_and_asks_it_nothing(home: Path) -> None:
    with ScriptedServer(lambda _: Scripted("no", status=401)) as server:
        told = run(home, "status", DISCO_RAG_LLM__BASE_URL=server.base_url, DISCO_RAG_LLM__MODEL="tiny-model")
        assert server.requests == []
    assert "tiny-model" in told


@pytest.mark.parametrize(
    ("reply", "fails"),
    [("The sun makes vitamin D [1].", False), (Scripted("no", status=401), True), ("[1][2].", True)],
    ids=["writes", "fails", "says nothing"],
)
def test_the_answer_without_a_model_is_printed_with_exit_code_3_if_the_model_fails_or_is_an_error_if_strict(
    home: Path, reply: Scripted | str, fails: bool
) -> None:
    ask = ("ask", "Does vitamin D prevent flu?")
    with ScriptedServer(model({"answer": reply, "tree": reply})) as server:
        names = {"BASE_URL": server.base_url, "RETRIES": "0"}
        endpoint: dict[str, Any] = {f"DISCO_RAG_LLM__{name}": value for name, value in names.items()}
        printed = " ".join(run(home, *ask, ok=3 if fails else 0, both=True, **endpoint).split())
        strict = run(home, *ask, "--strict", ok=2 if fails else 0, both=True, **endpoint)
    verbatim = run_json(home, *ask)
    assert printed.startswith(verbatim["answer"]["sentences"][0]["text"]) == fails
    assert ("The language model did not make the" in printed) == fails
    assert printed.count("Sources:") == 1
    assert ("Sources:" in strict) != fails


@pytest.mark.parametrize(("reply", "code"), [("The sun makes vitamin D [1].", 0), (Scripted("no", status=401), 3)])
def test_a_file_of_questions_gives_exit_code_3_as_long_as_one_is_answered_without_the_model_that_failed(
    home: Path, tmp_path: Path, reply: Scripted | str, code: int
) -> None:
    questions, replies = tmp_path / "questions.jsonl", tmp_path / "replies.jsonl"
    questions.write_text('{"question": "Does vitamin D prevent flu?"}\n', "utf-8")
    ask = ("ask", "--batch", str(questions), "--out", str(replies))
    with ScriptedServer(model({"answer": reply, "tree": reply})) as server:
        endpoint: dict[str, Any] = {"DISCO_RAG_LLM__BASE_URL": server.base_url, "DISCO_RAG_LLM__RETRIES": "0"}
        for _ in range(2):  # the second run finds the answer of the first
            printed = run(home, *ask, ok=code, **endpoint)
            assert "1 of 1 answered" in printed
            assert ("The language model failed on 1" in printed) == (code == 3)


def test_titles_cannot_write_markup_or_escapes_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    hostile = "# [/red] Tides \x1b]0;owned\x07 [bold]\n\nTides rise \x1b[31m twice a day."
    (tmp_path / "t" / "a.md").write_text(hostile, encoding="utf-8")
    printed = run(tmp_path, "ingest", str(tmp_path / "t"))
    for arguments in (["status"], ["ask", "When do tides rise?"], ["show", "tree", "a.md"], ["delete", "a.md"]):
        printed += run(tmp_path, *arguments)
    assert "[/red] Tides" in printed
    assert "\x1b" not in printed


def test_help_names_every_command() -> None:
    assert typer.main.get_group(app).commands.keys() == COMMANDS.keys()


def test_help_imports_none_of_what_the_commands_need() -> None:
    code = (
        "import sys; sys.argv = ['disco-rag', '--help'];"
        "heavy = {'torch', 'langgraph', 'openai', 'pydantic', 'numpy'};"
        "from discorag import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted(heavy & sys.modules.keys()))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Usage: disco-rag " in printed
    assert "Answer a question" in printed
    assert printed.rstrip().endswith("[]")


def test_the_command_line_starts_without_torch_and_mcp() -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "mcp"}
    code = f"import sys, interfaces.cli.main, interfaces.facade; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_tune_asks_the_questions_of_a_file_with_every_candidate(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interfaces.cli.main.candidates", Mock(return_value=[{}, {"top_k": 2}]))
    question = {"question": "Does vitamin D prevent flu?", "answers": ["deficiency"]}
    (home / "questions.jsonl").write_text("\n".join([json.dumps(question)] * 10), encoding="utf-8")
    assert "top_k=2" in run(home, "tune", "questions.jsonl", "--no-write")
