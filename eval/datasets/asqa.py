"""ASQA (Stelmakh et al. 2022): ambiguous questions with long answers; in ALCE's form, with retrieved passages."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.ingest.convert.html import from_html
from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, normal, read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

_INSTRUCTION = (
    "The question can be read in several ways. Answer in one paragraph that names each reading and gives its answer."
)
_NO_PASSAGE = "pairs whose answer is in no passage"
_ARTICLES = ("a", "an", "the")
_HEADING = re.compile(r"(#+)\s+(.*)")
_LINKS = ("external links", "further reading", "gallery", "notes", "references", "see also", "sources", "citations")
"""Sections that the authors of RDR² leave out as well."""


class _Pair(BaseModel):
    question: str
    short_answers: tuple[str, ...] = Field(min_length=1)


class _Passage(BaseModel):
    id: str = Field(min_length=1)
    title: str
    text: str


class _LongAnswer(BaseModel):
    long_answer: str


class _Page(BaseModel):
    title: str


class _Entry(BaseModel):
    sample_id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    qa_pairs: tuple[_Pair, ...] = Field(min_length=1)
    annotations: tuple[_LongAnswer, ...] = Field(min_length=1)
    docs: tuple[_Passage, ...]
    wikipages: tuple[_Page, ...] = ()


class Passages:
    """A corpus of titled passages: ``# title``, a blank line, the passage. Equal texts share the first one's id."""

    def __init__(self) -> None:
        self.documents: dict[str, SourceDocument] = {}
        self._ids: dict[str, str] = {}

    def add(self, passage_id: str, title: str, text: str, place: str) -> str:
        """The id under which the passage is kept.

        Raises:
            DataError: The passage is blank, or the id already belongs to another text; names ``place`` and id.
        """
        builder = TextBuilder()
        if title.strip():
            builder.add(f"# {title.strip()}")
        if builder.add(text) is None:
            raise DataError(f"{place}: text of passage {passage_id} is empty.", hint="Fetch the official file again.")
        document = builder.document(passage_id, title.strip())
        kept = self._ids.setdefault(document.text, passage_id)
        if self.documents.setdefault(kept, document).text != document.text:
            raise DataError(f"{place}: passage id {passage_id} stands for two texts.", hint="Remove one of them.")
        return kept


def answer_places(documents: Iterable[SourceDocument], answers: Sequence[str]) -> tuple[DocSpan, ...]:
    """Where any of the answers stands in the documents as whole words, titles included.

    As in ASQA's normalisation, case, punctuation between words and articles do not count.
    """
    alternatives = [words for answer in answers if (words := _words_pattern(answer))]
    if not alternatives:
        return ()
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)
    return tuple(
        DocSpan(doc=document.id, span=Span(start=match.start(), end=match.end()))
        for document in documents
        for match in pattern.finditer(document.text)
    )


def _words_pattern(answer: str) -> str:
    words: list[str] = re.findall(r"\w+", answer)
    content = [word for word in words if word.lower() not in _ARTICLES] or words
    return rf"\W+(?:(?:{'|'.join(_ARTICLES)})\W+)*".join(re.escape(word) for word in content)


def load_asqa_pooled(path: Path) -> Benchmark:
    """ASQA questions in ALCE's form with retrieved passages; the corpus is all passages of all questions.

    Evidence is labelled by string: a pair's evidence is wherever one of its short answers stands in the question's own
    passages, which may not hold it.

    Args:
        path: List of ``{sample_id, question, qa_pairs, annotations, docs: [{id, title, text}]}``.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing, or an id repeats; names file, entry and field.
    """
    passages = Passages()

    def own(entry: _Entry) -> Iterable[str]:
        return (passages.add(doc.id, doc.title, _body(doc), f"{path}: {entry.sample_id}") for doc in entry.docs)

    return _benchmark("asqa_pooled", path, _entries(path), passages.documents, own)


def load_asqa_pages(path: Path) -> Benchmark:
    """ASQA questions over whole pages of Wikipedia with their headings, as RDR² has them; all pages are one corpus.

    A question's own pages are those that annotators used, and those of its retrieved passages, as far as they are
    there; a question without any is left out. Sections of links and notes are left out, as by the paper's authors.

    Args:
        path: Folder of saved pages, ``*.html``, next to ``asqa_eval_pooled.json``; their titles are their own.

    Raises:
        MissingPathError: No such file.
        DataError: As `load_asqa_pooled`, or there is no page.
    """
    pages = {page.title: page for file in sorted(path.glob("*.html")) if (page := _page(file))}
    if not pages:
        raise DataError(f"{path} holds no page.", hint="Save the pages that the entries name as HTML.")

    def own(entry: _Entry) -> Iterable[str]:
        titles = [page.title for page in entry.wikipages] + [doc.title for doc in entry.docs]
        return (title for title in titles if title in pages)

    file = path.parent / "asqa_eval_pooled.json"
    entries = _entries(file)
    asked = [entry for entry in entries if any(own(entry))]
    benchmark = _benchmark("asqa_pages", file, asked, pages, own)
    dropped = {"questions without a page": len(entries) - len(asked), **benchmark.dropped}
    return benchmark.model_copy(update={"dropped": dropped})


def _entries(file: Path) -> tuple[_Entry, ...]:
    return read_json(tuple[_Entry, ...], file)


def _page(file: Path) -> SourceDocument | None:
    """A page as Markdown, by the title that it gives itself; None where nothing is left of it."""
    page = from_html(file.read_bytes(), file)
    title = re.sub(r"\s+[-–—]\s+Wikipedia$", "", page.title)
    text = normal("\n".join(_without_links(page.text.split("\n"))))
    return SourceDocument(id=title, title=title, text=text) if title and text else None


def _without_links(lines: Iterable[str]) -> Iterator[str]:
    left_out = 0  # level of the section
    for line in lines:
        if heading := _HEADING.match(line):
            level = len(heading[1])
            if not left_out or level <= left_out:
                left_out = level if heading[2].lower().startswith(_LINKS) else 0
        if not left_out:
            yield line


def _benchmark(
    name: str,
    file: Path,
    entries: Iterable[_Entry],
    documents: Mapping[str, SourceDocument],
    own: Callable[[_Entry], Iterable[str]],
) -> Benchmark:
    """The entries of a file; ``own`` gives the ids of an entry's documents."""
    samples, dropped = list[Sample](), Counter[str]()
    for entry in entries:
        ids = tuple(dict.fromkeys(own(entry)))
        places = [(p.question, answer_places([documents[d] for d in ids], p.short_answers)) for p in entry.qa_pairs]
        gold = tuple(Gold(label=question, anywhere=found) for question, found in places if found)
        dropped[_NO_PASSAGE] += len(places) - len(gold)
        samples.append(
            Sample(
                id=entry.sample_id,
                query=entry.question,
                instruction=_INSTRUCTION,
                documents=ids,
                references=tuple(annotation.long_answer for annotation in entry.annotations),
                short_answers=tuple(pair.short_answers for pair in entry.qa_pairs),
                disambiguated=tuple(pair.question for pair in entry.qa_pairs),
                gold=gold,
            )
        )
    return Benchmark(name=name, documents=dict(documents), samples=unique(samples, file), dropped=dict(+dropped))


def _body(passage: _Passage) -> str:
    """The passage without the line of its title that retrieval dumps repeat, in quotes or not."""
    head, _, rest = passage.text.partition("\n")
    return rest if head.strip().strip('"') == passage.title and rest.strip() else passage.text
