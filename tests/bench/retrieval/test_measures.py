"""How much of the evidence is found within a budget, on cases worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.measures import BUDGETS, MEASURES, measure
from bench.retrieval.questions import Case
from discorag.types.errors import ConfigError
from discorag.types.span import Span
from eval.metrics.base import Given
from eval.metrics.evidence import SpanRecall
from eval.sample import DocSpan
from tests.bench.retrieval.helpers import case, document, gold, place

TEXT = "one two three four five six seven eight nine ten"
ONE = case([document(TEXT)], [gold(place(TEXT, "three four five six"))])
OTHER = "red green blue"
TWO = case([document(TEXT, "a"), document(OTHER, "b"), document("black", "c")], [], found_in="ab")


async def score(asked: Case, metric: str, *selected: DocSpan, words: int = 200) -> float:
    return (await measure(asked, selected, words, [metric]))[metric]


async def test_recall_is_the_share_of_gold_words_in_the_selection() -> None:
    assert await score(ONE, "evidence_recall", place(TEXT, "one two three four")) == 50
    assert await score(ONE, "evidence_recall", place(TEXT, "three four five six")) == 100
    assert await score(ONE, "evidence_recall", place(TEXT, "nine ten")) == 0
    assert await score(ONE, "evidence_recall") == 0


async def test_what_lies_behind_the_budget_is_not_found() -> None:
    assert await score(ONE, "evidence_recall", place(TEXT, "one two three four"), words=3) == 25
    assert await score(TWO, "document_recall", place(TEXT, "one two", "a"), place(OTHER, "red", "b"), words=2) == 50


async def test_what_is_selected_twice_costs_its_words_once() -> None:
    twice = (place(TEXT, "one two three"), place(TEXT, "one two three"), place(TEXT, "four"))
    assert await score(ONE, "evidence_recall", *twice, words=4) == 50


async def test_a_word_that_is_cut_is_not_found() -> None:
    assert await score(ONE, "evidence_recall", place(TEXT, "three fo")) == 25


async def test_of_several_places_the_one_that_was_found_counts() -> None:
    asked = case([document(TEXT)], [gold(place(TEXT, "one two"), place(TEXT, "nine ten"))])
    assert await score(asked, "evidence_recall", place(TEXT, "nine ten")) == 100


async def test_of_several_annotators_the_best_match_counts() -> None:
    marked = [gold(place(TEXT, "one two three four")), gold(place(TEXT, "nine"), annotator=1)]
    asked = case([document(TEXT)], marked)
    assert await score(asked, "evidence_recall", place(TEXT, "eight nine")) == 100
    assert await score(asked, "token_f1", place(TEXT, "eight nine")) == pytest.approx(100 * 2 * 1 / (2 + 1))
    assert await score(asked, "token_recall", place(TEXT, "eight nine")) == 100


async def test_token_f1_weighs_what_was_found_against_what_was_selected() -> None:
    selected = place(TEXT, "four five six seven eight nine")
    assert await score(ONE, "token_f1", selected) == pytest.approx(100 * 2 * 3 / (4 + 6))
    assert await score(ONE, "token_recall", selected) == 75


async def test_tokens_are_compared_with_the_references_where_no_place_is_labelled() -> None:
    asked = case([document("The Fox ran. It hid."), document("So what?", "e")], [], found_in="d", said="A fox hid, ran")
    selected = place("The Fox ran. It hid.", "The Fox ran.")
    assert await score(asked, "token_recall", selected) == pytest.approx(200 / 3)
    assert await score(asked, "token_f1", selected) == pytest.approx(100 * 2 * 2 / (3 + 2))


async def test_document_recall_is_the_share_of_gold_documents_that_were_touched() -> None:
    assert await score(TWO, "document_recall", place(TEXT, "one", "a"), place(TEXT, "two", "a")) == 50
    assert await score(TWO, "document_recall", place(TEXT, "one", "a"), place(OTHER, "red", "b")) == 100
    assert await score(TWO, "document_recall", place("black", "black", "c")) == 0


async def test_a_measure_that_does_not_apply_is_left_out() -> None:
    assert set(await measure(ONE, [], 200, MEASURES)) == {"evidence_recall", "token_f1", "token_recall"}
    assert set(await measure(TWO, [], 200, MEASURES)) == {"document_recall"}


async def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'recall'.*evidence_recall"):
        await measure(ONE, [], 200, ["recall"])


spans = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 12)).map(
    lambda pair: DocSpan(doc="d", span=Span(start=pair[0], end=min(len(TEXT), sum(pair))))
)


@given(st.lists(spans, max_size=5), st.integers(0, 10))
async def test_more_words_never_find_less(selected: list[DocSpan], words: int) -> None:
    less, more = [await score(ONE, "evidence_recall", *selected, words=n) for n in (words, words + 1)]
    assert 0 <= less <= more <= 100


@given(st.lists(spans, min_size=1, max_size=5))
async def test_the_whole_document_holds_all_evidence_within_every_budget(found: list[DocSpan]) -> None:
    asked = case([document(TEXT)], [gold(place(TEXT, "two")), *map(gold, found)])
    for words in BUDGETS:
        assert await score(asked, "evidence_recall", place(TEXT, TEXT), words=words) == 100


@given(st.lists(spans, max_size=5), st.lists(spans, min_size=1, max_size=3), st.integers(0, 10))
async def test_recall_is_the_one_of_the_evaluation(selected: list[DocSpan], found: list[DocSpan], words: int) -> None:
    asked = case([document(TEXT)], [gold(place(TEXT, "two")), gold(*found)])
    of_evaluation = await SpanRecall(words).score(
        Given(sample=asked.annotations[0], documents=asked.by_id, answer="", evidence=tuple(selected))
    )
    assert await score(asked, "evidence_recall", *selected, words=words) == of_evaluation
