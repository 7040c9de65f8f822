"""Trees of chunks against GUM's: what is counted as right."""

from bench.trees import WrittenTree, count_tree, gain
from discorag.discourse.labelled import LabelledSplit
from discorag.schema.discourse import Nuclearity, Relation, Split
from discorag.schema.values import Span
from training.parser.gum import GumDocument
from training.parser.parseval import f1

TEXT = "Nobody came. The river froze because it was cold."
EDUS = (Span(start=0, end=12), Span(start=13, end=28), Span(start=29, end=49))
SPLITS = (
    LabelledSplit(0, 1, 3, Nuclearity.NN, "joint-list"),
    LabelledSplit(1, 2, 3, Nuclearity.NS, "causal-cause"),
)
DOCUMENT = GumDocument("GUM_news_river", TEXT, EDUS, (EDUS[0], Span(start=13, end=49)), (0,), SPLITS)


def tree(relation: Relation, nuclearity: Nuclearity, cut: int = 15) -> WrittenTree:
    edus = [Span(start=0, end=cut), Span(start=cut + 1, end=36)]
    return WrittenTree(edus=edus, splits=[Split(start=0, mid=1, end=2, relation=relation, nuclearity=nuclearity)])


def test_a_chunks_tree_is_compared_with_the_gold_nodes_inside_the_chunk() -> None:
    written = tree(Relation.CONSEQUENCE, Nuclearity.NS)
    found = f1(count_tree(written.in_document(13), DOCUMENT, 13, 49))
    assert found == {"span": 100, "nuclearity": 100, "relation": 100, "full": 100, "seg": 100}


def test_borders_nuclei_and_classes_are_counted_apart() -> None:
    other = tree(Relation.CAUSE, Nuclearity.SN, cut=9)
    found = f1(count_tree(other.in_document(13), DOCUMENT, 13, 49))
    assert found == {"span": 100, "nuclearity": 0, "relation": 100, "full": 0, "seg": 0}


def test_a_gain_is_the_difference_of_f1_over_all_documents_with_its_interval() -> None:
    right = count_tree(tree(Relation.CAUSE, Nuclearity.NS).in_document(13), DOCUMENT, 13, 49)
    wrong = count_tree(tree(Relation.CAUSE, Nuclearity.SN).in_document(13), DOCUMENT, 13, 49)
    found = gain({"a": right, "b": right}, {"a": right, "b": wrong})
    assert found["nuclearity"] == [50, 0, 100]
    assert found["span"] == [0, 0, 0]
