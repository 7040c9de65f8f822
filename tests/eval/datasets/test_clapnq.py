from eval.datasets.clapnq import load_clapnq
from tests.eval.helpers import FIXTURES

TINY = load_clapnq(FIXTURES / "clapnq")


def test_passages_are_documents_of_their_own_and_a_question_is_answerable_where_an_annotator_answered_it() -> None:
    assert {s.id: s.answerable for s in TINY.samples} == {"clapnq--11": True, "clapnq-12": False}
    assert [len(s.references) for s in TINY.samples] == [2, 0]
    assert [d.title for d in TINY.documents.values()] == ["Lanse Harbour"] * 2


def test_evidence_is_every_sentence_that_an_annotator_selected_where_it_stands() -> None:
    sample = TINY.samples[0]
    text = TINY.documents[sample.documents[0]].text
    assert [place.span.of(text) for piece in sample.gold for place in piece.anywhere] == [
        "It freezes late because a warm stream flows past it.",
        "Lanse Harbour lies in the north.",
    ]
    assert TINY.dropped == {"selected sentences that are not in the passage": 1}
