import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from eval.metrics.sari import Sari, operations, tokens_13a
from tests.eval.metrics.givens import given

SOURCE = "About 95 species are currently accepted ."
OUTPUT = "About 95 you now get in ."
REFERENCES = (
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
)


async def test_sari_of_the_example_is_the_published_value_and_of_no_document_none() -> None:
    # Keep F1, orders 1 and 2: 8/13, 2/7; add F1, order 1: 1/3; delete precision: 1/4, 2/5, 3/5, 3/4.
    # ((8/13 + 2/7)/4 + 1/12 + 1/2) / 3 = 0.269536: the value in the documentation of Hugging Face's metric
    sample = given(OUTPUT, source=SOURCE, references=REFERENCES)
    assert await Sari("sari").score(sample) == pytest.approx(26.953601953601954)
    # ((8/13 + 2/7)/4 + 1/12 + (3/8 + 6/11 + 3/4 + 6/7)/4) / 3
    expected = 100 * ((8 / 13 + 2 / 7) / 4 + 1 / 12 + (3 / 8 + 6 / 11 + 3 / 4 + 6 / 7) / 4) / 3
    assert await Sari("sari_delete_f1").score(sample) == pytest.approx(expected)
    assert await Sari("sari").score(given("a", references=("a b",))) is None


def test_tokens_are_lower_cased_with_punctuation_apart() -> None:
    assert tokens_13a('The U.S. rose 3.5%, "fast".\nThen') == [
        *["the", "u", ".", "s", ".", "rose", "3.5", "%", ",", '"', "fast", '"', ".", "then"]
    ]


def test_deleting_some_occurrences_of_a_repeated_word_is_right_only_beyond_the_references_count() -> None:
    # 5 x a becomes 1 x a: 4 deleted; the reference has 3, so 4 - 3 = 1 is right, of 5 - 3 = 2 that should go.
    # n=1: P = 1/4, R = 1/2, F1 = 1/3. n=2: 4 deleted, 2 in the reference: P = 2/4, R = 2/2, F1 = 2/3.
    # n=3: 3 deleted, 1 in the reference: P = 2/3, R = 1, F1 = 4/5. n=4: P = R = 1.
    found = operations(["a"] * 5, ["a"], [["a"] * 3])
    assert found.delete_precision == pytest.approx((1 / 4 + 2 / 4 + 2 / 3 + 1) / 4)
    assert found.delete_f1 == pytest.approx((1 / 3 + 2 / 3 + 4 / 5 + 1) / 4)


@forall(st.permutations("abcdef"), st.lists(st.sampled_from("abcdefgh"), max_size=8))
def test_of_a_source_without_repetitions_the_only_reference_scores_one(source: list[str], reference: list[str]) -> None:
    found = operations(source, reference, [reference])
    assert (found.keep_f1, found.add_f1, found.delete_precision, found.delete_f1) == pytest.approx((1, 1, 1, 1))
