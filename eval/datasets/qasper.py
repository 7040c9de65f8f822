"""QASPER (Dasigi et al. 2021): questions on research papers."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, normal, read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

INSTRUCTION = (
    "Answer with a phrase as short as possible, taken from the paper where you can; with Yes or No if that is asked; "
    "with Unanswerable if the paper does not say."
)
UNANSWERABLE = "Unanswerable"
FLOAT = "FLOAT SELECTED"
DEEPEST_HEADING = 6


class _Answer(BaseModel):
    unanswerable: bool
    extractive_spans: list[str]
    yes_no: bool | None
    free_form_answer: str
    evidence: list[str]
    highlighted_evidence: list[str]

    @property
    def type(self) -> str:
        """As the official evaluator names it."""
        if self.unanswerable:
            return "none"
        if self.extractive_spans:
            return "extractive"
        return "abstractive" if self.free_form_answer else "boolean"

    @property
    def text(self) -> str:
        """The answer string of the official evaluator (``get_answers_and_evidence``); empty if there is none."""
        if self.unanswerable:
            return UNANSWERABLE
        if self.extractive_spans:
            return ", ".join(self.extractive_spans)
        if self.free_form_answer or self.yes_no is None:
            return self.free_form_answer
        return "Yes" if self.yes_no else "No"


class _Annotation(BaseModel):
    answer: _Answer


class _Question(BaseModel):
    question: str = Field(pattern=r"\S")
    question_id: str = Field(pattern=r"\S")
    answers: list[_Annotation] = Field(min_length=1)


class _Section(BaseModel):
    section_name: str | None
    paragraphs: list[str]


class _Paper(BaseModel):
    title: str = Field(pattern=r"\S")
    abstract: str
    full_text: list[_Section]
    qas: list[_Question]


def load_qasper(path: Path) -> Benchmark:
    """The papers of an official v0.3 file (``{paper id: paper}``); parts are paragraphs, the abstract among them.

    ``references[i]`` is the answer of annotator ``i`` as the official evaluator writes it; ``Gold.annotator`` is that
    ``i``. Gold pieces are labelled ``evidence`` (paragraphs, as the official Evidence-F1 counts them) or ``highlight``
    (stretches of them, as DISRetrieval counts them). Evidence in figures and tables is dropped.

    Stratum ``type`` is that of the first annotator's answer (DISRetrieval table 6).

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing or renamed, a question id is repeated, an answer is empty.
    """
    dropped: Counter[str] = Counter()
    documents: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for paper_id, paper in read_json(dict[str, _Paper], path).items():
        document = _document(paper_id, paper)
        document = documents.setdefault(document.text, document)
        samples += [_sample(question, document, f"{path}: {paper_id}", dropped) for question in paper.qas]
    return Benchmark(
        name="qasper",
        documents={document.id: document for document in documents.values()},
        samples=unique(samples, path),
        dropped=dict(dropped),
    )


def _document(paper_id: str, paper: _Paper) -> SourceDocument:
    title = " ".join(paper.title.split())
    builder = TextBuilder()
    builder.add(f"# {title}")
    if normal(paper.abstract):
        builder.add("## Abstract")
        builder.part(paper.abstract)
    above: list[str] = []
    for section in paper.full_text:
        names = [" ".join(name.split()) for name in (section.section_name or "").split(":::")]
        _add_headings(builder, names, above)
        above = names
        for paragraph in section.paragraphs:
            builder.part(paragraph)
    return builder.document(paper_id, title)


def _add_headings(builder: TextBuilder, names: list[str], above: list[str]) -> None:
    """The section's own heading, after those of its ancestors that do not stand yet (``A ::: B`` may lack ``A``)."""
    shared = 0
    while shared < min(len(names) - 1, len(above)) and names[shared] == above[shared]:
        shared += 1
    for depth, name in enumerate(names[shared:], start=shared):
        if name:
            builder.add(f"{'#' * min(depth + 2, DEEPEST_HEADING)} {name}")


def _sample(question: _Question, document: SourceDocument, place: str, dropped: Counter[str]) -> Sample:
    answers = [annotation.answer for annotation in question.answers]
    references = tuple(normal(answer.text) for answer in answers)
    if "" in references:
        raise DataError(
            f"{place}: {question.question_id}: answer {references.index('')} is empty.",
            hint="One of unanswerable, extractive_spans, free_form_answer and yes_no must be set.",
        )
    return Sample(
        id=question.question_id,
        query=normal(question.question),
        instruction=INSTRUCTION,
        documents=(document.id,),
        references=references,
        gold=tuple(gold for n, answer in enumerate(answers) for gold in _gold(answer, n, document, dropped)),
        strata={"type": answers[0].type},
        answerable=2 * sum(answer.unanswerable for answer in answers) <= len(answers),
    )


def _gold(answer: _Answer, annotator: int, document: SourceDocument, dropped: Counter[str]) -> Iterator[Gold]:
    for label, texts in (("evidence", answer.evidence), ("highlight", answer.highlighted_evidence)):
        for text in dict.fromkeys(map(normal, texts)):
            if text.startswith(FLOAT):
                dropped[f"{label} in a figure or table"] += 1
                continue
            spans = _paragraphs(text, document) if label == "evidence" else _occurrences(text, document)
            anywhere = tuple(DocSpan(doc=document.id, span=span) for span in spans)
            if anywhere:
                yield Gold(label=label, anywhere=anywhere, annotator=annotator)
            else:
                dropped[f"{label} not found in the paper"] += 1


def _paragraphs(text: str, document: SourceDocument) -> list[Span]:
    return [part for part in document.parts if part.of(document.text) == text]


def _occurrences(text: str, document: SourceDocument) -> list[Span]:
    found = re.finditer(re.escape(text), document.text) if text else ()
    return [Span(start=match.start(), end=match.end()) for match in found]
