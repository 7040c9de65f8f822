"""What a store was made with, written beside the data and compared on opening."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from discorag.store.disk.lock import LOCK_FILE, OWNER_FILE, SOCKET_FILE
from discorag.types.errors import EncoderMismatchError, StoreDamagedError, StoreError, StoreFormatError

FILE = "store.json"


class Identity(BaseModel):
    """Format of the store, the encoder that made its vectors, and their length.

    Example:
        >>> from discorag.store.identity import Identity
        >>> mine = Identity(encoder_version="minilm", dimension=384)
        >>> mine.claim(tmp_path)
        >>> [path.name for path in tmp_path.iterdir()]
        ['store.json']
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = 1
    encoder_version: str
    dimension: int

    def check(self, found: str, place: str) -> None:
        """Compare with the JSON found at ``place``.

        Raises:
            StoreDamagedError: It cannot be read.
            StoreFormatError: It is of another format.
            EncoderMismatchError: It names another encoder or dimension.
        """
        try:
            other = Identity.model_validate_json(found)
        except ValidationError as error:
            raise StoreDamagedError(
                f"{place} cannot be read.",
                hint="disco-rag repair makes it again.",
                differences=(f"{place} is damaged",),
            ) from error
        if other.format != self.format:
            older = other.format < self.format
            raise StoreFormatError(
                f"{place} has format {other.format}, this version writes {self.format}.",
                hint="Run disco-rag migrate." if older else "Use the version that wrote it, or a newer one.",
            )
        if other != self:
            raise EncoderMismatchError(
                f"{place} was filled by encoder {other.encoder_version!r} ({other.dimension} numbers per vector); "
                f"the one configured is {self.encoder_version!r} ({self.dimension}).",
                hint="Switch the encoder back, or ingest again into a new place (DISCO_RAG_STORE__PATH, or "
                "DISCO_RAG_STORE__PREFIX on a server).",
            )

    def claim(self, folder: Path) -> None:
        """Write this into an empty folder, or compare it with what is there.

        Raises:
            StoreError: As `check`; or the folder holds files, but no store.
        """
        file = folder / FILE
        if file.exists():
            self.check(file.read_bytes().decode("utf-8", "replace"), str(file))
            return
        foreign = sorted(p.name for p in folder.iterdir() if p.name not in (LOCK_FILE, OWNER_FILE, SOCKET_FILE, _DRAFT))
        if foreign:
            raise StoreError(
                f"{folder} holds {foreign[0]!r} but no {FILE}: it is no store, or a damaged one.",
                hint="Choose an empty folder (DISCO_RAG_STORE__PATH) and ingest again.",
            )
        self.write(folder)

    def write(self, folder: Path) -> None:
        """Write this in the place of what is there."""
        draft = folder / _DRAFT
        draft.write_text(self.model_dump_json(), encoding="utf-8")
        draft.replace(folder / FILE)


_DRAFT = f"{FILE}.new"
