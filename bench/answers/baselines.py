"""What one small model alone answers: sentences by BM25, by the encoder's cosine, by the reranker.

They choose among the same sentences over the same documents as the product, without anything of its selection.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from rich.progress import Progress

from bench.answers.replies import complete_lines
from bench.answers.sets import Run
from discorag import DiscoRAG
from discorag.ingest.segment.sentence_table import within_window
from discorag.schema.values import Span, digest
from discorag.text.sentences import sentence_spans
from eval.sample import Benchmark, DocSpan, Sample, SourceDocument

BEST = 3
"""Sentences of a baseline's answer."""
RERANKED, PASSAGES = 24, 5
"""The reranker reads so many sentences and passages: the best of the other two rankings, fused."""
ALL = 400
"""Over more sentences, only passages are ranked: no figure needs the sentences of a whole corpus."""
PASSAGE_WORDS = 100
K1, B, RRF = 1.2, 0.75, 60

_ENDING = re.compile(r"(?<=\w{3})(?:ing|ies|ied|ed|es|ly|s)$")

Floats = NDArray[np.float32]


class Ranking(BaseModel):
    """What the baselines say to a question.

    Args:
        id: Id of the sample.
        best: Baseline -> its best sentences, best first; empty over a whole corpus. ``bm25_each``: the best one of each
            document, if the question has two documents.
        scores: Baseline -> its score of the best passage; with ``_sentence``, of the best sentence.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    best: dict[str, tuple[DocSpan, ...]]
    scores: dict[str, float]


class Bm25:
    """Okapi BM25 (Robertson and Zaragoza 2009) over all texts of a corpus."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(words(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float32)
        self._norm = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, count in enumerate(counts):
            for term, times in count.items():
                self._postings[term].append((i, times))

    def scores(self, query: str) -> Floats:
        """Shape (texts,)."""
        total, n = np.zeros(len(self._norm), dtype=np.float32), len(self._norm)
        for term in set(words(query)) & self._postings.keys():
            at, times = np.array(self._postings[term]).T
            idf = np.log(1 + (n - len(at) + 0.5) / (len(at) + 0.5))
            total[at] += idf * times * (K1 + 1) / (times + self._norm[at])
        return total


def words(text: str) -> list[str]:
    """Lower-case words without their commonest endings."""
    return [_ENDING.sub("", word) for word in re.findall(r"\w+", text.lower())]


@dataclass(frozen=True)
class Index:
    """Texts of a corpus with both first-stage scores.

    Args:
        places: Where each text stands.
        texts: The texts, in the same order.
        vectors: Unit vectors, shape (texts, d).
        bm25: Over all texts.
    """

    places: Sequence[DocSpan]
    texts: Sequence[str]
    vectors: Floats
    bm25: Bm25


class Baselines:
    """Ranks the sentences and passages of a benchmark's documents.

    Sentences and passages are read under their document's heading if questions have several documents: they seldom name
    what they are about. Over one document the heading says nothing, and weakens the scores.

    Args:
        rag: Whose encoder and reranker are used.
        benchmark: Its documents.
        home: Vectors are stored below it.
    """

    def __init__(self, rag: DiscoRAG, benchmark: Benchmark, home: Path) -> None:
        self._rag, self._home = rag, home
        self._documents = benchmark.documents
        self._several = any(len(sample.documents) > 1 for sample in benchmark.samples)
        self._places = [place for document in benchmark.documents.values() for place in sentence_places(document)]

    def rank(self, sample: Sample, within: Sequence[str]) -> Ranking:
        """The rankings for one question over the documents ``within`` (all if empty)."""
        scores, _ = self._rank(self._passages, sample.query, within, PASSAGES)
        best = {name: float(found.max()) for name, found in scores.items()}
        places: dict[str, tuple[DocSpan, ...]] = {}
        if sum(not within or place.doc in within for place in self._places) <= ALL:
            scores, sentences = self._rank(self._sentences, sample.query, within, RERANKED)
            best |= {f"{name}_sentence": float(found.max()) for name, found in scores.items()}
            places = {name: tuple(sentences[i] for i in top(found)[:BEST]) for name, found in scores.items()}
            if len(within) == 2:
                places["bm25_each"] = best_of_each(scores["bm25"], sentences)
        return Ranking(id=sample.id, best=places, scores={name: round(value, 4) for name, value in best.items()})

    @cached_property
    def _sentences(self) -> Index:
        return self._index(self._places)

    @cached_property
    def _passages(self) -> Index:
        return self._index(passage_places(self._places, self._documents))

    def _index(self, places: Sequence[DocSpan]) -> Index:
        texts = [place.span.of(self._documents[place.doc].text) for place in places]
        if self._several:
            headings = (heading(self._documents[place.doc]) for place in places)
            texts = [f"{above}{text}" for above, text in zip(headings, texts, strict=True)]
        return Index(places, texts, stored_vectors(self._rag, texts, self._home), Bm25(texts))

    def _rank(
        self, index: Index, query: str, within: Sequence[str], count: int
    ) -> tuple[dict[str, Floats], list[DocSpan]]:
        """The three scores of the texts in these documents, and where the texts stand."""
        at = [i for i, place in enumerate(index.places) if not within or place.doc in within]
        encoder = self._rag.backends.bare_encoder
        vector = self._rag.run(lambda: encoder.encode_query(query))
        bm25, cosine = index.bm25.scores(query)[at], index.vectors[at] @ vector
        logits = np.full(len(at), -np.inf, dtype=np.float32)
        read = fuse_ranks([bm25, cosine])[:count]
        texts = [index.texts[at[i]] for i in read]
        logits[read] = self._rag.run(lambda: self._rag.backends.reranker.scores(query, texts))
        return {"bm25": bm25, "cosine": cosine, "reranker": logits}, [index.places[i] for i in at]


def best_of_each(scores: Floats, places: Sequence[DocSpan]) -> tuple[DocSpan, ...]:
    """The best place of each document."""
    best: dict[str, DocSpan] = {}
    for i in top(scores):
        best.setdefault(places[i].doc, places[i])
    return tuple(best.values())


def rank_all(rag: DiscoRAG, run: Run, home: Path, limit: int | None, progress: Progress) -> dict[str, Ranking]:
    """The rankings of a run by question: those stored by this version of the file, and the others made now."""
    samples = run.benchmark.samples[:limit]
    version = digest(Path(__file__).read_text("utf-8"))[:8]
    path = home / "baselines" / version / f"{run.name.replace('/', '-')}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {found.id: found for found in map(Ranking.model_validate_json, complete_lines(path))}
    missing = [sample for sample in samples if sample.id not in known]
    if missing:
        baselines = Baselines(rag, run.benchmark, home)
        with path.open("a", encoding="utf-8") as file:
            for sample in progress.track(missing, description=f"{run.name}: baselines"):
                known[sample.id] = baselines.rank(sample, run.within(sample))
                file.write(known[sample.id].model_dump_json() + "\n")
    return {sample.id: known[sample.id] for sample in samples}


def sentence_places(document: SourceDocument) -> list[DocSpan]:
    """The sentences of a document without its headings."""
    spans = sentence_spans(document.text)
    return [
        DocSpan(doc=document.id, span=s) for s in spans if document.text[s.start] != "#" and words(s.of(document.text))
    ]


def heading(document: SourceDocument) -> str:
    """The first heading of a document, as a sentence; empty if it begins without one."""
    first, _, _ = document.text.partition("\n")
    return f"{first.lstrip('# ')}. " if first.startswith("#") else ""


def passage_places(sentences: Iterable[DocSpan], documents: Mapping[str, SourceDocument]) -> list[DocSpan]:
    """Consecutive sentences of a document together, up to `PASSAGE_WORDS` words."""
    passages: list[DocSpan] = []
    for place in sentences:
        last = passages[-1] if passages else None
        if last and last.doc == place.doc:
            joined = Span(start=last.span.start, end=place.span.end)
            if len(joined.of(documents[place.doc].text).split()) <= PASSAGE_WORDS:
                passages[-1] = DocSpan(doc=place.doc, span=joined)
                continue
        passages.append(place)
    return passages


def top(scores: Floats) -> list[int]:
    """Indices by score, best first; the earlier one first where they tie."""
    return [int(i) for i in np.argsort(-scores, kind="stable")]


def fuse_ranks(rankings: Sequence[Floats]) -> list[int]:
    """Indices by reciprocal rank fusion of several scores of the same texts, best first."""
    total = np.zeros(len(rankings[0]), dtype=np.float32)
    for scores in rankings:
        total[top(scores)] += 1 / (RRF + 1 + np.arange(len(scores), dtype=np.float32))
    return top(total)


def stored_vectors(rag: DiscoRAG, texts: Sequence[str], home: Path) -> Floats:
    """The product's encoder on texts, shape (texts, d); stored below ``home`` by their digest."""
    encoder = rag.backends.bare_encoder
    path = home / "vectors" / f"{digest(chr(0).join([encoder.version, *texts]))[:16]}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        cut = within_window(list(texts), encoder)
        np.save(path, rag.run(lambda: encoder.encode_documents(cut)).astype(np.float16))
    return np.load(path).astype(np.float32)
