"""Fixtures that the whole suite shares: real parts, opened once where they are slow."""

import asyncio
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import certifi
import pytest
from hypothesis import HealthCheck, settings

from discorag import DiscoRAG
from discorag.config import LlmSettings, Settings, StoreSettings
from discorag.models.encoder import encoder_from
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.store.store import open_store
from nodes.backends import Backends, configured_model
from tests.inferences import made_once
from tests.servers.postgres import PostgresServer, programs
from tests.shared import shared_folder

EXAMPLES = Path(__file__).parent.parent / "examples"

# No test depends on how fast a machine is. The quick examples are the same every time; the deep ones are new each time.
_ANY_MACHINE: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=25, derandomize=True, **_ANY_MACHINE)
settings.register_profile("deep", max_examples=500, print_blob=True, **_ANY_MACHINE)
settings.load_profile("quick")

# More processes test than there are cores: one thread each, in what they start too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_SLOW = ("integration", "bench", "packaging", "http")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker ends alone with it."""
    items.sort(key=lambda item: not any(folder in item.path.parts for folder in _SLOW))


@pytest.fixture(scope="session", autouse=True)
def _clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """No test reads the settings of whoever runs it, or writes into a user's data folder.

    TLS trusts one authority: to read all that certifi has takes 20 ms, and every HTTP client reads them.
    """
    authority = tmp_path_factory.mktemp("tls") / "authority.pem"
    first, end, _ = Path(certifi.where()).read_text("utf-8").partition("-----END CERTIFICATE-----\n")
    authority.write_text(first + end, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith("DISCO_RAG_")]:
            patch.delenv(name)
        patch.setenv("SSL_CERT_FILE", str(authority))
        patch.setenv("DISCO_RAG_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _inferences(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Each inference is made once, for all processes that test."""
    with made_once(shared_folder(tmp_path_factory) / "inferences"):
        yield


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The packaged MiniLM, loaded once; it remembers what it has encoded."""
    return MemoEncoder(asyncio.run(encoder_from(Settings())))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; without one its tests are skipped, in CI they fail."""
    if programs() is None and not os.environ.get("REQUIRE_POSTGRES"):
        pytest.skip("PostgreSQL is not installed")
    with PostgresServer() as server:
        yield server


@pytest.fixture
def new_database(postgres: PostgresServer) -> Iterator[Callable[[], str]]:
    """Makes empty PostgreSQL databases; their stores are closed when the test ends."""
    with postgres.databases() as new:
        yield new


@dataclass
class Pipelines:
    """Opens pipelines over a folder; each gets a store of its own and shares the encoder."""

    home: Path
    encoder: Encoder
    opened: list[DiscoRAG]

    def __call__(
        self,
        *,
        llm: str | None = None,
        kind: str = "memory",
        name: str = "store",
        url: str | None = None,
        **fields: Any,
    ) -> DiscoRAG:
        """A pipeline with the LLM endpoint ``llm``, or the Qdrant server ``url``; ``fields`` go to `LlmSettings`."""
        settings = Settings.model_validate(
            {
                "store": StoreSettings.model_validate({"kind": kind, "path": self.home / name, "url": url}),
                "llm": LlmSettings.model_validate(
                    {
                        "base_url": llm,
                        "model": "scripted",
                        "api_key": "key",
                        "cache": None,
                        "retries": 0,
                        **fields,
                    }
                ),
            }
        )
        store = open_store(settings.store, (self.encoder.version, self.encoder.dimension))
        rag = DiscoRAG(backends=Backends(settings, store, self.encoder, configured_model(settings)))
        self.opened.append(rag)
        return rag


class Examples:
    """One pipeline for tests that only read the example corpora: each is ingested when it is first asked for."""

    def __init__(self, rag: DiscoRAG) -> None:
        self._rag = rag
        self._there = set[str]()

    def __call__(self, *corpora: str) -> DiscoRAG:
        """The pipeline, with these folders of ``examples/`` as corpora of the same names; by default all of them."""
        for corpus in corpora or sorted(p.name for p in EXAMPLES.glob("[!_]*") if p.is_dir()):
            if corpus not in self._there:
                self._rag.ingest(EXAMPLES / corpus, corpus=corpus)
                self._there.add(corpus)
        return self._rag


@contextmanager
def _pipelines(home: Path, encoder: Encoder) -> Generator[Pipelines]:
    factory = Pipelines(home, encoder, [])
    yield factory
    for rag in factory.opened:
        rag.close()


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Examples]:
    """The example corpora, read once."""
    with _pipelines(tmp_path_factory.mktemp("examples"), encoder) as factory:
        yield Examples(factory())


@pytest.fixture
def pipeline(tmp_path: Path, encoder: Encoder) -> Iterator[Pipelines]:
    """Makes pipelines and closes them after the test."""
    with _pipelines(tmp_path, encoder) as factory:
        yield factory


@pytest.fixture(scope="module")
def shared_pipeline(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Pipelines]:
    """The same for a module's fixtures, whose pipelines its tests only read from."""
    with _pipelines(tmp_path_factory.mktemp("shared"), encoder) as factory:
        yield factory
