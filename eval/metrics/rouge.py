"""ROUGE (Lin 2004) with the ``rouge-score`` library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from discorag.extras import extra
from discorag.text.sentences import sentence_spans
from eval.metrics.base import Given
from eval.metrics.normal import holds_cjk, split_at_cjk

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

Kind = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]


@dataclass(frozen=True)
class Rouge:
    """F1 of ROUGE, best over the references, with Porter stemming.

    ``rouge1``, ``rouge2``: n-grams; ``rougeL``: longest common subsequence of the whole texts; ``rougeLsum``: union of
    the sentences' longest common subsequences, as ASQA scores it (``scoring.py``). ASQA splits the lower-cased
    text with NLTK's punkt model; here `discorag.text.sentences` splits the text as written (the tokenizer lower-cases),
    which needs no model and knows Chinese. A text split otherwise may score slightly differently.

    Each Chinese or Japanese character is a token of its own: the library's default would drop it. Text without such
    characters is tokenised as the library does.
    """

    name: Kind

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references."""
        references = given.sample.references
        if not references:
            return None
        return max(rouge_f1(given.answer, reference, self.name) for reference in references)


def rouge_f1(answer: str, reference: str, kind: Kind) -> float:
    """F1 of one pair of texts, 0 to 100."""
    if kind == "rougeLsum":
        answer, reference = _sentence_lines(answer), _sentence_lines(reference)
    return 100 * _scorer(kind).score(reference, answer)[kind].fmeasure


def _sentence_lines(text: str) -> str:
    return "\n".join(" ".join(span.of(text).split()) for span in sentence_spans(text))


@cache
def _scorer(kind: Kind) -> RougeScorer:
    with extra("eval"):
        from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind], tokenizer=_CjkTokenizer())


class _CjkTokenizer:
    """The library's tokenizer with stemming, and each Chinese or Japanese character as one token."""

    def __init__(self) -> None:
        with extra("eval"):
            from rouge_score.tokenizers import DefaultTokenizer

        self._default = DefaultTokenizer(use_stemmer=True)

    def tokenize(self, text: str) -> list[str]:
        tokens: list[str] = []
        for piece in split_at_cjk(text):
            tokens.extend([piece] if holds_cjk(piece) else self._default.tokenize(piece))
        return tokens
