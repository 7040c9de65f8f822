"""Parseval: what counts as found."""

import pytest

from training.parser.parseval import Counter, Node

_GOLD = [Node(0, 30, "NS", "elaboration"), Node(0, 20, "NN", "joint"), Node(20, 30, "SN", "causal")]


def _score(found: list[Node]) -> tuple[float, float, float, float]:
    counter = Counter()
    counter.add(found, _GOLD)
    r = counter.result()
    return r.span, r.nuclearity, r.relation, r.full


def test_a_tree_finds_itself():
    assert _score(_GOLD) == (100, 100, 100, 100)


def test_each_part_counts_for_itself():
    wrong_label, wrong_nuclei = Node(0, 30, "NS", "causal"), Node(0, 20, "SN", "joint")
    third = 100 / 3
    assert _score([wrong_label, wrong_nuclei, Node(10, 30, "NN", "joint")]) == pytest.approx(
        (2 * third, third, third, 0)
    )


def test_f1_takes_the_nodes_of_both_trees():
    assert _score(_GOLD[:1])[0] == pytest.approx(200 / 4)  # 1 hit among 1 + 3 nodes


def test_documents_are_summed_before_dividing():
    counter = Counter()
    counter.add(_GOLD, _GOLD)
    counter.add([Node(0, 5, "NN", "joint")], [Node(0, 6, "NN", "joint")])
    assert counter.result().span == pytest.approx(200 * 3 / 8)


def test_segmentation_counts_starts_and_is_absent_without_them():
    counter = Counter()
    assert counter.result().seg is None
    counter.add_starts([4, 9, 15], [4, 15])
    assert counter.result().seg == pytest.approx(200 * 2 / 5)
