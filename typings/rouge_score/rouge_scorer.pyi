from typing import NamedTuple, Protocol

class Tokenizer(Protocol):
    def tokenize(self, text: str) -> list[str]: ...

class Score(NamedTuple):
    precision: float
    recall: float
    fmeasure: float

class RougeScorer:
    def __init__(
        self,
        rouge_types: list[str],
        use_stemmer: bool = False,
        split_summaries: bool = False,
        tokenizer: Tokenizer | None = None,
    ) -> None: ...
    def score(self, target: str, prediction: str) -> dict[str, Score]: ...
