"""The benchmark's encoders, with vectors remembered on disk: a run that was stopped goes on where it was."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from discorag.models.encoder import PackagedEncoder
from discorag.models.protocol import Encoder
from discorag.models.sentence_encoder import SentenceEncoder
from discorag.settings import EncoderSettings
from discorag.text.tokens import TokenCounter
from discorag.types.ids import digest
from discorag.types.vectors import Vectors

VECTORS = Path(".disco-rag/bench/vectors")
BLOCK = 1024
"""Texts that are encoded, and then written down, at a time."""
_ASKED = 500  # keys in one SQL query


class CachedEncoder:
    """An `Encoder` whose vectors are kept on disk by version and text; a context manager.

    Document texts that are longer than the encoder's window are cut at it: an inner node's text may be, and its vector
    is then that of its beginning. Vectors of queries are not kept.

    Args:
        encoder: Makes what is not there yet.
        folder: One SQLite file for each version of an encoder lies here. Processes may share it.
        console: Where progress is drawn when more than one block of texts is missing; None draws none.
    """

    def __init__(self, encoder: Encoder, folder: Path = VECTORS, console: Console | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._encoder, self._console = encoder, console
        self._file = sqlite3.connect(folder / f"{digest(encoder.version)[:16]}.sqlite", timeout=60)
        with self._file:
            self._file.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB NOT NULL)")

    @property
    def version(self) -> str:
        """The encoder's."""
        return self._encoder.version

    @property
    def tokens(self) -> TokenCounter:
        """The encoder's."""
        return self._encoder.tokens

    @property
    def dimension(self) -> int:
        """The encoder's."""
        return self._encoder.dimension

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d), float32; what is missing is encoded and kept block by block."""
        keys = [digest(text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        known = self._read(list(by_key))
        await self._add({key: text for key, text in by_key.items() if key not in known}, known)
        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, key in enumerate(keys):
            found[row] = known[key]
        return found

    async def encode_query(self, text: str) -> Vectors:
        """Unit vector of a query, shape (d,)."""
        return await self._encoder.encode_query(text)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, keys: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        for start in range(0, len(keys), _ASKED):
            some = keys[start : start + _ASKED]
            marks = ",".join("?" * len(some))
            rows: Iterable[tuple[str, bytes]] = self._file.execute(
                f"SELECT text, vector FROM vectors WHERE text IN ({marks})", some
            )
            found |= {key: np.frombuffer(vector, dtype=np.float32) for key, vector in rows}
        return found

    async def _add(self, missing: Mapping[str, str], known: dict[str, Vectors]) -> None:
        """Encode what is missing, keep it, and put it among what is known."""
        keys = list(missing)
        with self._progress(len(keys)) as progress:
            task = progress.add_task(self.version, total=len(keys))
            for start in range(0, len(keys), BLOCK):
                block = keys[start : start + BLOCK]
                vectors = await self._encoder.encode_documents(self._cut([missing[key] for key in block]))
                self._write(block, vectors)
                known.update(zip(block, vectors, strict=True))
                progress.advance(task, len(block))

    def _progress(self, missing: int) -> Progress:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        return Progress(*columns, console=self._console, disable=self._console is None or missing <= BLOCK)

    def _cut(self, texts: Sequence[str]) -> list[str]:
        tokens = self._encoder.tokens
        fit = tokens.max_tokens - tokens.special_tokens
        offsets = tokens.token_offsets(texts)
        return [t if len(found) <= fit else t[: found[fit - 1][1]] for t, found in zip(texts, offsets, strict=True)]

    def _write(self, keys: Sequence[str], vectors: Vectors) -> None:
        rows = ((key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True))
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def open_encoder(name: str, folder: Path = VECTORS, console: Console | None = None) -> CachedEncoder:
    """One of the benchmark's encoders: ``minilm``, or a model of sentence-transformers by its folder or hub name.

    Raises:
        ConfigError: The model is not on this machine.
    """
    encoder = PackagedEncoder() if name == "minilm" else SentenceEncoder.open(EncoderSettings(model=name))
    return CachedEncoder(encoder, folder, console)
