# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
"""The evidence that the pipeline finds for questions of the training parts, with and without what answers them."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel
from rich.progress import track

from discorag.config import Settings
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from eval.datasets.clapnq import load_clapnq
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.musique import load_musique
from eval.datasets.nq_open_oracle import load_nq_open_oracle
from eval.datasets.qasper import load_qasper
from eval.datasets.qmsum import load_qmsum
from eval.running.corpus import Corpus, ingest
from eval.sample import Benchmark, Sample
from eval.splits import groups
from graphs.answer import graph
from interfaces.facade import DiscoRAG
from nodes.context import AnswerContext
from nodes.inputs import load_inputs
from nodes.state import AnswerState

DISTRACTORS = 12
"""How many other documents a question is asked over, together with its own or instead of them."""


class Example(BaseModel, frozen=True):
    """A question with the evidence that was found; a line of JSON each.

    Args:
        dataset: Its name.
        group: See `eval.splits`.
        sample: The question's id.
        query: The question.
        chunks: Evidence.
        gold: Gold spans by document id in the store.
        answerable: Whether the documents that it was asked of answer it.
        setting: ``own``: asked of its own documents; ``removed``: of others.
    """

    dataset: str
    group: str
    sample: str
    query: str
    chunks: tuple[Chunk, ...]
    gold: dict[str, tuple[Span, ...]]
    answerable: bool
    setting: str

    @property
    def inputs(self) -> AnswerInputs:
        """As the engines see it."""
        return AnswerInputs(query=self.query, chunks=self.chunks)


@dataclass(frozen=True)
class Source:
    """A dataset: its loader and file, and at most how many questions.

    ``by_document``: whether a question's group (`eval.splits`) is its document, else it is a group of its own.
    """

    name: str
    load: Callable[[Path], Benchmark]
    path: str
    most: int
    by_document: bool = True


SOURCES = (
    Source("fairytaleqa", load_fairytaleqa, "fairytaleqa", 130),
    Source("hotpotqa", load_hotpotqa, "hotpotqa/hotpot_dev_distractor_sample100.json", 100, by_document=False),
    Source("hotpotqa", load_hotpotqa, "hotpotqa/hotpot_train_sample100.json", 100, by_document=False),
    Source("musique", load_musique, "musique/musique_ans_train_sample100.jsonl", 60, by_document=False),
    Source("qasper", load_qasper, "qasper/qasper-sample-v0.3.json", 60),
    Source("clapnq", load_clapnq, "clapnq", 260),
    Source("nq_open_oracle", load_nq_open_oracle, "nq_open_oracle/nq-open-oracle.jsonl", 130),
    Source("qmsum", load_qmsum, "qmsum/val.jsonl", 60),
)


def choose_questions(source: Source, data: Path) -> tuple[Benchmark, list[tuple[str, Sample]]]:
    """The benchmark with the training part's questions and their documents only, and these questions with groups."""
    benchmark = source.load(data / source.path)
    wanted = groups(source.name, "train")
    found = [(g, s) for s in benchmark.samples if (g := _group(source, benchmark, s)) in wanted and s.documents]
    random.Random(0).shuffle(found)
    found = found[: source.most]
    return benchmark.narrow(s for _, s in found), found


def _group(source: Source, benchmark: Benchmark, sample: Sample) -> str:
    if source.name in ("clapnq", "nq_open_oracle"):
        return benchmark.documents[sample.documents[0]].title if sample.documents else ""
    return sample.documents[0] if source.by_document else sample.id


def settings_of(
    source: Source, sample: Sample, names: Sequence[str], rng: random.Random
) -> Iterator[tuple[str, list[str]]]:
    """The documents that a question is asked of: its own (among others where they are short), and without its own."""
    gold = {p.doc for g in sample.gold for p in g.anywhere}
    others = [n for n in names if n not in sample.documents]
    rng.shuffle(others)
    if source.name == "clapnq":
        yield "own", list(sample.documents)
        return
    if source.name == "nq_open_oracle":
        yield "own", [*sample.documents, *others[:DISTRACTORS]]
        yield "removed", others[: DISTRACTORS + 1]
        return
    yield "own", list(sample.documents)
    left = [d for d in sample.documents if d not in gold]
    yield "removed", left if len(left) > 1 else others[:DISTRACTORS]


async def example(
    rag: DiscoRAG, corpus: Corpus, source: Source, group: str, sample: Sample, setting: str, documents: Sequence[str]
) -> Example:
    """Ask, and keep what was found."""
    context = AnswerContext(
        backends=rag.backends, corpus=corpus.name, abstain="never", use_tree=False, use_graph=False, use_plan=False
    )
    question = {"query": sample.query, "filters": {"doc_id": [corpus.stored[d] for d in documents]}}
    state = await graph.ainvoke(question, context=context, output_keys=["query", "hits", "evidence"])
    inputs = await load_inputs(cast("AnswerState", state), context)
    gold: dict[str, list[Span]] = {}
    for g in sample.gold:
        for place in g.anywhere:
            gold.setdefault(corpus.stored.get(place.doc, ""), []).append(place.span)
    return Example(
        dataset=source.name,
        group=group,
        sample=sample.id,
        query=inputs.query,
        chunks=inputs.chunks,
        gold={d: tuple(s) for d, s in gold.items()},
        answerable=sample.answerable and setting == "own",
        setting=setting,
    )


async def collect(data: Path, home: Path) -> None:
    """One file of examples a dataset below ``home``; those that are there are kept."""
    with DiscoRAG(Settings.model_validate({"store": {"path": str(home / "store")}})) as rag:
        for source in SOURCES:
            target = home / f"train-{source.path.replace('/', '-')}.jsonl"
            if target.exists():
                continue
            benchmark, found = choose_questions(source, data)
            corpus, rng, made = await ingest(rag, benchmark, home, parser="none"), random.Random(1), list[Example]()
            for group, sample in track(found, source.name):
                for setting, documents in settings_of(source, sample, list(benchmark.documents), rng):
                    made.append(await example(rag, corpus, source, group, sample, setting, documents))
            target.write_text("".join(f"{e.model_dump_json()}\n" for e in made), "utf-8")
