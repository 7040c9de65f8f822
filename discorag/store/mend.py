"""A damaged folder made one that opens: files first, then what is in them."""

from __future__ import annotations

from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

from discorag.store import payload as points
from discorag.store.catalogue import scoped_entries
from discorag.store.check import Mended
from discorag.store.disk.archive import Archive
from discorag.store.disk.lock import owned
from discorag.store.disk.points import EdgePoints
from discorag.store.disk.salvage import salvaged
from discorag.store.disk.seal import Seal
from discorag.store.edge import FORMAT, PARTS, EdgeStore
from discorag.store.identity import FILE, Identity
from discorag.types.errors import MissingPathError, StoreDamagedError, StoreError, StoreFormatError

FIRST_FORMAT = 1


def mended(path: Path, *, dimension: int, encoder_version: str, min_free_mb: float = 0) -> tuple[EdgeStore, Mended]:
    """Open a damaged store without what cannot be told from what is there.

    Damaged files are moved into a folder beside the store's; what is left of them is copied.

    Args:
        path: The store's folder.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.
        min_free_mb: As for `EdgeStore`.

    Returns:
        The store, and the documents that are to be read again from their texts; they are not shown until then.

    Raises:
        StoreLockedError, EncoderMismatchError, StoreFormatError, StoreError: As `EdgeStore`.
    """
    identity = Identity(format=FORMAT, encoder_version=encoder_version, dimension=dimension)
    _check_there(path)
    with owned(path):
        _identify(path, identity)
        aside = next(f for n in count(1) if not (f := path.with_name(f"{path.name}.damaged-{n}")).exists())
        _files(path, aside, identity)
    store = EdgeStore(path, dimension=dimension, encoder_version=encoder_version, min_free_mb=min_free_mb, whole=False)
    done = store.mend()
    return store, done.also(f"What was damaged is kept in {aside}.") if aside.exists() else done


def migrated(path: Path, *, dimension: int, encoder_version: str, min_free_mb: float = 0) -> tuple[EdgeStore, Mended]:
    """Open a store of an earlier format as one of this one. Arguments, returns and raises as `mended`.

    Raises:
        StoreError: It has this format already.
    """
    _check_there(path)
    old = Identity(format=FIRST_FORMAT, encoder_version=encoder_version, dimension=dimension)
    with owned(path):
        try:
            old.check((path / FILE).read_text(encoding="utf-8", errors="replace"), str(path / FILE))
        except StoreFormatError as error:
            raise StoreError(f"{path} has the present format.", hint="There is nothing to migrate.") from error
        _adopt(path, old.model_copy(update={"format": FORMAT}))
        old.model_copy(update={"format": FORMAT}).write(path)
    return mended(path, dimension=dimension, encoder_version=encoder_version, min_free_mb=min_free_mb)


def _check_there(path: Path) -> None:
    if not path.is_dir():
        raise MissingPathError(f"There is no store in {path}.", hint="Check DISCO_RAG_STORE__PATH.")


def _identify(path: Path, identity: Identity) -> None:
    """Write the description again if it is damaged: that which the archive has, else the one configured."""
    try:
        identity.check((path / FILE).read_text(encoding="utf-8", errors="replace"), str(path / FILE))
        return
    except (StoreDamagedError, FileNotFoundError):
        pass
    except StoreError:
        if (known := _archived(path)) != identity.model_dump_json():  # both say so: it is no damage
            raise
    if known := _archived(path):
        identity.check(known, str(path / Archive.FILE))
    identity.write(path)


def _archived(path: Path) -> str:
    """The identity that the archive was told; empty if it cannot be read."""
    if not (path / Archive.FILE).exists():
        return ""
    try:
        with closing(Archive(path / Archive.FILE, "")) as archive:
            return archive.identity
    except StoreError:
        return ""


def _files(path: Path, aside: Path, identity: Identity) -> None:
    """Every part there and loadable; nothing of what is in them is looked at."""
    seal = Seal(path, list(PARTS))
    differences = seal.differences() if seal.is_set else []
    for name, sparse in (("docs", False), ("nodes", True)):
        if any(d.startswith(f"{name}/") for d in differences) or not _loads(path / name, identity.dimension, sparse):
            salvaged(path / name, aside, identity.dimension, sparse=sparse)
    if any(d.startswith(Archive.FILE) for d in differences) or not _is_whole(path):
        _rebuild(path, aside, identity)
    seal.break_()


def _loads(folder: Path, dimension: int, sparse: bool) -> bool:
    if not folder.exists():
        return False
    try:
        EdgePoints(folder, dimension, sparse=sparse, lock=-1).close()
    except StoreDamagedError:
        return False
    return True


def _is_whole(path: Path) -> bool:
    """Whether every row of the archive is as it was written."""
    if not (path / Archive.FILE).exists():
        return False
    try:
        with closing(Archive(path / Archive.FILE, "")) as archive:
            return all(archive.document(k.scope, k.entry.manifest.doc_id) for k in archive.kept())
    except (StoreError, ValueError):
        return False


def _rebuild(path: Path, aside: Path, identity: Identity) -> None:
    """A new archive: the rows that can be read, and for the others what the documents' points say."""
    aside.mkdir(parents=True, exist_ok=True)
    for file in path.glob(f"{Archive.FILE}*"):
        file.rename(aside / file.name)
    _adopt(path, identity)
    with ExitStack() as stack:
        new = stack.enter_context(closing(Archive(path / Archive.FILE, identity.model_dump_json())))
        try:
            old = stack.enter_context(closing(Archive(aside / Archive.FILE, "")))
            for kept, document in old.readable():
                new.put(kept.scope, kept.entry, document.model_dump_json())
        except StoreError:
            return


def _adopt(path: Path, identity: Identity) -> None:
    """An archive of the documents whose points can be read."""
    with ExitStack() as stack:
        docs = stack.enter_context(closing(EdgePoints(path / "docs", identity.dimension, sparse=False, lock=-1)))
        archive = stack.enter_context(closing(Archive(path / Archive.FILE, identity.model_dump_json())))
        for scope, entry in scoped_entries(docs):
            found = docs.retrieve([entry.manifest.doc_id], ["document"])[entry.manifest.doc_id]
            document = points.document_from(found)
            if (document.content_hash, document.id_in(scope)) == (entry.manifest.content_hash, entry.manifest.doc_id):
                archive.put(scope, entry, document.model_dump_json())
