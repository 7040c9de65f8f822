"""Decoding: every text gets one tree, the most probable one where all are compared, and long texts stay linear."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false
from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from discorag.rst.trained.decode import Decoded, cuts_of, decode, level_sums
from discorag.rst.trained.model import JOINT_LABELS
from discorag.rst.trained.network import Network, Reading, Sizes, Units

_SIZES = Sizes(token=8, unit=8, lstm=4, split=8)
_LEVELS = st.lists(st.integers(0, 2), min_size=1, max_size=60)


def _network() -> Network:
    torch.manual_seed(3)
    return Network(width=6, labels=len(JOINT_LABELS), sizes=_SIZES).eval()


_NETWORK = _network()


def _decoded(levels: list[int], exact: int, openers: Sequence[int] = ()) -> list[Decoded]:
    with torch.inference_mode():
        return decode(_NETWORK, _reading(len(levels)), torch.tensor(levels), exact=exact, openers=openers)


def _reading(n: int) -> Reading:
    chance = torch.Generator().manual_seed(n)
    borders, sums = (torch.randn(n + 1, 2 * _SIZES.lstm, generator=chance) for _ in range(2))
    return Reading(borders, sums, torch.randn(n, _SIZES.unit, generator=chance))


@given(_LEVELS, st.sampled_from([2, 5, 100]))
def test_splits_are_one_binary_tree_in_preorder(levels: list[int], exact: int):
    found = _decoded(levels, exact)
    assert [(s.start, s.end) for s in found] == _preorder(found, len(levels))
    assert all(0 < s.split_p <= 1 + 1e-6 and s.label_ps.sum() == pytest.approx(1) for s in found)


@given(_LEVELS, st.sets(st.integers(0, 59)), st.sampled_from([2, 100]))
def test_what_opens_something_is_cut_off_first_and_is_its_satellite(levels: list[int], some: set[int], exact: int):
    openers = {i for i in some if i < len(levels)}
    for s in _decoded(levels, exact, sorted(openers)):
        assert s.mid - 1 not in openers or s.mid - 1 == s.start
        silent = [openers.issuperset(side) for side in (range(s.start, s.mid), range(s.mid, s.end))]
        nuclearity = JOINT_LABELS[int(s.label_ps.argmax())][0].value
        assert all(silent) or not any(role == "N" for role, quiet in zip(nuclearity, silent, strict=True) if quiet)


def test_a_long_list_of_headings_is_parsed():
    assert len(_decoded([2] * 1000, 40, range(1000))) == 999


def _preorder(splits: list[Decoded], n: int) -> list[tuple[int, int]]:
    mid = {(s.start, s.end): s.mid for s in splits}
    order: list[tuple[int, int]] = []
    work = [(0, n)]
    while work:
        i, j = work.pop()
        if j - i > 1:
            order.append((i, j))
            work += [(mid[i, j], j), (i, mid[i, j])]
    return order


def _trees(i: int, j: int) -> list[list[tuple[int, int, int]]]:
    if j - i < 2:
        return [[]]
    return [[(i, k, j), *a, *b] for k in range(i + 1, j) for a in _trees(i, k) for b in _trees(k, j)]


@pytest.mark.parametrize("levels", [[2, 0, 1, 0, 0, 1], [2, 1, 2, 0, 1], [2, 0]])
def test_small_texts_get_the_most_probable_of_all_trees(levels: list[int]):
    n = len(levels)
    best = max(_trees(0, n), key=lambda t: sum(_log_p(levels, *cut) for cut in t))
    assert {(s.start, s.mid, s.end) for s in _decoded(levels, exact=40)} == set(best)


def _log_p(levels: list[int], i: int, k: int, j: int) -> float:
    at = torch.tensor(levels)
    places = torch.tensor([(i, m, j) for m in range(i + 1, j)]).T
    with torch.inference_mode():
        scores = _NETWORK.split_scores(_reading(len(levels)), cuts_of(places, at, level_sums(at)))
    return float(scores.log_softmax(0)[k - i - 1])


def test_a_long_text_is_cut_at_few_places_first():
    n = 3000
    levels = [2 if i % 50 == 0 else 0 for i in range(n)]
    found = _decoded(levels, exact=10)
    assert len(found) == n - 1
    top = [s for s in found if s.end - s.start > 300]
    assert all(levels[s.mid] == 2 for s in top), "wide spans are cut where paragraphs start"


def test_what_layout_says_about_a_cut():
    levels = torch.tensor([2, 0, 1, 0, 2, 0])
    places = torch.tensor([(0, 1, 2), (0, 2, 4), (2, 4, 6), (4, 5, 6)]).T
    cuts = cuts_of(places, levels, level_sums(levels))
    assert cuts.here.tolist() == [0, 1, 2, 0]
    assert cuts.most.tolist() == [0, 1, 2, 0]


def test_texts_read_together_are_read_as_if_alone():
    tokens = torch.randn(20, _SIZES.token)
    views = [_units([(0, 4), (4, 9), (9, 20)]), _units([(2, 7), (7, 8)])]
    with torch.inference_mode():
        together = _NETWORK.read_units(tokens, views)
        alone = [_NETWORK.read_units(tokens, [v])[0] for v in views]
    assert [len(r.borders) for r in together] == [4, 3]
    for a, b in zip(together, alone, strict=True):
        for part in ("borders", "sums", "units"):
            assert torch.allclose(getattr(a, part), getattr(b, part), atol=1e-5), part


def _units(ranges: list[tuple[int, int]]) -> Units:
    assert all(a < b for a, b in ranges)
    assert all(x[1] <= y[0] for x, y in pairwise(ranges))
    first, last = torch.tensor(ranges).T
    return Units(first, last, torch.zeros(len(ranges), dtype=torch.long), kind=0)
