"""What a refusal says of words that no passage of a question has: nothing that a stored text contradicts."""

import pytest

from discorag.generation.mentions import describe_absence
from discorag.schema.metadata import read_filters
from discorag.store.store import Store
from tests.store.samples import SCOPE, sample

POLLS = [f"The poll on moving proposal {i} to phase 3 passed." for i in range(60)]


def _absence(store: Store, *terms: str, **filters: str) -> str:
    return describe_absence(store, SCOPE, read_filters(filters), list(terms))


@pytest.fixture
def minutes(store: Store) -> Store:
    sample("polls.md", POLLS, metadata={"year": "2023"}).put_in(store)
    sample("tools.md", ["The toolchain uses QXTP and ＡＢＣ‑１２."], metadata={"year": "2024"}).put_in(store)
    sample("other.md", ["JSPI passed."], scope=SCOPE.model_copy(update={"corpus": "other"})).put_in(store)
    return store


@pytest.mark.parametrize("term", ["QXTP", "ABC-12", "WHO"])
def test_a_word_that_is_stored_or_that_is_not_indexed_is_absent_only_from_what_was_found(
    minutes: Store, term: str
) -> None:
    assert _absence(minutes, term) == f" No passage that was found mentions {term}."


def test_a_word_that_only_another_corpus_has_is_in_no_document(minutes: Store) -> None:
    assert _absence(minutes, "JSPI") == " Nothing in the text of the 2 documents has the word JSPI."


def test_a_word_within_a_longer_one_is_not_said_to_be_unmentioned(minutes: Store) -> None:
    sample("next.md", ["The flag JSPI_v2 is set."]).put_in(minutes)
    assert _absence(minutes, "JSPI") == " Nothing in the text of the 3 documents has the word JSPI."


def test_filters_bound_what_is_said(minutes: Store) -> None:
    said = " Nothing in the text of the documents that the filters accept has the word QXTP."
    assert _absence(minutes, "QXTP", year="2023") == said
    assert _absence(minutes, "QXTP", year="2024") == " No passage that was found mentions QXTP."


def test_each_word_is_judged_alone(minutes: Store) -> None:
    nothing, found = _absence(minutes, "JSPI", "QXTP").strip().split(". ")
    assert (nothing.endswith("has the word JSPI"), found.endswith("mentions QXTP.")) == (True, True)


def test_a_word_beyond_the_passages_that_are_read_is_not_said_to_be_in_no_document(minutes: Store) -> None:
    sample("last.md", ["JSPI " + "was discussed at length " * 40]).put_in(minutes)
    assert "Nothing" not in _absence(minutes, "proposal", "JSPI")
    assert "Nothing" not in _absence(minutes, "proposal", "XYZW")
