"""The answer normalisation of SQuAD, extended to Chinese."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IS_CJK = re.compile(f"[{CJK}]")
_SPACE_AT_CJK = re.compile(rf"(?<=[{CJK}])\s+|\s+(?=[{CJK}])")
_PIECE = re.compile(rf"[{CJK}]|[^{CJK}]+")


def holds_cjk(text: str) -> bool:
    """Whether ``text`` holds a Chinese or Japanese character."""
    return _IS_CJK.search(text) is not None


def split_at_cjk(text: str) -> list[str]:
    """``text`` in pieces that join to it again: single Chinese or Japanese characters, and what is between them."""
    return _PIECE.findall(text)


def normalise(text: str) -> str:
    """``text`` in lower case, without ASCII punctuation and the words a, an, the; white space squeezed.

    This is the official rule of SQuAD (Rajpurkar et al. 2016) and ASQA (``scoring.py``). Text that holds Chinese or
    Japanese also loses all other Unicode punctuation, and white space next to those characters, where it means nothing.
    """
    words = _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION))
    squeezed = " ".join(words.split())
    if not holds_cjk(squeezed):
        return squeezed
    plain = "".join(char for char in squeezed if not unicodedata.category(char).startswith("P"))
    return _SPACE_AT_CJK.sub("", plain).strip()


def answer_tokens(text: str) -> list[str]:
    """The words of the normalised ``text``; each Chinese or Japanese character is a token of its own."""
    return [token for piece in split_at_cjk(normalise(text)) for token in piece.split()]


def token_f1(prediction: str, reference: str) -> float:
    """F1, 0 to 1, of the bags of `answer_tokens` (SQuAD). If a bag is empty: 1 if both are, else 0 (SQuAD 2.0)."""
    predicted, expected = answer_tokens(prediction), answer_tokens(reference)
    if not predicted or not expected:
        return float(predicted == expected)
    shared = (Counter(predicted) & Counter(expected)).total()
    return 2 * shared / (len(predicted) + len(expected))


def exact(prediction: str, reference: str) -> bool:
    """Whether both are the same string once normalised (SQuAD)."""
    return normalise(prediction) == normalise(reference)


def best_token_f1(prediction: str, references: Iterable[str]) -> float:
    """The best `token_f1` over the references; 0 without any."""
    return max((token_f1(prediction, reference) for reference in references), default=0.0)
