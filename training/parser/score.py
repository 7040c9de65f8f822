"""A parser against GUM: gold EDUs, end to end, sentence leaves, windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.decode import EXACT, decode
from discorag.discourse.parse.trained.network import Floats, Network, sentences_of
from discorag.discourse.parse.trained.parser import find_edus
from discorag.discourse.parse.trained.pieces import Pieces, layout_of
from discorag.schema.values import Span
from training.parser.classes import class_of
from training.parser.dis import GoldSplit
from training.parser.gold import merge_units, restrict
from training.parser.gum import GumDocument
from training.parser.parseval import Counter, Node, Parseval

CASES = ("gold", "end_to_end", "sentence", "window", "window_end_to_end")
"""Gold EDUs; own EDUs; gold sentences; the same two over windows of the encoder, which is what a chunk is."""
GROUPS = sorted({(n, class_of(label)) for n, label in JOINT_LABELS})
"""Nuclearity and coarse class of a node."""
GROUPS_OF = np.array([[float((n, class_of(label)) == group) for group in GROUPS] for n, label in JOINT_LABELS])
"""Which of them each of the network's labels is, shape (labels, groups)."""


def score(
    network: Network, documents: Sequence[GumDocument], cases: Sequence[str] = CASES, exact: int = EXACT
) -> Mapping[str, Parseval]:
    """Scores by case."""
    return {case: counter.result() for case, counter in count_cases(network, documents, cases, exact).items()}


def count_cases(
    network: Network, documents: Sequence[GumDocument], cases: Sequence[str] = CASES, exact: int = EXACT
) -> Mapping[str, Counter]:
    """Counts by case."""
    counters = {case: Counter() for case in cases}
    for document in documents:
        _one(network, document, counters, exact)
    return counters


def _one(network: Network, document: GumDocument, counters: Mapping[str, Counter], exact: int) -> None:
    pieces = network.pieces(layout_of(document.text))
    tokens = network.tokens(pieces)

    def add(case: str, spans: Sequence[Span], kind: str, gold: list[Node]) -> None:
        counters[case].add(nodes_of(network, pieces, tokens, spans, kind, exact), gold)

    whole = gold_nodes(document.edus, document.splits)
    found = find_edus(network, document.text, pieces, tokens)
    if "end_to_end" in counters:
        add("end_to_end", found, "edu", whole)
        counters["end_to_end"].add_starts([e.start for e in found[1:]], [e.start for e in document.edus[1:]])
    if "gold" in counters:
        add("gold", document.edus, "edu", whole)
    if "sentence" in counters:
        units, tree = merge_units(document, document.sentences)
        add("sentence", units, "sentence", gold_nodes(units, tree))
    for inside, tree in windows(document, pieces):
        if "window" in counters:
            add("window", inside, "edu", gold_nodes(inside, tree))
        if "window_end_to_end" in counters:
            own = [e for e in found if inside[0].start <= e.start < inside[-1].end]
            add("window_end_to_end", own, "edu", gold_nodes(inside, tree))
            counters["window_end_to_end"].add_starts([e.start for e in own[1:]], [e.start for e in inside[1:]])


def windows(document: GumDocument, pieces: Pieces) -> Iterator[tuple[list[Span], list[GoldSplit]]]:
    """For each window of the encoder its EDUs and the gold tree over them."""
    for first, last in pieces.windows:
        start, end = pieces.starts[first], pieces.ends[last - 1]
        inside = [i for i, e in enumerate(document.edus) if start <= e.start and e.end <= end]
        if len(inside) > 1:
            yield [document.edus[i] for i in inside], restrict(document.splits, inside)


def nodes_of(
    network: Network, pieces: Pieces, tokens: Floats, spans: Sequence[Span], kind: str, exact: int
) -> list[Node]:
    """The parser's nodes over these units."""
    return [node for node, _ in sure_nodes(network, pieces, tokens, spans, kind, exact)]


def sure_nodes(
    network: Network, pieces: Pieces, tokens: Floats, spans: Sequence[Span], kind: str = "edu", exact: int = EXACT
) -> list[tuple[Node, float]]:
    """The parser's nodes over these units, and the probability of cut and label."""
    units = sentences_of(pieces, spans, kind)
    found: list[tuple[Node, float]] = []
    for d in decode(network, network.read(tokens, units), units.levels, exact=exact):
        ps = d.label_ps @ GROUPS_OF
        nuclearity, label = GROUPS[int(ps.argmax())]
        node = Node(spans[d.start].start, spans[d.end - 1].end, nuclearity, label)
        found.append((node, d.split_p * float(ps.max())))
    return found


def gold_nodes(spans: Sequence[Span], splits: Sequence[GoldSplit]) -> list[Node]:
    """Gold nodes by their characters."""
    return [Node(spans[s.start].start, spans[s.end - 1].end, s.nuclearity, class_of(s.label)) for s in splits]
