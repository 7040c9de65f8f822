import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from eval.metrics.normal import answer_tokens, holds_cjk, normalise, split_at_cjk, token_f1

TEXTS = st.text(alphabet=st.sampled_from("aBt he.,!中国。 \n5“"), max_size=30)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Cat, an Apple\nand a dog!", "cat apple and dog"),
        ("U.S.A.", "usa"),
        ("another theatre", "another theatre"),
        ("3.5%", "35"),
        ("“curly”", "“curly”"),
    ],
)
def test_english_is_normalised_by_the_squad_rule(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_chinese_loses_punctuation_and_spaces_and_each_of_its_characters_is_a_token() -> None:
    assert normalise("净利润 为 5.2 亿元，“增长”。 New York") == "净利润为52亿元增长new york"
    assert answer_tokens("A股 rose 5%，收盘") == ["a", "股", "rose", "5", "收", "盘"]


def test_token_f1_counts_shared_words_as_often_as_both_have_them() -> None:
    # {cat: 2, sat: 1} and {cat: 1, sat: 1, mat: 1}: 2 shared; P = 2/3, R = 2/3, F1 = 2/3
    assert token_f1("cat cat sat", "the cat sat, mat") == pytest.approx(2 / 3)
    # 中国 and 中国人: 2 shared; P = 2/2, R = 2/3, F1 = 4/5
    assert token_f1("中国", "中国人") == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("prediction", "reference", "f1"), [("", "", 1), ("the", "", 1), ("cat", "", 0), ("", "cat", 0)]
)
def test_token_f1_of_an_empty_bag_is_one_only_if_both_are_empty(prediction: str, reference: str, f1: float) -> None:
    assert token_f1(prediction, reference) == f1


@forall(TEXTS)
def test_pieces_join_to_the_text_and_hold_at_most_one_chinese_character(text: str) -> None:
    pieces = split_at_cjk(text)
    assert "".join(pieces) == text
    assert all(len(piece) == 1 for piece in pieces if holds_cjk(piece))
