"""Whether an English reranker should order Chinese chunks: ``python -m bench.evidence.chinese``.

Questions of CMRC 2018 over the passages of all its documents. Of the best 40 chunks by hybrid search, the best few are
taken in the order of the search and in that of the packaged reranker; the evidence is the answer's characters.
"""

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, Field
from rich.console import Console

from bench import report
from bench.evidence.__main__ import FIXED, HOME, Ranked, best
from bench.evidence.candidates import collect, open_backends
from bench.evidence.sets import Questions
from discorag.schema.values import Span, digest
from eval.datasets.reading import validate
from eval.options import data_folder
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

FILE = "reading/cmrc2018/cmrc2018.jsonl.gz"
OUT = Path("bench/results/chinese.json")


class _Answer(BaseModel):
    text: str = Field(min_length=1)
    start: int = Field(ge=0)


class _Line(BaseModel):
    id: str
    question: str
    title: str
    context: str
    answers: tuple[_Answer, ...] = Field(min_length=1)


def load(path: Path, most: int) -> Benchmark:
    """At most ``most`` questions, chosen by their ids' digests, over the passages of all questions of the file."""
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    read = [validate(_Line, json.loads(line), f"{path}:{n}") for n, line in enumerate(lines, start=1)]
    documents = {digest(line.context): line for line in read}
    chosen = islice(sorted(read, key=lambda line: digest(line.id)), most)
    return Benchmark(
        name="cmrc2018",
        documents={d: SourceDocument(id=d, title=line.title, text=line.context) for d, line in documents.items()},
        samples=tuple(_sample(line) for line in chosen),
    )


def _sample(line: _Line) -> Sample:
    doc = digest(line.context)
    places = (Span(start=a.start, end=a.start + len(a.text)) for a in line.answers)
    gold = Gold(label="answer", anywhere=tuple(DocSpan(doc=doc, span=place) for place in places))
    return Sample(id=line.id, query=line.question, documents=(doc,), gold=(gold,))


def figures(benchmark: Benchmark, home: Path) -> dict[str, Any]:
    """The recall of the answers' characters in the best few chunks, in both orders."""
    with open_backends() as backends:
        found = collect(benchmark.name, Questions(benchmark), backends, home / "candidates.jsonl")
        questions = [*map(Ranked, found)]
    counts = {"n": len(questions), "documents": len(benchmark.documents)}
    return counts | {str(k): best(questions, [benchmark.name], k) for k in FIXED}


def main(
    most: Annotated[int, typer.Option(help="Questions, at most.")] = 200,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of the candidates, kept between runs.")] = HOME,
) -> None:
    """Measure, write, show."""
    found = figures(load(data_folder() / FILE, most), home)
    report.write(out, {"cmrc2018": found})
    Console().print(report.table(found))


if __name__ == "__main__":
    typer.run(main)
