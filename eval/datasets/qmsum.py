"""QMSum (Zhong et al. 2021): query-based summaries of meetings, with the turns that each query is about."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, normal, read_lines, unique
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

INSTRUCTION = "Answer with a summary of a few sentences, based on the meeting's transcript."


class _Turn(BaseModel):
    speaker: str
    content: str


class _Query(BaseModel):
    query: str = Field(pattern=r"\S")
    answer: str = Field(pattern=r"\S")


class _SpecificQuery(_Query):
    relevant_text_span: list[tuple[int, int]]


class _Meeting(BaseModel):
    general_query_list: list[_Query]
    specific_query_list: list[_SpecificQuery]
    meeting_transcripts: list[_Turn] = Field(min_length=1)


def load_qmsum(path: Path) -> Benchmark:
    """The meetings of an official ``data/ALL/jsonl/*.jsonl`` file; one paragraph and one part per turn.

    A specific query's gold spans are turn indices, both ends inclusive; general queries have no gold. Blank turns are
    left out of the text.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, or a field is missing or renamed.
    """
    dropped: Counter[str] = Counter()
    documents: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for number, (_, meeting) in enumerate(read_lines(_Meeting, path), start=1):
        document, turns = _document(meeting, f"{path.stem}-{number}", f"Meeting {number}")
        documents[document.id] = document
        samples += _samples(meeting, document.id, turns, dropped)
    return Benchmark(name="qmsum", documents=documents, samples=unique(samples, path), dropped=dict(dropped))


def _document(meeting: _Meeting, doc: str, title: str) -> tuple[SourceDocument, list[Span | None]]:
    """The meeting's text, and for each of its turns where it stands, None for a blank one."""
    builder = TextBuilder()
    builder.add(f"# {title}")
    turns = [
        builder.part(f"{turn.speaker}: {turn.content}") if normal(turn.content) else None
        for turn in meeting.meeting_transcripts
    ]
    return builder.document(doc, title), turns


def _samples(meeting: _Meeting, doc: str, turns: list[Span | None], dropped: Counter[str]) -> Iterator[Sample]:
    for n, query in enumerate(meeting.specific_query_list, start=1):
        yield _sample(query, f"{doc}-s{n}", doc, "specific", tuple(_gold(query, doc, turns, dropped)))
    for n, query in enumerate(meeting.general_query_list, start=1):
        yield _sample(query, f"{doc}-g{n}", doc, "general", ())


def _sample(query: _Query, sample_id: str, doc: str, kind: str, gold: tuple[Gold, ...]) -> Sample:
    return Sample(
        id=sample_id,
        query=normal(query.query),
        instruction=INSTRUCTION,
        documents=(doc,),
        references=(normal(query.answer),),
        gold=gold,
        strata={"kind": kind},
    )


def _gold(query: _SpecificQuery, doc: str, turns: list[Span | None], dropped: Counter[str]) -> Iterator[Gold]:
    for first, last in query.relevant_text_span:
        if not 0 <= first <= last < len(turns):
            dropped["gold span outside the meeting"] += 1
            continue
        kept = [turn for turn in turns[first : last + 1] if turn is not None]
        if not kept:
            dropped["gold span of blank turns only"] += 1
            continue
        span = Span(start=kept[0].start, end=kept[-1].end)
        yield Gold(label=f"turns {first}-{last}", anywhere=(DocSpan(doc=doc, span=span),))
