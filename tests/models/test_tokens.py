"""The packaged tokenizer."""

from discorag.models.tokens import PackagedTokens

TOKENS = PackagedTokens()


def test_offsets_are_those_of_characters_and_long_texts_are_neither_cut_nor_padded() -> None:
    text = "Naïve 😀 世界 ends."
    [offsets] = TOKENS.token_offsets([text])
    assert [text[a:b] for a, b in offsets] == ["Naïve", "😀", "世", "界", "ends", "."]
    assert [len(o) for o in TOKENS.token_offsets(["word " * 5000, "word", ""])] == [5000, 1, 0]
