"""Ingest killed at any moment: nothing half-made is ever seen, and the end is that of an ingest nobody killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from discorag.config import EncoderSettings, Settings, StoreSettings
from discorag.ingest.loaders import find_files, load
from discorag.schema.document import Scope
from discorag.store.database import FILE
from discorag.store.records import SearchQuery
from discorag.store.store import Store, open_store
from interfaces.facade import DiscoRAG
from tests.conftest import EXAMPLES
from tests.servers.scripted import ScriptedServer, hashed_vector

ROOT = EXAMPLES.parent
KILLS = 20
DIMENSION = 16
Texts = dict[str, str]


class Corpus:
    """A folder of about 30 documents that changes from version to version."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        files = [s.path for s in find_files(EXAMPLES).sources if s.path.name != "README.md"]
        self._bodies = [(f"{name}-{f.name}", f.read_text()) for name in ("a", "b") for f in files]

    def become(self, version: int) -> Texts:
        """Write a version; its texts by uri. A third of the files change, some go, some come back or are new."""
        for old in self.folder.iterdir():
            old.unlink()
        for i, (name, body) in enumerate(self._bodies):
            if (i + version) % 4:
                revision = (version + i) // 3
                (self.folder / name).write_text(f"{body.rstrip()}\n\nRevision {revision} of {name} is this one.\n")
        sources = find_files(self.folder).sources
        return {s.path.resolve().as_posix(): load(s, max_bytes=10**6).text for s in sources}


class Ingest:
    """The command line in a process of its own, which may be killed."""

    def __init__(self, server: ScriptedServer, folder: Path) -> None:
        settings = {"BASE_URL": server.base_url, "MODEL": "hashed", "BATCH_SIZE": "8"}
        self._env = {f"DISCO_RAG_ENCODER__{k}": v for k, v in settings.items()}
        self._folder = folder

    def whole(self, store: Path, server: ScriptedServer) -> float:
        """The same in this process, undisturbed; seconds from opening the store to closing it."""
        encoder = EncoderSettings(base_url=server.base_url, model="hashed", batch_size=8)
        start = time.monotonic()
        with DiscoRAG(Settings(store=StoreSettings(path=store), encoder=encoder)) as rag:
            result = rag.ingest(self._folder, parser="rules", retriever="dense")
        assert not [o for o in result.outcomes if o.status in ("failed", "skipped")]
        return time.monotonic() - start

    def start(self, store: Path) -> subprocess.Popen[str]:
        run = [sys.executable, "-c", "from interfaces.cli.main import main; main()"]
        command = [*run, "ingest", str(self._folder), "--parser", "rules", "--retriever", "dense", "--json"]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **self._env, "DISCO_RAG_STORE__PATH": str(store)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def killed(self, store: Path, after: float | None) -> bool:
        """Run it, kill it so many seconds after it began to open the store; whether it was still running."""
        with self.start(store) as process:
            while process.poll() is None and not (store / f"{FILE}-shm").exists():
                time.sleep(0.002)
            with suppress(subprocess.TimeoutExpired):
                output, _ = process.communicate(timeout=after)
                assert process.returncode == 0, output
                return False
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        return process.returncode == -signal.SIGKILL


def opened(folder: Path) -> Store:
    return open_store(StoreSettings(path=folder), (f"hashed@server/{DIMENSION}", DIMENSION))


def check(folder: Path, copy: Path, old: Texts, new: Texts) -> None:
    """What a reader sees now: every document whole, and as it was or as it will be. Looks at a copy."""
    subprocess.run(["cp", "-r", str(folder), str(copy)], check=True)
    with opened(copy) as store:
        seen: Texts = {}
        count = 0
        for manifest in store.manifests(Scope()):
            document, chunks = store.document(Scope(), manifest.doc_id), store.chunks_of(Scope(), manifest.doc_id)
            seen[manifest.uri] = document.text
            count += len(chunks)
            assert document.content_hash == manifest.content_hash
            assert manifest.chunks == len(chunks)
            assert [c.order for c in chunks] == list(range(len(chunks)))
            assert all(document.text[c.span.start : c.span.end] == c.text for c in chunks)
            assert "".join("".join(c.text.split()) for c in chunks) == "".join(document.text.split())
        assert not store.check().differences
        assert len(searched(store)) == count
    for uri in old.keys() | new.keys() | seen.keys():
        assert seen.get(uri) in (old.get(uri), new.get(uri)), uri
    subprocess.run(["rm", "-r", str(copy)], check=True)


def searched(store: Store) -> dict[str, float]:
    """Every chunk that a search finds, with its score."""
    vector = np.ones(DIMENSION, np.float32) / DIMENSION**0.5
    return {h.chunk_id: h.score for h in store.search(Scope(), SearchQuery(vector=vector, top_k=100_000))}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    def slow(texts: list[str]) -> list[list[float]]:
        time.sleep(0.02)
        return [hashed_vector(t, DIMENSION) for t in texts]

    with ScriptedServer(embed=slow) as running:
        yield running


@pytest.mark.timeout(400)
@pytest.mark.deep
def test_an_ingest_killed_twenty_times_shows_whole_documents_only_and_ends_as_if_it_never_was(
    tmp_path: Path, server: ScriptedServer
) -> None:
    corpus, moments = Corpus(tmp_path / "texts"), random.Random(20)
    ingest = Ingest(server, corpus.folder)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    old: Texts = {}
    kills = version = 0
    while kills < KILLS:
        new = corpus.become(version)
        duration = ingest.whole(whole, server)
        while ingest.killed(killed, moments.uniform(0, duration) if kills < KILLS else None):
            kills += 1
            check(killed, tmp_path / "copy", old, new)
        old, version = new, version + 1
    check(killed, tmp_path / "copy", old, old)
    assert version > 1
    with opened(killed) as one, opened(whole) as other:
        assert searched(one) == searched(other)
        fingerprints = [{m.uri: m.fingerprint for m in store.manifests(Scope())} for store in (one, other)]
        assert fingerprints[0] == fingerprints[1]
