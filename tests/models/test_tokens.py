"""The packaged tokenizer, and the lower bound for unknown ones."""

import pytest

from discorag.models.tokens import PackagedTokens, fewest_tokens

TOKENS = PackagedTokens()


def test_offsets_are_those_of_characters_and_long_texts_are_neither_cut_nor_padded() -> None:
    text = "Naïve 😀 世界 ends."
    [offsets] = TOKENS.token_offsets([text])
    assert [text[a:b] for a, b in offsets] == ["Naïve", "😀", "世", "界", "ends", "."]
    assert [len(o) for o in TOKENS.token_offsets(["word " * 5000, "word", ""])] == [5000, 1, 0]


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
