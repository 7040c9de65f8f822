"""Tokens of encoders: the packaged model's, and those of a tokenizer by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from discorag.models.hub import TOKENIZER_FILES, local_model
from discorag.models.packaged import MINILM, packaged_folder
from discorag.schema.errors import ConfigError


class FastTokens:
    """Counts and locates the tokens of an encoder; needs no torch (a `TokenCounter`).

    Args:
        tokenizer: The encoder's own; truncation and padding are switched off in it.
        max_tokens: The encoder's window, special tokens included.
    """

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer, self.max_tokens = tokenizer, max_tokens
        self.special_tokens = tokenizer.num_special_tokens_to_add(False)
        """How many special tokens are added to one text, such as ``[CLS]`` and ``[SEP]``."""

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The character range of each token of each text, without special tokens."""
        return [e.offsets for e in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens the encoder reads for each text, special tokens included."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [len(encoding.ids) + self.special_tokens for encoding in found]

    def ids(self, text: str) -> list[int]:
        """The token ids that the encoder reads for a text, special tokens included."""
        return self._tokenizer.encode(text).ids

    def less(self, tokens: int) -> FastTokens:
        """The same tokenizer with a smaller window, because ``tokens`` are put before every text."""
        return FastTokens(self._tokenizer, self.max_tokens - tokens)


class PackagedTokens(FastTokens):
    """The tokens of the packaged MiniLM, whose window is 256.

    WordPiece turns any run of more than 100 letters or digits into one ``[UNK]`` token: such a text counts few tokens,
    and the encoder sees as little of it.
    """

    def __init__(self) -> None:
        folder = packaged_folder(MINILM.name)
        config = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        super().__init__(Tokenizer.from_file(str(folder / "tokenizer.json")), int(config["max_seq_length"]))


def tokenizer_named(name: str) -> Tokenizer:
    """Load a tokenizer by its file, by a folder that has a ``tokenizer.json``, or by its model's name on the hub.

    Raises:
        ConfigError: It is not on this machine, or cannot be read.
    """
    path = Path(name).expanduser()
    file = path if path.is_file() else local_model(name, TOKENIZER_FILES) / "tokenizer.json"
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        said = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "Name a tokenizer.json, a folder that has one, or a model of the Hugging Face hub."
        raise ConfigError(f"The tokenizer '{name}' cannot be loaded: {said}", hint=hint) from error
