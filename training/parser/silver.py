"""Free texts with the trees that the accurate tier gives them, for the fast tier to learn from.

The articles of lay_summaries (PLOS, eLife: CC BY and CC0), cut at paragraphs. Nobody annotated them: what they teach is
how the accurate tier reads texts of which there is no gold.

Source: distillation by hard labels of a whole structure, Kim and Rush 2016 (sequence-level knowledge distillation).
"""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from rich.progress import track

from discorag.rst.trained.decode import decode
from discorag.rst.trained.model import JOINT_LABELS, Model, units_of
from discorag.rst.trained.parser import WEIGHTS
from discorag.rst.trained.run import edus, layout_of
from discorag.rst.trained.tiers import TIERS, load
from training.parser.gum import GoldSplit, GumDocument

_WORDS = 700
"""From which a piece of an article is long enough; GUM's documents have 900 on average."""


def load_silver(folder: Path) -> list[GumDocument]:
    """Pieces of articles with the accurate tier's EDUs and trees; the weights are those in the package.

    Args:
        folder: That holds ``test.json``.
    """
    model = load(TIERS["accurate"], WEIGHTS / "accurate.safetensors")
    texts = {
        f"PLOS_{i}_{j}": text
        for i, article in enumerate(json.loads((folder / "test.json").read_text(encoding="utf-8")))
        for j, text in enumerate(_pieces(article))
    }
    return [told(model, name, text) for name, text in track(texts.items(), "silver trees")]


def _pieces(article: dict[str, Any]) -> Iterator[str]:
    """Of its sections, each closed at the first paragraph's end after `_WORDS` words; what is shorter is left out."""
    held: list[str] = []
    for paragraph in (p for section in article["sections"] for p in section):
        held.append(" ".join(paragraph.split()))
        if sum(len(p.split()) for p in held) >= _WORDS:
            yield "\n\n".join(held)
            held = []


def told(model: Model, name: str, text: str) -> GumDocument:
    """The document as a model reads it, with the likeliest of its own labels."""
    layout = layout_of(text)
    with torch.inference_mode():
        pieces = model.pieces(layout)
        tokens = model.tokens(pieces)
        spans = edus(model, text, pieces, tokens)
        units = units_of(pieces, spans, "edu")
        [reading] = model.network.read_units(tokens, [units])
        found = decode(model.network, reading, units.levels)
    splits = tuple(GoldSplit(d.start, d.mid, d.end, *JOINT_LABELS[int(d.label_ps.argmax())]) for d in found)
    return GumDocument(name, text, tuple(spans), layout.sentences, (0, *layout.paragraphs), splits)
