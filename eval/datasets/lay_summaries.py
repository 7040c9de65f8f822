"""Papers with lay summaries (PLOS author summaries, eLife digests), in the schema of Goldsack et al. (2022)."""

from pathlib import Path

from pydantic import BaseModel, Field

from eval.datasets.reading import TextBuilder, read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, Sample, SourceDocument

_INSTRUCTION = (
    "Write a lay summary of the study in one or a few paragraphs, for readers without background in the field: "
    "what was asked, what was found, and why it matters. Explain or avoid technical terms."
)


class _Paper(BaseModel):
    id: str = Field(min_length=1)
    title: str = Field(min_length=1)
    sections: tuple[tuple[str, ...], ...] = Field(min_length=1)
    headings: tuple[str, ...]
    summary: tuple[str, ...] = Field(min_length=1)
    source: str = ""


def study_query(title: str) -> str:
    """The question that a paper's summary answers."""
    return f'What does the study "{title}" find, and why does it matter?'


def load_lay_summaries(path: Path) -> Benchmark:
    """One question for each paper: its lay summary.

    A document is the paper's title and sections under their headings. The abstract is left out: it nearly gives the
    summary away. Sections without text are left out with their headings.

    Args:
        path: List of ``{id, title, sections: [[paragraph]], headings, summary: [paragraph], source}``.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing, headings do not match sections, or an id repeats.
    """
    papers = read_json(tuple[_Paper, ...], path)
    samples = unique((_sample(paper) for paper in papers), path)
    documents = {paper.id: _document(paper, f"{path}: {paper.id}") for paper in papers}
    return Benchmark(name="lay_summaries", documents=documents, samples=samples)


def _sample(paper: _Paper) -> Sample:
    return Sample(
        id=paper.id,
        query=study_query(paper.title.strip()),
        instruction=_INSTRUCTION,
        documents=(paper.id,),
        references=("\n\n".join(paper.summary),),
        strata={"source": paper.source} if paper.source else {},
    )


def _document(paper: _Paper, place: str) -> SourceDocument:
    if len(paper.headings) != len(paper.sections):
        raise DataError(
            f"{place}: headings: {len(paper.headings)} headings for {len(paper.sections)} sections.",
            hint="Is the file in the dataset's official format?",
        )
    builder = TextBuilder()
    builder.add(f"# {paper.title.strip()}")
    for heading, paragraphs in zip(paper.headings, paper.sections, strict=True):
        texts = [paragraph for paragraph in paragraphs if paragraph.strip()]
        if texts and heading.strip():
            builder.add(f"## {heading.strip()}")
        for text in texts:
            builder.add(text)
    return builder.document(paper.id, paper.title.strip())
