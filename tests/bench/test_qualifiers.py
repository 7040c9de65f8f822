"""Pairs of sentences of which one qualifies the other, by cue words and by trees."""

import random

import pytest

from bench.qualifiers import cue_pairs, gold_tree, random_tree, tree_pairs
from discorag.answer.compression import PROTECTED
from discorag.text.sentences import sentence_spans
from discorag.types.chunk import Chunk
from discorag.types.rst_relations import Nuclearity, Relation
from discorag.types.rst_tree import RstTree, Split
from training.parser.gum import GoldSplit, GumDocument

_TEXT = "The pill prevents flu. This holds only in winter. The moon is round."
_NS, _SN, _NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN


def _chunk() -> Chunk:
    whole = {"start": 0, "end": len(_TEXT)}
    return Chunk.model_validate(
        {"id": "c", "doc_id": "d", "order": 0, "span": whole, "text": _TEXT, "sentences": sentence_spans(_TEXT)}
    )


@pytest.mark.parametrize(
    ("relation", "nuclearity", "found"),
    [
        (Relation.CONDITION, _NS, {(0, 1)}),
        (Relation.ATTRIBUTION, _SN, {(1, 0)}),
        (Relation.CONCESSION, _NN, set[tuple[int, int]]()),
        (Relation.ELABORATION, _NS, set[tuple[int, int]]()),
    ],
)
def test_a_satellite_qualifies_by_its_relation(
    relation: Relation, nuclearity: Nuclearity, found: set[tuple[int, int]]
) -> None:
    splits = (
        Split(start=0, mid=2, end=3, relation=Relation.JOINT, nuclearity=_NN),
        Split(start=0, mid=1, end=2, relation=relation, nuclearity=nuclearity),
    )
    assert tree_pairs(_chunk(), RstTree(edus=_chunk().sentences, splits=splits), PROTECTED) == found


def test_gold_pairs_are_those_of_the_annotated_tree() -> None:
    chunk = _chunk()
    splits = (GoldSplit(0, 2, 3, _NN, "joint-other"), GoldSplit(0, 1, 2, _NS, "contingency-condition"))
    tree = gold_tree(GumDocument("GUM_news_flu", _TEXT, chunk.sentences, chunk.sentences, (0,), splits), chunk)
    assert tree
    assert tree_pairs(chunk, tree, PROTECTED) == {(0, 1)}


def test_cue_words_point_at_a_neighbour() -> None:
    assert cue_pairs(["It works.", "However, it is slow."]) == {(0, 1)}
    assert cue_pairs(["It works.", "But it is slow."]) == {(1, 0)}
    assert cue_pairs(["The owner said:", "It works."]) == {(1, 0)}
    assert cue_pairs(["However, it works.", "If it rains, it does not."]) == set()


def test_a_random_tree_is_one_over_all_sentences() -> None:
    tree = random_tree(_chunk().sentences, [(Relation.CONDITION, _NS)], random.Random(0))
    assert tree.edus == _chunk().sentences
    assert len(tree_pairs(_chunk(), tree, PROTECTED)) == 2
