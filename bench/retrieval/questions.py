"""What every dataset of the retrieval benchmark becomes: a question, its documents, and where its evidence stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discorag.types.document import Document
from discorag.types.errors import InvariantError
from discorag.types.ids import digest
from eval.sample import Gold, Sample, SourceDocument

Half: TypeAlias = Literal["development", "held out"]
HALVES: tuple[Half, ...] = ("development", "held out")


class Question(BaseModel):
    """A question with the documents that it is asked of, and where its evidence stands.

    Args:
        id: Unique in the dataset.
        question: What is retrieved for.
        documents: What is retrieved from, in the dataset's order; each has an id and a text, Markdown where it begins
            with a heading. Documents of other questions do not compete.
        evidence: Pieces of gold evidence as characters of documents; none where the dataset labels documents only.
        gold_documents: Ids of the documents that hold evidence.
        references: Texts that the evidence should say, where the dataset does not tell where it says so.

    Raises:
        InvariantError: A document appears twice, evidence lies outside the documents, or a gold document is not among
            them (pydantic reports it as ``ValidationError``).
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    documents: tuple[SourceDocument, ...] = Field(min_length=1, repr=False)
    evidence: tuple[Gold, ...] = Field(default=(), repr=False)
    gold_documents: frozenset[str] = Field(min_length=1)
    references: tuple[str, ...] = Field(default=(), repr=False)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.by_id) < len(self.documents):
            raise InvariantError(f"{self.id}: a document appears twice.", hint="Give every document an id of its own.")
        if unknown := sorted(self.gold_documents - self.by_id.keys()):
            raise InvariantError(
                f"{self.id}: gold document {unknown[0]} is not given.", hint="Give it or leave it out."
            )
        for place in (place for gold in self.evidence for place in gold.anywhere):
            if place.doc not in self.by_id or place.span.end > len(self.by_id[place.doc].text):
                raise InvariantError(f"{self.id}: {place!r} is in no document.", hint="Count its characters again.")
        return self

    @cached_property
    def by_id(self) -> Mapping[str, SourceDocument]:
        """The documents by their ids."""
        return {document.id: document for document in self.documents}

    @cached_property
    def annotations(self) -> tuple[Sample, ...]:
        """The question with the evidence of one annotator each; a single one where the dataset has one label."""
        return tuple(
            Sample(id=self.id, query=self.question, gold=tuple(g for g in self.evidence if g.annotator == annotator))
            for annotator in sorted({gold.annotator for gold in self.evidence})
        )


class Case(Question):
    """A question of the retrieval benchmark; fields and errors beside these are those of `Question`.

    Args:
        dataset: A key of `bench.retrieval.datasets.DATASETS`.
        half: Parameters are chosen on the development half only; see `halves`.
    """

    dataset: str
    half: Half


def cases(dataset: str, questions: Sequence[Question]) -> tuple[Case, ...]:
    """The questions of a dataset, each in its half.

    Raises:
        InvariantError: One document id stands for two texts.
    """
    texts: dict[str, str] = {}
    for document in (document for question in questions for document in question.documents):
        if texts.setdefault(document.id, document.text) != document.text:
            raise InvariantError(f"{dataset}: {document.id} stands for two texts.", hint="Rename one of the documents.")
    found = halves([question.documents for question in questions])
    return tuple(
        Case(dataset=dataset, half=half, **dict(question)) for question, half in zip(questions, found, strict=True)
    )


def as_document(source: SourceDocument) -> Document:
    """The document as builders take it; ``uri`` is its id."""
    markdown = source.text.startswith("#")
    media_type = "text/markdown" if markdown else "text/plain"
    return Document(uri=source.id, title=source.title, text=source.text, media_type=media_type)


def halves(groups: Sequence[Iterable[SourceDocument]]) -> list[Half]:
    """The half of each question, given its documents; a text is in one half only.

    Questions that share a text, directly or through others, are one component. A component goes where the SHA-256 of
    its smallest document id says: ``development`` where the first byte is even, else ``held out``. About half of the
    components are in each half, not half of the questions; nothing but ids and shared texts decides.
    """
    parents: dict[str, str] = {}
    smallest: dict[str, str] = {}
    roots = [_join(list(group), parents, smallest) for group in groups]
    return [HALVES[int(digest(smallest[_root(root, parents)])[:2], 16) % 2] for root in roots]


def _join(group: Sequence[SourceDocument], parents: dict[str, str], smallest: dict[str, str]) -> str:
    """Make the group one component; one of its nodes."""
    nodes = [digest(document.text) for document in group]
    for node, document in zip(nodes, group, strict=True):
        parents.setdefault(node, node)
        smallest[node] = min(smallest.get(node, document.id), document.id)
        low, high = _root(nodes[0], parents), _root(node, parents)
        parents[high] = low
        smallest[low] = min(smallest[low], smallest[high])
    return nodes[0]


def _root(node: str, parents: dict[str, str]) -> str:
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node
