"""A worker's view of a store that the keeper has open.

Of a store in a folder, what is read goes over the wire as it lies in the shards, and is decoded and remembered here, so
that the keeper has little to do for a question. What must be seen in one state is done whole by the keeper's own store.
`SharedCatalogue`, which a Qdrant server's processes use, would not do for a folder: it writes past the archive, and
asks the shard of the documents twice a ranking.

All is written by the keeper, also to a Qdrant server: its archive, its checksums, its limit of the disk, its order of
writers and its leases hold as where one process does everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any, Self, cast

from discorag.settings import Settings, StoreSettings
from discorag.store.base import ShardStore
from discorag.store.catalogue import Catalogue
from discorag.store.client import ServerStore, open_server
from discorag.store.open import register_store
from discorag.store.protocol import Hit, Manifest, SearchQuery, Store
from discorag.store.shard import Shard
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.report import Report
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.vectors import Vectors
from graphs.workers.wire import Keeper

STORE = "store"
"""The keeper's name of its store."""
KEPT = "kept"
"""Kind of the store that the keeper has open."""


class KeptWrites(ShardStore):
    """A store that another process writes to."""

    _call: Callable[..., Any]

    def put(
        self, scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors
    ) -> None:
        """See `Store.put`."""
        self._call("put", scope, document, manifest, chunks, vectors)

    def delete(self, scope: Scope, doc_id: str) -> bool:
        """See `Store.delete`."""
        return self._call("delete", scope, doc_id)

    def put_tree(self, scope: Scope, doc_id: str, tree: RetrievalTree, vectors: Vectors, *, version: str) -> None:
        """See `Store.put_tree`."""
        self._call("put_tree", scope, doc_id, tree, vectors, version=version)

    def delete_tree(self, scope: Scope, doc_id: str, builder: str) -> bool:
        """See `Store.delete_tree`."""
        return self._call("delete_tree", scope, doc_id, builder)

    def claim(self, scope: Scope, doc_id: str) -> AbstractContextManager[bool]:
        """The other process claims what it reads."""
        return nullcontext(True)

    def check(self) -> Report:
        """See `Store.check`."""
        return self._call("check")

    def optimise(self) -> None:
        """Nothing to do: the keeper does it by itself."""


class KeptStore(KeptWrites):
    """A store in a folder that another process has open.

    A read that takes several calls is made again where a document was replaced between them, as on a server.

    Args:
        keeper: The process.
        dimension: Length d of a vector.

    Raises:
        StoreError: By any method: as the keeper's store does, or there is no keeper.
    """

    def __init__(self, keeper: Keeper, dimension: int) -> None:
        docs, nodes = (cast("Shard", _Part(keeper, name)) for name in ("docs", "nodes"))
        catalogue = cast("Catalogue", _Part(keeper, "catalogue"))
        super().__init__(docs, nodes, dimension=dimension, resources=ExitStack(), catalogue=catalogue)
        self._call = partial(keeper.call, STORE)

    def search(self, scope: Scope, query: SearchQuery) -> list[Hit]:
        """See `Store.search`."""
        return self._call("search", scope, query)


class _ServerStore(KeptWrites, ServerStore):
    """A store on a Qdrant server, which is read from here."""

    def by(self, keeper: Keeper) -> Self:
        """The same, written to by this process."""
        self._call = partial(keeper.call, STORE)
        return self


def open_kept(keeper: Keeper, settings: StoreSettings, dimension: int, encoder_version: str) -> Store:
    """A worker's store. Raises as the store itself does."""
    if settings.url is None:
        return KeptStore(keeper, dimension)
    store = open_server(settings, dimension, encoder_version, _ServerStore)
    assert isinstance(store, _ServerStore)
    return store.by(keeper)


def with_kept_store(settings: Settings, keeper: Keeper) -> Settings:
    """Settings under which this process opens the keeper's store."""
    register_store(KEPT, partial(open_kept, keeper), help="that of another process")
    return settings.model_copy(update={"store": settings.store.model_copy(update={"kind": KEPT})})


class _Part:
    """A shard of the keeper's, or its catalogue, to be read."""

    exact, lock = True, nullcontext()

    def __init__(self, keeper: Keeper, name: str) -> None:
        self._keeper, self._name = keeper, name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._keeper.call, STORE, "read", self._name, method)
