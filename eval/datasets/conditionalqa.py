"""ConditionalQA (Sun et al. 2022): what a page of gov.uk says to a person in a situation, and on which conditions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

CONDITION, EVIDENCE = "condition", "evidence"
_INSTRUCTION = (
    "Begin with the answer alone, as a sentence: Yes, No, or a phrase as short as possible taken from the page. "
    "Then say on which conditions it depends, if the situation leaves them open."
)
_ELEMENT = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)


class _Page(BaseModel):
    title: str = Field(pattern=r"\S")
    url: str = Field(pattern=r"\S")
    contents: list[str] = Field(min_length=1)


class _Question(BaseModel):
    id: str = Field(pattern=r"\S")
    url: str
    scenario: str
    question: str = Field(pattern=r"\S")
    not_answerable: bool
    answers: list[tuple[str, list[str]]]
    evidences: list[str]


def load_conditionalqa(path: Path) -> Benchmark:
    """The development questions, each over its own page; the person's situation is a part of the question.

    ``short_answers`` has one entry for each answer, and ``conditions`` as many, each with the sentences of the page on
    which that answer depends. Gold evidence is labelled ``condition`` or ``evidence``.

    Args:
        path: Folder with ``dev.json``, a list of ``{id, url, scenario, question, not_answerable, answers: [[answer,
            [condition]]], evidences}``, and ``documents.json``, a list of ``{title, url, contents}``.

    Raises:
        MissingPathError: No such file.
        DataError: A file is cut off, a field is missing, a page is not there, or an id repeats.
    """
    pages = {page.url: _page(page) for page in read_json(list[_Page], path / "documents.json")}
    file, dropped = path / "dev.json", Counter[str]()
    samples, used = list[Sample](), dict[str, SourceDocument]()
    for question in read_json(list[_Question], file):
        if question.url not in pages:
            raise DataError(
                f"{file}: {question.id}: there is no page {question.url}.",
                hint="Are dev.json and documents.json of the same release?",
            )
        document, places = pages[question.url]
        used[document.id] = document
        samples.append(_sample(question, document.id, places, dropped))
    return Benchmark(name="conditionalqa", documents=used, samples=unique(samples, file), dropped=dict(+dropped))


def _page(page: _Page) -> tuple[SourceDocument, Mapping[str, list[Span]]]:
    """The page as Markdown, one part for each of its elements; and where each element stands, as it is published."""
    builder, places = TextBuilder(), defaultdict[str, list[Span]](list)
    builder.add(f"# {page.title}")
    before = ""
    for element in page.contents:
        kind, text = _read(element)
        lead = "#" * (int(kind[1]) + 1) + " " if re.fullmatch(r"h[1-5]", kind) else "- " if kind == "li" else ""
        words = f"| {text} |" if kind == "tr" else f"{lead}{text}"
        if span := builder.part(words, before="\n" if kind == before and kind in ("li", "tr") else "\n\n"):
            places[element].append(span)
        before = kind
    return builder.document(page.url, page.title), places


def _read(element: str) -> tuple[str, str]:
    """The name of an element, and its text on one line."""
    match = _ELEMENT.fullmatch(element.strip())
    name, text = (match[1], match[2]) if match else ("p", element)
    return name, " ".join(unescape(text).split())


def _sample(question: _Question, doc: str, places: Mapping[str, list[Span]], dropped: Counter[str]) -> Sample:
    asked = " ".join(f"{question.scenario} {question.question}".split())
    conditions = [condition for _, given in question.answers for condition in given]
    labelled = dict.fromkeys(question.evidences, EVIDENCE) | dict.fromkeys(conditions, CONDITION)
    kind = "conditional" if conditions else "unanswerable" if question.not_answerable else "plain"
    return Sample(
        id=question.id,
        query=asked,
        instruction=_INSTRUCTION,
        documents=(doc,),
        short_answers=tuple((answer,) for answer, _ in question.answers),
        conditions=tuple(tuple(_read(c)[1] for c in given) for _, given in question.answers),
        gold=tuple(_gold(labelled, doc, places, dropped)),
        answerable=not question.not_answerable,
        strata={"kind": kind},
    )


def _gold(
    labelled: Mapping[str, str], doc: str, places: Mapping[str, Sequence[Span]], dropped: Counter[str]
) -> Iterator[Gold]:
    for element, label in labelled.items():
        if found := tuple(DocSpan(doc=doc, span=span) for span in places.get(element, ())):
            yield Gold(label=label, anywhere=found)
        else:
            dropped[f"{label} that is not on the page"] += 1
