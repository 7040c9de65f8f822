from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from discorag.store.base import ShardStore
from discorag.store.client import QdrantStore
from discorag.store.edge import EdgeStore
from tests.store.samples import DIMENSION, ENCODER


class Place(ABC):
    """Where one store is kept: opened again, it finds what was written."""

    @abstractmethod
    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> ShardStore: ...

    @abstractmethod
    def leave(self) -> None:
        """Let go of the open store without losing what is kept."""


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


class MemoryPlace(Place):
    def __init__(self) -> None:
        self.client = QdrantClient(":memory:")

    def open(self, *, encoder: str = ENCODER, dimension: int = DIMENSION) -> ShardStore:
        return QdrantStore(self.client, dimension=dimension, encoder_version=encoder)

    def leave(self) -> None:
        pass


NewPlace = Callable[[], Place]


@pytest.fixture(params=["edge", "memory"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewPlace]:
    places: list[Place] = []

    def make() -> Place:
        places.append(MemoryPlace() if request.param == "memory" else EdgePlace(tmp_path / f"store{len(places)}"))
        return places[-1]

    yield make
    for place in places:
        place.leave()


@pytest.fixture
def place(new_place: NewPlace) -> Place:
    return new_place()


@pytest.fixture
def store(place: Place) -> ShardStore:
    return place.open()
