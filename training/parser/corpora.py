"""What the parser is trained on, and corpora beside GUM whose texts and trees may train weights that are shipped.

UMUC (speeches in the UN Security Council; GUM's coarse classes) and GCDT in English (Chinese documents translated unit
by unit; GUM's labels). Neither marks sentences: they are found, and every paragraph but the first is unknown.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from discorag.discourse.formats.rs3 import raw_rs3
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from training.parser.gum import SHARED_GENRES, Conversion, GumDocument, gold_splits, load_gum

_TIGHT = re.compile(r"(?<=[(\[])\s+|\s+(?=[.,;:!?)\]%]|'s\b)|(?<=\w)\s+-\s+(?=\w)")


def load_training(folder: Path, names: str, share: float, conversion: Conversion) -> list[GumDocument]:
    """What a tier is trained on: the same ``share`` each time of the corpora of these names.

    Raises:
        ConfigError: There is no corpus of a name.
    """
    readers = _readers(folder, conversion)
    if unknown := set(names.split(",")) - set(readers):
        raise ConfigError(f"There is no corpus {', '.join(sorted(unknown))}.", hint=f"Known are {', '.join(readers)}.")
    found = [d for name in names.split(",") for d in readers[name]()]
    return random.Random(0).sample(found, round(share * len(found)))


def _readers(folder: Path, conversion: Conversion) -> Mapping[str, Callable[[], Sequence[GumDocument]]]:
    gum = partial(load_gum, folder / "gum", "train", conversion=conversion)
    return {
        "gum": partial(gum, genres=SHARED_GENRES),
        "gum-all": gum,
        "umuc": partial(load_umuc, folder / "rst" / "umuc"),
        "gcdt": partial(load_gcdt, folder / "rst" / "gcdt-en"),
    }


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
        raise ConfigError(f"There are no rs3 files in {folder / part}.", hint="Name the folder above rst/ with --data.")
    return found


def _document(path: Path, name: str, *, segmented: bool) -> GumDocument:
    leaves, cuts = raw_rs3(path.read_text(encoding="utf-8"))
    text, edus = "", list[Span]()
    for leaf in leaves:
        clean = _TIGHT.sub(lambda m: "-" if "-" in m[0] else "", " ".join(leaf.split()))
        start = len(text) + bool(text)
        text = f"{text} {clean}" if text else clean
        edus.append(Span(start=start, end=len(text)))
    return GumDocument(name, text, tuple(edus), sentence_spans(text), (0,), gold_splits(cuts), segmented=segmented)
