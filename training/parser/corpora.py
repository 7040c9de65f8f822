"""Corpora beside GUM whose texts and trees may train weights that are shipped.

UMUC (speeches in the UN Security Council; GUM's coarse classes) and GCDT in English (Chinese documents translated unit
by unit; GUM's labels). Neither marks sentences: they are found, and every paragraph but the first is unknown.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

from discorag.text.sentences import sentence_spans
from discorag.types.errors import ConfigError
from discorag.types.span import Span
from training.parser.gum import SHARED_GENRES, Conversion, GumDocument, load_gum
from training.parser.rs3 import read_rs3

_TIGHT = re.compile(r"(?<=[(\[])\s+|\s+(?=[.,;:!?)\]%]|'s\b)|(?<=\w)\s+-\s+(?=\w)")


def load_training(folder: Path, genres: str, share: float, conversion: Conversion) -> list[GumDocument]:
    """What a tier is trained on: GUM's genres (``shared`` or ``all``); of it the same ``share`` each time."""
    only = SHARED_GENRES if genres == "shared" else None
    found = load_gum(folder / "gum", "train", genres=only, conversion=conversion)
    return random.Random(0).sample(found, round(share * len(found)))


def load_umuc(folder: Path) -> list[GumDocument]:
    """Speeches with GUM's coarse classes.

    Source: Zaczynska and Stede 2024, and the mapping of the relations that is released with the corpus.
    """
    return [_document(p, f"UMUC_{p.stem}", segmented=True) for p in _files(folder, "RST_GUM-relations")]


def load_gcdt(folder: Path) -> list[GumDocument]:
    """Chinese documents in English, without those from wikiHow (NC); their units are no guide to English ones.

    Source: Peng, Liu and Zeldes 2022; of the documents that are annotated twice, the first annotation.
    """
    files = [p for part in ("train", "dev", "test") for p in _files(folder, part)]
    return [_document(p, f"GCDT_{p.stem}", segmented=False) for p in files if "_whow_" not in p.stem]


def _files(folder: Path, part: str) -> Sequence[Path]:
    found = sorted((folder / part).glob("*.rs3"))
    if not found:
        raise ConfigError(f"There are no rs3 files in {folder / part}.", hint="Name the folder with --corpora.")
    return found


def _document(path: Path, name: str, *, segmented: bool) -> GumDocument:
    leaves, splits = read_rs3(path.read_text(encoding="utf-8"))
    text, edus = "", list[Span]()
    for leaf in leaves:
        clean = _TIGHT.sub(lambda m: "-" if "-" in m[0] else "", " ".join(leaf.split()))
        start = len(text) + bool(text)
        text = f"{text} {clean}" if text else clean
        edus.append(Span(start=start, end=len(text)))
    return GumDocument(name, text, tuple(edus), sentence_spans(text), (0,), tuple(splits), segmented=segmented)
