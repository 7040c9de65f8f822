"""How the processes of a pool come to the pipeline of this one: its settings, and its store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import current_process
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from discorag.settings import Settings
from discorag.types.errors import ConfigError
from graphs.bulk.pool import ADDRESS, Pool, Work, pool
from graphs.facade import DiscoRAG
from graphs.workers.store import STORE, with_kept_store
from graphs.workers.wire import Calls, Keeper


@dataclass(frozen=True)
class Opening:
    """What another process needs to open the same pipeline.

    Args:
        settings: Of this one.
        address: Where this process answers calls to its store; empty where the store is a server's.
        key: Of who may call.
    """

    settings: Settings
    address: str = ""
    key: bytes = b""

    def opened(self) -> DiscoRAG:
        """The pipeline, in the process that calls this. Raises as `DiscoRAG`."""
        if not self.address:
            return DiscoRAG(self.settings)
        current_process().authkey = self.key
        return DiscoRAG(with_kept_store(self.settings, Keeper(self.address)))


Job: TypeAlias = Callable[[DiscoRAG, Mapping[str, Any]], Work]
"""From a pipeline and the switches of a run to the work on one document or question."""


@dataclass(frozen=True)
class Actors:
    """A pool whose processes have the pipeline open.

    Args:
        opening: How.
        pool: Of Ray's actors.
    """

    opening: Opening
    pool: Pool

    def each(self, job: Job, switches: Mapping[str, Any], blocks: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """See `Pool.each`."""
        return self.pool.each(partial(_begun, self.opening, job, switches), blocks)


def _begun(opening: Opening, job: Job, switches: Mapping[str, Any]) -> Work:
    return job(opening.opened(), switches)


@contextmanager
def actors(rag: DiscoRAG, count: int | None = None) -> Generator[Actors]:
    """Actors over the store of this pipeline: one in a folder has one owner, so they reach it through this process.

    Args:
        rag: Opened from settings.
        count: How many actors; None: as many as there are cores.

    Raises:
        ConfigError: The store is one that they cannot reach.
        EngineError: See `graphs.bulk.pool.pool`.
    """
    settings = rag.resources.settings
    if settings.store.url is not None:
        with pool(count) as started:
            yield Actors(Opening(settings), started)
        return
    if settings.store.kind == "memory" or os.environ.get(ADDRESS):
        place = "in memory" if settings.store.kind == "memory" else "in a folder of this machine"
        said = f"Ray's actors cannot reach a store {place}."
        raise ConfigError(said, hint=f"Set DISCO_RAG_STORE__URL to a Qdrant server, or unset {ADDRESS}.")
    with TemporaryDirectory(prefix="disco-rag-") as folder, closing(asyncio.new_event_loop()) as loop:
        address, key = f"{folder}/keeper", bytes(current_process().authkey)
        with Calls(address, {STORE: rag.resources.store}, loop), pool(count) as started:
            yield Actors(Opening(settings, address, key), started)
