"""ConditionalQA's answer F1 for one answer, by hand, and the words of conditions."""

import pytest

from eval.metrics.registry import PLAIN
from tests.eval.metrics.givens import given

F1, NAMED = PLAIN["conditionalqa_f1"], PLAIN["conditions_named"]
LICENCE = "You have a licence."


async def test_the_first_sentence_is_the_answer_and_several_right_ones_share_the_score() -> None:
    # {within, 10, days} and {10, days}: P = 2/3, R = 1, F1 = 4/5
    answer = "Within 10 days. If you pay the fee, of course."
    assert await F1.score(given(answer, short_answers=(("10 days",),))) == pytest.approx(80)
    assert await F1.score(given("Yes. No fee is due.", short_answers=(("yes",), ("no",)))) == 50
    assert await F1.score(given("", short_answers=(("yes",),))) == 0


async def test_a_page_without_an_answer_is_not_scored() -> None:
    assert await F1.score(given("Yes.")) is None


async def test_conditions_are_named_by_their_words_wherever_they_stand() -> None:
    # {you, have, licence}: two of three; {boat, is, home}: none
    sample = given(
        "Yes. You need a licence.", short_answers=(("yes",), ("no",)), conditions=((LICENCE,), ("The boat is a home.",))
    )
    assert await NAMED.score(sample) == pytest.approx(100 / 3)
    assert await NAMED.score(given("Yes.", short_answers=(("yes",),), conditions=((),))) is None


async def test_a_condition_without_words_is_none() -> None:
    assert await NAMED.score(given("Yes.", short_answers=(("yes",),), conditions=(("the",),))) is None
