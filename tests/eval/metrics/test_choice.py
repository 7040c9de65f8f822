import pytest

from eval.metrics.choice import Accuracy
from tests.eval.metrics.givens import given

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
