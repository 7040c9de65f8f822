# bm25s is typed in part only.
# pyright: reportUnknownMemberType=false
"""Questions with the sentences that the pipeline finds, which of them are evidence, and what discourse says of each."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import bm25s
import numpy as np
from pydantic import BaseModel
from rich.progress import track

from discorag.config import LlmSettings, Settings, StoreSettings
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Plan, RhetoricalGraph, RstTree
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.citations import steps
from eval.datasets.asqa import load_asqa_pooled
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.qasper import load_qasper
from eval.perturb import cut_at_random, permute_chunks
from eval.running.corpus import Corpus, ingest
from eval.sample import Benchmark, Sample
from eval.splits import Part, groups
from interfaces.facade import DiscoRAG
from nodes.context import AnswerContext
from training.answers.collect import find_inputs

CANDIDATES = 10
"""Sentences of a question: its gold ones among the retrieved chunks, and the best others by BM25."""
FILLER = "Read the passages with care before you choose. "
PARTS: tuple[Part, ...] = ("train", "score")
CONDITIONS = (
    "sentence",
    "neighbours",
    "trees",
    "random-trees",
    "filler",
    "graph",
    "permuted-graph",
    "plan",
    "other-plan",
)
"""What the reader sees of a sentence beyond its headings; the second of each pair knows nothing of the text."""


class Question(BaseModel, frozen=True):
    """A question with its candidates.

    Args:
        suite: The dataset.
        id: The sample's id.
        part: ``train`` or ``score``.
        query: The question.
        gold: For each candidate whether at least half of it, or of the evidence, is gold evidence.
        texts: Condition -> for each candidate the text that the reader reads.
    """

    suite: str
    id: str
    part: Part
    query: str
    gold: tuple[bool, ...]
    texts: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Source:
    """A dataset: its files, its loader, and how many questions to train and to score on."""

    name: str
    paths: tuple[str, ...]
    load: Callable[[Path], Benchmark]
    train: int
    score: int


SOURCES = (
    Source("fairytaleqa", ("fairytaleqa",), load_fairytaleqa, 400, 150),
    Source(
        "hotpotqa",
        ("hotpotqa/hotpot_dev_distractor_sample100.json", "hotpotqa/hotpot_train_sample100.json"),
        load_hotpotqa,
        60,
        80,
    ),
    Source("qasper", ("qasper/qasper-sample-v0.3.json",), load_qasper, 40, 40),
    Source("asqa", ("asqa/asqa_eval_pooled.json",), load_asqa_pooled, 0, 50),  # may not be trained on
)


def read_questions(data: Path, home: Path) -> list[Question]:
    """All questions; each dataset's are stored below ``home`` and read again from there.

    Raises:
        DataError: A dataset is missing or damaged.
    """
    found: list[Question] = []
    store = StoreSettings(kind="edge", path=home.absolute() / "store", url=None)
    with DiscoRAG(Settings(store=store, llm=LlmSettings(base_url=None, model="default", cache=None))) as rag:
        for source in SOURCES:
            file = home / f"{source.name}.jsonl"
            if not file.exists():
                made = [q for path in source.paths for q in _questions(rag, source, source.load(data / path), home)]
                file.write_text("".join(f"{q.model_dump_json()}\n" for q in made), "utf-8")
            found += map(Question.model_validate_json, file.read_text("utf-8").splitlines())
    return found


def _questions(rag: DiscoRAG, source: Source, benchmark: Benchmark, home: Path) -> Iterator[Question]:
    chosen = list(_choose(source, benchmark))
    narrow = benchmark.narrow(s for _, s in chosen).model_copy(update={"name": f"reader-{source.name}"})
    corpus = rag.run(lambda: ingest(rag, narrow, home))
    asked: list[tuple[Part, Sample, AnswerInputs]] = []
    for part, sample in track(chosen, source.name):
        asked.append((part, sample, rag.run(lambda s=sample: _ask(rag, corpus, s))))
    for at, (part, sample, inputs) in enumerate(asked):
        question = _question(source.name, part, sample, inputs, asked[at - 1][2].plan, corpus)
        if any(question.gold) and not all(question.gold):
            yield question


def _choose(source: Source, benchmark: Benchmark) -> Iterator[tuple[Part, Sample]]:
    """Answerable questions of each part, in random order."""
    left: dict[Part, int] = {"train": source.train // len(source.paths), "score": source.score // len(source.paths)}
    samples = [s for s in benchmark.samples if s.answerable and s.gold and s.documents]
    random.Random(0).shuffle(samples)
    for sample in samples:
        group = sample.id if source.name == "hotpotqa" else sample.documents[0]
        for part in PARTS:
            is_its = group in groups(source.name, part) if source.train else part == "score"
            if is_its and left[part]:
                left[part] -= 1
                yield part, sample


async def _ask(rag: DiscoRAG, corpus: Corpus, sample: Sample) -> AnswerInputs:
    """The ten best chunks with their trees, and the local engines' graph and plan over them."""
    context = AnswerContext(
        backends=rag.backends, corpus=corpus.name, abstain="never", retriever="hybrid", profile="verbatim"
    )
    ids = [corpus.stored[d] for d in sample.documents]
    return await find_inputs(context, sample.query, ids, "trees", "graph", "plan")


def _question(
    suite: str, part: Part, sample: Sample, inputs: AnswerInputs, other_plan: Plan | None, corpus: Corpus
) -> Question:
    gold = [(corpus.stored[p.doc], p.span) for g in sample.gold for p in g.anywhere]
    places = [(chunk, span) for chunk in inputs.chunks for span in chunk.sentences if chunk.slice(span).strip()]
    right = [any(doc == c.doc_id and _is_half(span, s) for doc, s in gold) for c, span in places]
    order = _by_bm25(inputs.query, [c.slice(span) for c, span in places])
    best_gold = [i for i in order if right[i]][: CANDIDATES // 2]
    others = [i for i in order if not right[i]][: CANDIDATES - len(best_gold)]
    kept = sorted([*best_gold, *others])
    render = Renderer(inputs, other_plan, random.Random(sample.id))
    texts = {name: tuple(render.text(name, *places[i]) for i in kept) for name in CONDITIONS}
    return Question(
        suite=suite, id=sample.id, part=part, query=inputs.query, gold=tuple(right[i] for i in kept), texts=texts
    )


def _is_half(span: Span, gold: Span) -> bool:
    common = min(span.end, gold.end) - max(span.start, gold.start)
    return 2 * common >= min(span.end - span.start, gold.end - gold.start)


def _by_bm25(query: str, texts: list[str]) -> list[int]:
    words = cast("list[list[str]]", bm25s.tokenize([*texts, query], show_progress=False, return_ids=False))
    index = bm25s.BM25()
    index.index(words[:-1], show_progress=False)
    return [int(i) for i in np.argsort(-index.get_scores(words[-1]), kind="stable")]


class Renderer:
    """Texts of one question's sentences: headings, then what a condition adds, then the sentence."""

    def __init__(self, inputs: AnswerInputs, other_plan: Plan | None, rng: random.Random) -> None:
        self._chunks = inputs.chunks
        self._by_id = {chunk.id: chunk for chunk in inputs.chunks}
        self._trees = {c.id: c.tree for c in inputs.chunks}
        self._random_trees = {c.id: cut_at_random(c, rng, 1.0) for c in inputs.chunks}
        self._graph = inputs.graph or RhetoricalGraph(chunks=tuple(self._by_id))
        self._permuted = permute_chunks(self._graph, rng, 1.0)
        self._plans = {"plan": inputs.plan, "other-plan": other_plan}

    def text(self, condition: str, chunk: Chunk, span: Span) -> str:
        """What the reader reads of a sentence."""
        heading = " > ".join(dict.fromkeys((chunk.title, *chunk.headings_at(span.start))))
        added = {
            "sentence": lambda: "",
            "neighbours": lambda: _neighbours(chunk, span),
            "trees": lambda: _role(chunk, span, self._trees[chunk.id]),
            "random-trees": lambda: _role(chunk, span, self._random_trees[chunk.id]),
            "filler": lambda: _filler(_role(chunk, span, self._trees[chunk.id])),
            "graph": lambda: self._edge(chunk, self._graph),
            "permuted-graph": lambda: self._edge(chunk, self._permuted),
            "plan": lambda: self._step(chunk, condition),
            "other-plan": lambda: self._step(chunk, condition),
        }[condition]()
        return " ".join(f"{heading}: {chunk.slice(span)} {added}".split())

    def _edge(self, chunk: Chunk, over: RhetoricalGraph) -> str:
        """The chunk's first relation, with the first sentence of the other chunk."""
        for edge in over.edges:
            if chunk.id in (edge.source, edge.target):
                away = edge.source == chunk.id
                other = self._by_id[edge.target if away else edge.source]
                said = edge.target_span if away else edge.source_span
                place = said if said and other.span.contains(said) else other.sentences[0]
                return f"[{edge.relation} {'of' if away else 'by'}: {other.slice(place)}]"
        return ""

    def _step(self, chunk: Chunk, plan: str) -> str:
        """The first step of the plan that cites the chunk."""
        number = self._chunks.index(chunk) + 1
        made = self._plans[plan]
        found = (s.text for s in (steps(made) if made else ()) if any(r.chunk == number for r in s.references))
        return f"[{text}]" if (text := next(found, "")) else ""


def _neighbours(chunk: Chunk, span: Span) -> str:
    at = chunk.sentences.index(span)
    around = [chunk.sentences[i] for i in (at - 1, at + 1) if 0 <= i < len(chunk.sentences)]
    return f"[{' '.join(chunk.slice(s) for s in around)}]" if around else ""


def _role(chunk: Chunk, span: Span, tree: RstTree | None) -> str:
    """The relation of the sentence to the part of the text that it is joined to, with that part's most nuclear unit."""
    if tree is None:
        return ""
    inside = [i for i, edu in enumerate(tree.edus) if span.contains(edu)]
    if not inside:
        return ""
    first, last = inside[0], inside[-1] + 1
    above = [s for s in tree.splits if s.start <= first and last <= s.end and (s.start, s.end) != (first, last)]
    if not above:
        return ""
    split = above[-1]  # pre-order: the smallest
    is_left = last <= split.mid
    start, end = (split.mid, split.end) if is_left else (split.start, split.mid)
    is_nucleus = split.nuclearity.value[0 if is_left else 1] == "N"
    head = chunk.slice(tree.edus[tree.head(start, end)])
    return f"[{split.relation} {'nucleus' if is_nucleus else 'satellite'}: {head}]"


def _filler(text: str) -> str:
    count = len(text.split())
    words: Iterable[str] = (FILLER * (count // 7 + 1)).split()
    return f"[{' '.join(list(words)[:count])}]" if count else ""


def shares(questions: list[Question]) -> Mapping[str, float]:
    """Condition -> the share of sentences to which it adds anything."""
    total = sum(len(q.gold) for q in questions)
    return {
        name: sum(a != b for q in questions for a, b in zip(q.texts[name], q.texts["sentence"], strict=True)) / total
        for name in CONDITIONS
    }
