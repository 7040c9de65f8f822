"""Cases, and the two halves of a dataset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bench.retrieval.questions import HALVES, Question, as_document, cases, halves
from discorag.types.errors import InvariantError
from discorag.types.span import Span
from eval.sample import DocSpan
from tests.bench.retrieval.helpers import case, document, gold, place


def test_evidence_outside_its_document_is_refused() -> None:
    with pytest.raises(ValidationError, match="is in no document"):
        case([document("short")], [gold(DocSpan(doc="d", span=Span(start=0, end=6)))])
    with pytest.raises(ValidationError, match="is in no document"):
        case([document("short")], [gold(place("short", "short", "e"))], found_in="d")


def test_a_gold_document_that_is_not_given_is_refused() -> None:
    with pytest.raises(ValidationError, match="gold document e is not given"):
        case([document("text")], [], found_in="e")


def test_a_document_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ValidationError, match="appears twice"):
        case([document("text"), document("more")], [], found_in="d")


def test_builders_see_headings_where_there_are_some() -> None:
    plain, marked = as_document(document("Text.")), as_document(document("# Title\n\nText.", "e"))
    assert (plain.uri, plain.text, plain.media_type) == ("d", "Text.", "text/plain")
    assert (marked.uri, marked.media_type) == ("e", "text/markdown")


def question(number: int, *texts: str) -> Question:
    documents = tuple(document(text, f"doc {text}") for text in texts)
    return Question(id=str(number), question="Why?", documents=documents, gold_documents=frozenset({documents[0].id}))


def test_one_id_for_two_texts_is_refused() -> None:
    questions = [
        Question(id=text, question="Why?", documents=(document(text),), gold_documents=frozenset("d"))
        for text in ("one", "two")
    ]
    with pytest.raises(InvariantError, match="qmsum: d stands for two texts"):
        cases("qmsum", questions)


def test_about_half_of_the_documents_are_in_each_half() -> None:
    found = [c.half for c in cases("qmsum", [question(i, f"text {i}") for i in range(400)])]
    assert 160 < found.count("development") < 240


@given(st.lists(st.sets(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=3), min_size=1, max_size=12))
def test_no_text_is_in_both_halves(groups: list[set[str]]) -> None:
    found = halves([[document(text, f"doc {text}") for text in sorted(group)] for group in groups])
    sides = [
        {text for group, half in zip(groups, found, strict=True) if half == side for text in group} for side in HALVES
    ]
    assert not sides[0] & sides[1]


@given(st.permutations(list(range(12))))
def test_the_half_does_not_depend_on_the_order_of_questions(order: list[int]) -> None:
    questions = [question(i, f"text {i // 2}", f"text {20 + i // 3}") for i in range(12)]
    expected = {c.id: c.half for c in cases("qmsum", questions)}
    assert {c.id: c.half for c in cases("qmsum", [questions[i] for i in order])} == expected


def test_a_text_under_two_ids_joins_its_questions() -> None:
    for i in range(20):
        pair = [[document(f"text {i}", f"first {i}")], [document(f"text {i}", f"second {i}")]]
        assert len(set(halves(pair))) == 1
