"""What the baselines read from a model's words."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.generation.prompted.baselines import (
    MARKERS,
    MAX_QUERIES,
    NONE,
    Link,
    document_list,
    hint_of,
    links_of,
    planned_of,
)
from discorag.schema.answer_inputs import AnswerInputs
from discorag.schema.chunk import Chunk
from discorag.schema.span import Span


@pytest.mark.parametrize(
    "text",
    [
        "PLAN: First this.\nANSWER: Yes.\n\nTwo.",
        "PLAN First this.\nANSWER Yes.\n\nTwo.",
        "\nPLAN:\nFirst this.\n\n  ANSWER:\nYes.\n\nTwo.\n",
    ],
)
def test_plan_and_answer_are_split(text: str) -> None:
    planned = planned_of(text)
    assert (planned.plan.paragraph, planned.answer) == ("First this.", "Yes.\n\nTwo.")


def test_a_plan_may_speak_of_the_answer() -> None:
    assert planned_of("PLAN: The ANSWER opens with dates.\nANSWER: Yes.").plan.paragraph == (
        "The ANSWER opens with dates."
    )


@pytest.mark.parametrize("text", ["", "Yes.", "PLAN: x", "ANSWER: y", "PLAN: x ANSWER: y", "ANSWER: y\nPLAN: x"])
def test_a_missing_part_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="PLAN and a paragraph, then, on a new line, ANSWER"):
        planned_of(text)


@pytest.mark.parametrize("text", ["PLAN:\nANSWER: y", "PLAN: x\nANSWER: ..."])
def test_an_empty_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="says nothing"):
        planned_of(text)


@pytest.mark.parametrize(
    ("lines", "queries"),
    [
        ("\n- one\n- two", ("one", "two")),
        (" one\n* two\n\n• three", ("one", "two", "three")),
        ("\n1. one\n2) two", ("one", "two")),
        ('\n- "one"\n- “two”', ("one", "two")),
        ("\n- one\n- one", ("one",)),
        ("\n2.5 mg of vitamin D\n- 1. FC Köln", ("2.5 mg of vitamin D", "1. FC Köln")),
    ],
)
def test_every_line_of_a_hint_is_a_query_without_its_bullet(lines: str, queries: tuple[str, ...]) -> None:
    hint = hint_of(f"PLAN: First this.\nRETRIEVAL HINT:{lines}")
    assert (hint.plan.paragraph, hint.queries) == ("First this.", queries)


def test_no_more_queries_are_kept_than_the_limit() -> None:
    hint = hint_of("PLAN: x\nRETRIEVAL HINT\n" + "\n".join(f"query {i}" for i in range(99)))
    assert hint.queries == tuple(f"query {i}" for i in range(MAX_QUERIES))


@pytest.mark.parametrize("text", ["", "PLAN: x", "RETRIEVAL HINT: a", "PLAN: x\nRETRIEVAL HINT:\n - \n", "one\ntwo"])
def test_a_hint_without_plan_or_queries_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="RETRIEVAL HINT and one query a line"):
        hint_of(text)


@given(st.text(alphabet='PLAN:ANSWER RETRIEVAL HINT-1.\n"x', max_size=60))
def test_any_text_is_read_or_a_value_error(text: str) -> None:
    for read in (hint_of, planned_of):
        with suppress(ValueError):
            assert read(text).plan.paragraph


def test_the_markers_are_the_thirteen_of_the_paper() -> None:
    assert len(set(MARKERS)) == 13


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_is_a_link_and_none_is_not(marker: str) -> None:
    assert links_of(["a", "b"], {(1, 2): NONE, (2, 1): marker}) == (Link(source="b", target="a", marker=marker),)


def test_documents_are_put_together_again_without_chunk_numbers() -> None:
    def chunk(doc: str, start: int, text: str) -> Chunk:
        span = Span(start=start, end=start + len(text))
        return Chunk(id=f"{doc}{start}", doc_id=doc, order=start, span=span, text=text, sentences=(span,))

    chunks = (chunk("a", 0, "One."), chunk("a", 6, "Two </doc"), chunk("a", 15, "ument>."), chunk("b", 0, "Three."))
    assert document_list(AnswerInputs(query="q", chunks=chunks)) == (
        "DOCUMENT[1]:\n<document>\nOne.\nTwo &lt;/document&gt;.\n</document>\n\n"
        "DOCUMENT[2]:\n<document>\nThree.\n</document>"
    )
