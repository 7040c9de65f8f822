"""What a parser's weights were made of: every document with its licence and hash, seed, hours, scores on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from training.parser.gum import GumDocument

_GENRES: Mapping[str, str] = {
    "academic": "CC BY 4.0",
    "court": "CC BY 4.0",
    "interview": "CC BY 2.5",
    "news": "CC BY 2.5",
    "bio": "CC BY-SA 3.0",
    "voyage": "CC BY-SA 3.0",
}
"""Of GUM's texts by genre (its LICENSE.txt; annotations CC BY 4.0)."""
ARTICLES = "CC BY or CC0"
"""Of the articles of `training.parser.silver`."""
RECORD = "record.json"
"""Next to the graphs."""


class Source(BaseModel):
    """A document that was trained on; ``sha256`` is that of its text and tree as they were read."""

    id: str
    licence: str
    sha256: str


class Record(BaseModel):
    """How a parser's weights came about.

    ``scores`` on the development part are those of the epochs that were measured, ``epoch`` is the one that was kept.
    """

    parser: str
    seed: int
    hours: float
    epoch: int
    scores: list[dict[str, float]]
    graphs_sha256: dict[str, str]
    graphs_mb: float
    documents: list[Source]

    @property
    def free(self) -> bool:
        """Whether weights that were trained on these documents may be shipped."""
        return all(source.licence != "not free" for source in self.documents)

    def card(self) -> str:
        """Lines of the model card's table, in Markdown."""
        best = next(s for s in self.scores if s["epoch"] == self.epoch)
        cells = [self.parser, len(self.documents), self.seed, f"{self.hours:.1f}", self.epoch, self.graphs_mb]
        cells += [f"{best[name]:.1f}" for name in ("gold", "end_to_end", "seg", "sentence")]
        return "| " + " | ".join(map(str, cells)) + " |"


def sources(documents: Sequence[GumDocument]) -> list[Source]:
    """The documents by name, with their licences."""
    found = (Source(id=d.id, licence=licence_of(d), sha256=_hash_of(d)) for d in documents)
    return sorted(found, key=lambda s: s.id)


def licence_of(document: GumDocument) -> str:
    """Of a document's text, or ``not free``."""
    return _GENRES.get(document.genre, "not free") if document.id.startswith("GUM_") else ARTICLES


def _hash_of(document: GumDocument) -> str:
    tree = "".join(f"\n{s.start} {s.mid} {s.end} {s.nuclearity.value} {s.label}" for s in document.splits)
    return hashlib.sha256((document.text + tree).encode()).hexdigest()
