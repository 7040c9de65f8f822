import pytest

from eval.metrics.rouge import Kind, Rouge, rouge_f1
from tests.eval.metrics.givens import given

REFERENCE = "The cat sat on the mat"
ANSWER = "On the mat sat the cat"


@pytest.mark.parametrize(
    ("kind", "f1"),
    [
        ("rouge1", 100),  # the same six words
        ("rouge2", 60),  # of 5 bigrams each, shared: the cat, on the, the mat; P = R = 3/5
        ("rougeL", 50),  # LCS "on the mat" (or "sat the cat"...) = 3 of 6
    ],
)
def test_scores_of_one_pair_are_those_computed_by_hand(kind: Kind, f1: float) -> None:
    assert rouge_f1(ANSWER, REFERENCE, kind) == pytest.approx(f1)


def test_words_are_stemmed() -> None:
    assert rouge_f1("running dogs", "dog runs", "rouge1") == pytest.approx(100)


def test_lsum_matches_sentence_by_sentence_whatever_their_order() -> None:
    reference, answer = "Dogs bark loudly. Cats sleep all day.", "Cats sleep all day. Dogs bark loudly."
    # rougeL over the whole text: LCS = "cats sleep all day", 4 of 7; per sentence all 7 of 7 words are matched
    assert rouge_f1(answer, reference, "rougeL") == pytest.approx(400 / 7)
    assert rouge_f1(answer, reference, "rougeLsum") == pytest.approx(100)


def test_line_breaks_inside_a_sentence_do_not_split_it_for_lsum() -> None:
    wrapped = "Dogs that live by the sea bark\nmore loudly than dogs that live inland."
    reference = "Bark more dogs that live by the sea."
    assert rouge_f1(wrapped, reference, "rougeLsum") == rouge_f1(wrapped.replace("\n", " "), reference, "rougeLsum")


def test_chinese_is_compared_character_by_character() -> None:
    # 公司盈利 and 公司亏损: 2 of 4 characters; bigrams: 1 of 3; with " 2023" both have one more token
    assert rouge_f1("公司盈利", "公司亏损", "rouge1") == pytest.approx(50)
    assert rouge_f1("公司盈利", "公司亏损", "rouge2") == pytest.approx(100 / 3)
    assert rouge_f1("公司盈利2023", "公司亏损2023", "rouge1") == pytest.approx(60)


async def test_the_best_reference_counts_and_an_empty_answer_gets_zero() -> None:
    sample = given("dogs bark", references=("cats sleep", "dogs bark often"))
    # second: P = 2/2, R = 2/3, F1 = 4/5
    assert await Rouge("rouge1").score(sample) == pytest.approx(80)
    assert await Rouge("rougeLsum").score(given("", references=("dogs",))) == 0
