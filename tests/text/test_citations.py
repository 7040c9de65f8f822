"""What others wrote cannot become a citation, markup or a link in any form of output."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discorag.schema.discourse import Reference
from discorag.text.citations import escape_references, references, with_citation, without_copied, without_references
from discorag.text.escaping import markdown, one_line
from tests.generation.hostile import MARKUP, Page, hostile_texts, planted, rendered
from tests.strategies import texts

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


_punctuated = st.text(alphabet="<>&[]()`*_~|$\\!#:/.@-+=1a \n", max_size=12)
_words = st.lists(st.one_of(st.sampled_from(MARKUP), texts, _punctuated))
anything = _words.map(" ".join)


@pytest.mark.parametrize("text", list(dict.fromkeys(hostile_texts())))
def test_markdown_shows_hostile_words_as_words(text: str) -> None:
    shown = markdown(text)
    assert planted(shown) == []
    assert Page(rendered(shown)).text == one_line(text, None)
    assert "[" not in shown


@given(anything)
@example("1) x")
@example("`//`` ```")
def test_markdown_of_any_text_renders_as_the_text_and_nothing_else(text: str) -> None:
    shown = markdown(text)
    for where in (shown, f"Before it {shown} [1] ", f"1. {shown}, p. 3", f"- X: {shown}"):
        assert planted(where) == []
    assert Page(rendered(shown)).text == one_line(text, None)


def test_prose_and_code_are_not_disfigured_and_what_cannot_be_seen_is_not_shown() -> None:
    assert markdown("Use `git add -A` (or `-u`).") == "Use `` `git add -A` `` (or `` `-u` ``)."
    text = "Vitamin D lowered the risk by 12 % (95 % CI 0.5-0.9; p = 0.03), e.g. in children: see fig. 2."
    assert markdown(text) == one_line(text, None) == text
    assert one_line("pay\u200bload \x1b[31mred\u202e\x00\x9b2J\ttab\u2028end") == "payload [31mred 2J tab end"
