"""HotpotQA (Yang et al. 2018), distractor setting: two-hop questions over Wikipedia paragraphs."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span, digest
from eval.datasets.reading import TextBuilder, normal, read_json, unique
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

INSTRUCTION = "Answer with yes, no or a phrase as short as possible, without further words."


class _Question(BaseModel):
    id: str = Field(alias="_id", pattern=r"\S")
    question: str = Field(pattern=r"\S")
    answer: str = Field(pattern=r"\S")
    type: str
    level: str
    supporting_facts: list[tuple[str, int]]
    context: list[tuple[str, list[str]]]


class ParagraphPool:
    """Titled paragraphs of all questions together. Equal texts are one document.

    Its id is the title, with a digest of the text if another text of the same title came before.
    """

    def __init__(self) -> None:
        self.documents: dict[str, SourceDocument] = {}
        self._ids: dict[str, str] = {}

    def add(self, builder: TextBuilder, title: str) -> str:
        """Take in a paragraph, unless it is there already; its document's id."""
        document = builder.document(title, title)
        if document.text not in self._ids:
            if title in self.documents:
                document = builder.document(f"{title} [{digest(document.text)[:8]}]", title)
            self._ids[document.text] = document.id
            self.documents[document.id] = document
        return self._ids[document.text]


_Paragraph = tuple[str, str, list[Span | None]]
"""A paragraph of one question: its title in the file, its document, and its sentences, None for a blank one."""


def load_hotpotqa(path: Path) -> Benchmark:
    """The questions of an official ``hotpot_*_distractor`` or training file, over the pool of all their paragraphs.

    One document per paragraph, its parts the dataset's sentences; every supporting fact is one gold piece, labelled
    ``title#sentence``.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing or renamed, or an id is repeated.
    """
    dropped: Counter[str] = Counter()
    pool = ParagraphPool()
    questions = read_json(list[_Question], path)
    samples = [_sample(question, pool, dropped) for question in questions]
    return Benchmark(name="hotpotqa", documents=pool.documents, samples=unique(samples, path), dropped=dict(dropped))


def _sample(question: _Question, pool: ParagraphPool, dropped: Counter[str]) -> Sample:
    paragraphs = [_paragraph(title, sentences, pool) for title, sentences in question.context]
    answer = normal(question.answer)
    return Sample(
        id=question.id,
        query=normal(question.question),
        instruction=INSTRUCTION,
        documents=tuple(dict.fromkeys(doc for _, doc, _ in paragraphs)),
        references=(answer,),
        short_answers=((answer,),),
        gold=tuple(_gold(question, paragraphs, dropped)),
        strata={"type": question.type, "level": question.level},
    )


def _paragraph(title: str, sentences: list[str], pool: ParagraphPool) -> _Paragraph:
    heading = " ".join(title.split())
    builder = TextBuilder()
    builder.add(f"# {heading}")
    spans = [builder.part(sentence, before=" " if builder.parts else "\n\n") for sentence in sentences]
    return title, pool.add(builder, heading), spans


def _gold(question: _Question, paragraphs: list[_Paragraph], dropped: Counter[str]) -> Iterator[Gold]:
    for title, sentence in dict.fromkeys(question.supporting_facts):
        anywhere = tuple(
            DocSpan(doc=doc, span=span)
            for name, doc, sentences in paragraphs
            if name == title
            for span in sentences[sentence : sentence + 1]
            if span is not None
        )
        if anywhere:
            yield Gold(label=f"{title}#{sentence}", anywhere=anywhere)
        else:
            dropped["supporting fact not in the context"] += 1
