"""What opening words say, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given

from discorag.discourse.parse.markers import MARKERS, Reach, opening
from discorag.schema.rst_relations import Nuclearity, Relation
from tests.strategies import texts


@pytest.mark.parametrize(
    ("sentence", "relation", "nuclearity"),
    [
        ("However, the effect was small.", "CONTRAST", "NN"),
        ("But nobody came.", "CONTRAST", "NN"),
        ("By contrast, cats sleep.", "CONTRAST", "NN"),
        ("Although it rained, we went.", "CONCESSION", "NS"),
        ("Nevertheless, we went.", "CONCESSION", "SN"),
        ("For example, sodium burns.", "EXAMPLE", "NS"),
        ("Because it was late, we left.", "CAUSE", "NS"),
        ("Therefore it fails.", "RESULT", "NS"),
        ("As a  result, it fails.", "RESULT", "NS"),
        ("In short, it works.", "SUMMARY", "NS"),
        ("Then add water.", "SEQUENCE", "NN"),
        ("Finally, stir.", "SEQUENCE", "NN"),
        ("If it breaks, call.", "CONDITION", "NS"),
        ("Unless told otherwise, wait.", "CONDITION", "NS"),
        ("Meanwhile, costs rose.", "TEMPORAL", "NN"),
        ("According to the WHO, it is safe.", "ATTRIBUTION", "NS"),
        ("An enzyme is a protein that speeds up a reaction.", "DEFINITION", "NS"),
        ("Power is defined as work per time.", "DEFINITION", "NS"),
        ("The term refers to any such case.", "DEFINITION", "NS"),
        ("然而，效果很小。", "CONTRAST", "NN"),
        ("但是没有人来。", "CONTRAST", "NN"),
        ("虽然下雨，我们还是去了。", "CONCESSION", "NS"),
        ("尽管如此，我们还是去了。", "CONCESSION", "SN"),
        ("例如，钠会燃烧。", "EXAMPLE", "NS"),
        ("因为太晚了，我们走了。", "CAUSE", "NS"),
        ("因此它失败了。", "RESULT", "NS"),
        ("总之，它有效。", "SUMMARY", "NS"),
        ("然后加水。", "SEQUENCE", "NN"),
        ("如果坏了，请打电话。", "CONDITION", "NS"),
        ("与此同时，成本上升。", "TEMPORAL", "NN"),
        ("据统计，人口在增长。", "ATTRIBUTION", "NS"),
        ("酶是指加速反应的蛋白质。", "DEFINITION", "NS"),
    ],
)
def test_a_marker_names_relation_and_nuclearity(sentence: str, relation: str, nuclearity: str):
    found = opening(sentence)
    assert found is not None
    assert (found.relation, found.nuclearity) == (Relation(relation), Nuclearity(nuclearity))


@pytest.mark.parametrize(
    "sentence", ["HOWEVER, no.", '"However, no."', "And however it ends, no.", "- However, no.", "“However, no.”"]
)
def test_case_quotes_bullets_and_a_leading_and_do_not_hide_a_marker(sentence: str):
    found = opening(sentence)
    assert found is not None
    assert found.relation is Relation.CONTRAST


@pytest.mark.parametrize(
    "sentence",
    [
        "Button cells are small.",  # but
        "Iffy results came in.",  # if
        "Sofia left.",  # so
        "Then-president Obama spoke.",
        "First Lady Jill Biden spoke.",
        "So far nothing has happened.",
        "The result was clear.",
        "It is a good idea.",
        "There is a house in New Orleans.",
        "但丁写了《神曲》。",
        "Nothing, however, happened.",
        "",
    ],
)
def test_what_only_looks_like_a_marker_is_none(sentence: str):
    assert opening(sentence) is None


def test_the_longest_marker_wins():
    assert (a := opening("In case of fire, run.")) is not None
    assert a.relation is Relation.CONDITION
    assert (b := opening("In this case, run.")) is not None
    assert b.relation is Relation.CIRCUMSTANCE
    assert (c := opening("Despite this, it ran.")) is not None
    assert c.nuclearity is Nuclearity.SN


def test_first_opens_a_list_without_naming_a_step_before_it():
    assert (found := opening("First, add water.")) is not None
    assert (found.relation, found.reach) == (Relation.ELABORATION, Reach.WIDE)


def test_every_marker_is_found_where_it_opens_a_sentence():
    for phrase, marker in MARKERS.items():
        assert opening(f"{phrase.capitalize()} 7 and so on.") == marker, phrase


@given(texts)
def test_any_text_is_accepted(text: str):
    opening(text)
