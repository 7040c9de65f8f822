"""Free texts with the trees that a larger parser gives them, for the packaged one to learn from.

The articles of lay_summaries (PLOS, eLife: CC BY and CC0), cut at paragraphs. They are not annotated: what they teach
is how the teacher reads texts of which there is no gold.

Source: distillation by hard labels of a whole structure, Kim and Rush 2016 (sequence-level knowledge distillation).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.progress import track

from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.decode import decode
from discorag.discourse.parse.trained.network import Network, sentences_of
from discorag.discourse.parse.trained.parser import find_edus
from discorag.discourse.parse.trained.pieces import layout_of
from training.parser.dis import GoldSplit
from training.parser.gum import GumDocument

_WORDS = 700
"""From which a piece of an article is long enough; GUM's documents have 900 on average."""


def load_silver(folder: Path, teacher: Network) -> list[GumDocument]:
    """Pieces of articles with the teacher's EDUs and trees.

    Args:
        folder: That holds ``test.json``.
        teacher: The parser that reads them.
    """
    texts = {
        f"PLOS_{i}_{j}": text
        for i, article in enumerate(json.loads((folder / "test.json").read_text(encoding="utf-8")))
        for j, text in enumerate(_pieces(article))
    }
    return [annotate(teacher, name, text) for name, text in track(texts.items(), "silver trees")]


def _pieces(article: dict[str, Any]) -> Iterator[str]:
    """Of its sections, each closed at the first paragraph's end after `_WORDS` words; what is shorter is left out."""
    held: list[str] = []
    for paragraph in (p for section in article["sections"] for p in section):
        held.append(" ".join(paragraph.split()))
        if sum(len(p.split()) for p in held) >= _WORDS:
            yield "\n\n".join(held)
            held = []


def annotate(network: Network, name: str, text: str) -> GumDocument:
    """The document as a parser reads it, with the likeliest of the network's own labels."""
    layout = layout_of(text)
    pieces = network.pieces(layout)
    tokens = network.tokens(pieces)
    spans = find_edus(network, text, pieces, tokens)
    units = sentences_of(pieces, spans, "edu")
    found = decode(network, network.read(tokens, units), units.levels)
    splits = tuple(GoldSplit(d.start, d.mid, d.end, *JOINT_LABELS[int(d.label_ps.argmax())]) for d in found)
    return GumDocument(name, text, tuple(spans), layout.sentences, (0, *layout.paragraphs), splits)
