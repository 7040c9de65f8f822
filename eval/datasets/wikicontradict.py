"""WikiContradict (Hou et al. 2024): questions that two passages of Wikipedia answer differently."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span, digest
from discorag.text.sentences import sentence_spans
from eval.datasets.reading import read_lines
from eval.metrics.normal import normalise
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument


class _Line(BaseModel):
    question: str = Field(pattern=r"\S")
    context1: str
    context2: str
    context1_info: str = Field(pattern=r"\S")
    context2_info: str = Field(pattern=r"\S")


def load_wikicontradict(path: Path) -> Benchmark:
    """The questions between two passages; each passage's contradicting statement is one gold piece.

    Questions about one passage that contradicts itself are left out.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off or lacks a field.
    """
    documents: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for _, line in read_lines(_Line, path):
        passages = (line.context1_info.strip(), line.context2_info.strip())
        if passages[0] == passages[1]:
            continue
        ids = tuple(digest(passage)[:12] for passage in passages)  # a passage may occur in several items
        for name, passage in zip(ids, passages, strict=True):
            documents[name] = SourceDocument(id=name, title=f"Passage {name}", text=passage)
        statements = zip(ids, passages, (line.context1, line.context2), strict=True)
        gold = tuple(_gold(name, passage, statement) for name, passage, statement in statements)
        samples.append(Sample(id=f"{len(samples):03}", query=line.question, documents=ids, gold=gold))
    return Benchmark(name="wikicontradict", documents=documents, samples=tuple(samples))


def _gold(name: str, passage: str, statement: str) -> Gold:
    found = sentences(passage)
    places: list[DocSpan] = []
    for i in sorted(stating(found, statement)):
        start = passage.index(found[i])
        places.append(DocSpan(doc=name, span=Span(start=start, end=start + len(found[i]))))
    return Gold(label=name, anywhere=tuple(places))


def sentences(passage: str) -> list[str]:
    """The sentences of a passage."""
    return [text for span in sentence_spans(passage) if (text := span.of(passage).strip())]


def stating(found: Sequence[str], statement: str) -> frozenset[int]:
    """Which sentences make the statement: those that are part of it, else the one that shares most words with it."""
    whole = normalise(statement)
    inside = frozenset(i for i, s in enumerate(found) if (part := normalise(s)) and (part in whole or whole in part))
    shared = [_overlap(s, statement) for s in found]
    return inside or frozenset(i for i, share in enumerate(shared) if share == max(shared))


def _overlap(a: str, b: str) -> float:
    one, other = set(normalise(a).split()), set(normalise(b).split())
    return len(one & other) / max(1, len(one | other))
