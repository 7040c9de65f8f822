"""From scores to a tree: the most probable one for up to `EXACT` units, above that greedily from the root.

Long texts stay linear: their units are first grouped into blocks, cut where layout is strongest, and the root's cuts
are sought among the borders of blocks only.
"""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discorag.rst.trained.model import JOINT_LABELS
from discorag.rst.trained.network import Cuts, Network, Reading
from discorag.types.rst_relations import Nuclearity

EXACT = 20
_BLOCK = 96
_WIDE = 4 * _BLOCK
_NEVER = 1e4
_NUCLEAR_LEFT = torch.tensor([nuclearity is Nuclearity.NS for nuclearity, _ in JOINT_LABELS])
_NUCLEAR_RIGHT = torch.tensor([nuclearity is Nuclearity.SN for nuclearity, _ in JOINT_LABELS])

Floats = NDArray[np.float64]
_Span = tuple[int, int]


@dataclass(frozen=True)
class Decoded:
    """An inner node over units ``[start, mid)`` and ``[mid, end)``.

    ``split_p`` is the cut's probability; ``label_ps`` are those of the network's labels, shape (labels,).

    Example:
        >>> from discorag.rst.trained.decode import Decoded
        >>> node = Decoded(start=0, mid=1, end=3, split_p=0.8, label_ps=np.array([0.1, 0.9]))
        >>> int(node.label_ps.argmax())
        1
    """

    start: int
    mid: int
    end: int
    split_p: float
    label_ps: Floats


def decode(
    network: Network, reading: Reading, levels: Tensor, *, exact: int = EXACT, openers: Sequence[int] = ()
) -> list[Decoded]:
    """The splits of one text's tree in pre-order.

    Args:
        network: In evaluation mode.
        reading: Of its n units.
        levels: What starts at each unit (`Level`), shape (n,).
        exact: Up to how many units all trees are compared.
        openers: Units that only open what follows, such as headings: satellites of it, at the text's end of what stands
            before; nuclei only among each other.
    """
    decoder = _Decoder(network, reading, levels, openers)
    chosen: dict[_Span, tuple[int, float]] = {}
    work = [decoder.candidates(0, len(levels))]
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

    def __init__(self, network: Network, reading: Reading, levels: Tensor, openers: Sequence[int]) -> None:
        self._network, self._reading, self._levels = network, reading, levels
        self._sums = level_sums(levels)
        self._plain: list[int] = levels.tolist()
        self._opens = torch.zeros(len(levels), dtype=torch.bool)
        self._opens[list(openers)] = True
        self._opened = nn.functional.pad(self._opens.long().cumsum(0), (1, 0))

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
        """For each span, given by its candidate borders, the index of the best one and its probability."""
        places = [(b[0], k, b[-1]) for b in spans for k in b[1:-1]]
        scores = self._splits(torch.tensor(places).T).split([len(b) - 2 for b in spans]) if places else ()
        found: list[tuple[int, float]] = []
        for s in scores:
            p, at = s.softmax(0).max(0)
            found.append((int(at) + 1, float(p)))
        return found

    def best_tree(self, start: int, end: int) -> dict[_Span, tuple[int, float]]:
        """The tree over units ``[start, end)`` whose cuts are together the most probable (CKY)."""
        n = end - start
        if n < 2:
            return {}
        places = _all_cuts(n)
        scores = self._splits(places + start).double()
        keys = places[0] * (n + 1) + places[2]
        norm = torch.full(((n + 1) ** 2,), -torch.inf, dtype=torch.double)
        norm = norm.scatter_reduce(0, keys, scores, "amax")
        total = torch.zeros_like(norm).index_add(0, keys, (scores - norm[keys]).exp())
        table = np.full((n + 1, n + 1, n + 1), -np.inf)
        table[tuple(places.numpy()[[0, 2, 1]])] = (scores - norm[keys] - total[keys].log()).numpy()
        return _cky(table, n, start)

    def labels(self, places: Sequence[tuple[int, int, int]]) -> Floats:
        """Probabilities of the labels, shape (splits, labels)."""
        if not places:
            return np.zeros((0, 0))
        logits = self._network.label_logits(self._reading, self._cuts(torch.tensor(places).T))
        return (logits - _NEVER * self._wrong(torch.tensor(places).T)).softmax(-1).double().numpy()

    def _splits(self, places: Tensor) -> Tensor:
        i, k, _ = places
        parted = self._opens[k - 1] & (k - 1 > i)  # from what it opens
        return self._network.split_scores(self._reading, self._cuts(places)) - _NEVER * parted

    def _wrong(self, places: Tensor) -> Tensor:
        """Which labels would make openers the nucleus of something else, shape (splits, labels)."""
        i, k, j = places
        left, right = self._opened[k] - self._opened[i] == k - i, self._opened[j] - self._opened[k] == j - k
        return (left & ~right)[:, None] & ~_NUCLEAR_RIGHT | (right & ~left)[:, None] & ~_NUCLEAR_LEFT

    def _cuts(self, places: Tensor) -> Cuts:
        return cuts_of(places, self._levels, self._sums)


def level_sums(levels: Tensor) -> Tensor:
    """How many of the first k units start a sentence at least, and a paragraph, shape (2, n + 1)."""
    counts = torch.stack([(levels >= level).cumsum(0) for level in (1, 2)])
    return nn.functional.pad(counts, (1, 0))


def cuts_of(places: Tensor, levels: Tensor, sums: Tensor) -> Cuts:
    """Cuts with what the layout says about them; ``places`` has the rows i, k, j."""
    i, k, j = places
    inside = sums[:, j] > sums[:, i + 1]
    return Cuts(places, levels[k], inside.long().sum(0))


def _all_cuts(n: int) -> Tensor:
    """Rows i < k < j of every cut of every span of n units."""
    return torch.combinations(torch.arange(n + 1), 3).T


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
