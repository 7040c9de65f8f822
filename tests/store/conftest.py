import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from discorag.config import StoreSettings
from discorag.store.edge import LOCK
from discorag.store.store import Store, open_store
from tests.servers.qdrant import QdrantServer
from tests.store.samples import DIMENSION, ENCODER

KINDS = ("edge", "exact", "server", "postgres")
"""Indexes; exact: none can be used, because another process has it; postgres: a Qdrant server next to PostgreSQL."""


class Place:
    """A folder or database with a store: opened again, it finds what was written."""

    def __init__(self, folder: Path, kind: str, url: str | None = None, database: str | None = None) -> None:
        self.folder, self.kind = folder, kind
        self.settings = StoreSettings.model_validate(
            {"path": folder, "url": url, "database_url": database, "min_free_mb": 0}
        )
        self._opened = ExitStack()
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT) if kind == "exact" else None
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> Store:
        return self._opened.enter_context(open_store(self.settings, (encoder, dimension)))

    def leave(self) -> None:
        """Close the stores that are open."""
        self._opened.close()

    def remove(self) -> None:
        self.leave()
        if self._lock is not None:
            os.close(self._lock)


NewPlace = Callable[[], Place]


@pytest.fixture(scope="session")
def qdrant() -> Iterator[str]:
    """The address of a Qdrant server: a real one where QDRANT_URL is set, else ours."""
    if url := os.environ.get("QDRANT_URL"):
        yield url
        return
    with QdrantServer() as ours:
        yield ours.address


@pytest.fixture(params=KINDS)
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewPlace]:
    places: list[Place] = []

    def make() -> Place:
        kind: str = request.param
        url = request.getfixturevalue("qdrant") if kind in ("server", "postgres") else None
        database = request.getfixturevalue("new_database")() if kind == "postgres" else None
        places.append(Place(tmp_path / f"store{len(places)}", kind, url, database))
        return places[-1]

    yield make
    for place in places:
        place.remove()


@pytest.fixture
def place(new_place: NewPlace) -> Place:
    return new_place()


@pytest.fixture
def store(place: Place) -> Store:
    return place.open()
