"""A parser against GUM: its trees over gold and own EDUs, sentences and windows, and how sure it says it is."""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from discorag.discourse.labelled import LabelledSplit
from discorag.discourse.parse.trained.decode import decode
from discorag.discourse.parse.trained.network import Floats, Network, log_odds, sentences_of
from discorag.discourse.parse.trained.parser import find_edus
from discorag.discourse.parse.trained.pieces import Pieces, layout_of
from discorag.schema.discourse import Nuclearity
from discorag.schema.values import Span
from training.parser.classes import GROUP_OF, GROUPS, class_of
from training.parser.gold import merge_units, restrict
from training.parser.gum import GumDocument
from training.parser.parseval import Node, count_nodes, count_starts, f1

CASES = ("gold", "end_to_end", "sentence", "window", "window_end_to_end")
"""Gold EDUs; own EDUs; gold sentences; the first two over windows of the encoder, which is what a chunk is."""
Counts = dict[str, Counter[str]]
"""Case -> counts of `training.parser.parseval`."""


def count_cases(network: Network, document: GumDocument) -> Counts:
    """What the parser gets right of a document."""
    pieces = network.pieces(layout_of(document.text))
    tokens = network.tokens(pieces)

    def right(spans: Sequence[Span], gold: Iterable[Node], kind: str = "edu") -> Counter[str]:
        return count_nodes((node for node, _ in sure_nodes(network, pieces, tokens, spans, kind)), gold)

    own, whole = find_edus(network, document.text, pieces, tokens), gold_nodes(document.edus, document.splits)
    sentences, tree = merge_units(document, document.sentences)
    counts = {
        "gold": right(document.edus, whole),
        "end_to_end": right(own, whole) + count_starts(own, document.edus),
        "sentence": right(sentences, gold_nodes(sentences, tree), "sentence"),
        "window": Counter[str](),
        "window_end_to_end": Counter[str](),
    }
    for edus, splits in _windows(document, pieces):
        found, gold = [e for e in own if edus[0].start <= e.start < edus[-1].end], gold_nodes(edus, splits)
        counts["window"].update(right(edus, gold))
        counts["window_end_to_end"].update(right(found, gold) + count_starts(found, edus))
    return counts


def _windows(document: GumDocument, pieces: Pieces) -> Iterator[tuple[list[Span], list[LabelledSplit]]]:
    """For each window of the encoder its EDUs and the gold tree over them."""
    for first, last in pieces.windows:
        start, end = pieces.starts[first], pieces.ends[last - 1]
        inside = [i for i, e in enumerate(document.edus) if start <= e.start and e.end <= end]
        if len(inside) > 1:
            yield [document.edus[i] for i in inside], restrict(document.splits, inside)


def sure_nodes(
    network: Network, pieces: Pieces, tokens: Floats, spans: Sequence[Span], kind: str = "edu"
) -> Iterator[tuple[Node, float]]:
    """The parser's nodes over these units, and the probability of cut and label."""
    units = sentences_of(pieces, spans, kind)
    for d in decode(network, network.read(tokens, units), units.levels):
        ps = np.bincount(GROUP_OF, d.label_ps)
        nuclearity, label = GROUPS[int(ps.argmax())]
        yield Node(spans[d.start].start, spans[d.end - 1].end, nuclearity, label), d.split_p * float(ps.max())


def gold_nodes(spans: Sequence[Span], splits: Sequence[LabelledSplit]) -> list[Node]:
    """Gold nodes by their characters."""
    return [Node(spans[s.start].start, spans[s.end - 1].end, s.nuclearity, class_of(s.label)) for s in splits]


def scores(counts: Iterable[Counts]) -> dict[str, dict[str, float]]:
    """F1 by case and measure over documents."""
    found = list(counts)
    return {case: _rounded(f1(_sum(c[case] for c in found))) for case in CASES}


def _sum(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter[str]())


def _rounded(measures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in measures.items()}


def measure(folder: Path, documents: Sequence[GumDocument]) -> dict[str, Any]:
    """A parser's scores by case and by genre, with its size and speed."""
    network = Network(folder)
    start = time.perf_counter()
    counts = {d.id: count_cases(network, d) for d in documents}
    seconds = time.perf_counter() - start
    by_genre = {
        g: scores(counts[d.id] for d in documents if d.genre == g) for g in sorted({d.genre for d in documents})
    }
    return {
        **scores(counts.values()),
        "genres": {g: {case: found[case] for case in CASES[:2]} for g, found in by_genre.items()},
        "ece": round(calibration_error(network, documents), 4),
        "words_per_s_all_cases": round(sum(len(d.text.split()) for d in documents) / seconds),
        "weights_mb": round(sum(f.stat().st_size for f in folder.glob("*.onnx")) / 1e6, 2),
    }


def right_branching(documents: Sequence[GumDocument]) -> dict[str, float]:
    """Cut at the first paragraph start, then at the first sentence start, then at the first EDU; all elaboration."""
    counts = (count_nodes(_right_branching(d), gold_nodes(d.edus, d.splits)) for d in documents)
    return _rounded(f1(_sum(counts)))


def _right_branching(document: GumDocument) -> Iterator[Node]:
    starts = [e.start for e in document.edus]
    sentences = {bisect_left(starts, s.start) for s in document.sentences}
    paragraphs = {bisect_left(starts, document.sentences[i].start) for i in document.paragraphs}
    strength = [(i in sentences) + (i in paragraphs) for i in range(len(starts))]
    work = [(0, len(starts))]
    while work:
        i, j = work.pop()
        if j - i > 1:
            k = max(range(i + 1, j), key=lambda at: (strength[at], -at))
            yield Node(starts[i], document.edus[j - 1].end, Nuclearity.NS, "elaboration")
            work += [(i, k), (k, j)]


def fit_confidence(network: Network, documents: Sequence[GumDocument]) -> tuple[float, float] | None:
    """Slope and shift (Platt 1999) that turn the probability of cut and label into how often such a node is right.

    Right is a node between the same characters as one of the gold tree, with its nuclearity and class. None where all
    or none of the parser's own nodes over these documents are right.
    """
    found = [each for document in documents for each in _probabilities(network, document)]
    x, y = np.array([[log_odds(p)] for p, _ in found]), np.array([right for _, right in found])
    if len(set(y.tolist())) < 2:
        return None
    fitted = LogisticRegression(C=1e6).fit(x, y)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def calibration_error(network: Network, documents: Sequence[GumDocument]) -> float:
    """Expected calibration error of the confidences in ten bins of equal width (Guo et al. 2017)."""
    found = [each for document in documents for each in _probabilities(network, document)]
    sure, right = np.array([network.confidence(p) for p, _ in found]), np.array([float(hit) for _, hit in found])
    bins = np.minimum((10 * sure).astype(int), 9)
    return float(np.abs(np.bincount(bins, sure - right)).sum() / len(found))


def _probabilities(network: Network, document: GumDocument) -> Iterator[tuple[float, bool]]:
    """For each node of the parser's own tree the probability of its cut and label, and whether it is right."""
    gold = set(gold_nodes(document.edus, document.splits))
    pieces = network.pieces(layout_of(document.text))
    tokens = network.tokens(pieces)
    for node, p in sure_nodes(network, pieces, tokens, find_edus(network, document.text, pieces, tokens)):
        yield p, node in gold
