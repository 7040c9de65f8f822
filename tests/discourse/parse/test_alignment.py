"""EDUs that a model copied are found in the text, or the error says which one is not the text."""

import pytest

from discorag.discourse.parse.alignment import align_edus

_TEXT = "Gold shines,\nbut iron rusts because it is wet."
_EDUS = ["Gold shines,", "but iron rusts", "because it is wet."]


def _aligned(edus: list[str], text: str = _TEXT) -> list[str]:
    return [text[e.start - 50 : e.end - 50] for e in align_edus(edus, text, offset=50)]


def test_entities_that_the_text_itself_holds_match_in_either_form():
    text, edus = "Write &amp; for & here.", ["Write &amp;", "for & here."]
    assert _aligned(edus, text) == _aligned(["Write &amp;amp;", "for &amp; here."], text) == edus


@pytest.mark.parametrize(
    ("edus", "message"),
    [
        (_EDUS[1:], "EDU 1 is 'but iron.* has 'Gold"),  # missing at the start
        ([_EDUS[0], _EDUS[2]], "EDU 2 is 'because.* has 'but iron"),  # missing inside
        ([_EDUS[1], _EDUS[0], _EDUS[2]], "EDU . is"),  # reordered
        (["Gold shines,", "but steel rusts", "because it is wet."], "EDU 2 is .*steel"),  # another word
        (["Gold shines,", "shines, but iron rusts", "because it is wet."], "EDU 1 is"),  # repeated
        ([*_EDUS, "The end."], "EDU 4 is 'The end.' where the text has ''"),  # added
        ([], "There are no EDUs"),
    ],
)
def test_edus_that_are_not_the_text_are_refused_with_the_place(edus: list[str], message: str):
    with pytest.raises(ValueError, match=message):
        _aligned(edus)


@pytest.mark.parametrize(
    ("edus", "found"),
    [
        (_EDUS, _EDUS),
        (["Gold shines", "but iron rusts", "because its wet"], _EDUS),
        (["“Gold shines,", "(but) iron rusts,", "because it is wet"], _EDUS),
        (["gold shines, but", "Iron rusts because it is wet"], ["Gold shines,\nbut", "iron rusts because it is wet."]),
    ],
)
def test_slips_in_the_copies_do_not_move_the_cuts(edus: list[str], found: list[str]):
    assert _aligned(edus) == found
