"""Reading GUM: texts as people see them, trees as they are bracketed; Parseval."""

from pathlib import Path

import pytest

from discorag.schema.errors import ConfigError, InvariantError
from discorag.schema.values import Span
from tests.training.gum_corpus import DIS, corpus
from training.parser.gold import merge_units, restrict
from training.parser.gum import GumDocument, load_gum
from training.parser.parseval import Node, count_nodes, count_starts, f1


@pytest.fixture
def document(tmp_path: Path) -> GumDocument:
    [found] = load_gum(corpus(tmp_path), "dev")
    return found


def test_text_has_spaces_contractions_and_paragraphs_as_written(document: GumDocument):
    assert document.text == "Tea\n\nIf it's (really) hot, wait. It burns."
    assert [document.text[e.start : e.end] for e in document.edus] == [
        "Tea",
        "If it's (really) hot,",
        "wait.",
        "It burns.",
    ]
    assert [document.text[s.start : s.end] for s in document.sentences][1:] == [
        "If it's (really) hot, wait.",
        "It burns.",
    ]
    assert document.paragraphs == (0, 1)


def test_tree_takes_spans_from_leaves_and_labels_from_satellites(document: GumDocument):
    assert [(s.start, s.mid, s.end, s.nuclearity.value, s.label) for s in document.splits] == [
        (0, 1, 4, "SN", "organization-heading"),
        (1, 3, 4, "NS", "causal-cause"),
        (1, 2, 3, "SN", "contingency-condition"),
    ]


def test_a_tree_that_is_not_over_the_text_is_refused(tmp_path: Path):
    with pytest.raises(InvariantError, match="tokens in the tree"):
        load_gum(corpus(tmp_path, DIS.replace("wait .", "wait")), "dev")


def test_a_folder_without_the_corpus_says_what_to_do(tmp_path: Path):
    with pytest.raises(ConfigError, match="no GUM corpus"):
        load_gum(tmp_path, "dev")


def test_a_window_keeps_the_nodes_of_which_both_sides_are_left(document: GumDocument):
    assert [(s.start, s.mid, s.end, s.label) for s in restrict(document.splits, [0, 1, 3])] == [
        (0, 1, 3, "organization-heading"),
        (1, 2, 3, "causal-cause"),
    ]


def test_a_sentence_is_represented_by_its_most_nuclear_unit(document: GumDocument):
    units, tree = merge_units(document, document.sentences)
    assert units == list(document.sentences)
    assert [(s.start, s.mid, s.end, s.label) for s in tree] == [
        (0, 1, 3, "organization-heading"),
        (1, 2, 3, "causal-cause"),
    ]


_GOLD = [Node(0, 30, "NS", "elaboration"), Node(0, 20, "NN", "joint"), Node(20, 30, "SN", "causal")]


def _score(found: list[Node]) -> tuple[float, ...]:
    return tuple(f1(count_nodes(found, _GOLD)).values())


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


def test_documents_are_summed_before_dividing_and_segmentation_counts_all_starts_but_the_first():
    found, gold = ([Span(start=i, end=i + 1) for i in starts] for starts in ((0, 4, 9, 15), (1, 4, 15)))
    counts = count_nodes(_GOLD, _GOLD) + count_nodes([Node(0, 5, "NN", "joint")], [Node(0, 6, "NN", "joint")])
    scores = f1(counts + count_starts(found, gold))
    assert (scores["span"], scores["seg"]) == pytest.approx((200 * 3 / 8, 200 * 2 / 5))
