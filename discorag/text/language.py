"""The language of a text, if it is clear."""

# py3langid is not typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from functools import cache
from typing import Any

from discorag.text.sentences import language_of
from discorag.text.terms import terms

ENGLISH = "en"
_READ = 2000  # characters
_FEWEST = 200  # letters below which no language is returned
_SURE = 0.95
_ENGLISH_WORDS = 0.2
"""The least share of stop words of a text that is taken for English without asking the model."""


def detect_language(text: str) -> str | None:
    """ISO 639-1 code of the language of a text; None if it is too short or no language is likely enough."""
    head = text[:_READ]
    if language_of(head) == "zh":
        return "zh"
    if sum(map(str.isalpha, head)) < _FEWEST:
        return None
    words = terms(head, stopwords=False)
    if 1 - len(terms(head)) / max(1, len(words)) >= _ENGLISH_WORDS:
        return ENGLISH
    language, probability = _identifier().classify(head)
    return str(language) if probability >= _SURE else None


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
