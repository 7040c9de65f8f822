"""Which models cannot read the language of a text."""

from __future__ import annotations

from collections.abc import Sequence

from discorag.models.packaged import languages_of
from discorag.text.language import detect_language


def language_warning(text: str, models: Sequence[str]) -> str:
    """A sentence that names the models which do not know the language of a text; empty if all do, or if it is unknown.

    Args:
        text: Of a document, or of the passages that were found.
        models: Versions of the encoder and the reranker. Of models that are not packaged nothing is known.
    """
    if all(languages_of(model) is None for model in models):
        return ""
    language = detect_language(text)
    unable = [m.partition("@")[0] for m in models if language and language not in (languages_of(m) or (language,))]
    if not unable:
        return ""
    return (
        f"The text is in a language (ISO code '{language}') that {' and '.join(unable)} cannot read: expect poor "
        "search results. `disco-rag models list` names multilingual models."
    )
