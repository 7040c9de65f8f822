"""The packaged tokenizer, and the lower bound for unknown ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.models.tokens import PackagedTokens, fewest_tokens

TOKENS = PackagedTokens()


def test_offsets_are_those_of_characters_not_bytes() -> None:
    text = "Naïve 😀 世界 ends."
    [offsets] = TOKENS.token_offsets([text])
    assert [text[a:b] for a, b in offsets] == ["Naïve", "😀", "世", "界", "ends", "."]


def test_long_texts_are_neither_cut_nor_padded() -> None:
    assert [len(o) for o in TOKENS.token_offsets(["word " * 5000, "word", ""])] == [5000, 1, 0]


def test_word_over_a_hundred_characters_is_one_token_over_all_of_it() -> None:
    assert TOKENS.token_offsets(["x" * 101]) == [[(0, 101)]]


@given(st.lists(st.text(), max_size=4))
def test_offsets_of_any_text_are_in_order_and_inside_it(texts: list[str]) -> None:
    for text, offsets in zip(texts, TOKENS.token_offsets(texts), strict=True):
        starts = [a for a, _ in offsets]
        assert starts == sorted(starts)
        assert all(0 <= a <= b <= len(text) for a, b in offsets)


@pytest.mark.parametrize(
    "text",
    [
        "The committee approved the internationalisation programme after long consideration.",
        "Die Donaudampfschifffahrtsgesellschaft transportierte Getreide.",
        "我们在实验中发现,句子树检索的召回率更高。",
        "| a | b |\n|-----------------|--------------------|\n" + " " * 300 + "| 1 | 2 |",
        "def f(x):\n" + "\t" * 20 + "return x",
    ],
)
def test_lower_bound_is_below_a_real_count(text: str) -> None:
    assert fewest_tokens(text) <= len(TOKENS.token_offsets([text])[0])
