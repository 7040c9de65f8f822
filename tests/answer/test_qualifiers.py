"""A claim is never selected without the sentence that says who makes it or when it holds."""

import numpy as np
import pytest

from discorag.answer.qualifiers import qualifiers
from discorag.answer.relevance import Relevance
from discorag.answer.selection import select_sentences
from discorag.claims.units import Unit, UnitTable
from discorag.text.sentences import sentence_spans
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.rst_relations import Nuclearity, Relation
from discorag.types.rst_tree import RstTree, Split
from tests.answer.test_selection import CALIBRATION

_TEXT = "The pill prevents flu. This holds only in winter. The moon is round."


def _chunk(relation: Relation, nuclearity: Nuclearity = Nuclearity.NS) -> Chunk:
    spans = sentence_spans(_TEXT)
    splits = (
        Split(start=0, mid=2, end=3, relation=Relation.JOINT, nuclearity=Nuclearity.NN),
        Split(start=0, mid=1, end=2, relation=relation, nuclearity=nuclearity),
    )
    whole = {"start": 0, "end": len(_TEXT)}
    return Chunk.model_validate(
        {"id": "c", "doc_id": "d", "order": 0, "span": whole, "text": _TEXT, "sentences": spans}
        | {"tree": RstTree(edus=spans, splits=splits)}
    )


def _table(chunk: Chunk) -> UnitTable:
    units = tuple(Unit(1, i, s, chunk.slice(s), 0) for i, s in enumerate(chunk.sentences, start=1))
    return UnitTable(units, np.eye(3, dtype=np.float32))


@pytest.mark.parametrize("relation", [Relation.CONDITION, Relation.ATTRIBUTION, Relation.CONCESSION])
def test_what_changes_the_meaning_of_a_sentence_goes_with_it(relation: Relation):
    chunk = _chunk(relation)
    assert qualifiers((chunk,), _table(chunk)) == {0: (1,)}


def test_the_nucleus_does_not_pull_in_what_only_adds():
    chunk = _chunk(Relation.ELABORATION)
    assert qualifiers((chunk,), _table(chunk)) == {}


def test_the_satellite_may_stand_before_its_nucleus():
    chunk = _chunk(Relation.CONDITION, Nuclearity.SN)
    assert qualifiers((chunk,), _table(chunk)) == {1: (0,)}


def test_a_selected_claim_brings_its_condition():
    relevance = Relevance(np.array([9.0, -9.0, -9.0]), "r@1")
    for relation, wanted in ((Relation.CONDITION, (0, 1)), (Relation.ELABORATION, (0,))):
        chunk = _chunk(relation)
        selection = select_sentences(Case(query="?", chunks=(chunk,)), _table(chunk), relevance, CALIBRATION)
        assert selection.indices == wanted
