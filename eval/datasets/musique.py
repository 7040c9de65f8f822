"""MuSiQue (Trivedi et al. 2022): questions of two to four hops over Wikipedia paragraphs."""

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.hotpotqa import ParagraphPool
from eval.datasets.reading import TextBuilder, normal, read_lines, unique
from eval.sample import Benchmark, DocSpan, Gold, Sample

INSTRUCTION = "Answer with a phrase as short as possible, without further words."


class _Paragraph(BaseModel):
    title: str = Field(pattern=r"\S")
    paragraph_text: str
    is_supporting: bool


class _Question(BaseModel):
    id: str = Field(pattern=r"^[234]hop")
    paragraphs: list[_Paragraph]
    question: str = Field(pattern=r"\S")
    answer: str = Field(pattern=r"\S")
    answer_aliases: list[str]
    answerable: bool


def load_musique(path: Path) -> Benchmark:
    """The questions of an official ``musique_ans_*`` or ``musique_full_*`` file, over the pool of all paragraphs.

    Every supporting paragraph (its text without the heading) is one gold piece, labelled with its title. Stratum
    ``hops``: the id's prefix, ``2hop`` to ``4hop``.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, a field is missing or renamed, or an id is repeated.
    """
    dropped: Counter[str] = Counter()
    pool = ParagraphPool()
    samples = [_sample(question, pool, dropped) for _, question in read_lines(_Question, path)]
    return Benchmark(name="musique", documents=pool.documents, samples=unique(samples, path), dropped=dict(dropped))


def _sample(question: _Question, pool: ParagraphPool, dropped: Counter[str]) -> Sample:
    documents: list[str] = []
    gold: list[Gold] = []
    for paragraph in question.paragraphs:
        doc, span = _place(paragraph, pool)
        documents.append(doc)
        if paragraph.is_supporting and span is not None:
            gold.append(Gold(label=paragraph.title, anywhere=(DocSpan(doc=doc, span=span),)))
        elif paragraph.is_supporting:
            dropped["supporting paragraph is blank"] += 1
    answers = tuple(dict.fromkeys(normal(text) for text in (question.answer, *question.answer_aliases)))
    return Sample(
        id=question.id,
        query=normal(question.question),
        instruction=INSTRUCTION,
        documents=tuple(dict.fromkeys(documents)),
        references=answers[:1],
        short_answers=(answers,),
        gold=tuple(gold),
        answerable=question.answerable,
        strata={"hops": question.id[:4]},
    )


def _place(paragraph: _Paragraph, pool: ParagraphPool) -> tuple[str, Span | None]:
    """The paragraph's document, and its text without the heading; None if it is blank."""
    title = " ".join(paragraph.title.split())
    builder = TextBuilder()
    builder.add(f"# {title}")
    span = builder.add(paragraph.paragraph_text)
    return pool.add(builder, title), span
