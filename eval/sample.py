"""What a benchmark is made of: documents with offsets, and questions with references and gold evidence."""

from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import BaseModel, Field

from discorag.schema.values import Span


class DocSpan(BaseModel, frozen=True):
    """Characters of one document's canonical text."""

    doc: str
    span: Span


class SourceDocument(BaseModel, frozen=True):
    """A document as it is ingested. All offsets refer to ``text``.

    Args:
        id: Unique in the benchmark.
        title: Shown as the source's name.
        text: Canonical text: line feeds only, no white space at the ends. Markdown where there are headings.
        parts: The dataset's own units in text order (turns, sections, paragraphs, sentences), in which its evidence is
            labelled; empty if it labels none.
    """

    id: str = Field(min_length=1)
    title: str
    text: str = Field(min_length=1, repr=False)
    parts: tuple[Span, ...] = ()


class Gold(BaseModel, frozen=True):
    """One piece of gold evidence.

    Args:
        label: The dataset's own name for it.
        anywhere: Where it stands; any one of these places will do.
        annotator: Whose label it is, where a dataset has several.
    """

    label: str
    anywhere: tuple[DocSpan, ...] = Field(min_length=1)
    annotator: int = 0


class Sample(BaseModel, frozen=True):
    """One question.

    Args:
        id: Unique in the benchmark.
        query: What is retrieved for, and asked.
        instruction: How to answer (format, length, options): for the generator, never searched for.
        documents: Ids of the question's own documents, in the dataset's order.
        references: Reference answers, as full texts; any one will do.
        short_answers: For each asked point its accepted strings (ASQA: one entry per pair; NQ, HotpotQA: one entry).
        disambiguated: ASQA: the question of each entry of ``short_answers``.
        wrong_answers: RAMDocs: values that were planted in documents, none of them right.
        conditions: ConditionalQA: for each entry of ``short_answers`` the conditions on which it depends.
        claims: ELI5, Summary of a Haystack: what a right answer says, as sentences.
        options: Multiple choice: the options' texts.
        correct: Multiple choice: zero-based index of the right one.
        gold: Gold evidence.
        answerable: False where the right answer is that there is none.
        strata: What scores are broken down by, e.g. ``{"level": "1", "language": "en"}``.
        prompt: Loong: the filled official prompt without documents, for the judge.
    """

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    instruction: str = ""
    documents: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    short_answers: tuple[tuple[str, ...], ...] = ()
    disambiguated: tuple[str, ...] = ()
    wrong_answers: tuple[str, ...] = ()
    conditions: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    correct: int | None = None
    gold: tuple[Gold, ...] = ()
    answerable: bool = True
    strata: dict[str, str] = {}
    prompt: str = ""


class Benchmark(BaseModel, frozen=True):
    """Questions over documents, as read from a dataset's official files.

    Args:
        name: The dataset.
        documents: The documents by id; every id that a sample names is here.
        samples: The samples, in file order.
        dropped: What was left out and why -> how often (a gold string that is not in the document, say).
    """

    name: str
    documents: Mapping[str, SourceDocument] = Field(repr=False)
    samples: tuple[Sample, ...] = Field(repr=False)
    dropped: dict[str, int] = {}

    def narrow(self, samples: Iterable[Sample]) -> Self:
        """These questions, over their own documents only."""
        kept = tuple(samples)
        wanted = {d for s in kept for d in s.documents}
        documents = {d: document for d, document in self.documents.items() if d in wanted}
        return self.model_copy(update={"samples": kept, "documents": documents})
