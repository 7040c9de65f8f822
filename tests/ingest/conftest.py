from collections.abc import Sequence

import pytest
from tokenizers import Tokenizer

from discorag.models.packaged import MINILM, packaged_folder


class WordPieceCounter:
    """The packaged MiniLM tokenizer."""

    max_tokens = 256
    special_tokens = 2

    def __init__(self) -> None:
        model = packaged_folder(MINILM.name) / "tokenizer.json"
        self._tokenizer = Tokenizer.from_str(model.read_text("utf-8"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [e.offsets for e in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]


@pytest.fixture(scope="session")
def counter() -> WordPieceCounter:
    return WordPieceCounter()
