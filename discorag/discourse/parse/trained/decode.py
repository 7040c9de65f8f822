"""From scores to a tree of Disco-RAG's relations: the most probable one for up to `EXACT` units, above that greedily.

For long texts the time stays linear: units are first grouped into blocks, which are cut where the layout is strongest,
and the root is cut only between blocks.

The network's labels are GUM's; connectives and patterns of the text refine them. Seven relations are never labelled in
GUM: each replaces a relation that it is a special case of, where the text states it. For labels of organisation, topic,
manner and interrupted clauses the next most likely label is shown. A relation that is too unlikely is replaced by the
least specific one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discorag.discourse.parse.gum_labels import JOINT_LABELS, RELATIONS
from discorag.discourse.parse.trained.network import Cuts, Network, Reading
from discorag.discourse.parse.trained.network import Floats as Outputs
from discorag.discourse.parse.trained.pieces import Ints
from discorag.schema.discourse import Nuclearity, Relation

EXACT = 20
_BLOCK = 96
_WIDE = 4 * _BLOCK
_NEVER = 1e4
_NUCLEAR_LEFT = np.array([nuclearity is Nuclearity.NS for nuclearity, _ in JOINT_LABELS])
_NUCLEAR_RIGHT = np.array([nuclearity is Nuclearity.SN for nuclearity, _ in JOINT_LABELS])

Floats = NDArray[np.float64]
_Span = tuple[int, int]


@dataclass(frozen=True)
class Decoded:
    """An inner node over units ``[start, mid)`` and ``[mid, end)``.

    ``split_p`` is the cut's probability; ``label_ps`` are those of the network's labels, shape (labels,).
    """

    start: int
    mid: int
    end: int
    split_p: float
    label_ps: Floats


def decode(
    network: Network, reading: Reading[Outputs], levels: Ints, *, exact: int = EXACT, openers: Sequence[int] = ()
) -> list[Decoded]:
    """The splits of one text's tree in pre-order.

    Args:
        network: Scores splits and labels.
        reading: What the network read of the n units.
        levels: What starts at each unit (`Level`), shape (n,).
        exact: The most units for which all trees are compared.
        openers: Units that only introduce what follows, such as headings. They are satellites of what follows, or at
            the end of the text of what precedes them. They are nuclei only when they are joined to each other.
    """
    decoder = _Decoder(network, reading, levels, openers)
    chosen: dict[_Span, tuple[int, float]] = {}
    work: list[list[int]] = [decoder.candidates(0, len(levels))]
    while work:
        small = [b for b in work if b[-1] - b[0] <= exact]
        for b in small:
            chosen.update(decoder.best_tree(b[0], b[-1]))
        wide = [b if len(b) > 2 else decoder.candidates(b[0], b[-1]) for b in work if b[-1] - b[0] > exact]
        work = []
        for b, (at, p) in zip(wide, decoder.best_cuts(wide), strict=True):
            chosen[b[0], b[-1]] = (b[at], p)
            work += [b[: at + 1], b[at:]]
    order = sorted(chosen, key=lambda s: (s[0], -s[1]))
    places = [(i, chosen[i, j][0], j) for i, j in order]
    labels = decoder.labels(places)
    return [Decoded(i, k, j, chosen[i, j][1], p) for (i, k, j), p in zip(places, labels, strict=True)]


class _Decoder:
    """The network's scores for one text, and what is best by them."""

    def __init__(self, network: Network, reading: Reading[Outputs], levels: Ints, openers: Sequence[int]) -> None:
        self._network, self._reading, self._levels = network, reading, levels
        self._sums = level_sums(levels)
        self._plain: list[int] = levels.tolist()
        self._opens = np.zeros(len(levels), dtype=np.bool_)
        self._opens[list(openers)] = True
        self._opened = np.concatenate([[0], self._opens.cumsum()])

    def candidates(self, start: int, end: int) -> list[int]:
        """The borders between which a wide span is cut: all, or those of blocks."""
        if end - start <= _WIDE:
            return list(range(start, end + 1))
        size = max(_BLOCK, (end - start) // _WIDE)
        borders = [start]
        while end - borders[-1] > 2 * size:
            middle = borders[-1] + size
            near = range(middle - size // 2, middle + size // 2)
            borders.append(max(near, key=lambda k: (not self._opens[k - 1], self._plain[k], -abs(k - middle))))
        return [*borders, end]

    def best_cuts(self, spans: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
        """The index of the best border of each span and its probability; spans are given by their candidate borders."""
        if not spans:
            return []
        scores = self._splits(_columns([(b[0], k, b[-1]) for b in spans for k in b[1:-1]]))
        found: list[tuple[int, float]] = []
        for s in np.split(scores, np.cumsum([len(b) - 2 for b in spans])[:-1]):
            p = _softmax(s)
            found.append((int(p.argmax()) + 1, float(p.max())))
        return found

    def best_tree(self, start: int, end: int) -> dict[_Span, tuple[int, float]]:
        """The tree over units ``[start, end)`` whose cuts are together the most probable (CKY)."""
        n = end - start
        if n < 2:
            return {}
        places = _columns(list(combinations(range(n + 1), 3)))
        i, k, j = places
        table = np.full((n + 1, n + 1, n + 1), -np.inf)
        table[i, j, k] = self._splits(places + start)
        with np.errstate(invalid="ignore"):  # single units cannot be cut
            table -= np.logaddexp.reduce(table, -1, keepdims=True)
        return _cky(table, n, start)

    def labels(self, places: Sequence[tuple[int, int, int]]) -> Floats:
        """Probabilities of the labels, shape (splits, labels)."""
        if not places:
            return np.zeros((0, len(JOINT_LABELS)))
        columns = _columns(places)
        logits = self._network.label_logits(self._reading, cuts_of(columns, self._levels, self._sums))
        return _softmax(logits - _NEVER * self._wrong(columns))

    def _splits(self, places: Ints) -> Floats:
        i, k, _ = places
        parted = self._opens[k - 1] & (k - 1 > i)  # from what it opens
        scores = self._network.split_scores(self._reading, cuts_of(places, self._levels, self._sums))
        return scores.astype(np.float64) - _NEVER * parted

    def _wrong(self, places: Ints) -> NDArray[np.bool_]:
        """Which labels are ruled out, shape (splits, labels): an opener is never the nucleus of other units."""
        i, k, j = places
        left, right = self._opened[k] - self._opened[i] == k - i, self._opened[j] - self._opened[k] == j - k
        return (left & ~right)[:, None] & ~_NUCLEAR_RIGHT | (right & ~left)[:, None] & ~_NUCLEAR_LEFT


def level_sums(levels: Ints) -> Ints:
    """How many of the first k units start a sentence or a paragraph, and a paragraph; shape (2, n + 1)."""
    counts = np.stack([(levels >= level).cumsum() for level in (1, 2)])
    return np.pad(counts, ((0, 0), (1, 0)))


def cuts_of(places: Ints, levels: Ints, sums: Ints) -> Cuts[Ints]:
    """Cuts with what the layout says about them; ``places`` has the rows i, k, j."""
    i, k, j = places
    return Cuts(places, levels[k], (sums[:, j] > sums[:, i + 1]).sum(0))


def _columns(places: Sequence[tuple[int, int, int]]) -> Ints:
    return np.array(places, dtype=np.int64).T


def _softmax(scores: NDArray[np.floating]) -> Floats:
    """Probabilities along the last axis."""
    exponents = np.exp(scores.astype(np.float64) - scores.max(-1, keepdims=True))
    return exponents / exponents.sum(-1, keepdims=True)


def _cky(table: Floats, n: int, offset: int) -> dict[_Span, tuple[int, float]]:
    """The best tree by ``table[i, j, k]``, log-probabilities of cutting [i, j) at k."""
    best = np.zeros((n + 1, n + 1))
    cut = np.zeros((n + 1, n + 1), dtype=np.int64)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            scores = table[i, j, i + 1 : j] + best[i, i + 1 : j] + best[i + 1 : j, j]
            cut[i, j] = i + 1 + int(scores.argmax())
            best[i, j] = scores.max()
    found: dict[_Span, tuple[int, float]] = {}
    work = [(0, n)]
    while work:
        i, j = work.pop()
        if j - i > 1:
            k = int(cut[i, j])
            found[i + offset, j + offset] = (k + offset, float(np.exp(table[i, j, k])))
            work += [(i, k), (k, j)]
    return found


_R = Relation
_SHOWN = [(n, RELATIONS[label]) for n, label in JOINT_LABELS]
PAIRS = sorted({(n, r) for n, r in _SHOWN if r is not None})
"""Nuclearity and relation of a node, as far as GUM labels them."""
_TO_PAIR = np.array([[pair == shown for pair in PAIRS] for shown in _SHOWN], dtype=np.float64)

_SHOWN_FROM = 0.3
"""Less probable relations, except ELABORATION and JOINT, were right 18 % of the time on GUM's development part."""
_PLAIN = {
    Nuclearity.NS: PAIRS.index((Nuclearity.NS, _R.ELABORATION)),
    Nuclearity.SN: PAIRS.index((Nuclearity.SN, _R.ELABORATION)),
    Nuclearity.NN: PAIRS.index((Nuclearity.NN, _R.JOINT)),
}

_CLASSIFICATION = re.compile(
    r"\b(?:there (?:are|exist)|(?:is|are|can be) (?:divided|classified|grouped|split) (?:into|as)|falls? into)\b"
    r".*\b(?:types?|kinds?|classes|categories|groups?|forms?|varieties)\b|\b(?:types?|kinds?|classes|categories|forms?)"
    r" (?:of [\w -]+ )?(?:are|include)\b",
    re.IGNORECASE | re.DOTALL,
)
_TIME = re.compile(
    r"\W*(?:when|while|as soon as|before|after|until|since|once|whenever|meanwhile|at the same time"
    r"|in (?:1[0-9]|20)\d\d)\b",
    re.IGNORECASE,
)
_MARKED: Mapping[Relation, tuple[str, frozenset[Relation]]] = {
    _R.EXAMPLE: (
        r"for example|for instance|e\.g|as an example|by way of example|to illustrate",
        frozenset({_R.ELABORATION, _R.EVIDENCE, _R.EXPLANATION}),
    ),
    _R.COMPARISON: (
        r"similarly|likewise|in the same way|in comparison|compared (?:with|to)",
        frozenset({_R.CONTRAST, _R.JOINT, _R.ELABORATION}),
    ),
    _R.CONSEQUENCE: (r"consequently|as a consequence|in consequence", frozenset({_R.RESULT})),
    _R.INTERPRETATION: (
        r"this (?:means|suggests|implies|indicates)",
        frozenset({_R.EVALUATION, _R.ELABORATION, _R.RESULT}),
    ),
    _R.DEFINITION: (
        r"(?!(?:it|this|that|there|he|she|they|these|those|here|we|i|you|what|who|which|one)\b)"
        r"[\w'’()-]+(?: [\w'’()-]+){0,5} (?:is|are) an? ",
        frozenset({_R.ELABORATION, _R.RESTATEMENT}),
    ),
}
"""How the right-hand side opens, and which relations may turn into this one."""
_MARKERS = [
    (special, re.compile(rf"[\W_]*(?:and\b\W*)?(?:{words})\b", re.IGNORECASE), general)
    for special, (words, general) in _MARKED.items()
]


def most_likely(label_ps: Floats) -> tuple[Nuclearity, Relation, float]:
    """The most likely pair of nuclearity and relation among those that are shown, and its probability.

    Below `_SHOWN_FROM` the relation is ELABORATION, or JOINT between two nuclei, with that pair's own probability. The
    probabilities are over `JOINT_LABELS`, shape (labels,).
    """
    ps = label_ps @ _TO_PAIR
    ps /= ps.sum()
    best = int(ps.argmax())
    if ps[best] < _SHOWN_FROM:
        best = _PLAIN[PAIRS[best][0]]
    nuclearity, relation = PAIRS[best]
    assert relation is not None
    return nuclearity, relation, float(ps[best])


def refine_relation(relation: Relation, nuclearity: Nuclearity, left: str, right: str) -> Relation:
    """The special case of the relation that the texts of the two sides state; else the relation itself."""
    satellite = left if nuclearity is Nuclearity.SN else right
    for special, opening, general in _MARKERS:
        # what opens as an example, a definition or an interpretation must be a satellite on the right
        is_fitting = special is _R.COMPARISON or nuclearity is Nuclearity.NS
        if relation in general and is_fitting and opening.match(right):
            return special
    if relation is _R.CIRCUMSTANCE and _TIME.match(satellite):
        return _R.TEMPORAL
    if relation is _R.ELABORATION and _CLASSIFICATION.search(satellite):
        return _R.CLASSIFICATION
    return relation
