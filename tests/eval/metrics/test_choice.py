import pytest

from eval.metrics.choice import Accuracy, chosen
from tests.eval.metrics.givens import given

OPTIONS = ("a ship", "a house", "a tree", "a song")


@pytest.mark.parametrize(
    ("answer", "index"),
    [
        ("(C) a tree", 2),
        ("The answer is (b), not (a).", 1),
        ("C", None),
        ("(e) or [a]", None),
        ("", None),
    ],
)
def test_the_first_letter_in_brackets_is_the_choice(answer: str, index: int | None) -> None:
    assert chosen(answer) == index


@pytest.mark.parametrize(("answer", "score"), [("(d)", 100), ("(A)", 0), ("a song", 0)])
async def test_accuracy_counts_an_answer_without_a_choice_as_wrong(answer: str, score: float) -> None:
    assert await Accuracy().score(given(answer, options=OPTIONS, correct=3)) == score


async def test_a_sample_without_a_right_option_is_not_scored() -> None:
    assert await Accuracy().score(given("(a)", options=OPTIONS)) is None
