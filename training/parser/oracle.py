"""Where the parser's points are lost: ``python -m training.parser.oracle``; prints and writes JSON.

Its trees over gold units and over its own, the gold trees as far as its own units allow them, all by level (inside
sentences, inside paragraphs, above), and how often its nodes are right by their confidence.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from discorag.discourse.parse.trained.network import PACKAGED_FOLDER, Network
from discorag.discourse.parse.trained.parser import find_edus
from discorag.discourse.parse.trained.pieces import layout_of
from training.parser.gum import GumDocument, load_gum
from training.parser.parseval import Counter, Node
from training.parser.score import gold_nodes, sure_nodes

LEVELS = ("sentence", "paragraph", "document")
_BINS = 10


class Level:
    """Inside what a node lies: a sentence, a paragraph, or the document only."""

    def __init__(self, document: GumDocument) -> None:
        self._sentences = [s.start for s in document.sentences]
        self._paragraphs = [document.sentences[i].start for i in document.paragraphs]

    def of(self, node: Node) -> str:
        """One of `LEVELS`."""
        for name, starts in zip(LEVELS, (self._sentences, self._paragraphs), strict=False):
            if bisect_right(starts, node.start) == bisect_right(starts, node.end - 1):
                return name
        return LEVELS[-1]


class Levels:
    """Full by level, and over all."""

    def __init__(self) -> None:
        self._counters = {name: Counter() for name in (*LEVELS, "all")}

    def add(self, document: GumDocument, found: Sequence[Node], gold: Sequence[Node]) -> None:
        """Count a document's nodes."""
        level = Level(document)
        for name, counter in self._counters.items():
            counter.add(
                [n for n in found if name in ("all", level.of(n))], [n for n in gold if name in ("all", level.of(n))]
            )

    def result(self) -> dict[str, dict[str, float]]:
        """Span and Full by level."""
        scores = {name: counter.result() for name, counter in self._counters.items()}
        return {name: {"span": round(s.span, 2), "full": round(s.full, 2)} for name, s in scores.items()}


def reliability(sure: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """Expected calibration error in ten bins of equal width (Guo et al. 2017), and each bin's means."""
    p, hit = np.array(sure), np.array(right, dtype=np.float64)
    bins = np.minimum((p * _BINS).astype(int), _BINS - 1)
    rows = [(int((bins == b).sum()), p[bins == b].mean(), hit[bins == b].mean()) for b in np.unique(bins)]
    error = sum(n * abs(a - b) for n, a, b in rows) / len(p)
    table = [{"nodes": n, "sure": round(float(a), 3), "right": round(float(b), 3)} for n, a, b in rows]
    return {"ece": round(float(error), 4), "bins": table}


def analyse(network: Network, documents: Sequence[GumDocument]) -> dict[str, Any]:
    """All of it for these documents."""
    counts = {name: Levels() for name in ("gold_units", "own_units", "gold_trees_on_own_units")}
    sure: list[float] = []
    right: list[bool] = []
    for document in documents:
        pieces = network.pieces(layout_of(document.text))
        tokens = network.tokens(pieces)
        gold = gold_nodes(document.edus, document.splits)
        own = find_edus(network, document.text, pieces, tokens)
        over_gold = sure_nodes(network, pieces, tokens, document.edus)
        over_own = sure_nodes(network, pieces, tokens, own)
        counts["gold_units"].add(document, [n for n, _ in over_gold], gold)
        counts["own_units"].add(document, [n for n, _ in over_own], gold)
        counts["gold_trees_on_own_units"].add(document, possible([n for n, _ in over_own], gold), gold)
        sure += [network.confidence(p) for _, p in over_own]
        right += [n in set(gold) for n, _ in over_own]
    return {name: c.result() for name, c in counts.items()} | {"confidence": reliability(sure, right)}


def possible(ours: Sequence[Node], gold: Sequence[Node]) -> list[Node]:
    """The gold nodes between borders of our units, and as many of our other nodes as make a tree."""
    starts, ends = {n.start for n in ours}, {n.end for n in ours}
    kept = [n for n in gold if n.start in starts and n.end in ends]
    taken = {(n.start, n.end) for n in kept}
    others = [n for n in ours if (n.start, n.end) not in taken]
    return kept + others[: len(ours) - len(kept)]


def main(
    gum: Annotated[Path, typer.Option(help="The corpus.")] = Path("../shared/data/gum"),
    split: Annotated[str, typer.Option(help="dev, or test for the final table.")] = "dev",
    parser: Annotated[Path, typer.Option(help="Folder of the parser.")] = PACKAGED_FOLDER,
    out: Annotated[Path | None, typer.Option(help="Result file.")] = None,
) -> None:
    """Analyse, show, write."""
    found = json.dumps(analyse(Network(parser), load_gum(gum, split)), indent=1)
    Console().print(found)
    if out:
        out.write_text(found + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
