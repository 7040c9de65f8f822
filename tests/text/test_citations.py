"""The grammar of citations: what counts as ours, and what a source or a model cannot make one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.discourse import Reference
from discorag.text.citations import escape_references, references, with_citation, without_copied, without_references
from tests.generation.hostile import hostile_texts

_bracketed = st.text(alphabet="\\[]1.2-(^ a", max_size=20)


@pytest.mark.parametrize("text", list(dict.fromkeys(hostile_texts())))
def test_what_a_source_writes_is_no_citation_and_comes_back_as_it_was(text: str) -> None:
    cited = with_citation(escape_references(text), "[7.3]")
    assert references(cited) == (Reference(chunk=7, first=3, last=3),)
    assert without_references(escape_references(text), chunks=99) == text


@given(_bracketed)
def test_escapes_are_undone_whatever_the_text(text: str) -> None:
    assert references(escape_references(text)) == ()
    assert without_references(escape_references(text), chunks=99) == text


def test_a_reference_that_a_model_copied_is_not_its_own() -> None:
    passages = ["The dose is perfectly\nsafe [1]. Others agree[2]."]
    drafted = "It is safe [1]. Others agree[2]. Few disagree [2]. [1] says so."
    assert without_copied(drafted, passages) == "It is safe \\[1]. Others agree\\[2]. Few disagree [2]. [1] says so."
    assert without_copied(drafted, ["Nothing of the kind."]) == drafted
