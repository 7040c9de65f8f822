"""Questions with labelled evidence on which nothing was fitted: some ask for one fact, others for an overview."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span, digest
from eval.datasets.asqa import answer_places, load_asqa_pooled
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.musique import load_musique
from eval.datasets.qmsum import load_qmsum
from eval.datasets.reading import TextBuilder, read_json, read_lines, unique
from eval.datasets.wikicontradict import load_wikicontradict, sentences, stating
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument
from eval.splits import groups

TALES = 12


@dataclass(frozen=True)
class Questions:
    """Questions that are asked over one pool of documents.

    Args:
        benchmark: The pool, and the questions.
        is_own: Whether a question is asked over its own documents instead of the whole pool.
    """

    benchmark: Benchmark
    is_own: bool = False


class _RamDocument(BaseModel):
    text: str = Field(pattern=r"\S")
    type: str
    answer: str


class _RamLine(BaseModel):
    question: str = Field(pattern=r"\S")
    documents: list[_RamDocument]
    gold_answers: list[str]


class _Insight(BaseModel):
    insight_id: str
    insight: str


class _Subtopic(BaseModel):
    subtopic_id: str
    query: str = Field(pattern=r"\S")
    insights: list[_Insight]


class _Article(BaseModel):
    document_id: str
    document_text: str = Field(pattern=r"\S")
    insights_included: list[str]


class _Topic(BaseModel):
    topic_id: str
    subtopics: list[_Subtopic]
    documents: list[_Article]


def ramdocs(data: Path) -> Iterator[Questions]:
    """Questions over the documents of all of them; each right answer is a piece, in any document of the question that
    is right about it.
    """
    path = data / "contradiction/ramdocs/RAMDocs_test.jsonl"
    documents, samples = dict[str, SourceDocument](), list[Sample]()
    for _, line in read_lines(_RamLine, path):
        gold: dict[str, list[DocSpan]] = defaultdict(list)
        ids: list[str] = []
        for found in line.documents:
            document = _document(found.text, f"ramdocs-{digest(found.text)[:12]}")
            documents[document.id] = document
            ids.append(document.id)
            if found.type == "correct" and found.answer in line.gold_answers:
                gold[found.answer] += answer_places([document], [found.answer])
        pieces = tuple(Gold(label=name, anywhere=tuple(places)) for name, places in gold.items() if places)
        name = f"{len(samples):03}"
        samples.append(Sample(id=name, query=line.question, documents=tuple(dict.fromkeys(ids)), gold=pieces))
    yield Questions(Benchmark(name="ramdocs", documents=documents, samples=unique(samples, path)))


def summhay(data: Path) -> Iterator[Questions]:
    """Overviews over the hundred articles of a topic; each insight is a piece: the sentence that states it, in any
    article that includes it.
    """
    for path in sorted((data / "summhay").glob("topic_*.json")):
        topic = read_json(_Topic, path)
        documents = {a.document_id: _document(a.document_text, a.document_id) for a in topic.documents}
        including: dict[str, list[SourceDocument]] = defaultdict(list)
        for article in topic.documents:
            for insight in article.insights_included:
                including[insight].append(documents[article.document_id])
        samples = [
            Sample(id=sub.subtopic_id, query=sub.query, documents=tuple(documents), gold=_insights(sub, including))
            for sub in topic.subtopics
        ]
        yield Questions(Benchmark(name=topic.topic_id, documents=documents, samples=unique(samples, path)))


def _insights(subtopic: _Subtopic, including: Mapping[str, list[SourceDocument]]) -> tuple[Gold, ...]:
    found = ((i, tuple(_stated(i.insight, d) for d in including[i.insight_id])) for i in subtopic.insights)
    return tuple(Gold(label=insight.insight, anywhere=places) for insight, places in found if places)


def _stated(insight: str, document: SourceDocument) -> DocSpan:
    parts = sentences(document.text)
    start = document.text.index(parts[min(stating(parts, insight))])
    return DocSpan(doc=document.id, span=Span(start=start, end=start + len(parts[min(stating(parts, insight))])))


def _document(text: str, name: str) -> SourceDocument:
    builder = TextBuilder()
    builder.add(text)
    return builder.document(name, name)


def asqa(data: Path) -> Iterator[Questions]:
    """Ambiguous questions over the passages of all of them; each reading's answer is a piece."""
    yield Questions(load_asqa_pooled(data / "asqa/asqa_eval_pooled.json"))


def hotpotqa(data: Path) -> Iterator[Questions]:
    """Questions of two hops over the paragraphs of all of them; each supporting sentence is a piece."""
    yield Questions(_scored(load_hotpotqa(data / "hotpotqa/hotpot_dev_distractor_sample100.json"), "hotpotqa"))


def musique(data: Path) -> Iterator[Questions]:
    """Questions of two to four hops over the paragraphs of all of them; each supporting paragraph is a piece."""
    yield Questions(_scored(load_musique(data / "musique/musique_ans_train_sample100.jsonl"), "musique"))


def wikicontradict(data: Path) -> Iterator[Questions]:
    """Questions over the passages of all of them; each has two pieces, which contradict each other."""
    yield Questions(load_wikicontradict(data / "contradiction/wikicontradict/wiki_contradict_refined.jsonl"))


def fairytaleqa(data: Path) -> Iterator[Questions]:
    """Questions, each over its own tale; the pieces are the paragraphs that hold its answer."""
    loaded = load_fairytaleqa(data / "fairytaleqa")
    tales = sorted(groups("fairytaleqa", "score"), key=digest)[:TALES]
    samples = tuple(s for s in loaded.samples if s.documents[0] in tales)
    yield Questions(loaded.model_copy(update={"samples": samples}), is_own=True)


def qmsum(data: Path) -> Iterator[Questions]:
    """Questions, each over its own meeting; the pieces are the stretches of turns that it is about."""
    loaded, meetings = load_qmsum(data / "qmsum/test.jsonl"), groups("qmsum", "score")
    samples = tuple(s for s in loaded.samples if s.documents[0] in meetings)
    yield Questions(loaded.model_copy(update={"samples": samples}), is_own=True)


def _scored(benchmark: Benchmark, dataset: str) -> Benchmark:
    scored = groups(dataset, "score")
    return benchmark.model_copy(update={"samples": tuple(s for s in benchmark.samples if s.id in scored)})


SETS: Mapping[str, Callable[[Path], Iterator[Questions]]] = {
    f.__name__: f for f in (hotpotqa, musique, asqa, ramdocs, wikicontradict, fairytaleqa, qmsum, summhay)
}


def load(name: str, data: Path, most: int) -> Iterator[Questions]:
    """A set's questions that have gold evidence, at most ``most`` in all, chosen by their ids' digests; with their
    documents.
    """
    for questions in SETS[name](data):
        labelled = (s for s in questions.benchmark.samples if s.gold)
        chosen = list(islice(sorted(labelled, key=lambda s: digest(s.id)), most))
        most -= len(chosen)
        if chosen:
            yield Questions(questions.benchmark.narrow(chosen), questions.is_own)
