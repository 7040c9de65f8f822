"""What the product says of two sentences of different sources, by the function that ``ask`` uses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discorag.conflicts.detection import opposed
from discorag.conflicts.statement import Compared, Statement
from discorag.ingest.segment.sentence_table import within_window
from discorag.models.encoder import PackagedEncoder
from discorag.schema.discourse import ChunkRelation

_SCORES: dict[ChunkRelation | None, float] = {ChunkRelation.CONTRADICTS: 1.0, ChunkRelation.CONTRASTS_WITH: 0.5}


@dataclass(frozen=True)
class Said:
    """How sure a contradiction is, what is reported above all else; and what is reported, None: nothing."""

    score: float
    reported: ChunkRelation | None


class Judge:
    """Judges pairs of sentences; each sentence is encoded once."""

    def __init__(self) -> None:
        self._encoder = PackagedEncoder()
        self._vectors: dict[str, Any] = {}

    def read(self, texts: Sequence[str]) -> None:
        """Encode what is not known yet."""
        if new := list(dict.fromkeys(t for t in texts if t not in self._vectors)):
            vectors = asyncio.run(self._encoder.encode_documents(within_window(new, self._encoder)))
            self._vectors.update(zip(new, vectors, strict=True))

    def say(self, pairs: Sequence[tuple[str, str]]) -> list[Said]:
        """What is said of each pair."""
        self.read([text for pair in pairs for text in pair])
        return [
            Said(_SCORES.get(o.relation, 0.0) + (o.confidence or 0.0), o.relation)
            for o in opposed([self._compared(a, b) for a, b in pairs])
        ]

    def _compared(self, a: str, b: str) -> Compared:
        return Compared(Statement(a), Statement(b), float(np.dot(self._vectors[a], self._vectors[b])))
