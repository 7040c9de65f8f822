from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from qdrant_client import QdrantClient

from discorag.store.base import ShardStore
from discorag.store.client import QdrantStore, ServerStore
from discorag.store.edge import EdgeStore
from tests.servers.qdrant import QdrantServer
from tests.store.samples import DIMENSION, ENCODER

QDRANT_URL = os.environ.get("QDRANT_URL")
QDRANT_API_KEY = os.environ.get("QDRANT_API_KEY")


class Place(ABC):
    """Where one store is kept: opened again, it finds what was written.

    Attributes:
        owned: By one store at a time: opening it removes leftovers. Elsewhere the next put or delete of the document
            does.
    """

    owned = True

    @abstractmethod
    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> ShardStore: ...

    @abstractmethod
    def leave(self) -> None:
        """Let go of the open store without losing what is kept."""

    @abstractmethod
    def remove(self) -> None:
        """Remove what is kept, where it would outlive the test."""


class EdgePlace(Place):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store: ShardStore | None = None

    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> ShardStore:
        self.store = EdgeStore(self.folder, dimension=dimension, encoder_version=encoder)
        return self.store

    def leave(self) -> None:
        if self.store:
            self.store.close()

    def remove(self) -> None:
        pass


class MemoryPlace(Place):
    def __init__(self) -> None:
        self.client = QdrantClient(":memory:")

    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> ShardStore:
        return QdrantStore(self.client, dimension=dimension, encoder_version=encoder)

    def leave(self) -> None:
        pass

    def remove(self) -> None:
        pass


@dataclass(frozen=True)
class Server:
    """A Qdrant server: a real one where QDRANT_URL is set, else ours."""

    url: str
    api_key: str | None


class ServerPlace(Place):
    owned = False

    def __init__(self, server: Server) -> None:
        self.server = server
        self.prefix = f"test-{uuid4().hex[:12]}-"
        self.stores: list[ServerStore] = []

    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> ServerStore:
        url, key = self.server.url, self.server.api_key
        store = ServerStore(url, api_key=key, prefix=self.prefix, dimension=dimension, encoder_version=encoder)
        self.stores.append(store)
        return store

    def leave(self) -> None:
        for store in self.stores:
            store.close()

    def remove(self) -> None:
        headers = {"api-key": self.server.api_key} if self.server.api_key else {}
        client = QdrantClient(url=self.server.url, headers=headers, check_compatibility=False)
        for name in ("docs", "nodes"):
            client.delete_collection(self.prefix + name)
        client.close()


NewPlace = Callable[[], Place]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if QDRANT_URL:
        yield Server(QDRANT_URL, QDRANT_API_KEY)
        return
    with QdrantServer(api_key="secret") as ours:
        yield Server(ours.url, "secret")


@pytest.fixture
def server_place(server: Server) -> Iterator[ServerPlace]:
    place = ServerPlace(server)
    yield place
    place.leave()
    place.remove()


@pytest.fixture(params=["edge", "memory", "server"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewPlace]:
    places: list[Place] = []

    def make() -> Place:
        places.append(_place(request, tmp_path / f"store{len(places)}"))
        return places[-1]

    yield make
    for place in places:
        place.leave()
        place.remove()


def _place(request: pytest.FixtureRequest, folder: Path) -> Place:
    if request.param == "server":
        return ServerPlace(request.getfixturevalue("server"))
    return MemoryPlace() if request.param == "memory" else EdgePlace(folder)


@pytest.fixture
def place(new_place: NewPlace) -> Place:
    return new_place()


@pytest.fixture
def store(place: Place) -> ShardStore:
    return place.open()
