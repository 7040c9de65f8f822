from collections.abc import Callable, Sequence
from typing import Literal

class Tokenizer:
    def __init__(
        self,
        lower: bool = True,
        splitter: str | Callable[[str], list[str]] = ...,
        stopwords: Sequence[str] | None = ...,
    ) -> None: ...
    def tokenize(
        self,
        texts: list[str],
        update_vocab: bool = ...,
        *,
        show_progress: bool = True,
        return_as: Literal["string"],
        allow_empty: bool = True,
    ) -> list[list[str]]: ...
