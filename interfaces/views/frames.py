"""Answers as a table, for data frames: a row for each source of each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from discorag.extras import extra
from discorag.schema.answer import Answer

if TYPE_CHECKING:
    from pandas import DataFrame


def to_pandas(answers: Iterable[Answer]) -> DataFrame:
    """A data frame with the columns of `rows`.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    with extra("pandas"):
        import pandas

    return pandas.DataFrame([row for answer in answers for row in rows(answer)])


def rows(answer: Answer) -> Iterator[dict[str, Any]]:
    """Question, sentence and source; an answer that was refused, and a sentence that is not supported, has none."""
    asked: dict[str, Any] = {"question": answer.query, "answerable": answer.answerable, "refused": answer.abstained}
    for number, sentence in enumerate(answer.sentences, start=1):
        said = {"number": number, "sentence": sentence.text}
        judged = {"support": str(sentence.support), "confidence": sentence.confidence}
        for source in sentence.evidence or (None,):
            yield asked | said | judged | _place(source)
    if not answer.sentences:
        yield asked


def _place(source: Any) -> dict[str, Any]:
    if source is None:
        return {}
    place = {"source": source.title, "doc_id": source.doc_id, "start": source.span.start, "end": source.span.end}
    return place | {"page": source.page, "quote": source.text}
