"""The protocol of what counts tokens."""

from collections.abc import Sequence
from typing import Protocol


class TokenCounter(Protocol):
    """Counts and locates the tokens of the encoder's tokenizer."""

    @property
    def max_tokens(self) -> int:
        """The encoder's window, special tokens included."""
        ...

    @property
    def special_tokens(self) -> int:
        """How many special tokens are added to one text."""
        ...

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The character ranges of the tokens of each text, without special tokens."""
        ...
