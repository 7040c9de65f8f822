import pytest

from eval.metrics.qa import QasperAnswerF1
from tests.eval.metrics.givens import given


async def test_the_best_annotator_counts() -> None:
    # {bleu, rouge} against {bleu}: P = 1/2, R = 1, F1 = 2/3; against {accuracy}: 0
    sample = given("BLEU, ROUGE", references=("accuracy", "the BLEU"))
    assert await QasperAnswerF1().score(sample) == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [("unanswerable.", "Unanswerable", 100), ("Yes", "Yes", 100), ("No", "Yes", 0), ("Yes, they do", "Yes", 50)],
)
async def test_yes_no_and_unanswerable_are_compared_as_words(answer: str, reference: str, score: float) -> None:
    # last: {yes, they, do} against {yes}: P = 1/3, R = 1, F1 = 1/2
    assert await QasperAnswerF1().score(given(answer, references=(reference,))) == pytest.approx(score)


async def test_a_sample_without_references_is_not_scored() -> None:
    assert await QasperAnswerF1().score(given("yes")) is None
