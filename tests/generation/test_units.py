"""Which units can be sentences of an answer."""

import pytest

from discorag.ingest.segment.sentence_table import Sentence
from discorag.schema.hierarchy import UnitKind as K
from discorag.schema.span import Span


def says(text: str, kind: K, header: str = "", *, introduces: bool = False) -> bool:
    span = Span(start=0, end=len(text))
    return Sentence(1, 1, span, text, 0, kind=kind, header=header, introduces=introduces).statement


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The wheel turns.", K.PROSE),
        ("“The wheel turns,” said Ada.", K.PROSE),
        ("Faster on long rivets", K.ITEM),
        ("Ada Berg: I think the wheel should be of cork", K.TURN),
    ],
)
def test_whole_sentences_and_items_say_something(text: str, kind: K) -> None:
    assert says(text, kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("MILLS OF LANSE INC.", K.PROSE),
        ("(In thousands, but for shares and amounts of each.)", K.PROSE),
        ("General and Administrative Expenses.", K.PROSE),
        ("Ada Berg: Wheel of the mill.", K.TURN),
        ("Run this:", K.PROSE),
    ],
)
def test_labels_say_nothing(text: str, kind: K) -> None:
    assert not says(text, kind)


def test_a_lead_in_says_something_where_something_stands_below_it() -> None:
    assert says("Run this once:", K.PROSE, introduces=True)
    assert not says("Run this once:", K.PROSE)
    assert not says("Usage:", K.PROSE, introduces=True)


def test_a_row_without_a_value_says_nothing() -> None:
    header = "| Name | 2023 |"
    assert says("| Revenue | 20 |", K.ROW, header)
    assert not says("| Revenue | - |", K.ROW, header)
