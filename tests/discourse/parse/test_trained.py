"""The trained parser: any text gives one valid tree over exactly that text, or a typed error."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.parse.parser import Leaves, Unit
from discorag.discourse.parse.rules import RuleParser, rule_tree
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.schema.discourse import Nuclearity, Relation, RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError
from discorag.schema.values import Span
from discorag.text.sentences import language_of, sentence_spans

_PARSER, _SENTENCES = TrainedParser(), TrainedParser(leaves="sentence")

_VITAMIN = (
    "Vitamin D lowers the risk of respiratory infections if people are deficient. Although several trials found no "
    "effect, the authors say that these gave single large doses. For example, one trial gave 100,000 units at once."
)


def _checked(text: str, parser: TrainedParser = _PARSER) -> RstTree:
    """The parse, after checking that it is a tree over exactly the text."""
    tree = parser.parse_text(text)
    at = 0
    for edu in tree.edus:
        assert not text[at : edu.start].strip()
        piece = text[edu.start : edu.end]
        assert piece
        assert piece == piece.strip()
        at = edu.end
    assert not text[at:].strip()
    assert len(tree.splits) == len(tree.edus) - 1
    assert all(s.confidence is not None for s in tree.splits)
    return tree


def test_clauses_are_units_and_sentences_start_units():
    edus = [_VITAMIN[e.start : e.end] for e in _checked(_VITAMIN).edus]
    assert "if people are deficient." in edus
    assert "Although several trials found no effect," in edus
    assert {s.start for s in sentence_spans(_VITAMIN)} <= {e.start for e in _checked(_VITAMIN).edus}


def test_a_condition_hangs_on_what_it_limits():
    tree = _checked(_VITAMIN)
    split = tree.split_at(0, 2)
    assert (split.relation, split.nuclearity) == (Relation.CONDITION, Nuclearity.NS)


@pytest.mark.parametrize("leaves", ["edu", "sentence"])
async def test_a_chunks_tree_is_in_document_offsets(leaves: Leaves):
    text, start = _VITAMIN, 1000
    sentences = tuple(Span(start=s.start + start, end=s.end + start) for s in sentence_spans(text))
    chunk = Chunk(
        id="c", doc_id="d", order=0, span=Span(start=start, end=start + len(text)), text=text, sentences=sentences
    )
    parsed = await TrainedParser(leaves=leaves).parse(chunk)
    assert parsed.tree.span == chunk.span
    assert parsed.tree.splits == TrainedParser(leaves=leaves).parse_text(text).splits


@pytest.mark.parametrize("kind", ["edu", "sentence", "paragraph"])
def test_given_units_are_the_leaves_as_they_are(kind: Unit):
    units = ["Pumps failed. ", "They were cheap.\n\nVery cheap.", "The office was warned, 🎉 twice"]
    tree = _PARSER.parse_units(units, kind)
    whole = ("\n\n" if kind == "paragraph" else " ").join(units)
    assert [whole[e.start : e.end] for e in tree.edus] == [u.strip() for u in units]


@pytest.mark.parametrize("units", [[], ["Pumps failed.", " "]])
def test_blank_units_are_refused(units: list[str]):
    with pytest.raises(InvariantError):
        _PARSER.parse_units(units)


@pytest.mark.parametrize("units", [["\u200b", "\u200b"], ["水泵坏了。", "因此停水。"]])
def test_units_that_it_cannot_read_get_the_rules_tree(units: list[str]):
    assert _PARSER.parse_units(units) == RuleParser().parse_units(units, "paragraph")


@pytest.mark.parametrize(
    "text",
    [
        "Yes",
        "NO PUMP WAS FOUND. IF IT RAINS, CALL THE OFFICE BECAUSE THE CELLAR FLOODS.",
        "no punctuation at all and it goes on because nobody stops it " * 40,
        "def f(x):\n    return x if x else None  # because\n\nprint(f(3))\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        "We won 🎉🎉, because 👩‍👩‍👧 helped. 😀 is a face.",
        "Zero\u200bwidth\u200b, if \u200bit matters\ufeff.",
        "\u200b",
        "a" * 5000,
        "Line one\n\n\n\n\tLine two\r\n\r\nLine three",
        "(((((" * 50,
    ],
    ids=range(11),
)
def test_odd_texts_give_a_tree_over_exactly_the_text(text: str):
    _checked(text)
    _checked(text, _SENTENCES)


def test_long_texts_give_one_tree():
    text = "\n\n".join([_VITAMIN] * 150)
    assert len(_checked(text).edus) > 800


@given(st.text(min_size=1, max_size=300))
def test_any_unicode_gives_a_tree_or_a_typed_error(text: str):
    if text.strip() and language_of(text) == "en":
        _checked(text)
    else:
        with pytest.raises(InvariantError):
            _PARSER.parse_text(text)


@pytest.mark.parametrize("text", ["", " \n\t ", "维生素 D 降低感染的风险，如果人们缺乏。"])
def test_blank_and_chinese_texts_are_refused(text: str):
    with pytest.raises(InvariantError):
        _PARSER.parse_text(text)


async def test_chinese_chunks_get_the_rules_trees_and_one_warning(caplog: pytest.LogCaptureFixture):
    text = "维生素 D 降低感染的风险。但是有些试验没有发现效果。因此需要更多研究。"
    chunk = Chunk(
        id="c", doc_id="d", order=0, span=Span(start=0, end=len(text)), text=text, sentences=sentence_spans(text)
    )
    parser = TrainedParser()
    with caplog.at_level(logging.WARNING):
        trees = [(await parser.parse(chunk)).tree for _ in range(2)]
    assert trees == [rule_tree(chunk)] * 2
    assert [r.levelname for r in caplog.records] == ["WARNING"]
