"""Stand-in EDUs: cut like clauses, and trees that the pipeline can use."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.edus import SHORTEST, EduParser, density, edu_tree, gum_density
from discorag.rst.inline import mark, unmark
from discorag.text.sentences import sentence_spans
from discorag.types.chunk import Chunk
from discorag.types.rst_relations import Nuclearity, Relation
from discorag.types.span import Span

TEXT = (
    "Vitamin D lowers the risk of influenza in children, which the trial did not expect. "
    "Older people saw no effect because they already took it every day."
)
WORDS = st.sampled_from(["dogs", "because", "to", "that", "and", "(he", "said),", "run;", "if", "it", "rains", "."])


def chunk_of(text: str, *, offset: int = 0) -> Chunk:
    sentences = tuple(Span(start=s.start + offset, end=s.end + offset) for s in sentence_spans(text))
    span = Span(start=offset, end=offset + len(text))
    return Chunk(id="c", doc_id="d", order=0, span=span, text=text, sentences=sentences)


def test_sentences_are_cut_before_clauses() -> None:
    chunk = chunk_of(TEXT, offset=7)
    assert [chunk.slice(edu) for edu in edu_tree(chunk).edus] == [
        "Vitamin D lowers the risk of influenza in children,",
        "which the trial did not expect.",
        "Older people saw no effect",
        "because they already took it every day.",
    ]


def test_what_opens_a_unit_labels_the_split_before_it() -> None:
    inner = edu_tree(chunk_of(TEXT)).splits[-1]
    assert (inner.relation, inner.nuclearity) == (Relation.CAUSE, Nuclearity.NS)


def test_a_sentence_without_room_for_two_units_stays_whole() -> None:
    assert len(edu_tree(chunk_of("It rains because it rains.")).edus) == 1


@given(words=st.lists(WORDS, min_size=1, max_size=60), offset=st.integers(0, 5))
def test_every_tree_can_be_marked_in_the_text_and_read_back(words: list[str], offset: int) -> None:
    text = "Dogs " + " ".join(words)
    tree = edu_tree(chunk_of(text, offset=offset))
    assert unmark(mark(text, tree, offset=offset), offset=offset) == (text, tree)


async def test_density_is_words_per_unit() -> None:
    chunk = chunk_of("one two three four, which five six seven eight")
    parsed = await EduParser().parse(chunk)
    assert len(parsed.tree.edus) == 2
    assert density([chunk.model_copy(update={"tree": parsed.tree})]) == pytest.approx(9 / 2)
    assert SHORTEST <= 4


def test_gum_density_counts_words_and_not_punctuation(tmp_path: Path) -> None:
    (tmp_path / "rst").mkdir()
    leaves = (
        "( Nucleus (leaf 1) (rel2par span) (text _!Dogs run ,_!) )\n( Satellite (leaf 2) (rel2par x) (text _!so_!) )"
    )
    (tmp_path / "rst" / "GUM_a.dis").write_text(leaves)
    assert gum_density(tmp_path) == pytest.approx(3 / 2)
