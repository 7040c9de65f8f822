"""CLAPNQ (Rosenthal et al. 2025): questions of Natural Questions with one passage, which answers half of them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.errors import MissingPathError
from discorag.schema.values import Span, digest
from eval.datasets.asqa import Passages
from eval.datasets.reading import normal, read_lines, unique
from eval.sample import Benchmark, DocSpan, Gold, Sample

_NOT_FOUND = "selected sentences that are not in the passage"


class _Passage(BaseModel):
    title: str
    text: str = Field(pattern=r"\S")
    sentences: tuple[str, ...]


class _Output(BaseModel):
    answer: str | None
    selected_sentences: tuple[str, ...] = ()


class _Question(BaseModel):
    id: str = Field(min_length=1)
    input: str = Field(pattern=r"\S")
    passages: tuple[_Passage, ...] = Field(min_length=1)
    output: tuple[_Output, ...]


def load_clapnq(folder: Path) -> Benchmark:
    """The questions of ``*_answerable.jsonl`` and ``*_unanswerable.jsonl``; the passages are the documents.

    Evidence is each annotator's selected sentences.

    Raises:
        MissingPathError: No such files in ``folder``.
        DataError: A line is cut off or lacks a field, or an id is repeated.
    """
    files = sorted(folder.glob("*answerable.jsonl"))
    if not files:
        raise MissingPathError(f"{folder} has no *answerable.jsonl.", hint="Name the folder of annotated_data/dev.")
    passages, dropped = Passages(), Counter[str]()
    samples = [s for file in files for s in _samples(file, passages, dropped)]
    return Benchmark(
        name="clapnq", documents=passages.documents, samples=unique(samples, folder), dropped=dict(dropped)
    )


def _samples(file: Path, passages: Passages, dropped: Counter[str]) -> Iterator[Sample]:
    for place, question in read_lines(_Question, file):
        answers = tuple(o.answer for o in question.output if o.answer)
        shown = question.passages[0]
        document = passages.add(digest(f"{shown.title}\n{shown.text}")[:16], shown.title, shown.text, place)
        yield Sample(
            id=f"clapnq-{question.id}",
            query=normal(question.input),
            documents=(document,),
            references=answers,
            gold=tuple(_gold(question, document, passages, dropped)),
            answerable=bool(answers),
        )


def _gold(question: _Question, document: str, passages: Passages, dropped: Counter[str]) -> Iterator[Gold]:
    text = passages.documents[document].text
    chosen = dict.fromkeys(s.strip() for o in question.output for s in o.selected_sentences)
    for sentence in filter(None, chosen):
        at = text.find(sentence)
        if at < 0:
            dropped[_NOT_FOUND] += 1
            continue
        yield Gold(label="selected", anywhere=(DocSpan(doc=document, span=Span(start=at, end=at + len(sentence))),))
