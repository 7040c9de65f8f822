"""Metadata keep their types, and one rule says which documents a filter accepts, whatever searches."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from discorag.ingest.loaders import load
from discorag.ingest.texts import GivenText
from discorag.schema.errors import InputError
from discorag.schema.metadata import GivenFilters, Value, accepts, as_words, checked_value, read_filters
from discorag.store.records import SearchQuery
from interfaces.cli.filters import parse_filters
from interfaces.facade import DiscoRAG
from interfaces.langchain import DiscoRetriever
from interfaces.questions import Question, read_questions
from tests.conftest import Pipelines

HEADER = """---
tags: [Tea, hot drinks]
year: 2024
price: 2.5
draft: true
version: 1.10
code: 007
quoted: "2024"
published: 2024-05-01
---
"""
DOCUMENT: dict[str, Value] = {
    "tags": ["Tea", "hot drinks"],
    "year": 2024,
    "old": "2019",
    "version": "1.10",
    "code": "007",
    "draft": True,
    "sizes": [1, 2.5],
    "published": "2024-05-01",
    "read": "2024-05-01T10:30:00+02:00",
}
ACCEPTED: list[dict[str, Any]] = [
    {"tags": ["Tea"]},
    {"tags": "hot drinks"},
    {"tags": ["Coffee", "Tea"]},
    {"year": 2024},
    {"year": 2024.0},
    {"year": "2024"},
    {"year": [1999, 2024]},
    {"old": 2019},
    {"version": "1.10"},
    {"code": "007"},
    {"draft": True},
    {"draft": "true"},
    {"sizes": [2.5]},
    {"published": date(2024, 5, 1)},
    {"year": {"gte": 2020, "lt": 2025}},
    {"year": {"gte": "2024"}},
    {"old": {"lte": 2019}},
    {"sizes": {"gt": 2}},
    {"published": {"gte": "2024-05-01", "lt": date(2024, 6, 1)}},
    {"published": {"gt": datetime(2024, 4, 30, 23, tzinfo=UTC)}},
    {"read": {"gte": "2024-05-01T08:30:00Z", "lte": "2024-05-01T08:30:00Z"}},
    {"doc_id": ["it"], "year": 2024},
]
REFUSED: list[dict[str, Any]] = [
    {"tags": ["Tea, hot drinks"]},
    {"tags": []},
    {"year": 2023},
    {"year": {"gt": 2024}},
    {"year": {"gte": "2024-01-01"}},
    {"version": "1.1"},
    {"code": 7},
    {"code": {"gte": 0}},
    {"draft": 1},
    {"tags": {"gte": 0}},
    {"published": {"lt": "2024-05-01"}},
    {"published": {"gte": 2024}},
    {"missing": {"gte": 0}},
    {"doc_id": ["other"], "year": 2024},
]
WRONG: list[tuple[Any, str]] = [
    ({"year": None}, "Filter 'year' has a NoneType as a value"),
    ({"year": 10**400}, "Filter 'year' has a number that is not finite or too large"),
    ({"year": {"lt": float("inf")}}, "Filter 'year' has a number that is not finite or too large"),
    ({"year": [[2024]]}, "Filter 'year' has a list as a value"),
    ({"year": {}}, "The range of filter 'year' has no bounds"),
    ({"year": {"from": 2020}}, "The range of filter 'year' has unknown bounds: 'from'"),
    ({"year": {"gte": "soon"}}, "The range of filter 'year' has the bound 'soon'"),
    ({"year": {"gte": True}}, "The range of filter 'year' has the bound 'true'"),
    ({"year": {"gte": 2020, "lt": "2024-01-01"}}, "The range of filter 'year' mixes numbers and dates"),
    ({"doc_id": {"gte": 1}}, "Filter 'doc_id' has a dict as a value"),
    (["year"], "Filters are a list"),
]


def test_front_matter_keeps_lists_numbers_and_what_a_number_would_lose(tmp_path: Path) -> None:
    """A quoted number, a version and a code with zeros are text; a date is its ISO form."""
    (tmp_path / "tea.md").write_text(f"{HEADER}Tea costs two euros.", encoding="utf-8")
    assert load(tmp_path / "tea.md", max_bytes=10**6).metadata == {
        "tags": ["Tea", "hot drinks"],
        "year": 2024,
        "price": 2.5,
        "draft": True,
        "version": "1.10",
        "code": "007",
        "quoted": "2024",
        "published": "2024-05-01",
    }


def test_values_that_a_program_gives_keep_their_types_and_others_are_refused_by_their_key() -> None:
    """Dates become ISO texts, tuples lists; what JSON cannot hold is an error that names the key."""
    given = {"a": 1, "b": 2.0, "c": False, "d": date(2024, 5, 1), "e": ("x", 1), "f": "2024"}
    kept = {key: checked_value(key, value) for key, value in given.items()}
    assert kept == {"a": 1, "b": 2.0, "c": False, "d": "2024-05-01", "e": ["x", 1], "f": "2024"}
    assert [as_words(value) for value in kept.values()] == ["1", "2.0", "false", "2024-05-01", "x, 1", "2024"]
    for wrong in ({"a": 1}, [None], object()):
        with pytest.raises(InputError, match="Metadata 'loc' holds a"):
            checked_value("loc", wrong)


@pytest.mark.parametrize("filters", ACCEPTED, ids=str)
def test_filters_accept_one_value_many_or_a_range_and_any_of_a_list_s_values(filters: dict[str, Any]) -> None:
    """Text equals text as written; numbers and dates are compared, also those that are written as text."""
    assert accepts(read_filters(filters), DOCUMENT, "it")


@pytest.mark.parametrize("filters", REFUSED, ids=str)
def test_filters_refuse_all_else(filters: dict[str, Any]) -> None:
    """A range of numbers takes no dates, no codes with leading zeros and no truth values."""
    assert not accepts(read_filters(filters), DOCUMENT, "it")


@pytest.mark.parametrize(("filters", "message"), WRONG, ids=str)
def test_a_wrong_filter_is_an_error_that_names_its_key(filters: Any, message: str) -> None:
    """It is never pydantic's own, wherever filters are given."""
    with pytest.raises(InputError, match=message):
        read_filters(filters)
    with pytest.raises(InputError, match=message):
        SearchQuery(vector=np.zeros(2, np.float32), filters=filters)


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines) -> DiscoRAG:
    rag = shared_pipeline()
    rag.add_texts(
        [
            GivenText("Tea costs two euros.", metadata={"title": "Tea", "tags": ["tea", "hot"], "year": 2024}),
            GivenText("Milk costs one euro.", metadata={"title": "Milk", "tags": ["cold"], "sold": date(2023, 5, 1)}),
        ],
        parser="rules",
    )
    return rag


CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({"tags": ["tea"]}, {"Tea"}),
    ({"tags": ["hot", "cold"]}, {"Tea", "Milk"}),
    ({"year": {"gte": 2020, "lt": 2025}}, {"Tea"}),
    ({"sold": {"lt": date(2023, 6, 1)}}, {"Milk"}),
    ({"sold": "2023-05-01", "tags": "hot"}, set()),
]


@pytest.mark.parametrize("retriever", ["dense", "all"])
def test_a_question_uses_the_documents_that_its_filters_accept(rag: DiscoRAG, retriever: str) -> None:
    """The same holds for search and for reading everything; the metadata come back with their types."""
    for filters, expected in CASES:
        found = DiscoRetriever(rag=rag, retriever=retriever, filters=filters).invoke("What does it cost?")
        assert {document.metadata["title"] for document in found} == expected
    [tea] = DiscoRetriever(rag=rag, retriever=retriever, filters={"year": 2024}).invoke("What does it cost?")
    assert (tea.metadata["tags"], tea.metadata["year"]) == (["tea", "hot"], 2024)
    assert rag.ask("What does tea cost?", filters={"tags": ["tea"]}).answer.text == "Tea costs two euros."


def test_python_and_files_of_questions_raise_the_same_error(rag: DiscoRAG, tmp_path: Path) -> None:
    """A file's error also says in which line."""
    wrong: dict[str, Any] = {"year": {"from": 2020}}
    with pytest.raises(InputError, match="filter 'year'"):
        rag.ask("Why?", filters=wrong)
    with pytest.raises(InputError, match="filter 'year'"):
        DiscoRetriever(rag=rag, filters=wrong)
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"question": "Why?", "filters": wrong}), encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 1 of .*filter 'year'"):
        read_questions(file, Question)


def test_the_command_line_writes_values_and_bounds() -> None:
    """Values of one key are alternatives, bounds of one key a range."""
    written = ["kind=trial", "kind=a=b", "year>=2020", "year < 2025", "size>1"]
    ranges = {"year": {"gte": "2020", "lt": "2025"}, "size": {"gt": "1"}}
    assert parse_filters(written) == {"kind": ["trial", "a=b"], **ranges}
    for wrong in (["kind"], ["=x"], ["year=1", "year>2"]):
        with pytest.raises(InputError, match="--filter"):
            parse_filters(wrong)


@pytest.mark.parametrize("filters", [{"k" * 100_001: 1}, {"key": ["v" * 50_001, "w" * 50_001]}, {"key": [1] * 50_000}])
def test_filters_of_a_caller_have_a_limit_of_size(filters: dict[str, Any]) -> None:
    """Long keys, long values and many values."""
    with pytest.raises(InputError, match=r"characters; the limit is 100,000\."):
        TypeAdapter(GivenFilters).validate_python(filters)
    assert TypeAdapter(GivenFilters).validate_python({"key": ["v" * 50_001]})
