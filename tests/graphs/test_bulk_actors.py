"""What surrounds the actors of a pool, without Ray: who gets what, what comes back, what is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from discorag import DiscoRAG
from discorag.ingest.bucket import below, survey_at, vanished_at
from discorag.settings import Settings
from discorag.store.protocol import Manifest
from discorag.types.errors import (
    ConfigError,
    DiscoRagError,
    InvariantError,
    MissingExtraError,
    ModelUnavailableError,
    PoisonedError,
    StoreFullError,
)
from graphs.bulk import actors, pool
from graphs.bulk.actors import Actors, Opening
from graphs.bulk.asking import answer_with
from graphs.bulk.documents import BLOCK_DOCUMENTS, blocks_of, ingest_with
from graphs.bulk.pool import Pool, Work
from graphs.bulk.questions import Question, Reply
from graphs.cli import app
from graphs.facade import IngestResult
from graphs.terminal.present import IngestProgress
from tests.conftest import Pipelines
from tests.graphs.test_python import COFFEE, TIDES


class Here(Pool):
    """Actors that are objects of this process; names that end with a word of ``deadly`` kill them, so many times."""

    def __init__(self, deadly: dict[str, int]) -> None:
        super().__init__(1)
        self.deadly = deadly

    def _passed(
        self, make: Callable[[], Work], blocks: Sequence[Sequence[str]], tries: int
    ) -> Iterator[tuple[str, Any]]:
        for block in blocks:
            done = [(name, pool._Actor(make)._done(name)) for name in block if not self._kills(name)]
            if len(done) == len(block):
                yield from ((name, pool._told(found)) for name, found in done)

    def _kills(self, name: str) -> bool:
        word = next((w for w in self.deadly if name.endswith(w)), None)
        if word is None or not self.deadly[word]:
            return False
        self.deadly[word] -= 1
        return True


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    return pipeline(kind="edge")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (("a", TIDES), ("b", COFFEE), ("c", "Iron rusts.")):
        (folder / f"{name}.txt").write_text(text)
    return folder


def over(rag: DiscoRAG, monkeypatch: pytest.MonkeyPatch, **deadly: int) -> Actors:
    """Actors that have this very pipeline open."""

    def opened(_: Opening) -> DiscoRAG:
        return rag

    monkeypatch.setattr(Opening, "opened", opened)
    return Actors(Opening(rag.resources.settings), Here({f"{name}.txt": times for name, times in deadly.items()}))


def ingested(rag: DiscoRAG, there: Actors, folder: Path) -> tuple[IngestResult, list[str]]:
    told: list[str] = []

    def tell(event: dict[str, Any]) -> None:
        told.append(str(event.get("status", event["event"])))

    return rag.run(lambda: ingest_with(there, rag, str(folder), tell, parser="rules", retriever="dense")), told


def statuses(result: IngestResult) -> dict[str, str]:
    return {Path(o.uri).stem: str(o.status) for o in result.outcomes}


def test_one_that_kills_each_time_fails_alone_and_what_was_stored_beside_it_counts(
    rag: DiscoRAG, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`a` and `b` are stored before `c` kills their actor, and found unchanged by the next one."""
    result, told = ingested(rag, over(rag, monkeypatch, c=9), docs)
    assert statuses(result) == {"a": "added", "b": "added", "c": "failed"}
    assert [o.chunks for o in result.outcomes if o.status == "added"] == [1, 1]
    assert [f.kind for f in result.ledger.failures] == ["PoisonedError"]
    assert told[0] == "found"
    assert len(told) == 1 + 3


def test_one_that_kills_once_is_stored_and_another_run_finds_all_unchanged(
    rag: DiscoRAG, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(statuses(ingested(rag, over(rag, monkeypatch, b=1), docs)[0]).values()) == {"added"}
    (docs / "a.txt").unlink()
    result, _ = ingested(rag, over(rag, monkeypatch), docs)
    assert statuses(result) == {"a": "deleted", "b": "unchanged", "c": "unchanged"}


def test_what_one_raises_is_its_own_failure_and_a_full_store_everybodys() -> None:
    raised = {"a": KeyError("a"), "tree": InvariantError("No tree."), "full": StoreFullError("Full.")}

    def work(name: str) -> str:
        raise raised[name]

    done = dict(Here({}).each(lambda: work, [["a"], ["tree"]]))
    assert {name: type(found) for name, found in done.items()} == {"a": PoisonedError, "tree": InvariantError}
    assert "KeyError" in str(done["a"])
    with pytest.raises(StoreFullError):
        list(Here({}).each(lambda: work, [["full"]]))


def test_actors_that_cannot_open_the_pipeline_end_the_run() -> None:
    def make() -> Work:
        raise ModelUnavailableError("Nobody answers.")

    with pytest.raises(ModelUnavailableError):
        list(Here({}).each(make, [["a"]]))


def test_small_files_go_together_and_large_ones_and_objects_alone(tmp_path: Path) -> None:
    for name, size in (("a", 100), ("b", 50_000), ("c", 100), ("d", 100)):
        (tmp_path / name).write_text("x" * size)
    uris = [str(tmp_path / name) for name in "abcd"]
    assert list(blocks_of([*uris, "s3://bucket/key"])) == [uris[:1], uris[1:2], uris[2:], ["s3://bucket/key"]]
    assert [len(b) for b in blocks_of([uris[0]] * 40)] == [BLOCK_DOCUMENTS, BLOCK_DOCUMENTS, 40 - 2 * BLOCK_DOCUMENTS]


def test_questions_that_are_poison_are_errors_and_are_asked_again(
    rag: DiscoRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag.add_texts([TIDES, COFFEE], parser="rules")
    asked = [Question(id=i, question="Why does the tide rise?") for i in ("t", "k")]
    there, out, replies = over(rag, monkeypatch), tmp_path / "replies.jsonl", list[Reply]()
    deadly = Here({asked[1].model_dump_json(): 9})
    assert answer_with(Actors(there.opening, deadly), asked, out, replies.append) == 1
    assert {r.id: r.error.kind if r.error else "" for r in replies} == {"t": "", "k": "PoisonedError"}
    assert answer_with(there, asked, out, replies.append) == 0
    assert [r.id for r in replies] == ["t", "k", "t", "k"]


def test_a_store_that_actors_cannot_reach_is_refused(
    pipeline: Pipelines, rag: DiscoRAG, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="a store in memory"), actors.actors(pipeline()):
        pass
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    with pytest.raises(ConfigError, match="in a folder of this machine"), actors.actors(rag):
        pass


def test_another_process_opens_the_store_of_this_one(pipeline: Pipelines, monkeypatch: pytest.MonkeyPatch) -> None:
    rag = pipeline(kind="edge")
    rag.add_texts([TIDES], parser="rules")
    monkeypatch.setattr(actors, "pool", _no_pool)
    with actors.actors(rag) as there, there.opening.opened() as other:
        assert [m.title for m in other.documents()] == [m.title for m in rag.documents()]


def _no_pool(_: int | None) -> Any:
    from contextlib import nullcontext

    return nullcontext(Here({}))


def test_an_empty_address_is_none(rag: DiscoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "")
    monkeypatch.setattr(actors, "pool", _no_pool)
    with actors.actors(rag) as there:
        assert there.opening.address


@pytest.mark.parametrize(
    ("address", "said"),
    [("127.0.0.1:1", "No Ray can be joined at 127.0.0.1:1"), ("ray://head:10001", "host:port of the cluster's head")],
)
def test_a_cluster_that_is_not_there_is_said_at_once(address: str, said: str) -> None:
    """Ray looks for it for minutes."""
    with pytest.raises(DiscoRagError, match=said):
        pool._knock(address)


def test_the_bar_says_that_models_are_loaded_until_the_first_is_done() -> None:
    drawn = Console(file=StringIO(), width=100, force_terminal=True)
    with drawn.capture() as before, IngestProgress(drawn) as bar:
        bar.load()
    assert "Ingest (loading models)" in before.get()
    with drawn.capture() as after, IngestProgress(drawn) as bar:
        bar.load()
        bar.on_event({"event": "document", "uri": "a.txt", "status": "added", "note": ""})
    assert "loading" not in after.get().splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ingest", "docs", "--actors", "2"], "--actors goes with --engine ray"),
        (["ask", "Why?", "--engine", "ray"], "go with --batch"),
        (["ingest", "docs", "--engine", "ray"], 'pip install "disco-rag[ray]"'),
        (["ask", "--batch", "q.jsonl", "--engine", "ray"], 'pip install "disco-rag[ray]"'),
    ],
)
def test_what_does_not_go_together_or_is_not_installed_is_said(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, DiscoRagError)
    assert said in str(error)


def test_s3_without_its_extra_and_without_a_bucket_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"disco-rag\[s3\]"):
        survey_at("s3://bucket/docs")
    with pytest.raises(ConfigError, match="names no bucket"):
        survey_at("s3:///docs")


def test_only_what_lay_below_the_prefix_vanishes_from_a_bucket() -> None:
    versions, fields = dict[str, str](), {"title": "", "content_hash": "", "fingerprint": "", "chunks": 1}
    stored = [
        Manifest.model_validate({"doc_id": uri, "uri": uri, "versions": versions, **fields})
        for uri in ("s3://b/docs/gone.md", "s3://b/docs/there.md", "s3://b/docs-too/z.md", "/docs/a.md")
        if uri.startswith(below("s3://b/docs/"))
    ]
    gone = vanished_at("s3://b/docs/", stored, [], {"s3://b/docs/there.md"})
    assert [m.uri for m in gone] == ["s3://b/docs/gone.md"]
    assert vanished_at("s3://b/docs", stored, [], {"s3://b/docs"}) == []


def test_an_opening_without_an_address_is_a_server_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Settings] = []
    monkeypatch.setattr(actors, "DiscoRAG", opened.append)
    Opening(Settings()).opened()
    assert opened == [Settings()]
