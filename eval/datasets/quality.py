"""QuALITY (Pang et al. 2022): multiple-choice questions on long stories and articles."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from eval.datasets.reading import TextBuilder, normal, read_lines, unique
from eval.errors import DataError
from eval.sample import Benchmark, Sample, SourceDocument


class _Question(BaseModel):
    question: str = Field(pattern=r"\S")
    question_unique_id: str = Field(pattern=r"\S")
    options: list[str] = Field(min_length=4, max_length=4)
    gold_label: Literal[1, 2, 3, 4]
    difficult: Literal[0, 1] | None = None


class _Article(BaseModel):
    article_id: str = Field(pattern=r"\S")
    title: str
    article: str = Field(pattern=r"\S")
    questions: list[_Question]


def load_quality(path: Path) -> Benchmark:
    """The questions of an official ``QuALITY.*.htmlstripped.*`` file with gold labels (training or development).

    The two official lines of an article, one per writer, share its document. Stratum ``difficult`` ("1" is the HARD
    subset) where the file has the flag. There is no gold evidence and there are no parts.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, a field is missing or renamed, an id is repeated, an article has two texts.
    """
    by_text: dict[str, SourceDocument] = {}
    texts: dict[str, str] = {}
    samples: list[Sample] = []
    for place, article in read_lines(_Article, path):
        document = _document(article)
        doc = by_text.setdefault(document.text, document).id
        if texts.setdefault(document.id, document.text) != document.text:
            raise DataError(
                f"{place}: article_id {document.id} has another text than before.", hint="Remove one of the lines."
            )
        samples += _samples(article, doc)
    documents = {document.id: document for document in by_text.values()}
    return Benchmark(name="quality", documents=documents, samples=unique(samples, path))


def _document(article: _Article) -> SourceDocument:
    title = " ".join(article.title.split())
    builder = TextBuilder()
    builder.add(f"# {title}" if title else "")
    builder.add(article.article)
    return builder.document(article.article_id, title)


def _samples(article: _Article, doc: str) -> Iterator[Sample]:
    for question in article.questions:
        options = tuple(map(normal, question.options))
        yield Sample(
            id=question.question_unique_id,
            query=normal(question.question),
            instruction=_instruction(options),
            documents=(doc,),
            options=options,
            correct=question.gold_label - 1,
            strata={} if question.difficult is None else {"difficult": str(question.difficult)},
        )


def _instruction(options: tuple[str, ...]) -> str:
    listed = "\n".join(f"({letter}) {option}" for letter, option in zip("abcd", options, strict=True))
    return f"Choose the right option and answer with its letter in parentheses, such as (a).\n{listed}"
