"""Short answers, lists and choices; QAMPARI's metrics against ALCE's ``compute_qampari_f1`` by hand."""

from typing import Any

import pytest

from eval.metrics.alce import Qampari
from eval.metrics.choice import Accuracy
from eval.metrics.registry import PLAIN
from tests.eval.metrics.givens import given

STR_EM, STR_EM_HIT, DISAMBIG_RECALL = PLAIN["str_em"], PLAIN["str_em_hit"], PLAIN["disambig_recall"]
EXACT_MATCH, TOKEN_F1, CONTAINS_ANSWER = PLAIN["exact_match"], PLAIN["token_f1"], PLAIN["contains_answer"]
ANSWER = "It was built in 1902 by the Acme Company, near Lake Orla."
POINTS = (("1902", "in the year 1902"), ("Brandt", "Acme  company"), ("Lake Nimue",))


async def test_str_em_is_the_share_of_points_of_which_any_string_is_found_also_within_a_word() -> None:
    assert await STR_EM.score(given(ANSWER, short_answers=POINTS)) == pytest.approx(200 / 3)  # 1902, Acme Company
    assert await STR_EM.score(given("A party.", short_answers=(("art",),))) == 100


async def test_str_em_hit_needs_every_point_and_contains_answer_one() -> None:
    assert await STR_EM_HIT.score(given(ANSWER, short_answers=POINTS)) == 0
    assert await STR_EM_HIT.score(given(ANSWER, short_answers=POINTS[:2])) == 100
    assert await CONTAINS_ANSWER.score(given(ANSWER, short_answers=POINTS)) == 100
    assert await CONTAINS_ANSWER.score(given(ANSWER, short_answers=POINTS[2:])) == 0


async def test_disambig_recall_needs_whole_words_in_order() -> None:
    points = (("art",), ("year 1902",), ("1902 the year",), ("The",))
    answer = "The party of the year, 1902."  # year 1902 is there; art only in a word, 1902 year not in this order
    assert await DISAMBIG_RECALL.score(given(answer, short_answers=points)) == 25


async def test_exact_match_accepts_any_alias_of_the_whole_answer_and_several_points_are_averaged() -> None:
    points = (("the Acme company", "ACME"),)
    assert await EXACT_MATCH.score(given("acme.", short_answers=points)) == 100
    assert await EXACT_MATCH.score(given("acme, I think", short_answers=points)) == 0
    points = (("red",), ("blue", "navy"), ("green",), ("grey",))
    assert await EXACT_MATCH.score(given("Navy", short_answers=points)) == 25
    assert await TOKEN_F1.score(given("Navy", short_answers=points)) == 25


async def test_token_f1_takes_the_best_alias() -> None:
    # {lake, orla} against {orla}: P = 1/2, R = 1, F1 = 2/3; against {lake, orla, north}: P = 1, R = 2/3, F1 = 4/5
    points = (("Orla", "the Lake Orla North"),)
    assert await TOKEN_F1.score(given("Lake Orla", short_answers=points)) == pytest.approx(80)


@pytest.mark.parametrize(
    ("answer", "accepted", "score"),
    [("Yes.", "yes", 100), ("yes it is", "yes", 0), ("no", "no one", 0), ("not at all", "no one at all", 57.142857)],
)
async def test_token_f1_gives_yes_and_no_no_partial_credit(answer: str, accepted: str, score: float) -> None:
    # last: {not, at, all} and {no, one, at, all}: 2 shared, F1 = 2 x 2 / (3 + 4) = 4/7
    assert await TOKEN_F1.score(given(answer, short_answers=((accepted,),))) == pytest.approx(score)


async def test_chinese_answers_are_found_across_spaces_and_punctuation() -> None:
    sample = given("净利润为 5.2 亿元。", short_answers=(("5.2亿元",), ("净利润，为",), ("亏损",)))
    assert await STR_EM.score(sample) == pytest.approx(200 / 3)
    assert await DISAMBIG_RECALL.score(sample) == pytest.approx(200 / 3)


OPTIONS = ("a ship", "a house", "a tree", "a song")


@pytest.mark.parametrize(
    ("answer", "score"),
    [("(D)", 100), ("The answer is (d), not (a).", 100), ("(A) or (d)", 0), ("d", 0), ("(e) or [d]", 0), ("", 0)],
)
async def test_the_first_letter_in_brackets_is_the_choice_and_an_answer_without_one_is_wrong(
    answer: str, score: float
) -> None:
    assert await Accuracy().score(given(answer, options=OPTIONS, correct=3)) == score


async def test_a_sample_without_a_right_option_is_not_scored() -> None:
    assert await Accuracy().score(given("(a)", options=OPTIONS)) is None


SEVEN = tuple((f"place {i}", f"alias {i}") for i in range(7))


@pytest.mark.parametrize(
    ("answer", "precision", "recall", "recall5"),
    [
        ("Place 0, the alias 1, Nowhere, place 0.", 3 / 4, 2 / 7, 2 / 5),
        (", ".join(f"place {i}" for i in range(6)) + ",", 1.0, 6 / 7, 1.0),
        ("Nowhere", 0.0, 0.0, 0.0),
        (" , .", 0.0, 0.0, 0.0),
    ],
)
async def test_a_list_of_answers(answer: str, precision: float, recall: float, recall5: float) -> None:
    sample = given(answer, short_answers=SEVEN)
    both = precision + recall5
    expected = {
        "qampari_precision": precision,
        "qampari_recall": recall,
        "qampari_recall5": recall5,
        "qampari_f1_5": 2 * precision * recall5 / both if both else 0,
    }
    found = {name: await Qampari(name).score(sample) for name in expected}  # pyright: ignore[reportArgumentType]
    assert found == pytest.approx({name: 100 * value for name, value in expected.items()})


RIVERS: dict[str, Any] = {"short_answers": (("98 km",), ("41 km",)), "wrong_answers": ("120 km",)}


@pytest.mark.parametrize(
    ("answer", "right", "absent"),
    [
        ("The Orle of Tamsin is 98 km long, that of Holm 41 km.", 100, 100),
        ("The Orle of Tamsin is 98 km long, that of Holm 241 km.", 0, 100),  # 41 km is no word of its own
        ("It is 98 km long, in Holm 41 km; one source says 120 km.", 100, 0),
        ("", 0, 100),
    ],
)
async def test_all_right_values_are_told_and_no_planted_one(answer: str, right: float, absent: float) -> None:
    assert await PLAIN["all_right"].score(given(answer, **RIVERS)) == right
    assert await PLAIN["wrong_absent"].score(given(answer, **RIVERS)) == absent


async def test_a_planted_value_inside_a_right_one_is_not_told() -> None:
    fields: dict[str, Any] = {"short_answers": (("Professional chess",),), "wrong_answers": ("Chess",)}
    assert await PLAIN["wrong_absent"].score(given("She plays professional chess.", **fields)) == 100
    assert await PLAIN["wrong_absent"].score(given("Professional chess, not street chess.", **fields)) == 0


@pytest.mark.parametrize(
    ("answer", "absent"),
    [("He was born in Paris, Texas.", 0), ("Paris, Texas, is not Paris.", 0), ("He was born in Paris.", 100)],
)
async def test_a_right_value_inside_a_planted_one_does_not_hide_it(answer: str, absent: float) -> None:
    fields: dict[str, Any] = {"short_answers": (("Paris",),), "wrong_answers": ("Paris, Texas",)}
    assert await PLAIN["wrong_absent"].score(given(answer, **fields)) == absent


async def test_a_planted_value_that_is_right_too_is_not_wrong() -> None:
    fields: dict[str, Any] = {"short_answers": (("98 km",),), "wrong_answers": ("98 km", "120 km")}
    assert await PLAIN["wrong_absent"].score(given("It is 98 km long.", **fields)) == 100


async def test_where_nothing_was_planted_nothing_can_be_absent() -> None:
    assert await PLAIN["wrong_absent"].score(given("98 km", short_answers=(("98 km",),))) is None
