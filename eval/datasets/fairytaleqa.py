"""FairytaleQA (Xu et al. 2022): questions on tales, each labelled with the sections that answer it."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from discorag.schema.errors import MissingPathError
from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, normal, read_text, unique, validate
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

INSTRUCTION = "Answer briefly, with a phrase or one sentence."
EXCESS = "fields without a column"


class _Section(BaseModel):
    section: str = Field(pattern=r"\S")
    text: str


class _Question(BaseModel):
    question_id: str = Field(pattern=r"\S")
    local_or_sum: str = Field(alias="local-or-sum")
    cor_section: str
    attribute1: str
    question: str = Field(pattern=r"\S")
    ex_or_im1: str = Field(alias="ex-or-im1")
    answer1: str
    answer2: str
    answer3: str
    answer4: str
    answer5: str
    answer6: str

    @property
    def answers(self) -> tuple[str, ...]:
        """The two annotators' answers that are not empty, each once."""
        all_six = (self.answer1, self.answer2, self.answer3, self.answer4, self.answer5, self.answer6)
        return tuple(dict.fromkeys(text for text in map(normal, all_six) if text))


def load_fairytaleqa(folder: Path) -> Benchmark:
    """The tales under ``questions/<split>/X-questions.csv`` with ``section-stories/<split>/X-story.csv``.

    Parts are the dataset's sections, one paragraph each; every section named in ``cor_section`` is one gold piece.

    Raises:
        MissingPathError: No question files in ``folder``.
        DataError: A question file has no story, a row is cut off, a field is missing or renamed, an id is repeated.
    """
    files = sorted(folder.glob("questions/*/*-questions.csv"))
    if not files:
        raise MissingPathError(
            f"{folder} has no questions/*/*-questions.csv.", hint="Name the folder that holds questions/."
        )
    dropped: Counter[str] = Counter()
    documents: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for file in files:
        document, sections = _story(file, folder)
        known = documents.setdefault(document.text, document)
        samples += _samples(file, known.id, sections, dropped)
    return Benchmark(
        name="fairytaleqa",
        documents={document.id: document for document in documents.values()},
        samples=unique(samples, folder),
        dropped=dict(dropped),
    )


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with its place. Raises `DataError` where a quoted field is cut off or a row has too many fields."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), restkey=EXCESS, strict=True)
    try:
        for row in reader:
            place = f"{path}:{reader.line_num}"
            if EXCESS in row:
                raise DataError(f"{place}: fields without a column: {row[EXCESS]}.", hint="Quote fields with commas.")
            yield place, row
    except csv.Error as error:
        raise DataError(
            f"{path}:{reader.reader.line_num}: {error}.", hint="Is the file whole? Fetch the official file again."
        ) from error


def _name(file: Path) -> str:
    return file.name.removesuffix("-questions.csv")


def _story(file: Path, folder: Path) -> tuple[SourceDocument, dict[str, Span | None]]:
    """The story that the question file ``file`` asks about, and its sections by id, None for a blank one."""
    path = folder / "section-stories" / file.parent.name / f"{_name(file)}-story.csv"
    if not path.is_file():
        raise DataError(f"{file}: its story {path} does not exist.", hint="Fetch the official section-stories folder.")
    title = _name(file).replace("-", " ").capitalize()
    builder = TextBuilder()
    builder.add(f"# {title}")
    sections: dict[str, Span | None] = {}
    for place, row in _rows(path):
        section = validate(_Section, row, place)
        if section.section in sections:
            raise DataError(f"{place}: section {section.section} appears twice.", hint="Remove one of the rows.")
        sections[section.section] = builder.part(section.text)
    return builder.document(_name(file), title), sections


def _samples(file: Path, doc: str, sections: dict[str, Span | None], dropped: Counter[str]) -> Iterator[Sample]:
    for place, row in _rows(file):
        question = validate(_Question, row, place)
        if not question.answers:
            dropped["question without an answer"] += 1
            continue
        yield Sample(
            id=f"{_name(file)}-{question.question_id}",
            query=normal(question.question),
            instruction=INSTRUCTION,
            documents=(doc,),
            references=question.answers,
            gold=tuple(_gold(question, doc, sections, dropped)),
            strata={
                "local-or-sum": question.local_or_sum,
                "attribute1": question.attribute1,
                "ex-or-im1": question.ex_or_im1,
            },
        )


def _gold(question: _Question, doc: str, sections: dict[str, Span | None], dropped: Counter[str]) -> Iterator[Gold]:
    for section in dict.fromkeys(map(str.strip, question.cor_section.split(","))):
        span = sections.get(section)
        if span is None:
            dropped["gold section not in the story"] += 1
            continue
        yield Gold(label=f"section {section}", anywhere=(DocSpan(doc=doc, span=span),))
